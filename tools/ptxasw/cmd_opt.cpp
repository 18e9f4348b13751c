// ptxasw opt: one PTX file in, the rewritten one out.
#include "driver/coarsen_search.hpp"
#include "driver/contraction_search.hpp"
#include "driver/files.hpp"
#include "driver/find_ptxas.hpp"
#include "options.hpp"
#include "ptxasw/ptxasw.hpp"
#include "report/report.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace ptxasw::tool {
namespace {

void print_statistics(const Report& report) {
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? 100.0
                      : 100.0 * static_cast<double>(whole - part) / static_cast<double>(whole);
  };
  fmt::print(stderr, "understood: {:.2f}% of {} statements, {:.2f}% of {} bytes\n",
             share(report.opaque_statements, report.statements), report.statements,
             share(report.opaque_bytes, report.bytes), report.bytes);
  fmt::print(stderr, "parse {:.2f} ms, analyze and rewrite {:.2f} ms, print {:.2f} ms\n",
             report.parse_ms, report.analyze_ms, report.print_ms);
}

std::string rendered(const Report& report, const std::string& path, std::string_view before,
                     std::string_view after) {
  if (path.ends_with(".json")) return report::to_json(report);
  if (path.ends_with(".html")) return report::to_html(report, before, after);
  return report::to_text(report);
}

std::string target_of(const std::string& text) {
  const std::size_t directive = text.find(".target");
  const std::size_t begin = text.find("sm_", directive);
  if (directive == std::string::npos || begin == std::string::npos) return "sm_75";
  return text.substr(begin, text.find_first_of(", \t\r\n", begin) - begin);
}

// The ptxas to ask, if there is one, and for what.
struct Assembler {
  driver::Environment environment = driver::Environment::current();
  tl::expected<std::string, std::string> ptxas =
      driver::find_ptxas({driver::own_program_file(), ""}, environment);
  std::string architecture;

  Assembler(const std::string& text, const Options& options)
      : architecture(options.architecture.empty() ? target_of(text) : options.architecture) {}
};

// The text with ptxas' own choice of fused products written down, where ptxas is there to be asked.
std::string pin(const std::string& text, const std::string& name,
                const std::vector<std::string>& kernels, const Options& options) {
  const Assembler to_ask(text, options);
  if (!to_ask.ptxas) return text;
  const auto choices = driver::find_contractions(
      text, name, kernels,
      driver::assemble_alone(*to_ask.ptxas, to_ask.architecture, to_ask.environment));
  return pin_contraction(text, name, choices);
}

// What pays among the ways to coarsen, where ptxas is there to be asked.
std::optional<driver::CoarsenSearch> search(const std::string& text, const std::string& name,
                                            const Report& report, const Options& options) {
  const bool any = std::ranges::any_of(
      report.kernels, [](const KernelReport& kernel) { return !kernel.candidates.empty(); });
  if (!any) return std::nullopt;
  const Assembler to_ask(text, options);
  if (!to_ask.ptxas) return std::nullopt;
  int interrupted = 0;
  auto found = driver::find_coarsenings(
      text, report, options, {.architecture = to_ask.architecture},
      [&](const Options& tried) { return optimize(text, name, tried).text; },
      [&](const auto& texts, const auto& kernels) {
        const auto arguments = [&](const std::string& source, const std::string& cubin) {
          return std::vector<std::string>{"-arch=" + to_ask.architecture,
                                          "-v",
                                          source,
                                          "-o",
                                          cubin,
                                          "--entry",
                                          fmt::format("{}", fmt::join(kernels, ","))};
        };
        return driver::assemble_all(*to_ask.ptxas, to_ask.environment, texts, arguments,
                                    interrupted);
      });
  if (interrupted != 0) std::exit(driver::end_like({.interrupted = interrupted}));
  return found;
}

} // namespace

int opt(Arguments arguments) {
  CLI::App app("Rewrites a PTX file. With an output file, the report goes to standard output.",
               "ptxasw opt");
  std::string input, output = "-", report_file;
  bool statistics = false, quiet = false;
  app.add_option("INPUT", input, "PTX file; - is standard input")->required();
  app.add_option("-o,--output", output, "where to write the PTX (standard output)");
  app.add_option("--report", report_file, "also write the report to FILE.json, .html or .txt");
  app.add_flag("--stats", statistics, "how much was understood, and times, on standard error");
  app.add_flag("-q,--quiet", quiet, "no report on standard output");
  app.footer("Options of the optimizer:\n" + optimizer_help());
  Options options;
  return parse_and(app, options, std::move(arguments), [&] {
    const std::string text = read_text(input), name = input == "-" ? "<stdin>" : input;
    std::string pinned = text;
    Optimized result = optimize(text, name, options);
    if (const auto kernels = driver::held_back_by_contraction(result.report); !kernels.empty()) {
      pinned = pin(text, name, kernels, options);
      if (pinned != text) result = optimize(pinned, name, options);
    }
    if (const auto found = search(pinned, name, result.report, options)) {
      options.coarsen_kernels = found->choices();
      result = optimize(pinned, name, options);
      driver::describe(*found, result.report);
    }
    if (!result.changed) result.text = text;
    write_text(output, result.text);
    if (output != "-" && !quiet)
      write_text("-", report::to_text(result.report, {.color = ::isatty(STDOUT_FILENO) == 1}));
    if (!report_file.empty())
      write_text(report_file, rendered(result.report, report_file, text, result.text));
    if (statistics) print_statistics(result.report);
  });
}

} // namespace ptxasw::tool
