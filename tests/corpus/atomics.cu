// Atomics of every type, scope and order.
// ARCH: 75 90 | 80 86 89 100a 120
#include <cuda/atomic>

template <typename T> __device__ void arithmetic(T* p, T v) {
  p[1] = atomicAdd(p, v);
  p[2] = atomicExch(p, v) + atomicAdd_block(p, v);
  atomicAdd_system(p, v);
}
template <typename T> __device__ void integral(T* p, T v) {
  p[3] = atomicMin(p, v) + atomicMax(p, v) + atomicCAS(p, v, T(v + 1));
  atomicAnd(p, v);
  atomicOr(p, v);
  p[4] = atomicXor(p, v);
}

__global__ void classic(int* i, unsigned* u, unsigned long long* l, long long* s, float* f,
                        double* d, unsigned short* h) {
  arithmetic(i, 3);
  arithmetic(u, 4u);
  arithmetic(l, 5ull);
  arithmetic(f, 6.0f);
  atomicAdd(d, 7.5);
  integral(i, 1);
  integral(u, 2u);
  integral(l, 3ull);
  s[0] = atomicMin(s, 4ll) + atomicMax(s, 5ll);
  u[5] = atomicInc(u, 17) + atomicDec(u, 18);
  atomicCAS(h, 1, 2);
  __shared__ int shared[32];
  shared[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&shared[threadIdx.x % 7], 1);
  __syncthreads();
  i[6] = shared[threadIdx.x];
}

template <cuda::thread_scope Scope, typename T> __device__ void ordered(T* p) {
  cuda::atomic_ref<T, Scope> ref(*p);
  ref.store(1, cuda::memory_order_release);
  ref.fetch_add(ref.load(cuda::memory_order_acquire), cuda::memory_order_relaxed);
  T expected = 2;
  ref.compare_exchange_strong(expected, 3, cuda::memory_order_acq_rel);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, Scope);
  ref.exchange(expected);
}

__global__ void modern(int* i, unsigned long long* l) {
  ordered<cuda::thread_scope_block>(i);
  ordered<cuda::thread_scope_device>(i);
  ordered<cuda::thread_scope_system>(l);
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  *static_cast<volatile int*>(i) = *static_cast<volatile int*>(i + 1);
}
