// Reads argument texts and fills buffers. Numbers come from our own generator, so that a text means
// the same bytes on every machine.
#include "simt/args.hpp"

#include "semantics/domain.hpp"
#include "simt/code.hpp"
#include "simt/random.hpp"
#include "words/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

namespace ptxasw::simt {

namespace {

using Error = std::string;
template <class T> using Expected = tl::expected<T, Error>;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 32;

tl::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return tl::make_unexpected(fmt::format("argument '{}': {}", text, why));
}

std::optional<std::uint64_t> integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  const auto value = words::number<std::uint64_t>(text, hex ? 16 : 10);
  return value && negative ? 0 - *value : value;
}

struct Element {
  unsigned bytes = 4;
  bool floating = false;
};
std::optional<Element> element(std::string_view name) {
  const auto bits = integer(name.substr(std::min<std::size_t>(1, name.size())));
  if (!bits || name.empty()) return std::nullopt;
  const bool floating = name[0] == 'f';
  if (!floating && name[0] != 'u' && name[0] != 's') return std::nullopt;
  if (*bits != 8 && *bits != 16 && *bits != 32 && *bits != 64) return std::nullopt;
  if (floating && *bits == 8) return std::nullopt;
  return Element{static_cast<unsigned>(*bits / 8), floating};
}

std::uint64_t float_bits(double value, unsigned bytes) {
  if (bytes == 8) return std::bit_cast<std::uint64_t>(value);
  const std::uint32_t single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (bytes == 4) return single;
  const sem::Function narrow{.fn = sem::Fn::fconvert,
                             .to = ptx::Type::f16,
                             .from = ptx::Type::f32,
                             .rounding = ptx::Rounding::rn};
  const std::array<sem::Bits, 1> argument{single};
  return static_cast<std::uint64_t>(sem::compute(narrow, 16, argument));
}

template <class Next>
std::vector<std::uint8_t> fill(std::uint64_t count, unsigned bytes, Next next) {
  std::vector<std::uint8_t> data(count * bytes);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = next(i);
    std::memcpy(&data[i * bytes], &bits, bytes);
  }
  return data;
}

std::vector<std::uint8_t> random_data(const Element& e, std::uint64_t count, std::uint64_t seed,
                                      std::uint64_t bound, bool bits) {
  Random random(seed);
  return fill(count, e.bytes, [&](std::uint64_t) {
    const std::uint64_t raw = random.next();
    if (bits) return raw;
    if (!e.floating) return bound == 0 ? raw : raw % bound;
    const double unit = static_cast<double>(raw >> 11) / static_cast<double>(1ULL << 52) - 1;
    return float_bits(unit, e.bytes);
  });
}

// The bytes of "zeros:64" and the like.
Expected<std::vector<std::uint8_t>> contents(std::string_view text) {
  if (text.starts_with('@')) {
    std::ifstream in(std::string(text.substr(1)), std::ios::binary);
    if (!in) return bad(text, "the file cannot be read");
    return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(in), {});
  }
  const auto parts = words::split(text, ':');
  const auto number = [&](std::size_t i) {
    return i < parts.size() ? integer(parts[i]) : std::nullopt;
  };
  if (parts[0] == "zeros" || parts[0] == "undefined") {
    const auto size = number(1);
    if (!size || parts.size() != 2 || *size > most_bytes) return bad(text, "a size is missing");
    return std::vector<std::uint8_t>(*size, 0);
  }
  const bool random = parts[0] == "random";
  if (!random && parts[0] != "iota") return bad(text, "this is neither a number nor a buffer");
  const auto type = element(parts.size() > 1 ? parts[1] : std::string_view());
  const auto count = number(2);
  if (!type || !count || *count > most_bytes / 8) return bad(text, "expected TYPE:COUNT");
  if (!random)
    return fill(*count, type->bytes, [&](std::uint64_t i) {
      return type->floating ? float_bits(static_cast<double>(i), type->bytes) : i;
    });
  const bool bits = parts.size() > 4 && parts[4] == "bits";
  const auto seed = number(3);
  const auto bound = parts.size() > 4 && !bits ? number(4) : std::optional<std::uint64_t>(0);
  if (!seed || !bound) return bad(text, "expected random:TYPE:COUNT:SEED[:BOUND]");
  return random_data(*type, *count, *seed, *bound, bits);
}

bool is_number(std::string_view text) {
  return !text.empty() && std::string_view("0123456789-.").find(text[0]) != std::string_view::npos;
}

// Reads a number as one of `type`; none: 1.5 means its bits as a float of that width.
Expected<Argument> number(std::string_view text, ptx::Type type) {
  if (type == ptx::Type::f32 || type == ptx::Type::f64) {
    const auto value = words::number<double>(text);
    if (!value) return bad(text, "this is not a number");
    if (type == ptx::Type::f64) return simt::value(*value);
    return simt::value(static_cast<float>(*value));
  }
  if (const auto value = integer(text)) return simt::value(*value);
  const auto fraction = words::number<double>(text);
  if (!fraction) return bad(text, "this is not a number");
  if (ptx::bit_width(type) == 64) return simt::value(*fraction);
  return simt::value(static_cast<float>(*fraction));
}

// The bytes of "12", "u16:3", "f64:1.5" as a field.
Expected<std::vector<std::uint8_t>> field_number(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view digits = colon == std::string_view::npos ? text : text.substr(colon + 1);
  const auto fraction = words::number<double>(digits);
  const auto whole = integer(digits);
  Element type{whole ? 4U : 8U, !whole};
  if (colon != std::string_view::npos) {
    const auto named = element(text.substr(0, colon));
    if (!named) return bad(text, "expected TYPE:NUMBER");
    type = *named;
  } else if (whole && *whole > 0x7fffffff && 0 - *whole > 0x80000000) {
    type.bytes = 8;
  }
  if (type.floating ? !fraction : !whole) return bad(text, "this is not a number");
  return fill(1, type.bytes, [&](std::uint64_t) {
    return type.floating ? float_bits(*fraction, type.bytes) : *whole;
  });
}

// Makes arguments one after another; later ones may name the buffers of earlier ones.
class Maker {
public:
  explicit Maker(Memory& memory) : memory_(memory) {}

  Expected<Argument> make(std::string_view text, const ptx::Variable& parameter,
                          const std::string& name) {
    if (text.starts_with('{')) return fields(text, name);
    if (is_number(text)) return number(text, parameter.type);
    const auto address = buffer(text, name);
    if (!address) return tl::make_unexpected(address.error());
    return simt::value(*address);
  }

private:
  Expected<std::uint64_t> buffer(std::string_view text, const std::string& name) {
    std::uint64_t offset = 0;
    if (const std::size_t plus = text.rfind('+');
        plus != std::string_view::npos && text[0] != '@') {
      const auto value = integer(text.substr(plus + 1));
      if (!value) return bad(text, "the offset is not a number");
      offset = *value;
      text = text.substr(0, plus);
    }
    if (text.starts_with("same:")) {
      const auto other = bases_.find(std::string(text.substr(5)));
      if (other == bases_.end()) return bad(text, "there is no such buffer");
      bases_[name] = other->second;
      return other->second + offset;
    }
    auto data = contents(text);
    if (!data) return tl::make_unexpected(data.error());
    const std::uint64_t base = text.starts_with("undefined")
                                   ? memory_.allocate_undefined("arg" + name, data->size())
                                   : memory_.allocate("arg" + name, std::move(*data));
    bases_[name] = base;
    return base + offset;
  }

  Expected<Argument> fields(std::string_view text, const std::string& name) {
    if (!text.ends_with('}')) return bad(text, "a } is missing");
    Argument argument;
    const std::string_view inside = text.substr(1, text.size() - 2);
    if (inside.empty()) return argument;
    for (const std::string_view part : words::split(inside, ';')) {
      const std::size_t equals = part.find('=');
      const auto at = integer(part.substr(0, equals));
      if (equals == std::string_view::npos || !at || *at >= most_field_offset)
        return bad(text, "expected {OFFSET=VALUE;...}");
      const std::string_view value = part.substr(equals + 1);
      const std::size_t colon = value.find(':');
      std::vector<std::uint8_t> bytes;
      if (is_number(value) || element(value.substr(0, colon))) {
        auto made = field_number(value);
        if (!made) return tl::make_unexpected(made.error());
        bytes = std::move(*made);
      } else {
        const auto address = buffer(value, fmt::format("{}.{}", name, *at));
        if (!address) return tl::make_unexpected(address.error());
        bytes = simt::value(*address).bytes;
      }
      if (argument.bytes.size() < *at + bytes.size()) argument.bytes.resize(*at + bytes.size());
      std::ranges::copy(bytes, argument.bytes.begin() + static_cast<std::ptrdiff_t>(*at));
    }
    return argument;
  }

  static constexpr std::uint64_t most_field_offset = 1 << 16;
  Memory& memory_;
  std::map<std::string, std::uint64_t> bases_; // by "2" or "2.8"
};

} // namespace

tl::expected<std::vector<Argument>, std::string>
make_arguments(const Program& program, std::span<const std::string> texts, Memory& memory) {
  const auto& parameters = program.kernel->parameters;
  if (texts.size() != parameters.size())
    return tl::make_unexpected(fmt::format("the kernel {} takes {} arguments, {} were given",
                                           program.kernel->name, parameters.size(), texts.size()));
  std::vector<Argument> arguments;
  Maker maker(memory);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto made = maker.make(texts[i], parameters[i], std::to_string(i));
    if (!made) return tl::make_unexpected(made.error());
    arguments.push_back(std::move(*made));
  }
  return arguments;
}

tl::expected<Dim3, std::string> read_dim(std::string_view text) {
  const auto parts = words::split(text, 'x');
  std::array<std::uint32_t, 3> sizes{1, 1, 1};
  bool good = parts.size() <= 3;
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    const auto value = integer(parts[i]);
    good = value && *value <= 0x7fffffff;
    if (good) sizes[i] = static_cast<std::uint32_t>(*value);
  }
  if (!good) return tl::make_unexpected(fmt::format("'{}' is not a size like 64x2x1", text));
  return Dim3{sizes[0], sizes[1], sizes[2]};
}

std::string text_of(const Dim3& dim) {
  return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z);
}

} // namespace ptxasw::simt
