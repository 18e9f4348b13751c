// Threads of several axes that are numbered one behind the other.
// nvcc -std=c++17 -O2 -arch=sm_90 -ptx in_line.cu
#define BY_ROWS (blockIdx.y * gridDim.x + blockIdx.x)
#define BY_COLUMNS (blockIdx.x * gridDim.y + blockIdx.y)
#define OF_ROWS (threadIdx.y * blockDim.x + threadIdx.x)
#define OF_COLUMNS (threadIdx.x * blockDim.y + threadIdx.y)
#define ALL (blockDim.x * blockDim.y)

// Along a line.
#define LINE(name, number)                                                                         \
  extern "C" __global__ void name(const int* in, int* out, int n) {                                \
    const int i = number;                                                                          \
    if (i < 1 || i >= n - 1) return;                                                               \
    out[i] = in[i - 1] - 3 * in[i] + 2 * in[i + 1];                                                \
  }
LINE(line, BY_ROWS* ALL + OF_ROWS)
LINE(line_of_columns, BY_COLUMNS* ALL + OF_COLUMNS)
LINE(line_of_both, BY_COLUMNS* ALL + OF_ROWS)
LINE(line_of_threads, blockIdx.x* ALL + OF_ROWS)
LINE(line_of_blocks, BY_ROWS* blockDim.x + threadIdx.x)

// Rows one behind the other, inside a frame that nobody stores to.
extern "C" __global__ void framed(const float* in, float* out, const float* source, int side) {
  const int i = BY_ROWS * ALL + OF_ROWS;
  if (i >= side * side) return;
  const int pitch = side + 2, at = i + 2 * (i / side) + pitch + 1;
  out[at] = 0.25f * (in[at - 1] + in[at + 1] + in[at - pitch] + in[at + pitch]) + source[at];
}

// Not so: blocks of two rows have one number; a thread asks for its row beside; blocks that are
// counted from 1.
LINE(line_twice, (blockIdx.y * gridDim.y + blockIdx.x) * ALL + OF_ROWS)
LINE(line_from_1, (BY_ROWS + 1) * ALL + OF_ROWS)
extern "C" __global__ void line_by_row(const int* in, int* out, int n) {
  const int i = BY_ROWS * ALL + OF_ROWS;
  if (i < 1 || i >= n - 1) return;
  out[i] = in[i - 1] - 3 * in[i] + 2 * in[i + 1] + (threadIdx.y == 0 ? 1 : 0);
}

// No step, but what copies between steps.
extern "C" __global__ void copied(const int* in, int* out, int n) {
  const int i = BY_ROWS * ALL + OF_ROWS;
  if (i < n) out[i] = in[i];
}
