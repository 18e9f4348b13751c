// Counts and times of all shapes, as they are when the program ends.
#include "launch/choose/profile.hpp"

#include "launch/log.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

profile::Shape shape_of(const Shapes& kernel, Shape& shape) {
  const std::lock_guard lock(shape.mutex);
  profile::Shape made{.grid = shape.grid,
                      .block = shape.block,
                      .shared = shape.shared,
                      .launches = shape.launches,
                      .chosen = kernel.variants().at(shape.chosen)};
  for (std::size_t n = 0; n < shape.timings.size(); ++n)
    if (const Timing& timing = shape.timings[n]; timing.samples != 0)
      made.versions[kernel.variants().at(n)] = {timing.samples, timing.least, timing.mean()};
  return made;
}

profile::Kernel kernel_of(Shapes& kernel) {
  profile::Kernel made{.name = kernel.kernel(),
                       .text = kernel.text(),
                       .launches = kernel.launches,
                       .cooperative = kernel.cooperative};
  for (Shape* shape : kernel.all()) {
    collect(*shape);
    if (shape->launches != 0) made.shapes.push_back(shape_of(kernel, *shape));
  }
  return made;
}

} // namespace

profile::Profile profile_of(const std::vector<std::shared_ptr<Shapes>>& kernels, unsigned& others) {
  std::map<std::pair<std::string, std::string>, profile::Profile> by_chip;
  std::vector<profile::Kernel> of_no_chip; // without versions: nobody has asked where it ran
  for (const auto& shapes : kernels) {
    profile::Kernel kernel = kernel_of(*shapes);
    if (kernel.all_launches() == 0) continue;
    if (shapes->chip().empty() && kernel.shapes.empty()) {
      of_no_chip.push_back(std::move(kernel));
      continue;
    }
    profile::Profile& made = by_chip[{shapes->chip(), shapes->architecture()}];
    made.chip = {shapes->chip(), shapes->architecture()};
    made.kernels.push_back(std::move(kernel));
  }
  const auto launches = [](const auto& made) {
    std::uint64_t sum = 0;
    for (const profile::Kernel& kernel : made.second.kernels)
      sum += kernel.all_launches();
    return sum;
  };
  others = 0;
  profile::Profile result;
  const auto most = std::ranges::max_element(by_chip, {}, launches);
  for (auto chip = by_chip.begin(); chip != by_chip.end(); ++chip)
    if (chip == most)
      result = chip->second;
    else
      others += static_cast<unsigned>(chip->second.kernels.size());
  std::ranges::move(of_no_chip, std::back_inserter(result.kernels));
  return result;
}

void write_profile(const std::vector<std::shared_ptr<Shapes>>& kernels, std::string file) {
  unsigned others = 0;
  const profile::Profile made = profile_of(kernels, others);
  if (made.chip.name.empty()) {
    if (!kernels.empty()) // a shell has none
      say("no profile is written: no kernel that was launched has versions (a first run prepares "
          "them, or --wait)");
    return;
  }
  const std::string process = std::to_string(::getpid());
  if (const std::size_t at = file.find("%p"); at != file.npos) file.replace(at, 2, process);
  const std::string part = file + '.' + process;
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out << profile::to_json(made);
    out.close();
    if (!out || std::rename(part.c_str(), file.c_str()) != 0) {
      say("the profile cannot be written to %s", file.c_str());
      ::unlink(part.c_str());
      return;
    }
  }
  if (others != 0)
    say("%u kernels ran on another chip than %s, and are not in the profile", others,
        made.chip.name.c_str());
}

} // namespace ptxasw::launch
