// A kernel library with a kernel for GPUs: rms_norm(x, weight, eps=1e-6, out=None) for tensors of
// PyTorch, CuPy, JAX and others, on the stream on which their library works.
//
//   INCLUDES=$(python -m dovetail --includes)
//   nvcc -std=c++20 -O2 -shared -Xcompiler -fPIC $INCLUDES kernels.cu -o kernels.so
//   HIP_PLATFORM=amd hipcc -x hip -std=c++20 -O2 -shared -fPIC $INCLUDES kernels.cu -o kernels.so

#include "dovetail/kernels.h"

#include <cstdint>
#include <stdexcept>

#include "gpu.h"
using dovetail::Arg, dovetail::Contiguous, dovetail::Out, dovetail::Shape, dovetail::Stream;
using Real = dovetail::OneOf<"T", float, dovetail::float16, dovetail::bfloat16>;

constexpr int kThreads = 256;

// A block for each row. A thread adds up every kThreads-th square, and a tree adds up the sums.
template <typename T>
__global__ void RmsNormOfRow(const T* x, const T* weight, float eps, T* out, int64_t n) {
  __shared__ float squares[kThreads];
  x += blockIdx.x * n;
  out += blockIdx.x * n;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += kThreads) sum += x[i] * x[i];
  squares[threadIdx.x] = sum;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) squares[threadIdx.x] += squares[threadIdx.x + half];
  }
  __syncthreads();
  const float scale = 1 / sqrtf(squares[0] / static_cast<float>(n) + eps);
  for (int64_t i = threadIdx.x; i < n; i += kThreads) out[i] = x[i] * scale * weight[i];
}

void rms_norm(Arg<const Real, Shape<"...", "n">, Contiguous, OnGpu> x,
              Arg<const Real, Shape<"n">, Contiguous, OnGpu> weight, float eps,
              Out<Real, Shape<"...", "n">, Contiguous, OnGpu> out, Stream stream) {
  if (x.size() == 0) return;
  const int64_t n = x.shape<"n">(), rows = x.size() / n;
  if (rows > INT32_MAX) throw std::invalid_argument("x has more rows than a grid has blocks");
  const DeviceGuard guard(x.device().device_id);
  Dispatch(x, [&]<class T>() {
    RmsNormOfRow<T><<<static_cast<unsigned>(rows), kThreads, 0, stream.get<cudaStream_t>()>>>(
        x.view<T>().data(), weight.view<T>().data(), eps, out.view<T>().data(), n);
  });
  Check(cudaGetLastError());
}
DOVETAIL_KERNEL_DOC(rms_norm, "x / sqrt(mean(x**2) + eps) * weight, over the last axis.", "x",
                    "weight", "eps=1e-6", "out");
