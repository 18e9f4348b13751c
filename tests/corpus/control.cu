// Calls, recursion, virtual functions, jump tables, printf, assert, the device heap, alloca.
// ARCH: 75 90 | 80 86 89 100a 120
#include <cassert>
#include <cstdio>

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area(float scale) const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area(float scale) const override { return side * side * scale; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area(float scale) const override { return 3.14159f * radius * radius * scale; }
};

__global__ void shapes(float* out, int which) {
  Shape* shape = which & 1 ? static_cast<Shape*>(new Square(2)) : new Circle(3);
  out[threadIdx.x] = shape->area(1.5f);
  delete shape;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
struct Large {
  double values[5];
  char tail[3];
};
__device__ __noinline__ Large shuffle_large(Large in, int by) {
  for (double& v : in.values) v *= by;
  in.tail[1] = char(by);
  return in;
}
__global__ void calls(int* out, Large* large, int n) {
  out[threadIdx.x] = fibonacci(n);
  *large = shuffle_large(*large, n);
}

using Operation = int (*)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ Operation table[] = {plus, minus};
__global__ void pointers(int* out, int which) { out[0] = table[which](out[1], out[2]); }

__global__ void jumps(int* out, int n) {
  int value = n;
  for (int i = 0; i < n; ++i) {
    switch (out[i]) {
    case 0: value += 3; break;
    case 1: value *= 5; break;
    case 2: value ^= 0x55; break;
    case 3: value = -value; continue;
    case 4: value >>= 1; break;
    case 5: value -= out[value]; break;
    case 6: return;
    case 7: value = __popc(value); break;
    case 8: asm volatile("{ .reg .pred p; setp.eq.s32 p, %0, 0; @p bra DONE; add.s32 %0, %0, 1; DONE: }" : "+r"(value)); break;
    default: value = 0;
    }
  }
  out[n] = value;
}

__global__ void talks(const int* in, int n) {
  assert(n > 0 && "n counts");
  printf("%d of %d: %s %f %llx\n", threadIdx.x, n, "text", 1.5 * in[threadIdx.x], 1ull << 40);
  if (n > 1000) __trap();
  int* heap = static_cast<int*>(malloc(n * sizeof(int)));
  int* stack = static_cast<int*>(alloca(n));
  stack[n - 1] = heap[0] = in[0];
  printf("%p %d\n", heap, stack[0]);
  free(heap);
  __nanosleep(100);
  __brkpt();
}
