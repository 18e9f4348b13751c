// ptxasw-cachesim: what a cache makes of a kernel's accesses when its blocks or
// elements are walked in different orders, and when the optimizer has rewritten
// it.
#include "cachesim/columns.hpp"
#include "cachesim/drawing.hpp"
#include "cachesim/record.hpp"
#include "ptxasw/launch.hpp"
#include "ptxasw/ptxasw.hpp"

#include <array>
#include <fmt/format.h>

namespace ptxasw::tool {
namespace {

struct Wanted {
  LaunchText launch;
  std::string cache, second, svg;
  std::vector<std::string> orders;
  unsigned group = 1;
  std::uint32_t row = 0;
  bool stores = false;
};

// One line of the answer.
struct Row {
  std::string name;
  cachesim::CacheCounts counts;
};

class Simulation {
public:
  explicit Simulation(const Wanted& wanted)
      : run_{.cache = value_or_throw(cachesim::read_cache(wanted.cache)),
             .second = std::nullopt,
             .group = wanted.group,
             .stores = wanted.stores},
        draw_(!wanted.svg.empty()), row_(wanted.row) {
    if (!wanted.second.empty()) run_.second = value_or_throw(cachesim::read_cache(wanted.second));
  }

  cachesim::Recording record(const PreparedLaunch& prepared) {
    simt::Memory memory = prepared.memory;
    auto recording = value_or_throw(cachesim::record(*prepared.program, prepared.launch, memory));
    recording.threads.row = row_;
    if (regions_.empty())
      for (const simt::Allocation& allocation : memory.allocations())
        regions_.push_back({allocation.name, allocation.base, allocation.data.size()});
    return recording;
  }

  void order(const cachesim::Recording& recording, const cachesim::Order& order, std::string name) {
    const auto threads = value_or_throw(cachesim::thread_order(order, recording.threads));
    cachesim::CacheCounts counts;
    if (draw_) {
      panels_.emplace_back(name, run_.cache);
      counts = cachesim::simulate(recording.stream, threads, run_, panels_.back().observer());
      panels_.back().finish(counts);
    } else {
      counts = cachesim::simulate(recording.stream, threads, run_);
    }
    rows_.push_back({std::move(name), counts});
  }

  [[nodiscard]] std::string table() const {
    std::string text =
        fmt::format("{:28} {:>10} {:>10} {:>10} {:>8} {:>9}{}\n", "order", "touches", "hits",
                    "fetches", "hit rate", "vs naive",
                    run_.second ? fmt::format(" {:>10} {:>10}", "2nd hits", "2nd fetch") : "");
    for (const Row& row : rows_) {
      const cachesim::CacheCounts& counts = row.counts;
      text += fmt::format(
          "{:28} {:10} {:10} {:10} {:7.1f}% {:9.2f}{}\n", row.name, counts.touches, counts.hits,
          counts.fetches, 100 * share(counts.hits, counts.touches),
          share(counts.fetches, rows_.front().counts.fetches),
          run_.second ? fmt::format(" {:10} {:10}", counts.second_hits, counts.second_fetches)
                      : "");
    }
    text += fmt::format("Lines touched at all: {}; no order fetches fewer.\n",
                        rows_.front().counts.distinct);
    return text;
  }

  std::string svg() {
    std::string text = cachesim::cache_svg(panels_, regions_, run_.group);
    if (text.empty())
      throw std::runtime_error("there is too much to draw, or nothing; make the launch smaller");
    return text;
  }
  [[nodiscard]] const cachesim::CacheRun& run() const { return run_; }

private:
  static double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
  }
  cachesim::CacheRun run_;
  bool draw_;
  std::uint32_t row_;
  std::vector<cachesim::Region> regions_;
  std::vector<cachesim::CachePanel> panels_;
  std::vector<Row> rows_;
};

// What the closed forms say of these column widths and of the best one.
template <class Plane>
std::string estimates(const Plane& plane, const cachesim::CacheShape& cache,
                      const std::vector<cachesim::Order>& orders) {
  std::string text;
  const auto line = [&](std::string_view name, std::uint64_t width) {
    const cachesim::ColumnEstimate estimate = cachesim::estimate(plane, cache, width);
    text += fmt::format("  {:22} {:10} lines, reuse needs {} of {}{}\n", name, estimate.lines,
                        estimate.required, cache.lines, estimate.fits ? "" : ": does not fit");
  };
  for (const cachesim::Order& order : orders) {
    const bool naive = order.kind == cachesim::Order::Kind::naive;
    if (naive || order.kind == cachesim::Order::Kind::column)
      line(cachesim::text_of(order), naive ? plane.columns : order.width);
  }
  const std::uint64_t best = cachesim::best_width(plane, cache);
  line(best < plane.columns ? fmt::format("best: columns of {}", best) : "best: naive", best);
  return text;
}

std::string closed_forms(const cachesim::RecognisedPlane& plane, const cachesim::CacheShape& cache,
                         const std::vector<cachesim::Order>& orders) {
  if (plane.stencil)
    return fmt::format("Closed form for a stencil of {}x{} on {}x{}:\n", plane.stencil->across,
                       plane.stencil->down, plane.stencil->columns, plane.stencil->rows) +
           estimates(*plane.stencil, cache, orders);
  if (plane.product)
    return fmt::format("Closed form for a matrix product of {}x{} elements, depth {}:\n",
                       plane.product->columns, plane.product->rows, plane.product->depth) +
           estimates(*plane.product, cache, orders);
  return "";
}

bool rewrites_text(const Options& options, const std::string& before, std::string& after,
                   const std::string& name) {
  if (!rewrites(options)) return false;
  after = optimize_with_ptxas(before, name, options).text;
  if (after == before)
    throw std::runtime_error("the optimizer leaves this file as it is; `ptxasw opt` says why");
  return true;
}

std::string name_of_rewritten(const Options& options) {
  std::string name = "rewritten";
  for (const Remap& remap : options.remaps)
    name += ", " + text_of(remap);
  return name;
}

void simulate(const Wanted& wanted, const Options& options) {
  Simulation simulation(wanted);
  std::vector<cachesim::Order> orders;
  for (const std::string& text : wanted.orders)
    orders.push_back(value_or_throw(cachesim::read_order(text)));
  const bool naive_first = !orders.empty() && orders.front() == cachesim::Order{};
  if (!naive_first) orders.insert(orders.begin(), cachesim::Order{});

  const std::string ptx = read_ptx(wanted.launch.input);
  std::string rewritten;
  const bool compare = rewrites_text(options, ptx, rewritten, wanted.launch.input);
  const cachesim::Recording recording = simulation.record(prepare(wanted.launch, ptx, options));
  for (const cachesim::Order& order : orders)
    simulation.order(recording, order, cachesim::text_of(order));
  if (compare)
    simulation.order(simulation.record(prepare(wanted.launch, rewritten, options)), {},
                     name_of_rewritten(options));

  const cachesim::CacheShape& cache = simulation.run().cache;
  std::string text = fmt::format(
      "{}{}, one thread after another", cachesim::text_of(cache),
      wanted.second.empty() ? "" : ", then " + cachesim::text_of(*simulation.run().second));
  if (wanted.group > 1)
    text = text.substr(0, text.rfind(", ")) + fmt::format(", {} threads in step", wanted.group);
  text += "\n" + simulation.table();
  for (const Remap& remap : options.remaps)
    if (const auto order = cachesim::read_order(text_of(remap))) orders.push_back(*order);
  if (wanted.group == 1)
    text += closed_forms(cachesim::recognise(recording.stream, recording.threads, cache), cache,
                         orders);
  write_text("-", text);
  if (!wanted.svg.empty()) write_text(wanted.svg, simulation.svg());
}

int cachesim_command(Arguments arguments) {
  Parser app("cachesim",
             "Runs one kernel of a PTX file on the CPU and sends its global accesses through a "
             "cache that\nreplaces the line used longest ago, in different orders of its threads. "
             "With an option of\nthe optimizer that rewrites the kernel, the result of that is "
             "shown beside it.",
             "ptxasw-");
  Wanted wanted;
  add_launch_options(app, wanted.launch);
  app.add("--cache", wanted.cache,
          "lines:N or size:BYTES, width:ELEMENTS or bytes:N of a line, and perhaps ways:N "
          "(any line\nanywhere) and element:BYTES (4), as in lines:24,width:4",
          {.required = true});
  app.add("--l2", wanted.second, "a second cache, asked for what the first one lacks");
  app.add("--order", wanted.orders,
          "naive, column:W, zigzag:W, tile:WxH or swap of blocks; with linear- in front, of "
          "elements\nof a linear index. May be repeated; naive comes first anyway");
  app.add("--row", wanted.row, "elements of a row of the linear index (all of them)");
  app.add("--group", wanted.group,
          "threads that run in step: 1 one after another, 32 a warp, more for blocks (1)",
          {.least = 1U, .most = 1U << 20});
  app.add("--stores", wanted.stores, "stores bring lines in, too");
  app.add("--svg", wanted.svg, "draw addresses over time into this file");
  app.footer("  --block=XxYxZ  threads of a block (32)\nOptions of the optimizer:\n" +
             optimizer_help());
  Options options;
  options.shuffle = ShuffleMode::none;
  options.coarsen_auto = false;
  options.warp_reduce = WarpReduceMode::none;
  options.loop_carry = LoopCarryMode::none;
  return parse_and(app, options, std::move(arguments), [&] {
    simulate(wanted, options);
    return exit_done;
  });
}

constexpr std::array self{
    SubCommand{"cachesim", "run one kernel on the CPU and see what a cache makes of its accesses",
               cachesim_command}};

} // namespace

std::span<const SubCommand> sub_commands() {
  return self;
}

} // namespace ptxasw::tool

int main(int argc, char** argv) {
  return ptxasw::tool::guarded([&] {
    return ptxasw::tool::cachesim_command({argv + 1, argv + argc});
  });
}
