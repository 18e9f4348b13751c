// Which coarsening pays most? Asked of an assembler and of the cost model together.
//
// Each job lists the ways in which its kernel may be coarsened (KernelJob::ways). The n-th text to
// try has every such kernel in its n-th way; the assembler takes them side by side, and from what
// it says and from the machine code comes what the model needs to know: registers, spills,
// instructions and latency (passes/coarsen/cost.hpp). A second round holds the most promising ways
// to fewer registers. Every text is the parsed module with other edits: nothing is parsed or
// emulated again.
//
// What is chosen depends on the text, the options and the assembler alone: how much is tried is
// limited by a count of instructions, never by a clock.
#pragma once

#include "pipeline/kernel_job.hpp"

#include <span>

namespace ptxasw::pipeline {

// Options::effort says how much is asked. Leaves the choices in the jobs' ways, and the number of
// trials and their time in the report.
void choose_coarsenings(const ptx::Module& module, std::span<KernelJob* const> jobs,
                        const Options& options, Assembler& assembler, Report& report);

// The way that was chosen could not be kept (multiply-adds were pinned since it was tried): is
// there another one that pays? It is chosen then.
bool choose_another(const ptx::Module& module, KernelJob& job, const TakenBack& back,
                    const Options& options);

} // namespace ptxasw::pipeline
