// Both cubins are written down in names instead of numbers, and what is written is compared.
#include "sass/same_function.hpp"

#include "sass/bytes.hpp"

#include <algorithm>
#include <elf.h>
#include <utility>

namespace ptxasw::sass {
namespace {

constexpr std::uint8_t entry_flag = 0x10;     // STO_CUDA_ENTRY
constexpr std::uint32_t registers_shift = 24; // of a .text section's sh_info

// Attributes (EIATTR) whose first word is a symbol, and those that are a list of symbols.
constexpr std::uint8_t parameter_bank = 0x0a, externs = 0x0f;

using Words = std::vector<std::string>;

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

// Named by numbers of banks, and one for all functions of a module.
bool is_bank(std::string_view name) {
  constexpr std::string_view prefix = ".nv.constant";
  return name.starts_with(prefix) &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

bool is_of_relocations(const Section& section) {
  return section.type == SHT_REL || section.type == SHT_RELA;
}

class Description {
public:
  explicit Description(const Cubin& cubin) : cubin_(cubin), symbols_(cubin.symbols()) {
    name_helpers();
    for (std::size_t n = 0; n < symbols_.size(); ++n)
      if (symbols_[n].type == STT_FUNC) functions_.emplace(name_of(n), n);
    relocations_.resize(cubin.sections().size());
    for (const Section& table : cubin.sections())
      if (is_of_relocations(table) && table.info < relocations_.size())
        for (const Relocation& relocation : relocations(table))
          relocations_[table.info].push_back(relocation);
    if (const Section* info = cubin.find(".nv.info")) common_ = attributes(info->bytes, true);
  }

  [[nodiscard]] const std::map<std::string, std::size_t, std::less<>>& functions() const {
    return functions_;
  }

  // All that counts of a function, part by part.
  [[nodiscard]] std::map<std::string, Words> of(const std::string& function) const {
    std::map<std::string, Words> parts;
    const Symbol& symbol = symbols_[functions_.find(function)->second];
    parts["its symbol"] = {number(symbol.binding), number(symbol.other), number(symbol.value),
                           number(symbol.size)};
    if (symbol.section < cubin_.sections().size())
      parts["its code"] = {
          std::string(slice(cubin_.sections()[symbol.section].bytes, symbol.value, symbol.size))};
    for (std::size_t n = 0; n < cubin_.sections().size(); ++n) {
      const Section& section = cubin_.sections()[n];
      if (!is_own(section, function)) continue;
      const std::string name(section.name);
      if (section.name == ".nv.info." + function) {
        parts[name] = as_words(attributes(section.bytes, false));
        continue;
      }
      parts[name] = {number(section.type), number(section.flags), number(section.size),
                     number(section.info >> registers_shift), std::string(section.bytes)};
      if (!section.name.starts_with(text_prefix)) parts[name][3].clear();
      parts["what is put into " + name] = puts(n);
    }
    for (const Attribute& attribute : common_)
      if (attribute.symbol == function) parts[".nv.info"].push_back(attribute.text);
    std::ranges::sort(parts[".nv.info"]);
    return parts;
  }

  // What the machine code of any function may name by an offset into a bank.
  [[nodiscard]] std::map<std::string, std::pair<std::string, Words>> banks() const {
    std::map<std::string, std::pair<std::string, Words>> all;
    for (std::size_t n = 0; n < cubin_.sections().size(); ++n)
      if (const Section& section = cubin_.sections()[n]; is_bank(section.name))
        all[std::string(section.name)] = {std::string(section.bytes), puts(n)};
    return all;
  }

  // Variables: all but where they lie, unless it is in a bank.
  [[nodiscard]] std::map<std::string, Words> variables() const {
    std::map<std::string, Words> all;
    for (std::size_t n = 0; n < symbols_.size(); ++n) {
      const Symbol& symbol = symbols_[n];
      if (symbol.type != STT_OBJECT) continue;
      const std::string_view home = section_name(symbol);
      Words& words = all[name_of(n)];
      words = {number(symbol.binding), number(symbol.other), number(symbol.size),
               std::string(home)};
      if (symbol.section >= cubin_.sections().size()) continue;
      const Section& section = cubin_.sections()[symbol.section];
      words.emplace_back(slice(section.bytes, symbol.value, symbol.size));
      if (is_bank(home)) words.push_back(number(symbol.value));
      for (const Relocation& r : relocations_[symbol.section])
        if (r.offset >= symbol.value && r.offset - symbol.value < symbol.size)
          words.push_back(text_of(r, r.offset - symbol.value));
    }
    return all;
  }

private:
  struct Attribute {
    std::string symbol, text;
  };

  // A helper that ptxas made for one kernel is known by that kernel, where it lies in its code, and
  // what it does. Of two that are there to be known by the same, each has its own name.
  void name_helpers() {
    std::map<std::string, std::vector<std::size_t>> found;
    for (std::size_t n = 0; n < symbols_.size(); ++n)
      if (std::string name = name_of_helper(symbols_[n]); !name.empty()) found[name].push_back(n);
    for (const auto& [name, symbols] : found)
      if (symbols.size() == 1) helpers_.emplace(symbols[0], name);
  }

  // Empty: it is none. "$__internal_2_$__cuda_sm3x_div_rn_noftz_f32_slowpath" in .text.blur is
  // "blur+1552 __cuda_sm3x_div_rn_noftz_f32_slowpath": ptxas counts them through the module.
  [[nodiscard]] std::string name_of_helper(const Symbol& symbol) const {
    constexpr std::string_view prefix = "$__internal_", between = "_$";
    std::string_view name = symbol.name, home = section_name(symbol);
    if (symbol.type != STT_FUNC || !name.starts_with(prefix) || !home.starts_with(text_prefix))
      return {};
    name.remove_prefix(prefix.size());
    const std::size_t digits = name.find_first_not_of("0123456789");
    if (digits == 0 || digits == name.npos || !name.substr(digits).starts_with(between)) return {};
    home.remove_prefix(text_prefix.size());
    const bool has_owner =
        home != symbol.name && std::ranges::any_of(symbols_, [&](auto& other) {
          return other.type == STT_FUNC && other.name == home && other.section == symbol.section;
        });
    if (!has_owner) return {};
    return std::string(home) + '+' + number(symbol.value) + ' ' +
           std::string(name.substr(digits + between.size()));
  }

  static bool is_own(const Section& section, std::string_view function) {
    const std::string_view name = section.name;
    return !is_of_relocations(section) && name.ends_with(function) &&
           name.size() > function.size() && name[name.size() - function.size() - 1] == '.' &&
           name.starts_with('.') && !name.starts_with(".debug") && !name.starts_with(".nv_debug");
  }

  [[nodiscard]] std::string_view section_name(const Symbol& symbol) const {
    return symbol.section < cubin_.sections().size() ? cubin_.sections()[symbol.section].name
                                                     : std::string_view{};
  }

  [[nodiscard]] std::string name_of(std::uint64_t n) const {
    if (n >= symbols_.size()) return "no symbol";
    const Symbol& symbol = symbols_[n];
    if (symbol.type == STT_SECTION) return "section " + std::string(section_name(symbol));
    if (const auto helper = helpers_.find(n); helper != helpers_.end()) return helper->second;
    return std::string(symbol.name);
  }

  [[nodiscard]] std::string text_of(const Relocation& r, std::uint64_t offset) const {
    return number(offset) + ' ' + number(r.type) + ' ' + name_of(r.symbol) + ' ' +
           std::to_string(r.addend);
  }

  [[nodiscard]] Words puts(std::size_t section) const {
    Words words;
    for (const Relocation& r : relocations_[section])
      words.push_back(text_of(r, r.offset));
    std::ranges::sort(words);
    return words;
  }

  // A row of them: a format, a number, and 16 bits that are the value or the size of what follows.
  // `of_all`: in .nv.info, where the first word of most says of which function they are.
  [[nodiscard]] std::vector<Attribute> attributes(std::string_view bytes, bool of_all) const {
    constexpr std::uint8_t sized = 4;
    std::vector<Attribute> all;
    while (const auto word = read<std::uint32_t>(bytes, 0)) {
      const std::uint8_t format = *word & 0xff, which = *word >> 8 & 0xff;
      const std::uint32_t size = format == sized ? *word >> 16 : 0;
      if (bytes.size() - 4 < size) break;
      const std::string_view value = bytes.substr(4, size);
      bytes.remove_prefix(4 + size);
      all.push_back(attribute(of_all, format, which, *word >> 16, value));
    }
    if (!bytes.empty()) all.push_back({{}, "damaged"});
    return all;
  }

  [[nodiscard]] Attribute attribute(bool of_all, std::uint8_t format, std::uint8_t which,
                                    std::uint32_t word, std::string_view value) const {
    Attribute made{{}, number(format) + ' ' + number(which) + ' ' + number(word) + ' '};
    const auto symbol = read<std::uint32_t>(value, 0);
    if (symbol && which == externs) {
      for (std::uint64_t at = 0; const auto next = read<std::uint32_t>(value, at); at += 4)
        made.text += name_of(*next) + ' ';
      return made;
    }
    if (symbol && which == parameter_bank) {
      made.text += name_of(*symbol);
      value.remove_prefix(4);
    } else if (of_all && symbol && *symbol < symbols_.size() &&
               symbols_[*symbol].type == STT_FUNC) {
      made.symbol = name_of(*symbol);
      value.remove_prefix(4);
    }
    made.text.append(value);
    return made;
  }

  // In .nv.info.FUNCTION.
  static Words as_words(const std::vector<Attribute>& all) {
    Words words;
    for (const Attribute& attribute : all)
      words.push_back(attribute.text);
    return words;
  }

  const Cubin& cubin_;
  std::vector<Symbol> symbols_;
  std::map<std::uint64_t, std::string> helpers_; // by symbol
  std::map<std::string, std::size_t, std::less<>> functions_;
  std::vector<std::vector<Relocation>> relocations_; // by section
  std::vector<Attribute> common_;
};

std::string first_difference(const std::map<std::string, Words>& original,
                             const std::map<std::string, Words>& other) {
  for (const auto& [part, words] : original) {
    const auto found = other.find(part);
    if (found == other.end()) return "there is no " + part;
    if (found->second != words) return part + " is another";
  }
  for (const auto& [part, words] : other)
    if (!original.contains(part)) return part + " is new";
  return {};
}

std::string of_module(const Description& original, const Description& other) {
  const auto banks = other.banks();
  for (const auto& [name, was] : original.banks()) {
    const auto found = banks.find(name);
    if (found == banks.end() || !found->second.first.starts_with(was.first) ||
        !std::ranges::includes(found->second.second, was.second))
      return name + " is another";
  }
  const auto variables = other.variables();
  for (const auto& [name, was] : original.variables()) {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second != was)
      return "the variable " + name + " is another";
  }
  return {};
}

} // namespace

std::vector<std::string> kernels_of(const Cubin& cubin) {
  std::vector<std::string> names;
  for (const Symbol& symbol : cubin.symbols())
    if (symbol.type == STT_FUNC && (symbol.other & entry_flag) != 0)
      names.emplace_back(symbol.name);
  return names;
}

std::string described(const Cubin& cubin) {
  const Description all(cubin);
  std::string text = "chip " + number(cubin.architecture()) + '\n';
  const auto add = [&](std::string_view word) { // where one ends and the next begins counts
    text.append(number(word.size())).append(" ").append(word).append("\n");
  };
  const auto add_all = [&](std::string_view name, const Words& words) {
    add(name);
    add(number(words.size()));
    for (const std::string& word : words)
      add(word);
  };
  for (const auto& [function, symbol] : all.functions())
    for (const auto& [part, words] : all.of(function))
      add_all(std::string(function).append(" ").append(part), words);
  for (const auto& [bank, content] : all.banks()) {
    add_all(bank, content.second);
    add(content.first);
  }
  for (const auto& [variable, words] : all.variables())
    add_all(variable, words);
  return text;
}

std::map<std::string, std::string, std::less<>> differences(const Cubin& original,
                                                            const Cubin& other) {
  std::map<std::string, std::string, std::less<>> found;
  const Description was(original), is(other);
  if (std::string why = of_module(was, is); !why.empty()) found.emplace("", std::move(why));
  if (original.architecture() != other.architecture()) found.emplace("", "it is for another chip");
  for (const auto& [name, symbol] : was.functions()) {
    if (!is.functions().contains(name)) {
      found.emplace(name, "there is none");
      continue;
    }
    if (std::string why = first_difference(was.of(name), is.of(name)); !why.empty())
      found.emplace(name, std::move(why));
  }
  return found;
}

} // namespace ptxasw::sass
