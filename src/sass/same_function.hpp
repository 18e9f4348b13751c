// Does a cubin hold a function of another cubin as it was, so that a launch of it does the very
// same there, whatever else is in the module?
//
// The same are: the bytes of its machine code and of every other section of its own (constants, the
// sizes of shared and local memory); what has to be put into them when they are loaded, by the
// names of symbols; its attributes (.nv.info: registers, stack, parameters, exits, ...), with
// symbols by name; and what a module has for all its functions and the machine code names by
// offset: constant banks begin with the same bytes and the same addresses.
//
// Helpers that ptxas makes for a kernel (divisions, square roots) lie in the code of that kernel,
// and are named by a number that counts through the module: $__internal_2_$NAME. They correspond
// where the kernel, the offset in its code, and NAME are the same. The numbers are for nobody:
// calls are relative, and part of the bytes that are compared.
//
// Variables have the same size, alignment of their section, and first bytes; where they lie is for
// the loader. Debugging information, and the note of the assembler, are not compared.
#pragma once

#include "sass/cubin.hpp"

#include <map>
#include <string>
#include <vector>

namespace ptxasw::sass {

// The kernels of a cubin, as they are there.
std::vector<std::string> kernels_of(const Cubin& cubin);

// By function of `original`, kernels, helpers ("KERNEL+OFFSET NAME") and others, what is other in
// `other`, in words; functions that are the same are left out. Under "": what is other in the
// module, on which any function may hang.
std::map<std::string, std::string, std::less<>> differences(const Cubin& original,
                                                            const Cubin& other);

// All of a cubin that is compared: two have the same description if neither has a difference from
// the other. For hashing; its form is nobody's business.
std::string described(const Cubin& cubin);

} // namespace ptxasw::sass
