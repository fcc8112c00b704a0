// CUDA kernels whose functions take float32 tensors of every library, on the device where they are:
//
//   add(x, y, out)     writes x + y to out
//   normalize(x)       returns x / sqrt(sum(x^2)) as a new tensor of the library of x
//
// Both launch on the stream on which the library of x works and wait for nothing: the order of work
// is that of the library's own functions.

#include <cuda_runtime_api.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "dovetail/python/casters/nanobind.h"

namespace nb = nanobind;
using dovetail::AllowCopy;
using dovetail::Arg;
using dovetail::Contiguous;
using dovetail::OnCuda;
using dovetail::OwnedTensor;
using dovetail::Shape;

namespace {

constexpr int kThreads = 256;

__global__ void AddKernel(const float* x, const float* y, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}

// One block. Each thread sums every kThreads-th square; a tree adds the sums up.
__global__ void NormalizeKernel(const float* x, float* out, int64_t n) {
  __shared__ double sums[kThreads];
  double sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += kThreads) sum += double{x[i]} * x[i];
  sums[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  __syncthreads();
  const float norm = static_cast<float>(sqrt(sums[0]));
  for (int64_t i = threadIdx.x; i < n; i += kThreads) out[i] = x[i] / norm;
}

// Makes the device of the arguments the current one until the end of the scope, and reports what
// went wrong in it.
class OnDeviceOf {
 public:
  template <typename Argument>
  explicit OnDeviceOf(const Argument& x) {
    Check(cudaGetDevice(&before_));
    Check(cudaSetDevice(x.device().device_id));
  }
  ~OnDeviceOf() { cudaSetDevice(before_); }
  OnDeviceOf(const OnDeviceOf&) = delete;
  OnDeviceOf& operator=(const OnDeviceOf&) = delete;

  static void Check(cudaError_t error) {
    if (error != cudaSuccess) {
      throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
    }
  }

 private:
  int before_ = 0;
};

using Vector = Arg<const float, Shape<"n">, Contiguous, OnCuda>;
using OutputVector = Arg<float, Shape<"n">, Contiguous, OnCuda>;

void Add(Vector x, Vector y, OutputVector out) {
  if (x.empty()) return;
  const OnDeviceOf device(x);
  const auto blocks = static_cast<unsigned>((x.size() + kThreads - 1) / kThreads);
  AddKernel<<<blocks, kThreads, 0, x.stream<cudaStream_t>()>>>(x.data(), y.data(), out.data(),
                                                               x.size());
  OnDeviceOf::Check(cudaGetLastError());
}

// Any shape. A tensor with other strides is copied on its device.
OwnedTensor Normalize(Arg<const float, Contiguous, AllowCopy, OnCuda> x) {
  OwnedTensor result = OwnedTensor::EmptyLike(x);
  if (!result || x.empty()) return result;  // of a null result a Python error is set
  const OnDeviceOf device(x);
  NormalizeKernel<<<1, kThreads, 0, x.stream<cudaStream_t>()>>>(x.data(), result.data<float>(),
                                                                x.size());
  OnDeviceOf::Check(cudaGetLastError());
  return result;
}

}  // namespace

NB_MODULE(extension_cuda, m) {
  m.def("add", &Add, nb::arg("x"), nb::arg("y"), nb::arg("out"),
        "Write x + y to out: float32 tensors of one dimension on one CUDA device.");
  m.def("normalize", &Normalize, nb::arg("x"),
        "Return x / sqrt(sum(x^2)) as a tensor of the library of x.");
}
