// What was chosen for the kernels of a module, as text to be remembered, and back.
//
// One line for each kernel that had ways to choose from: its name and "-", or its name, factors,
// order, register limit, threads and predicted gain. Reading it back chooses among the ways that
// the kernel has now: what is not among them is forgotten.
#pragma once

#include "pipeline/kernel_job.hpp"

#include <span>
#include <string>
#include <string_view>

namespace ptxasw::pipeline {

std::string written(std::span<KernelJob* const> jobs);

// Takes the choices over into the jobs' ways; false, with nothing touched, where they do not fit.
bool take(std::string_view text, std::span<KernelJob* const> jobs);

} // namespace ptxasw::pipeline
