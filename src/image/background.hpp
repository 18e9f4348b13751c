// How the launcher has an image prepared while the program goes on with the original.
//
//   ptxasw prepare --background --chip=sm_90 --image=FILE ...
//
// FILE holds the raw bytes of an image; an option for each. The process lowers its priority (nice
// 19, idle I/O), takes the lock of each image in turn and leaves those whose lock another process
// holds; one process of a user prepares at a time, the others wait without work. Its exit code
// means nothing to the launcher: what came of it is in the store, or is not.
//
// Needs nothing but the C++ library and Linux.
#pragma once

#include "image/headers.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::image {

// The command line; `files` as above. `in_background`: as above; else it waits for others that
// prepare the same, and says how far it has come on standard error (launch --wait).
[[nodiscard]] std::vector<std::string> command_line(const std::string& program,
                                                    std::string_view chip,
                                                    std::span<const std::string> files,
                                                    bool in_background);

// Starts it for images in memory, which may go as soon as this returns. The process is nobody's
// child and no part of the program's session; it has no standard input and output, and in its
// environment neither LD_PRELOAD nor PTXASW_LAUNCH. False: it could not be started. May be called
// from any thread; takes about a millisecond and what it takes to copy the images.
bool start(const std::string& program, std::string_view chip, std::span<const Bytes> images,
           std::vector<std::string> variables);

// Its environment. The program may change its own at any time: to be called by a thread of it.
[[nodiscard]] std::vector<std::string> environment();

} // namespace ptxasw::image
