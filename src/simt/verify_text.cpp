// What verify found, for people.
#include "simt/args.hpp"
#include "simt/verify.hpp"

#include <fmt/format.h>

namespace ptxasw::simt {

namespace {

// What is missing, and what may help.
std::string missing_text(const VerifyResult& result) {
  std::string text = "\n";
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(result.missing.size(), most); ++i)
    text += fmt::format("  {}\n", result.missing[i]);
  if (result.missing.size() > most)
    text += fmt::format("  and {} more\n", result.missing.size() - most);
  if (result.outside != 0)
    text += fmt::format("  {} of them lie outside the launches that were given (--grid, --block, "
                        "--arg)\n",
                        result.outside);
  if (result.races != 0)
    text += fmt::format("  {} launches differ, and the first version has a data race there: {}\n",
                        result.races, result.race_reason);
  if (result.out_of_time) text += "  the time is over (--time)\n";
  if (result.equal == 0)
    text += "  nothing that writes could be compared\n";
  else if (result.equal < result.left_out)
    text += "  too few launches could be compared\n";
  return text + "  what may help: sizes and arrays as the program has them (--arg), its --grid and "
                "--block,\n  --no-alias\n";
}

} // namespace

std::string VerifyLaunch::command(std::string_view kernel) const {
  std::string text =
      fmt::format("--kernel={} --grid={} --block={}", kernel, text_of(grid), text_of(block));
  for (const std::string& argument : arguments)
    text += argument.starts_with('{') ? fmt::format(" '--arg={}'", argument) // for the shell
                                      : fmt::format(" --arg={}", argument);
  return text + fmt::format(" --shared={}", dynamic_shared);
}

std::string text_of(const VerifyResult& result, std::string_view kernel) {
  if (!result.error.empty()) return fmt::format("{}: {}\n", kernel, result.error);
  std::string text;
  if (result.failure) {
    const VerifyFailure& f = *result.failure;
    text += fmt::format("{}: different\n  {}\n", kernel, f.what);
    if (!f.left_store.empty()) text += fmt::format("  first:  {}\n", f.left_store);
    if (!f.right_store.empty()) text += fmt::format("  second: {}\n", f.right_store);
    text += fmt::format("  launch: {} {}\n", f.launch.command(kernel), f.schedule.options());
    return text;
  }
  const unsigned launches = result.equal + result.idle + result.left_out;
  if (result.shown())
    text += fmt::format("{}: equal on {} launches", kernel, result.equal);
  else if (result.equal != 0 && result.equal == launches)
    text += fmt::format("{}: none of {} launches differs, but not all of it was reached", kernel,
                        launches);
  else
    text += fmt::format("{}: not shown to be equal: {} of {} launches agree", kernel, result.equal,
                        launches);
  if (result.idle != 0) text += fmt::format(", {} wrote nothing", result.idle);
  if (result.left_out != 0)
    text += fmt::format(", {} left out ({})", result.left_out, result.left_out_reason);
  if (result.goals != 0)
    text += fmt::format("\n  {} of {} places that count were reached",
                        result.goals - result.missing.size(), result.goals);
  if (!result.shown()) return text + missing_text(result);
  const auto change = [&](std::string_view what, std::uint64_t before, std::uint64_t after) {
    text += fmt::format("\n  {:22} {:>10} -> {:>10}", what, before, after);
    if (before != 0)
      text += fmt::format("  ({:+.1f}%)",
                          100.0 * (static_cast<double>(after) / static_cast<double>(before) - 1));
  };
  text += "\n  counted over these launches, which are small; no prediction of the time:";
  change("global load requests", result.left.global_load_requests,
         result.right.global_load_requests);
  change("global load sectors", result.left.global_load_sectors, result.right.global_load_sectors);
  change("warp instructions", result.left.warp_instructions, result.right.warp_instructions);
  if (result.left.shuffles + result.right.shuffles != 0)
    change("shuffles among them", result.left.shuffles, result.right.shuffles);
  return text + "\n";
}

} // namespace ptxasw::simt
