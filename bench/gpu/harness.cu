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
#include "timing.hpp"

#include <cudaProfiler.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

using namespace harness;

namespace {

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
