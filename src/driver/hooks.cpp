// One row for each compiler. The table is what `ptxasw hook NAME` prints; tools/hooks/README.md
// says the same at more length.
#include "driver/hooks.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace ptxasw::driver {
namespace {

constexpr std::array<Hook, 13> hook_table{{
    {"nvcc", "the compiler of the CUDA Toolkit",
     R"(nvcc --ptxas-prefix={0} ...  # nvcc 13
export NVCC_PREPEND_FLAGS=--ptxas-prefix={0}  # nvcc 13, a whole build
DIR/bin/nvcc ...  # any nvcc, with an overlay DIR
options: -Xptxas --ptxasw-shuffle=all
A changed PATH alone does not reach nvcc; nvcc -dlto assembles inside its linker.
)",
     "tried with nvcc 13.0: tools/hooks/try_nvcc.sh"},
    {"cmake", "a CMake project in CUDA",
     R"(cmake -DCMAKE_CUDA_FLAGS=--ptxas-prefix={0} ...  # nvcc 13
CUDACXX=DIR/bin/nvcc cmake ...  # any nvcc, with an overlay DIR
PTXASW_LOG=$PWD/log.json cmake --build BUILD --clean-first  # is it on? a line for each file
ptxasw self-test tests the compiler that it is given, and does not see what CMake was told.
)",
     "tried with CMake 3.25, nvcc 13.0: tools/hooks/try_cmake.sh"},
    {"ccache", "a compiler cache in front of nvcc",
     R"(export CCACHE_EXTRAFILES={0}
besides the compiler's own setting.
nvcc -Xptxas --ptxasw-coarsen=large ...  # options there are part of the command that ccache hashes
ccache sees neither the program nor PTXASW_FLAGS: objects of other flags, or of an older ptxasw, stay
in use. Give options by -Xptxas (clang: -Xcuda-ptxas), or run ccache -C after a change of PTXASW_FLAGS.
)",
     "tried with ccache 4.7: tools/hooks/try_ccache.sh"},
    {"clang", "clang as a CUDA compiler",
     R"(clang++ --ptxas-path={0} ...
clang++ --cuda-path=DIR ...  # with an overlay DIR
a copy of {0} named x86_64-pc-linux-gnu-ptxas, first in PATH
options: -Xcuda-ptxas --ptxasw-shuffle=all
)",
     "tried with clang 14, 16 and 19, device code: tools/hooks/try_clang.sh"},
    {"openmp", "OpenMP offload by clang",
     R"(clang -fopenmp --offload-arch=sm_90 --ptxas-path={0} ...
clang -fopenmp --offload-arch=sm_90 --cuda-path=DIR ...  # with an overlay DIR
With -foffload-lto ptxas is called when linking, which --ptxas-path does not reach: take DIR, or a
copy of {0} named nvptx64-nvidia-cuda-ptxas, first in PATH.
options: export PTXASW_FLAGS=--shuffle=all
)",
     "tried with clang 16 and 19: tools/hooks/try_openmp.sh"},
    {"flang", "OpenMP offload by LLVM's flang",
     R"(a copy of {0} named x86_64-pc-linux-gnu-ptxas, first in PATH
(flang 19 takes neither --ptxas-path nor --cuda-path)
options: export PTXASW_FLAGS=--shuffle=all
)",
     "tried with flang 19: tools/hooks/try_flang.sh"},
    {"gcc", "GCC's offload to nvptx",
     R"(a copy of {0} named ptxas, first in PATH
It changes nothing: GCC calls ptxas to verify only, and the driver assembles the PTX at run time.
)",
     "tried with GCC 12: tools/hooks/try_gcc.sh"},
    {"triton", "Triton",
     R"(export TRITON_PTXAS_PATH={0}
export TRITON_PTXAS_BLACKWELL_PATH={0}  # sm_100 and later
options: export PTXASW_FLAGS=--shuffle=all
)",
     "tried on an H200 with Triton 3.6: tools/hooks/try_triton.py"},
    {"inductor", "PyTorch's torch.compile",
     R"(export TRITON_PTXAS_PATH={0}
export TRITON_PTXAS_BLACKWELL_PATH={0}  # sm_100 and later
options: export PTXASW_FLAGS=--shuffle=all
What was compiled before stays in use: a new TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR help.
)",
     "tried on an H200 with PyTorch 2.11: tools/hooks/try_inductor.py"},
    {"jax", "JAX and XLA",
     R"(export PATH=DIR/bin:$PATH  # with an overlay DIR
export XLA_FLAGS=--xla_gpu_cuda_data_dir=DIR  # for an XLA that finds no ptxas in PATH
XLA looks into PATH before the folder that the flag names. An XLA that was built to assemble in its
own process needs --xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false too.
options: export PTXASW_FLAGS=--shuffle=all
)",
     "tried on an H200 with JAX 0.11: tools/hooks/try_jax.py"},
    {"nvhpc", "NVIDIA's HPC SDK (nvc, nvc++, nvfortran)",
     R"(export NVHPC_CUDA_HOME=DIR  # with an overlay DIR of its CUDA Toolkit
)",
     "UNTRIED, after its manual"},
    {"launcher", "versions of kernels, chosen when they are launched",
     R"(A program that was built plainly (nvcc -arch=sm_90) needs nothing: its versions are prepared.
nvcc --ptxas-prefix={0} -Xptxas --ptxasw-variants ...  # or any hook above: versions built in
A file that ptxasw rewrote when it was built, without --ptxasw-variants, has none.
{0} launch -- ./program ...          # measures versions, keeps the fastest
{0} launch --report -- ./program ... # says which, and what it gains
{0} launch --check -- ./program ...  # all versions of each launch, compared byte by byte
Without ptxasw in front, PTXASW_LAUNCH=off or LD_PRELOAD taken away, the program runs as built.
)",
     "tried on an H200 with CUDA C++ (tools/hooks/try_launcher.sh), Triton 3.6 and PyTorch 2.11 "
     "(try_launcher.py); JAX 0.11 launches with attributes, which are left alone"},
    {"other", "anything else that runs a ptxas",
     R"(a copy of {0} in the place of that ptxas, the old one beside it as ptxas.real
iree-compile --iree-cuda-use-ptxas --iree-cuda-use-ptxas-from={0}  # UNTRIED
export MODULAR_NVPTX_COMPILER_PATH={0}  # Mojo, UNTRIED
)",
     "the copy was tried by hand with nvcc 13.0"},
}};

} // namespace

std::span<const Hook> hooks() {
  return hook_table;
}

const Hook* find_hook(std::string_view name) {
  const auto* found = std::ranges::find(hook_table, name, &Hook::name);
  return found == hook_table.end() ? nullptr : found;
}

std::string describe(const Hook& hook, const std::string& self) {
  std::string text = fmt::format(fmt::runtime(hook.settings), self);
  if (hook.settings.find("DIR") != std::string_view::npos)
    text += "DIR is made by: tools/overlay DIR [TOOLKIT] (installed: ptxasw-overlay)\n";
  return text + fmt::format("({})\n", hook.tried);
}

std::string list_hooks() {
  std::string text = "What to set, for each of these: ptxasw hook NAME\n\n";
  for (const Hook& hook : hook_table)
    text += fmt::format("  {:9} {}{}\n", hook.name, hook.what,
                        hook.tried.starts_with("UNTRIED") ? " (untried)" : "");
  return text + "\nptxasw self-test -- COMMAND tells whether a hook is on.\n";
}

} // namespace ptxasw::driver
