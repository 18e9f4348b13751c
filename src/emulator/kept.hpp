// Emulations that are handed from one user to the next, so that a function is emulated once however
// many passes, versions and texts of its module ask for it.
//
// What is kept is of one module, the home. For another text of it an emulation is carried over, and
// when it is given back carried home again (carry_over.hpp), where the two texts allow that.
#pragma once

#include "emulator/emulate.hpp"

#include <map>
#include <memory>
#include <string>

namespace ptxasw::emulator {

class Emulations {
public:
  Emulations(std::shared_ptr<const ptx::Module> home, const Budget& budget)
      : home_(std::move(home)), budget_(budget) {}

  // Of this text of the module, with addresses followed and no block size known. One that was kept
  // may spend the whole budget. The text must outlive the kernel.
  Kernel take(const ptx::Module& module, const ptx::Function& function);
  // For the next one; what it was taken of still exists.
  void give(Kernel kernel);

  [[nodiscard]] unsigned made() const { return made_; } // not kept from before

private:
  std::shared_ptr<const ptx::Module> home_;
  Budget budget_;
  std::map<std::string, Kernel, std::less<>> kept_; // by function
  unsigned made_ = 0;
};

} // namespace ptxasw::emulator
