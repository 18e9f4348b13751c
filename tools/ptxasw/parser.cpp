// The rows of a Parser, for CLI11, as a manual page and as words.
#include "parser.hpp"

#include "command_line.hpp"
#include "nearest.hpp"
#include "words/words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

namespace ptxasw::tool {
namespace {

constexpr std::array<ExitCode, 5> codes{{
    {exit_done, "done; verify: equal"},
    {exit_failed, "it failed, or the answer is no (verify: different)"},
    {exit_usage, "a mistake on the command line"},
    {exit_not_shown, "verify: no difference was seen, but that does not show "
                     "that there is none"},
    {exit_no_input, "an input cannot be read, is no PTX, or has no such kernel"},
}};

bool is_option(std::string_view names) {
  return names.starts_with('-');
}

// Of roff: dashes that can be searched for, and no line that begins with a
// request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == '\\') out += '\\';
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    out += c;
  }
  return out;
}

std::string without_breaks(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string page_head(const std::string& name) {
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  const auto command = std::ranges::find(sub_commands(), std::string_view(name), &SubCommand::name);
  return fmt::format(".TH PTXASW\\-{} 1 \"\" \"ptxasw {}\" \"User Commands\"\n"
                     ".SH NAME\nptxasw\\-{} \\- {}\n",
                     roff(upper), version(), roff(name), roff(command->summary));
}

} // namespace

std::string manual_page_of(std::string_view name, std::string_view usage) {
  return page_head(std::string(name)) +
         fmt::format(".SH DESCRIPTION\n.nf\n{}\n.fi\n.SH SEE ALSO\n.BR ptxasw (1)\n", roff(usage));
}

std::span<const ExitCode> exit_codes() {
  return codes;
}

std::vector<std::string> Parser::options() const {
  std::vector<std::string> all{"-h", "--help"};
  for (const Row& row : rows_)
    if (is_option(row.names))
      for (const std::string_view name : words::split(row.names, ','))
        all.emplace_back(name);
  return all;
}

bool Parser::knows(std::string_view option) const {
  const std::vector<std::string> all = options();
  return std::ranges::find(all, option) != all.end();
}

std::string Parser::footer_text() const {
  std::string text = footer_;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (optimizer_) text += "\nOptions of the optimizer:\n" + optimizer_help();
  text += "\nExit codes:\n";
  for (const ExitCode& each : codes)
    text += fmt::format("  {}  {}\n", each.code, each.meaning);
  return text;
}

std::string Parser::manual_page() const {
  std::string page = page_head(name_);
  page += fmt::format(".SH SYNOPSIS\n.B {}{}\n[\\fIOPTIONS\\fR]", roff(program_), roff(name_));
  for (const Row& row : rows_)
    if (!is_option(row.names))
      page += row.check.required ? fmt::format(" \\fI{}\\fR", roff(row.names))
                                 : fmt::format(" [\\fI{}\\fR]", roff(row.names));
  page += fmt::format("\n.SH DESCRIPTION\n{}\n", roff(what_));
  page += ".SH OPTIONS\n";
  for (const Row& row : rows_)
    page += fmt::format(".TP\n.B {}\n{}\n", roff(row.names), roff(without_breaks(row.help)));
  page += ".TP\n.B \\-h,\\-\\-help\nShow what the command takes.\n";
  if (!footer_.empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer_));
  if (optimizer_) page += ".PP\nThe options of the optimizer are those of \\fBptxasw\\fR(1).\n";
  page += ".SH EXIT STATUS\n";
  for (const ExitCode& each : codes)
    page += fmt::format(".TP\n.B {}\n{}\n", each.code, roff(each.meaning));
  return page + ".SH SEE ALSO\n.BR ptxasw (1)\n";
}

// One line each: the word, a tab, what it does.
std::string Parser::words() const {
  std::string text;
  for (const Row& row : rows_) {
    if (!is_option(row.names)) continue;
    const std::string help = without_breaks(row.help.substr(0, row.help.find('\n')));
    const bool flag = std::holds_alternative<bool*>(row.target);
    for (const std::string_view name : words::split(row.names, ',')) {
      for (const std::string& choice : row.check.choices)
        text += fmt::format("{}={}\t{}\n", name, choice, help);
      if (row.check.choices.empty())
        text += fmt::format("{}{}\t{}\n", name, flag || !name.starts_with("--") ? "" : "=", help);
    }
  }
  text += "--help\tshow what the command takes\n";
  if (!optimizer_) return text;
  for (const OptionHelp& option : option_help())
    text += fmt::format("--{}{}\t{}\n", option.name, option.value.empty() ? "" : "=",
                        option.help.substr(0, option.help.find_first_of(".\n")));
  return text;
}

std::optional<std::string> Parser::unknown_option(const Arguments& arguments) const {
  const std::vector<std::string> known = options();
  for (const std::string& word : arguments) {
    if (word == "--") break;
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(known, name) != known.end()) continue;
    std::vector<std::string> all = known;
    if (optimizer_)
      for (const OptionHelp& option : option_help())
        all.push_back(fmt::format("--{}", option.name));
    const std::vector<std::string_view> views(all.begin(), all.end());
    return fmt::format("there is no option {}{}", name, did_you_mean(name, views));
  }
  return std::nullopt;
}

std::optional<int> Parser::read(Arguments arguments) const {
  CLI::App app(what_, program_ + name_);
  app.footer(footer_text());
  for (const Row& row : rows_) {
    CLI::Option* option = std::visit(
        [&]<class T>(T* target) {
          if constexpr (std::is_same_v<T, bool>)
            return app.add_flag(row.names, *target, row.help);
          else
            return app.add_option(row.names, *target, row.help);
        },
        row.target);
    const bool repeated = std::holds_alternative<std::vector<std::string>*>(row.target);
    if (repeated && is_option(row.names)) option->allow_extra_args(false);
    if (row.check.required) option->required();
    if (!row.check.choices.empty()) option->check(CLI::IsMember(row.check.choices));
    if (row.check.least != 0 || row.check.most != ~std::uint64_t{0})
      option->check(CLI::Range(row.check.least, row.check.most));
  }
  const auto asks = [&](std::string_view word) {
    return std::ranges::find(arguments, word) != arguments.end();
  };
  if (asks("--help=man")) return write_text("-", manual_page()), exit_done;
  if (asks("--help=words")) return write_text("-", words()), exit_done;
  if (asks("--help") || asks("-h")) return write_text("-", app.help()), exit_done;
  if (const auto mistake = unknown_option(arguments)) throw UsageError(*mistake);
  try {
    std::ranges::reverse(arguments); // as CLI11 wants them
    app.parse(arguments);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

} // namespace ptxasw::tool
