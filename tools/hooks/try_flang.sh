#!/usr/bin/env bash
# OpenMP offload by flang: it takes neither --ptxas-path nor --cuda-path, so a name in PATH.
#   tools/hooks/try_flang.sh [flang-new-19]
. "$(dirname "$0")/lib.sh"
flang=${1:-flang-new-19}
need "$flang"
packager=$(dirname "$(readlink -f "$(command -v "$flang")")")/clang-offload-packager
[ -x "$packager" ] || skip "clang-offload-packager of $flang (Debian: clang-tools-N)"
cat > omp.f90 <<'END'
subroutine k(a, b, n)
  integer :: n, i
  real :: a(n), b(n)
  !$omp target map(to: a) map(from: b)
  !$omp parallel do
  do i = 2, n - 1
    b(i) = a(i - 1) + a(i) + a(i + 1)
  end do
  !$omp end target
end subroutine
END
PATH=$work/by_triple:$cuda/bin:$PATH "$flang" -fopenmp --offload-arch=sm_80 -nogpulib -O2 \
  -c omp.f90 -o omp.o
through "$flang, x86_64-pc-linux-gnu-ptxas in PATH"
