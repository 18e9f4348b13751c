// Entries of all kinds of shapes, for bench/steps/sweep to assemble and time.
//
//   step_shapes MODULE FOLDER < SHAPES
//
// A line of SHAPES: KERNEL T WIDTH STRIPS ROWS COLUMNS RESIDENT LANES [PLANES], as
// in passes/time_tile/emit/steps.hpp. Writes FOLDER/NAME.ptx with one entry each, and to the
// standard output what sweep.cu needs: NAME KERNEL T THREADS COVERS-X COVERS-Y, where there are
// planes also COVERS-Z. Shapes that cannot be made are named on stderr.
#include "emulator/emulate.hpp"
#include "passes/time_tile/emit/steps.hpp"
#include "passes/time_tile/step/step.hpp"
#include "ptx/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>

using namespace ptxasw;

namespace {

struct Stencil {
  emulator::Kernel kernel;
  passes::StepPlan plan;
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: step_shapes MODULE FOLDER < SHAPES\n";
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const ptx::Module module = ptx::parse(text, argv[1]);
  std::size_t header = text.size();
  for (const ptx::Function& function : module.functions)
    header = std::min<std::size_t>(header, module.statements[function.statement].range.begin);
  std::map<std::string, Stencil> stencils;
  std::string line, name;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    passes::StepShape shape;
    if (!(words >> name >> shape.count >> shape.width >> shape.strips >> shape.rows >>
          shape.columns >> shape.resident >> shape.lanes))
      continue;
    words >> shape.planes;
    auto found = stencils.find(name);
    if (found == stencils.end()) {
      const auto function = std::ranges::find(module.functions, name, &ptx::Function::name);
      if (function == module.functions.end()) {
        std::cerr << name << ": no such kernel\n";
        return 1;
      }
      emulator::Kernel kernel = emulator::emulate(module, *function, {});
      passes::StepPlan plan = passes::find_step(kernel);
      found = stencils.emplace(name, Stencil{std::move(kernel), std::move(plan)}).first;
    }
    const std::string entry = fmt::format(
        "{}-{}-{}x{}-c{}r{}-m{}{}{}", name, shape.count, shape.width, shape.strips * shape.rows,
        shape.columns, shape.rows, shape.resident, shape.lanes ? "-lanes" : "",
        shape.planes != 0 ? fmt::format("-p{}", shape.planes) : "");
    const passes::StepEntry made =
        passes::write_steps(found->second.kernel, found->second.plan, shape, "steps");
    if (!made.refused.empty()) {
      std::cerr << entry << ": " << made.refused.text << '\n';
      continue;
    }
    std::ofstream(fmt::format("{}/{}.ptx", argv[2], entry))
        << text.substr(0, header) << made.text << '\n';
    std::cout << fmt::format("{} {} {} {} {} {}", entry, name, shape.count, made.contract.block[0],
                             made.contract.covers[0], made.contract.covers[1]);
    std::cout << (shape.planes != 0 ? fmt::format(" {}\n", made.contract.covers[2]) : "\n");
  }
  return 0;
}
