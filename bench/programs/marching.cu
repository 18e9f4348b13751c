// Windows that march along a column or a plane (bench/forms/windows.cu), as a program.
#include "../forms/windows.cu"
#include "programs.cuh"

template <class T> static uint64_t digest_of(void* buffer) {
  return ((Buf<T>*)buffer)->digest();
}

struct Size {
  int nx, ny, nz;
  std::string text() const {
    return std::to_string(nx) + "x" + std::to_string(ny) + "x" + std::to_string(nz);
  }
};

// One thread for each column, or for each place of a plane.
template <class T>
static void run(const char* name, void (*kernel)(const T*, T*, int, int, int), Size size,
                dim3 block) {
  const size_t all = size_t(size.nx) * size.ny * size.nz;
  Buf<T> in(all), out(all, false);
  const bool planes = size.nz > 1;
  const dim3 grid((size.nx + block.x - 1) / block.x,
                  planes ? (size.ny + block.y - 1) / block.y : 1);
  report(
      name, size.text(), [&] { kernel<<<grid, block>>>(in.d, out.d, size.nx, size.ny, size.nz); },
      digest_of<T>, &out);
}

int main() {
  for (const Size size : {Size{8192, 400, 1}, {3000, 700, 1}, {999, 999, 1}, {300, 100, 1}}) {
    run("columnSum5", columnSum5, size, 256);
    run("columnMax3", columnMax3, size, 128);
    run("columnWeights7", columnWeights7, size, 256);
    run("w_diff", w_diff, size, 128);
    run("w_mean4", w_mean4, size, 256);
    run("w_life3", w_life3, size, 128);
    run("w_double5", w_double5, size, 256);
  }
  for (const Size size : {Size{200, 200, 150}, {600, 600, 20}, {128, 128, 128}, {70, 60, 50}}) {
    run("heat7", heat7, size, dim3(32, 8));
    run("box27", box27, size, dim3(64, 2));
    run("derivative8", derivative8, size, dim3(32, 8));
    run("w_star13", w_star13, size, dim3(64, 4));
    run("w_grad", w_grad, size, dim3(32, 8));
  }
}
