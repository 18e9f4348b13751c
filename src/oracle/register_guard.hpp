// A rewritten kernel must still launch wherever the original did.
//
// A block of 1024 threads has 64 registers per thread; a kernel that uses more fails to launch in
// large blocks. Unless the kernel states its block size, in which case ptxas keeps to it, a
// rewritten kernel may use only so many registers that every block that could be launched still can
// be: of all sizes, or of the one that was promised; nor may an SM hold fewer of them, for its
// registers or for shared memory that is declared. It must not need more stack or spill more
// either. What was used is read from `ptxas -v`. And where no launch may lose, those that are not
// merged have to run the machine code that they ran (sass/same_body.hpp).
#pragma once

#include "oracle/assembler.hpp"
#include "oracle/printed.hpp"
#include "passes/shared/function_facts.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::oracle {

using passes::Launches;
using LaunchesOf = std::function<Launches(std::string_view kernel)>;

// What the guard may have to find out; each costs something and is asked only when it matters.
struct Questions {
  // What these used as they were.
  std::function<UsageTable(const std::vector<std::string>& kernels)> before;
  LaunchesOf launches;
};

// Those of the rewritten kernels that must be reverted. A kernel that ptxas did not compile (-e)
// needs no guard; one whose usage is not known goes back, and so do all where the table is empty.
std::vector<Reverted> kernels_to_revert(std::span<const std::string> changed,
                                        const UsageTable& after, const Questions& questions);

// And of functions that are only called, on which what their callers use hangs: all, where a kernel
// that calls may not stand with them; those that other files may call in any case.
std::vector<Reverted> functions_to_revert(std::span<const std::string> changed,
                                          const std::string& original, const UsageTable& after,
                                          const Questions& questions);

// And of kernels of which the body by itself has to be what it was, those of which it is not.
std::vector<Reverted> kernels_with_another_body(std::span<const Changed> changed,
                                                const Assembled& original,
                                                const Assembled& rewritten);

// Has the rewritten text assembled to be kept, and takes kernels back until what remains may stand.
// Where the assembler does not take the text, each kernel is tried without the others, and those go
// back that it does not take even then; all, if there is none.
// `without` makes the result with these kernels left alone. What is not changed has its original
// text and has not been assembled.
struct Committed {
  Printed printed;
  std::vector<Reverted> reverted;
};
Committed commit_rewrites(Printed rewritten, const std::string& original, Assembler& assembler,
                          const LaunchesOf& launches,
                          const std::function<Printed(const std::vector<Reverted>&)>& without);

} // namespace ptxasw::oracle
