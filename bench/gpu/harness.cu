// The GPU harness: runs the cases of a plan and writes one JSON object a line.
//
//   harness MODE PLAN [--start=N] [--exclude=CASE:VARIANT]... [--seed=N] [--seconds=S] [--rounds=N]
//           [--limit=S]
//
//   plan    only reads the plan and lists it (needs the driver's library, but no GPU)
//   check   each variant on poisoned outputs against the first one, bit for bit, twice: on floats
//           in [0.5, 1.5) and on raw bits
//   time    the same check once, then medians of interleaved, event-timed rounds
//   sweep   the same for short launches: a sample is a graph of many of them, one after another
//   launches  the same, but a sample is what a host launches in a row, with what that costs it
//   traps   trap kernels: all memory against the first variant's, and digests of the regions
//   digest  digests of all arrays behind the first variant, on the same two kinds of data
//   count   one launch of each variant between profiler start and stop, for ncu
//
// A failed launch is reported and the rest goes on. An error that spoils the context (a bad
// address, a trap) ends the process with status 3 after saying where; bench/gpu/run starts it again
// behind that variant.
#include "memory.hpp"
#include "plan.hpp"

#include <cudaProfiler.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>

using namespace harness;

namespace {

struct Settings {
  std::string mode, plan;
  std::size_t start = 0;
  std::set<std::string> exclude;
  std::uint64_t seed = std::random_device{}();
  double seconds = 1.0; // of timing per case
  double limit = 0;     // seconds after which no further case begins; 0 is none
  unsigned rounds = 101;
};

struct Device {
  CUdevice id = 0;
  std::string name;
  int driver = 0, sms = 0, l2 = 0, clock_khz = 0, threads_per_sm = 0;

  int attribute(CUdevice_attribute which) const {
    int value = 0;
    check(cuDeviceGetAttribute(&value, which, id), "cuDeviceGetAttribute");
    return value;
  }
  Device() {
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&id, 0), "cuDeviceGet");
    CUcontext context = nullptr;
    check(cuDevicePrimaryCtxRetain(&context, id), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    char text[256] = {};
    check(cuDeviceGetName(text, sizeof text, id), "cuDeviceGetName");
    name = text;
    check(cuDriverGetVersion(&driver), "cuDriverGetVersion");
    sms = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    l2 = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    clock_khz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  }
};

// One JSON object on one line, flushed at once so that a crash loses nothing.
class Line {
public:
  Line() { text_ = "{"; }
  Line& text(const char* key, const std::string& value) {
    std::string quoted = "\"";
    for (char ch : value) {
      if (ch == '"' || ch == '\\') quoted += '\\';
      quoted += static_cast<unsigned char>(ch) < 0x20 ? ' ' : ch;
    }
    return raw(key, quoted + '"');
  }
  Line& number(const char* key, double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    return raw(key, std::isfinite(value) ? digits : "null");
  }
  Line& flag(const char* key, bool value) { return raw(key, value ? "true" : "false"); }
  Line& hex(const char* key, std::uint64_t value) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "\"%016llx\"", static_cast<unsigned long long>(value));
    return raw(key, digits);
  }
  void print() {
    std::printf("%s}\n", text_.c_str());
    std::fflush(stdout);
  }

private:
  Line& raw(const char* key, const std::string& value) {
    if (text_.size() > 1) text_ += ", ";
    text_ += '"';
    text_ += key;
    text_ += "\": ";
    text_ += value;
    return *this;
  }
  std::string text_;
};

Line line_of(const Case& c, const Variant& v) {
  Line line;
  line.text("case", c.name).text("variant", v.name);
  return line;
}

void launch(const Case& c, const Kernel& kernel, std::vector<std::uint64_t> values,
            CUstream stream = nullptr) {
  std::vector<void*> pointers;
  for (std::uint64_t& value : values)
    pointers.push_back(&value);
  kernel.launch(c, pointers, stream);
}

void run_steps(const Case& c, const Kernel& kernel, const Arrays& arrays, unsigned steps) {
  for (unsigned step = 0; step < steps; ++step)
    launch(c, kernel, arrays.arguments(step));
}

// An error after which every later call fails too.
bool spoils_context(CUresult code) {
  return code != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES && code != CUDA_ERROR_INVALID_VALUE &&
         code != CUDA_ERROR_OUT_OF_MEMORY && code != CUDA_ERROR_FILE_NOT_FOUND &&
         code != CUDA_ERROR_NOT_FOUND && code != CUDA_ERROR_NO_BINARY_FOR_GPU &&
         code != CUDA_ERROR_INVALID_IMAGE;
}

void report_error(const Case& c, const Variant& v, const DriverError& error) {
  const bool fatal = spoils_context(error.code);
  line_of(c, v).text("error", error.what()).flag("fatal", fatal).print();
  if (fatal) std::exit(3);
}

int threads_of(const Case& c) {
  return static_cast<int>(c.block[0] * c.block[1] * c.block[2]);
}

int blocks_per_multiprocessor(const Case& c, const Kernel& kernel) {
  int blocks = 0;
  check(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function(), threads_of(c), 0),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks;
}

Line& resources(Line& line, const Case& c, const Kernel& kernel, const Device& device) {
  const int resident = blocks_per_multiprocessor(c, kernel) * threads_of(c);
  char shape[80];
  std::snprintf(shape, sizeof shape, "%ux%ux%u of %ux%ux%u", kernel.grid()[0], kernel.grid()[1],
                kernel.grid()[2], c.block[0], c.block[1], c.block[2]);
  return line.text("launch", shape)
      .number("registers", kernel.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS))
      .number("local_bytes", kernel.attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES))
      .number("shared_bytes", kernel.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES))
      .number("occupancy", static_cast<double>(resident) / device.threads_per_sm);
}

struct Checked {
  bool equal = false;
  Mismatch mismatch;
};

// Runs a variant on the data that the first one had, and compares all memory.
Checked check_variant(const Case& c, const Kernel& kernel, Arrays& mine, const Arrays& reference,
                      std::uint64_t seed, bool bits, unsigned steps) {
  mine.fill(seed, bits);
  run_steps(c, kernel, mine, steps);
  check(cuCtxSynchronize(), "running");
  Checked result;
  result.mismatch = mine.compare_with(reference);
  result.equal = result.mismatch.words == 0;
  return result;
}

Line& verdict(Line& line, const Checked& checked) {
  line.flag("equal", checked.equal);
  if (!checked.equal)
    line.number("differing_words", static_cast<double>(checked.mismatch.words))
        .text("where", checked.mismatch.where)
        .number("word", static_cast<double>(checked.mismatch.first));
  return line;
}

bool excluded(const Settings& s, const Case& c, const Variant& v) {
  return s.exclude.count(c.name + ":" + v.name) != 0;
}

void check_case(const Settings& s, const Case& c, std::size_t number) {
  Arrays reference(c), mine(c);
  const Kernel plain(c.variants.front(), c);
  for (const bool bits : {false, true}) {
    const unsigned steps = std::min(c.steps, 2u);
    const std::uint64_t seed = s.seed + number;
    for (const Variant& v : c.variants) {
      if (excluded(s, c, v) || !v.valid) continue; // a study, or a kernel never twice the same
      try {
        if (&v == &c.variants.front()) {
          reference.fill(seed, bits);
          run_steps(c, plain, reference, steps);
          check(cuCtxSynchronize(), "running");
          continue;
        }
        const Kernel kernel(v, c);
        Line line = line_of(c, v);
        line.text("data", bits ? "bits" : "floats");
        verdict(line, check_variant(c, kernel, mine, reference, seed, bits, steps)).print();
      } catch (const DriverError& error) {
        report_error(c, v, error);
        if (&v == &c.variants.front()) return; // nothing to compare with
      }
    }
  }
}

// A variant that survived the check, with its samples.
struct Contestant {
  const Variant* variant;
  Kernel kernel;
  Checked checked;
  std::vector<double> samples; // microseconds a launch
  Event start, stop;
};

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

// How much faster than another one, round by round: what a clock or a host does to a round it does
// to both, and short launches differ by less than that.
double gain_in_pairs(const Contestant& one, const Contestant& over) {
  std::vector<double> gains;
  for (std::size_t n = 0; n < std::min(one.samples.size(), over.samples.size()); ++n)
    gains.push_back(over.samples[n] / one.samples[n]);
  return quantile(gains, 0.5);
}

struct Timing {
  unsigned batch = 1, rounds = 0;
  std::size_t sets = 1;
};

// A launcher may try this and that in the first launches of a kernel.
void settle(const Case& c, const Kernel& kernel, const Arrays& arrays) {
  constexpr unsigned at_least = 64, at_most = 400, between_waits = 8;
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned n = 0; n < at_most; n += between_waits) {
    for (unsigned k = 0; k < between_waits; ++k)
      launch(c, kernel, arrays.arguments(0));
    check(cuCtxSynchronize(), "settling");
    if (n >= at_least && std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(40))
      return;
  }
}

Timing time_contestants(const Settings& s, const Case& c, const Device& device,
                        std::vector<std::unique_ptr<Contestant>>& field,
                        std::vector<Arrays>& sets) {
  Buffer flush;
  if (c.l2 == "cold") flush = Buffer(2 * static_cast<std::size_t>(device.l2));
  std::size_t turn = 0;
  const auto sample = [&](Contestant& one, unsigned batch) {
    if (flush.bytes()) check(cuMemsetD8Async(flush.at(), 1, flush.bytes(), nullptr), "flushing");
    one.start.record();
    for (unsigned n = 0; n < batch; ++n)
      run_steps(c, one.kernel, sets[turn++ % sets.size()], c.steps);
    one.stop.record();
  };
  Timing timing;
  timing.sets = sets.size();
  double total = 0, slowest = 0;
  for (auto& one : field) { // warm up, and see how long it takes
    if (one->kernel.through_launcher()) settle(c, one->kernel, sets[0]);
    for (int n = 0; n < 3; ++n)
      sample(*one, 1);
    check(cuCtxSynchronize(), "warming up");
    const double us = one->stop.microseconds_since(one->start);
    total += us;
    slowest = std::max(slowest, us);
  }
  if (c.l2 != "cold") timing.batch = slowest < 200 ? static_cast<unsigned>(200 / slowest) + 1 : 1;
  const double rounds = s.seconds * 1e6 / (total * timing.batch);
  timing.rounds = static_cast<unsigned>(std::clamp(rounds, 9.0, static_cast<double>(s.rounds)));
  for (unsigned round = 0; round < timing.rounds; ++round) {
    for (std::size_t n = 0; n < field.size(); ++n)
      sample(*field[(round + n) % field.size()], timing.batch);
    check(cuCtxSynchronize(), "timing");
    for (auto& one : field)
      one->samples.push_back(one->stop.microseconds_since(one->start) / (timing.batch * c.steps));
  }
  return timing;
}

// Launches of one contestant, one after another, without what a host needs for each.
class Graph {
public:
  Graph(const Case& c, const Kernel& kernel, const Arrays& arrays, unsigned launches) {
    CUstream stream = nullptr;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
    for (unsigned n = 0; n < launches; ++n)
      launch(c, kernel, arrays.arguments(0), stream);
    CUgraph graph = nullptr;
    check(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    const CUresult made = cuGraphInstantiate(&graph_, graph, 0);
    cuGraphDestroy(graph);
    cuStreamDestroy(stream);
    check(made, "cuGraphInstantiate");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { cuGraphExecDestroy(graph_); }
  void run() const { check(cuGraphLaunch(graph_, nullptr), "cuGraphLaunch"); }

private:
  CUgraphExec graph_ = nullptr;
};

// Times many short launches: from a graph, so that the host does not count, or one by one.
Timing sweep_contestants(const Settings& s, const Case& c,
                         std::vector<std::unique_ptr<Contestant>>& field, const Arrays& arrays) {
  const bool graph = s.mode == "sweep";
  constexpr double sample_us = 200, most_launches = 100;
  constexpr double fewest_rounds = 7, most_rounds = 41;
  double slowest = 0;
  for (auto& one : field) // warm up, and see how long it takes
    for (int n = 0; n < 3; ++n) {
      one->start.record();
      run_steps(c, one->kernel, arrays, 1);
      one->stop.record();
      check(cuCtxSynchronize(), "warming up");
      if (n > 0) slowest = std::max(slowest, one->stop.microseconds_since(one->start));
    }
  Timing timing;
  timing.batch =
      static_cast<unsigned>(std::clamp(std::ceil(sample_us / slowest), 1.0, most_launches));
  std::vector<std::unique_ptr<Graph>> graphs;
  const auto run = [&](std::size_t n) {
    if (graph) return graphs[n]->run();
    for (unsigned k = 0; k < timing.batch; ++k)
      launch(c, field[n]->kernel, arrays.arguments(0));
  };
  for (std::size_t n = 0; n < field.size(); ++n) {
    if (field[n]->kernel.through_launcher()) settle(c, field[n]->kernel, arrays);
    if (graph) graphs.push_back(std::make_unique<Graph>(c, field[n]->kernel, arrays, timing.batch));
    run(n);
  }
  check(cuCtxSynchronize(), "warming up");
  const double round_us = slowest * timing.batch * static_cast<double>(field.size());
  timing.rounds =
      static_cast<unsigned>(std::clamp(s.seconds * 1e6 / round_us, fewest_rounds, most_rounds));
  for (unsigned round = 0; round < timing.rounds; ++round) {
    for (std::size_t n = 0; n < field.size(); ++n) {
      const std::size_t turn = (round + n) % field.size();
      field[turn]->start.record();
      run(turn);
      field[turn]->stop.record();
    }
    check(cuCtxSynchronize(), "timing");
    for (auto& one : field)
      one->samples.push_back(one->stop.microseconds_since(one->start) / timing.batch);
  }
  return timing;
}

void time_case(const Settings& s, const Case& c, std::size_t number, const Device& device) {
  std::vector<Arrays> sets;
  sets.emplace_back(c);
  std::vector<std::unique_ptr<Contestant>> field;
  {
    Arrays reference(c);
    for (const Variant& v : c.variants) {
      if (excluded(s, c, v)) continue;
      try {
        Contestant one{&v, Kernel(v, c), {}, {}, {}, {}};
        if (field.empty()) {
          reference.fill(s.seed + number, false);
          run_steps(c, one.kernel, reference, c.steps);
          check(cuCtxSynchronize(), "running");
          one.checked.equal = true;
        } else {
          one.checked =
              check_variant(c, one.kernel, sets[0], reference, s.seed + number, false, c.steps);
        }
        field.push_back(std::make_unique<Contestant>(std::move(one)));
      } catch (const DriverError& error) {
        report_error(c, v, error);
        if (field.empty()) return; // nothing to compare with
      }
    }
  }
  if (field.empty()) return;
  sets[0].fill(s.seed, false);
  if (c.l2 == "rotate") {
    const std::size_t wanted = 3 * static_cast<std::size_t>(device.l2) / sets[0].bytes() + 1;
    while (sets.size() < std::min<std::size_t>(wanted, 8)) {
      sets.emplace_back(c);
      sets.back().fill(s.seed + sets.size(), false);
    }
  }
  try {
    const Timing timing = s.mode != "time" ? sweep_contestants(s, c, field, sets[0])
                                           : time_contestants(s, c, device, field, sets);
    for (const auto& one : field) {
      Line line = line_of(c, *one->variant);
      if (one->variant->valid) verdict(line, one->checked);
      resources(line, c, one->kernel, device)
          .number("median_us", quantile(one->samples, 0.5))
          .number("p25_us", quantile(one->samples, 0.25))
          .number("p75_us", quantile(one->samples, 0.75))
          .number("min_us", quantile(one->samples, 0))
          .number("paired", gain_in_pairs(*one, *field.front()))
          .number("rounds", timing.rounds)
          .number("batch", timing.batch)
          .number("sets", static_cast<double>(timing.sets))
          .text("l2", c.l2)
          .print();
    }
  } catch (const DriverError& error) {
    report_error(c, *field.front()->variant, error);
  }
}

void trap_case(const Settings& s, const Case& c) {
  Arena arena(c);
  Buffer expected(arena.memory().bytes());
  for (const Variant& v : c.variants) {
    if (excluded(s, c, v)) continue;
    try {
      const Kernel kernel(v, c);
      arena.fill();
      launch(c, kernel, arena.arguments());
      check(cuCtxSynchronize(), "running");
      Checked checked;
      if (&v == &c.variants.front()) {
        check(cuMemcpyDtoD(expected.at(), arena.memory().at(), expected.bytes()), "cuMemcpyDtoD");
      } else {
        checked.mismatch = compare(expected.at(), arena.memory().at(), expected.bytes(), "arena");
      }
      checked.equal = checked.mismatch.words == 0;
      Line line = line_of(c, v);
      verdict(line, checked)
          .hex("in", arena.digest("in", -1024, 8192))
          .hex("out", arena.digest("out", 0, 16384))
          .hex("x", arena.digest("x", 0, 64))
          .print();
    } catch (const DriverError& error) {
      report_error(c, v, error);
    }
  }
}

// What ncu is to look at; it ends with the launch, also with one that fails.
class Profiled {
public:
  Profiled() { check(cuProfilerStart(), "cuProfilerStart"); }
  ~Profiled() { cuProfilerStop(); }
  Profiled(const Profiled&) = delete;
  Profiled& operator=(const Profiled&) = delete;
};

// What the first variant leaves in memory. The seed is the same for every case.
void digest_case(const Settings& s, const Case& c) {
  Arrays arrays(c);
  const Variant& plain = c.variants.front();
  const Kernel kernel(plain, c);
  for (const bool bits : {false, true}) {
    arrays.fill(s.seed, bits);
    run_steps(c, kernel, arrays, std::min(c.steps, 2u));
    check(cuCtxSynchronize(), "running");
    Line line = line_of(c, plain);
    line.text("data", bits ? "bits" : "floats").text("digests", [&] {
      std::string all;
      for (const std::uint64_t value : arrays.digests()) {
        char digits[20];
        std::snprintf(digits, sizeof digits, " %016llx", static_cast<unsigned long long>(value));
        all += digits;
      }
      return all;
    }());
    line.print();
  }
}

void count_case(const Settings& s, const Case& c) {
  Arrays arrays(c);
  arrays.fill(s.seed, false);
  for (const Variant& v : c.variants) {
    if (excluded(s, c, v)) continue;
    try {
      const Kernel kernel(v, c);
      if (blocks_per_multiprocessor(c, kernel) == 0)
        throw DriverError(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many registers for the block");
      {
        const Profiled profiled;
        launch(c, kernel, arrays.arguments(0));
        check(cuCtxSynchronize(), "running");
      }
      line_of(c, v).flag("counted", true).print();
    } catch (const DriverError& error) {
      report_error(c, v, error);
    }
  }
}

// Bytes read plus written per second by the driver's own copy: the ceiling of the roofline.
double copy_gigabytes_per_second() {
  const std::size_t bytes = std::size_t{2} << 30;
  Buffer from(bytes), to(bytes);
  check(cuMemsetD8(from.at(), 7, bytes), "cuMemsetD8");
  Event start, stop;
  std::vector<double> samples;
  for (int n = 0; n < 12; ++n) {
    start.record();
    check(cuMemcpyDtoDAsync(to.at(), from.at(), bytes, nullptr), "cuMemcpyDtoDAsync");
    stop.record();
    check(cuCtxSynchronize(), "copying");
    if (n >= 3) samples.push_back(stop.microseconds_since(start));
  }
  return 2e-3 * static_cast<double>(bytes) / quantile(samples, 0.5);
}

void print_device(const Settings& s, const Device& device) {
  Line line;
  line.text("device", device.name)
      .number("driver", device.driver)
      .number("sms", device.sms)
      .number("l2_bytes", device.l2)
      .number("clock_khz", device.clock_khz)
      .number("seed", static_cast<double>(s.seed));
  if (s.mode == "time") line.number("copy_gb_per_s", copy_gigabytes_per_second());
  line.print();
}

int list_plan(const std::vector<Case>& cases) {
  for (const Case& c : cases)
    std::printf("%s: %s, %zu parameters, %zu variants\n", c.name.c_str(), c.entry.c_str(),
                c.params.size(), c.variants.size());
  return 0;
}

Settings read_arguments(int argc, char** argv) {
  Settings s;
  std::vector<std::string> positional;
  for (int n = 1; n < argc; ++n) {
    const std::string argument = argv[n];
    const auto value = [&](std::string_view name) {
      return argument.rfind(name, 0) == 0 ? argument.c_str() + name.size() : nullptr;
    };
    if (const char* v = value("--start="))
      s.start = std::strtoull(v, nullptr, 10);
    else if (const char* v = value("--exclude="))
      s.exclude.insert(v);
    else if (const char* v = value("--seed="))
      s.seed = std::strtoull(v, nullptr, 10);
    else if (const char* v = value("--seconds="))
      s.seconds = std::strtod(v, nullptr);
    else if (const char* v = value("--limit="))
      s.limit = std::strtod(v, nullptr);
    else if (const char* v = value("--rounds="))
      s.rounds = std::strtoul(v, nullptr, 10);
    else
      positional.push_back(argument);
  }
  if (positional.size() != 2)
    throw std::runtime_error(
        "usage: harness plan|check|time|sweep|launches|traps|digest|count PLAN [OPTIONS]");
  s.mode = positional[0];
  s.plan = positional[1];
  return s;
}

void run_case(const Settings& s, const Case& c, std::size_t number, const Device& device) {
  try {
    if (s.mode == "check")
      check_case(s, c, number);
    else if (s.mode == "time" || s.mode == "sweep" || s.mode == "launches")
      time_case(s, c, number, device);
    else if (s.mode == "traps")
      trap_case(s, c);
    else if (s.mode == "digest")
      digest_case(s, c);
    else if (s.mode == "count")
      count_case(s, c);
    else
      throw std::runtime_error("unknown mode " + s.mode);
  } catch (const DriverError& error) { // memory for the case, or its first kernel
    report_error(c, c.variants.front(), error);
  }
}

} // namespace

int main(int argc, char** argv) {
  try {
    const Settings settings = read_arguments(argc, argv);
    const std::vector<Case> cases = read_plan(settings.plan);
    if (settings.mode == "plan") return list_plan(cases);
    const Device device;
    print_device(settings, device);
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t n = settings.start; n < cases.size(); ++n) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (settings.limit > 0 && spent.count() > settings.limit) break;
      Line().text("begin", cases[n].name).number("index", static_cast<double>(n)).print();
      run_case(settings, cases[n], n, device);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "harness: %s\n", error.what());
    return 1;
  }
}
