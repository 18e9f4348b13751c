// An entry is a row of numbers and texts, each text behind its length.
#include "image/prepared.hpp"

#include "image/linked.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ptxasw::image {
namespace {

static_assert(std::endian::native == std::endian::little, "entries are little-endian");

constexpr std::string_view magic = "ptxasw-image 4\n";
constexpr std::int64_t day = std::int64_t{24} * 60 * 60;
constexpr std::uint32_t most_kernels = 1 << 20;

class Writer {
public:
  template <class T> void number(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value); // NOLINT: bytes of a number
  }
  void text(std::string_view value) {
    number(static_cast<std::uint64_t>(value.size()));
    text_.append(value);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

private:
  std::string text_{magic};
};

// Once something is missing, all that follows is, too.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest_(bytes), good_(bytes.starts_with(magic)) {
    if (good_) rest_.remove_prefix(magic.size());
  }
  template <class T> T number() {
    T value{};
    good_ = good_ && rest_.size() >= sizeof value;
    if (!good_) return {};
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<std::uint64_t>();
    good_ = good_ && rest_.size() >= size;
    if (!good_) return {};
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  Reason reason() {
    const auto found = reason_of(text());
    good_ = good_ && found.has_value();
    return found.value_or(Reason::none);
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool is_done() const { return good_ && rest_.empty(); }

private:
  std::string_view rest_;
  bool good_;
};

} // namespace

ImageKey key_of(Bytes image, std::string_view chip) {
  const auto linked = unpacked(image);
  const std::string_view bytes = linked ? linked->cubin : words_of(image);
  return store::key_of({bytes, chip, std::to_string(images.version)});
}

std::uint32_t Prepared::versions() const {
  std::uint32_t sum = 0;
  for (const PreparedKernel& kernel : kernels)
    sum += kernel.versions;
  return sum;
}

bool hangs_on_ptxas(const Prepared& prepared) {
  switch (prepared.reason) {
  case Reason::no_ptxas:
  case Reason::no_linker:
  case Reason::not_assembled:
  case Reason::no_note:
  case Reason::other_release:
  case Reason::machine_code:
  case Reason::other_compiler:
  case Reason::gave_up: return true;
  default: return false;
  }
}

bool is_a_day_old(const Prepared& prepared, std::int64_t now) {
  return now - prepared.when > day || now < prepared.when;
}

bool is_to_be_tried_again(const Prepared& prepared, std::int64_t now) {
  return hangs_on_ptxas(prepared) && is_a_day_old(prepared, now);
}

std::string serialized(const Prepared& prepared) {
  Writer writer;
  writer.text(code(prepared.reason));
  writer.text(prepared.words);
  writer.text(prepared.chip);
  writer.text(prepared.made_by);
  writer.text(prepared.assembler);
  writer.number(prepared.when);
  writer.number(prepared.sequences);
  writer.number(static_cast<std::uint32_t>(prepared.kernels.size()));
  for (const PreparedKernel& kernel : prepared.kernels) {
    writer.text(kernel.name);
    writer.number(kernel.versions);
    writer.text(code(kernel.reason));
    writer.text(kernel.words);
    writer.number(std::uint8_t{kernel.is_alone});
  }
  writer.text(prepared.linked);
  writer.text(prepared.cubin);
  return writer.take();
}

std::optional<Prepared> parsed(std::string_view bytes) {
  Reader reader(bytes);
  Prepared prepared;
  prepared.reason = reader.reason();
  prepared.words = reader.text();
  prepared.chip = reader.text();
  prepared.made_by = reader.text();
  prepared.assembler = reader.text();
  prepared.when = reader.number<std::int64_t>();
  prepared.sequences = reader.number<std::uint64_t>();
  const auto kernels = reader.number<std::uint32_t>();
  if (kernels > most_kernels) return std::nullopt;
  for (std::uint32_t n = 0; n < kernels && reader.good(); ++n) {
    PreparedKernel kernel;
    kernel.name = reader.text();
    kernel.versions = reader.number<std::uint32_t>();
    kernel.reason = reader.reason();
    kernel.words = reader.text();
    kernel.is_alone = reader.number<std::uint8_t>() != 0;
    prepared.kernels.push_back(std::move(kernel));
  }
  prepared.linked = reader.text();
  prepared.cubin = reader.text();
  if (!reader.is_done() || prepared.is_replaced() == prepared.cubin.empty()) return std::nullopt;
  return prepared;
}

std::string images_folder(const char* (*variable)(const char* name)) {
  return store::usual_folder([&](std::string_view name) -> std::optional<std::string> {
    const char* value = variable(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

std::optional<Prepared> find(const std::string& folder, const ImageKey& key) {
  if (folder.empty()) return std::nullopt;
  const store::Folder entries(folder, store::Folder::Users::owner, 0);
  const auto bytes = store::read_own(entries, images, key);
  if (!bytes) return std::nullopt;
  auto prepared = parsed(*bytes);
  if (!prepared) entries.remove(store::place_of(images, key));
  return prepared;
}

bool keep(const std::string& folder, std::uint64_t limit, const ImageKey& key,
          const Prepared& prepared) {
  const std::string bytes = serialized(prepared);
  if (folder.empty() || bytes.size() > store::largest_entry) return false;
  return store::write_own({folder, store::Folder::Users::owner, limit}, images, key, bytes);
}

} // namespace ptxasw::image
