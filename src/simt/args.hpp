// Kernel arguments as people write them on a command line.
//
//   42  -1  0x10  1.5            numbers, read by the parameter's type
//   zeros:N                      N bytes of zeros, the argument is their address
//   undefined:N                  N bytes without a value
//   iota:TYPE:N                  N elements 0, 1, 2, ...
//   random:TYPE:N:SEED[:BOUND]   N elements; integers below BOUND, floats in -1..1 (or random bits
//                                with BOUND = bits)
//   @FILE                        the bytes of a file
//   same:I                       the buffer of argument I; I.K: of its field at byte K
// A buffer may be followed by +OFFSET (bytes): the argument is an address inside of it.
//   {0=TEXT;8=TEXT;12=u16:3}     a struct: its fields by byte; a number is an s32, or s64 if it
//                                does not fit, or of the TYPE in front of it; the rest is zeros
// TYPE is one of u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64.
#pragma once

#include "simt/machine.hpp"

#include <span>
#include <string>
#include <vector>

namespace ptxasw::simt {

// Makes the buffers ("arg0", "arg1", ..., "arg2.8" of a field) and the arguments, one for each
// parameter.
tl::expected<std::vector<Argument>, std::string>
make_arguments(const Program& program, std::span<const std::string> texts, Memory& memory);

// "64x2x1", "64x2" or "64".
tl::expected<Dim3, std::string> read_dim(std::string_view text);
std::string text_of(const Dim3& dim);

} // namespace ptxasw::simt
