// The cache itself. A hash table finds a line, a doubly linked list per set keeps the order of use.
#include "cachesim/cache.hpp"

#include "words/words.hpp"

#include <fmt/format.h>

#include <array>

namespace ptxasw::cachesim {
namespace {

constexpr std::uint64_t most_lines = std::uint64_t{1} << 24;

bool read_number(std::string_view text, std::uint64_t& value) {
  value = words::number<std::uint64_t>(text).value_or(0);
  return value != 0;
}

} // namespace

tl::expected<CacheShape, std::string> read_cache(std::string_view text) {
  std::uint64_t lines = 0, width = 0, bytes = 0, size = 0, ways = 0, element = 4;
  struct Field {
    std::string_view name;
    std::uint64_t* value;
  };
  const std::array fields{Field{"lines", &lines}, Field{"width", &width},
                          Field{"bytes", &bytes}, Field{"size", &size},
                          Field{"ways", &ways},   Field{"element", &element}};
  const auto bad = [&](std::string_view why) {
    return tl::make_unexpected(fmt::format(
        "cache '{}': {}; it is written as lines:24,width:4 or size:32768,bytes:128, perhaps with "
        "ways:N and element:BYTES",
        text, why));
  };
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = words::take(rest, ",");
    const std::size_t colon = word.find(':');
    bool known = false;
    for (const Field& field : fields) {
      if (colon == word.npos || field.name != word.substr(0, colon)) continue;
      known = read_number(word.substr(colon + 1), *field.value);
    }
    if (!known) return bad(fmt::format("'{}' is not understood", word));
  }
  if (element > 16) return bad("an element has at most 16 bytes");
  if ((width == 0) == (bytes == 0)) return bad("one of width and bytes is needed");
  if ((lines == 0) == (size == 0)) return bad("one of lines and size is needed");
  if (width > most_lines || bytes > most_lines) return bad("the line is too long");
  if (bytes == 0) bytes = width * element;
  if (bytes % element != 0) return bad("a line holds whole elements");
  if (lines == 0) {
    if (size % bytes != 0) return bad("the size is not a multiple of the line");
    lines = size / bytes;
  }
  if (lines > most_lines) return bad("that is too large");
  if (ways > lines || (ways != 0 && lines % ways != 0))
    return bad("the ways do not divide the lines");
  return CacheShape{lines, static_cast<unsigned>(bytes), ways, static_cast<unsigned>(element)};
}

std::string text_of(const CacheShape& shape) {
  std::string text =
      fmt::format("{} line{} of {} element{}", shape.lines, shape.lines == 1 ? "" : "s",
                  shape.width(), shape.width() == 1 ? "" : "s");
  if (shape.element_bytes != 4) text += fmt::format(" of {} bytes", shape.element_bytes);
  if (shape.ways != 0 && shape.ways != shape.lines) text += fmt::format(", {} ways", shape.ways);
  return text;
}

Cache::Cache(const CacheShape& shape)
    : ways_(shape.ways == 0 ? shape.lines : shape.ways), sets_(shape.lines / ways_) {}

void Cache::unlink(Set& set, std::uint32_t at) {
  const Slot& slot = slots_[at];
  (slot.newer == none ? set.newest : slots_[slot.newer].older) = slot.older;
  (slot.older == none ? set.oldest : slots_[slot.older].newer) = slot.newer;
}

void Cache::put_first(Set& set, std::uint32_t at) {
  slots_[at].newer = none;
  slots_[at].older = set.newest;
  (set.newest == none ? set.oldest : slots_[set.newest].newer) = at;
  set.newest = at;
}

Cache::Outcome Cache::touch(std::uint64_t line) {
  Set& set = sets_[line % sets_.size()];
  if (const auto found = where_.find(line); found != where_.end()) {
    unlink(set, found->second);
    put_first(set, found->second);
    return {true, std::nullopt};
  }
  Outcome outcome;
  std::uint32_t at = 0;
  if (set.used < ways_) {
    at = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
    ++set.used;
  } else {
    at = set.oldest;
    outcome.evicted = slots_[at].line;
    where_.erase(slots_[at].line);
    unlink(set, at);
  }
  slots_[at].line = line;
  put_first(set, at);
  where_.emplace(line, at);
  return outcome;
}

} // namespace ptxasw::cachesim
