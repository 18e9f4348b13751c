// ptxasw run: runs one kernel of a PTX file on the CPU.
#include "launch.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>

namespace ptxasw::tool {
namespace {

struct Wanted {
  LaunchText launch;
  std::string schedule = "lockstep";
  std::vector<std::string> print, write;
  std::uint64_t seed = 0;
  unsigned resident = 1;
  bool counts = false, undefined = false, races = false, across_iterations = false;
};

simt::Schedule::Kind schedule_kind(const std::string& name) {
  if (name == "independent") return simt::Schedule::Kind::independent;
  if (name == "one-lane") return simt::Schedule::Kind::one_lane;
  return simt::Schedule::Kind::lockstep;
}

// "2:f32:8" is argument 2, its first 8 elements as f32; type and count may be
// missing.
struct Part {
  std::string buffer, type = "u32";
  std::size_t count = 16;
};
Part read_part(const std::string& text) {
  Part part;
  const std::size_t type = text.find(':');
  const std::size_t count =
      type == std::string::npos ? std::string::npos : text.find(':', type + 1);
  part.buffer = text.substr(0, type);
  if (part.buffer.find_first_not_of("0123456789") == std::string::npos)
    part.buffer = fmt::format("arg{}", part.buffer);
  if (type != std::string::npos) part.type = text.substr(type + 1, count - type - 1);
  if (count != std::string::npos) part.count = std::strtoull(&text[count + 1], nullptr, 10);
  return part;
}

const simt::Allocation& buffer(const simt::Memory& memory, const std::string& name) {
  const simt::Allocation* found = memory.find(name);
  if (found == nullptr) throw std::runtime_error("there is no buffer " + name);
  return *found;
}

template <class T, class Show = T> std::string show(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return fmt::format("{}", static_cast<Show>(value));
}

struct Format {
  std::string_view name;
  std::size_t bytes;
  std::string (*show)(const std::uint8_t*);
};
constexpr Format formats[] = {
    {"u8", 1, show<std::uint8_t, unsigned>},
    {"s8", 1, show<std::int8_t, int>},
    {"u16", 2, show<std::uint16_t>},
    {"s16", 2, show<std::int16_t>},
    {"u32", 4, show<std::uint32_t>},
    {"s32", 4, show<std::int32_t>},
    {"u64", 8, show<std::uint64_t>},
    {"s64", 8, show<std::int64_t>},
    {"f32", 4, show<float>},
    {"f64", 8, show<double>},
};

std::string print(const simt::Memory& memory, const Part& part) {
  const simt::Allocation& from = buffer(memory, part.buffer);
  const auto* format = std::ranges::find(formats, part.type, &Format::name);
  if (format == std::end(formats)) throw std::runtime_error("there is no type " + part.type);
  std::string text = fmt::format("{}:", part.buffer);
  for (std::size_t i = 0; i < part.count && (i + 1) * format->bytes <= from.data.size(); ++i)
    text += fmt::format(" {}", format->show(&from.data[i * format->bytes]));
  text += '\n';
  return text;
}

void run_kernel(const Wanted& wanted, const Options& options) {
  auto [program, memory, launch] = prepare(wanted.launch, read_ptx(wanted.launch.input), options);
  launch.schedule = {schedule_kind(wanted.schedule), wanted.seed, wanted.resident,
                     wanted.across_iterations};
  launch.report_undefined = wanted.undefined;
  launch.report_races = wanted.races;
  const simt::Result result = simt::run(*program, launch, memory);
  std::string text = result.printed;
  for (const std::string& part : wanted.print)
    text += print(memory, read_part(part));
  if (wanted.counts)
    text += fmt::format("warp instructions {}, thread instructions {}\n"
                        "global loads: {} requests, {} sectors; stores: {} requests, {} "
                        "sectors\n"
                        "shuffles {}, barriers {}\n",
                        result.counts.warp_instructions, result.counts.thread_instructions,
                        result.counts.global_load_requests, result.counts.global_load_sectors,
                        result.counts.global_store_requests, result.counts.global_store_sectors,
                        result.counts.shuffles, result.counts.barriers);
  write_text("-", text);
  if (!result.ok())
    throw std::runtime_error(fmt::format("{}: {}", simt::name(result.status), result.message));
  for (const std::string& part : wanted.write) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos) throw std::runtime_error("--write takes ARGUMENT:FILE");
    const auto& data = buffer(memory, read_part(part.substr(0, colon)).buffer).data;
    write_text(part.substr(colon + 1),
               std::string_view(reinterpret_cast<const char*>(data.data()), data.size()));
  }
}

} // namespace

int run(Arguments arguments) {
  Parser app("run", "Runs one kernel of a PTX file on the CPU. What is "
                    "undefined on a GPU (accesses out "
                    "of bounds,\nlanes that do not arrive at a shuffle, ...) "
                    "ends the run with a message.");
  Wanted wanted;
  add_launch_options(app, wanted.launch);
  app.footer("  --block=XxYxZ  threads of a block (32)\n\n"
             "Example, a kernel that takes two arrays and a length:\n"
             "  ptxasw run k.ptx --grid=2 --block=64 --arg=random:f32:128:1 "
             "--arg=zeros:512 "
             "--arg=128 --print=1:f32:8");
  app.add("--print", wanted.print,
          "ARGUMENT[:TYPE[:COUNT]]: show a buffer after the run (u32, 16)");
  app.add("--write", wanted.write, "ARGUMENT:FILE: write a buffer after the run");
  app.add("--schedule", wanted.schedule, "lockstep, independent or one-lane",
          {.choices = {"lockstep", "independent", "one-lane"}});
  app.add("--seed", wanted.seed, "of the schedule; 0 keeps the blocks in order");
  app.add("--resident", wanted.resident, "blocks that take turns (1)");
  app.add("--across-trips", wanted.across_iterations,
          "independent lanes may meet in different trips of a loop, as no "
          "hardware does");
  app.add("--counts", wanted.counts, "show instructions, requests and sectors");
  app.add("--report-undefined", wanted.undefined,
          "stop when an undefined value reaches memory, an address or a branch");
  app.add("--report-races", wanted.races, "stop at a data race");
  Options options;
  return parse_and(app, options, std::move(arguments), [&] {
    run_kernel(wanted, options);
    return exit_done;
  });
}

} // namespace ptxasw::tool
