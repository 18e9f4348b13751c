// Reads the command line. The rules were found by trying every name of the table on ptxas 13.0:
// long names only behind --, short ones only behind -, no abbreviations, = or the next argument,
// and joined values for -O3 and -m64 alone.
#include "driver/command_line.hpp"

#include "driver/files.hpp"
#include "words/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace ptxasw::driver {
namespace {

constexpr auto table = std::to_array<PtxasOption>({
#define PTXASW_PTXAS_OPTION(long_name, short_name, kind, role)                                     \
  {long_name, short_name, ValueKind::kind, Role::role},
#include "driver/options.def"
#undef PTXASW_PTXAS_OPTION
});

// ptxas stops at "Too many options file opened"; anything this deep is a loop.
constexpr int deepest_options_file = 16;
constexpr std::size_t largest_options_file = std::size_t{1} << 20;

const PtxasOption* find(std::string_view name, bool long_form) {
  if (name.empty()) return nullptr;
  const auto found = std::ranges::find(
      table, name, long_form ? &PtxasOption::long_name : &PtxasOption::short_name);
  return found == table.end() ? nullptr : &*found;
}

bool all_digits(std::string_view s) {
  return !s.empty() && std::ranges::all_of(s, [](char c) { return c >= '0' && c <= '9'; });
}

class Parser {
public:
  explicit Parser(CommandLine& into) : line(into) {}

  void read(std::span<const std::string> arguments, int depth) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool takes_next =
          one(arguments[i], i + 1 < arguments.size() ? &arguments[i + 1] : nullptr, depth);
      if (takes_next) ++i;
    }
  }

private:
  // Reads one argument; true when the one behind it was its value.
  bool one(const std::string& word, const std::string* next, int depth) {
    const std::string_view text = word;
    if (text.starts_with(own_prefix)) {
      add({Item::Kind::own, nullptr, word.substr(own_prefix.size()), {word}, depth > 0});
      return false;
    }
    if (text == "-" || !text.starts_with('-')) {
      add({Item::Kind::input, nullptr, word, {word}, depth > 0});
      return false;
    }
    const bool long_form = text.starts_with("--");
    const std::string_view body = text.substr(long_form ? 2 : 1);
    const std::size_t equals = body.find('=');
    const PtxasOption* option = find(body.substr(0, equals), long_form);
    if (option == nullptr) {
      if (!long_form && joined(word, depth)) return false;
      doubt("unknown option " + word);
      return false;
    }
    Item item{Item::Kind::option, option, "", {word}, depth > 0};
    if (equals != std::string_view::npos) {
      if (option->kind == ValueKind::flag) doubt(word + " takes no value");
      item.value = body.substr(equals + 1);
    } else if (option->kind == ValueKind::level && !long_form) {
      item.value = '0';
    } else if (option->kind != ValueKind::flag) {
      if (next == nullptr) {
        doubt(word + " lacks its value");
        return false;
      }
      item.value = *next;
      item.words.push_back(*next);
    }
    const bool took_next = item.words.size() > 1;
    finish(std::move(item), depth);
    return took_next;
  }

  // -O3 and -m64
  bool joined(const std::string& word, int depth) {
    const PtxasOption* option = find(std::string_view(word).substr(1, 1), false);
    const std::string_view value =
        std::string_view(word).substr(std::min<std::size_t>(2, word.size()));
    if (option == nullptr || !all_digits(value)) return false;
    if (option->kind != ValueKind::level && option->kind != ValueKind::number) return false;
    add({Item::Kind::option, option, std::string(value), {word}, depth > 0});
    return true;
  }

  void finish(Item item, int depth) {
    const bool nested = item.option->role == Role::options_file;
    if (item.option->kind == ValueKind::level && !all_digits(item.value))
      doubt(fmt::format("optimization level '{}'", item.value));
    const std::string files = item.value;
    add(std::move(item));
    if (!nested) return;
    for (const std::string_view file : words::split(files, ','))
      options_file(std::string(file), depth + 1);
  }

  void options_file(const std::string& path, int depth) {
    if (depth > deepest_options_file) return doubt("options files nested too deep");
    const auto text = read_regular_file(path, largest_options_file);
    if (!text) return doubt("options file " + path + ": " + text.error());
    const auto words = split_options_file(*text);
    if (!words) return doubt("quoting in options file " + path);
    read(*words, depth);
  }

  void add(Item item) { line.items.push_back(std::move(item)); }

  void doubt(std::string why) {
    if (line.doubt.empty()) line.doubt = std::move(why);
  }

  CommandLine& line;
};

} // namespace

std::span<const PtxasOption> ptxas_options() {
  return table;
}

std::optional<std::vector<std::string>> split_options_file(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  bool quoted = false;
  const auto flush = [&] {
    if (inside) words.push_back(std::exchange(word, {}));
    inside = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      // ptxas 13.0 drops a backslash in front of a quote together with the quote.
      if (++i == text.size() || text[i] == '"') return std::nullopt;
      word += text[i];
      inside = true;
    } else if (c == '"') {
      quoted = !quoted;
      inside = true;
    } else if (!quoted && std::string_view(" \t\r\n\v\f").find(c) != std::string_view::npos) {
      flush();
    } else if (c == '\0') {
      return std::nullopt;
    } else {
      word += c;
      inside = true;
    }
  }
  if (quoted) return std::nullopt;
  flush();
  return words;
}

CommandLine parse_command_line(std::span<const std::string> arguments) {
  CommandLine line;
  Parser(line).read(arguments, 0);
  if (line.doubt.empty())
    line.untouched = line.with({});
  else
    std::ranges::copy_if(arguments, std::back_inserter(line.untouched),
                         [](const std::string& word) { return !word.starts_with(own_prefix); });
  return line;
}

std::vector<std::string> CommandLine::inputs() const {
  std::vector<std::string> paths;
  for (const Item& item : items)
    if (item.kind == Item::Kind::input) paths.push_back(item.value);
  return paths;
}

std::vector<std::string> CommandLine::own_options() const {
  std::vector<std::string> options;
  for (const Item& item : items)
    if (item.kind == Item::Kind::own) options.push_back(item.value);
  return options;
}

const Item* CommandLine::last(Role role) const {
  const Item* found = nullptr;
  for (const Item& item : items)
    if (item.kind == Item::Kind::option && item.option->role == role) found = &item;
  return found;
}

std::ptrdiff_t CommandLine::count(Role role) const {
  return std::ranges::count_if(items, [&](const Item& item) {
    return item.kind == Item::Kind::option && item.option->role == role;
  });
}

std::string CommandLine::output() const {
  const Item* item = last(Role::output);
  return item == nullptr ? "elf.o" : item->value;
}

std::string CommandLine::architecture() const {
  const Item* item = last(Role::gpu);
  return item == nullptr ? "sm_75" : item->value;
}

std::optional<unsigned> CommandLine::opt_level() const {
  const Item* item = last(Role::opt_level);
  if (item == nullptr) return std::nullopt;
  unsigned level = 0;
  const char* end = item->value.data() + item->value.size();
  return std::from_chars(item->value.data(), end, level).ptr == end ? std::optional(level)
                                                                    : std::nullopt;
}

bool CommandLine::gives(std::string_view long_name) const {
  return std::ranges::any_of(items, [&](const Item& item) {
    return item.kind == Item::Kind::option && item.option->long_name == long_name;
  });
}

const Item* CommandLine::ordering() const {
  const auto found = std::ranges::find_if(items, [](const Item& item) {
    return item.kind == Item::Kind::option && item.option->role == Role::cache_operator &&
           (item.value == "cv" || item.value == "wt");
  });
  return found == items.end() ? nullptr : &*found;
}

// An options file stays a file unless something in it has to change; ptxas notes the arguments in
// the cubin in either case by their meaning, not by their spelling.
std::vector<std::string> CommandLine::with(const Changes& changes) const {
  std::vector<const Item*> kept;
  std::vector<const std::string*> replacements;
  bool expand = false;
  std::size_t input = 0;
  for (const Item& item : items) {
    const std::string* replacement = nullptr;
    bool drop = item.kind == Item::Kind::own;
    if (item.kind == Item::Kind::input) {
      if (input < changes.inputs.size() && changes.inputs[input])
        replacement = &*changes.inputs[input];
      ++input;
    } else if (item.kind == Item::Kind::option && changes.output) {
      drop = item.option->role == Role::output || item.option->role == Role::side_output;
    }
    if (item.from_file && (drop || replacement != nullptr)) expand = true;
    if (drop) continue;
    kept.push_back(&item);
    replacements.push_back(replacement);
  }

  std::vector<std::string> words;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Item& item = *kept[i];
    const bool is_file = item.option != nullptr && item.option->role == Role::options_file;
    if (expand ? is_file : item.from_file) continue;
    if (replacements[i] != nullptr)
      words.push_back(*replacements[i]);
    else
      words.insert(words.end(), item.words.begin(), item.words.end());
  }
  if (!changes.entries.empty() && !gives("entry"))
    words.insert(words.end(), {"--entry", changes.entries});
  if (changes.output) words.insert(words.end(), {"-o", *changes.output});
  if (changes.verbose && !has(Role::verbose)) words.emplace_back("-v");
  if (changes.line_info && !gives("generate-line-info")) words.emplace_back("-lineinfo");
  return words;
}

} // namespace ptxasw::driver
