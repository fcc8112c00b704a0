// The suite for DLPack libraries on tvm-ffi in C++.

#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "dlpack_conformance/suite.h"
#include "tvm/ffi/container/tensor.h"

namespace {

using dlpack_conformance::ArraySpec;
using dlpack_conformance::Seen;
using tvm::ffi::Tensor;

struct Memory {
  void AllocData(DLTensor* t) { t->data = std::malloc(tvm::ffi::GetDataSize(*t) + 1); }
  void FreeData(DLTensor* t) { std::free(t->data); }
};

tvm::ffi::ShapeView Dims(const std::vector<int64_t>& dims) { return {dims.data(), dims.size()}; }

struct TvmFfi {
  using Array = Tensor;
  static constexpr bool kPassesOnTypes = true;
  static constexpr bool kPassesOnDevices = true;

  // tvm-ffi has no read-only tensors.
  static std::optional<Tensor> Make(const ArraySpec& spec) {
    if (spec.read_only) return std::nullopt;
    const Tensor dense = Tensor::FromNDAlloc(Memory(), Dims(spec.shape), spec.dtype, {kDLCPU, 0});
    if (spec.nbytes() > 0) std::memcpy(dense.data_ptr(), spec.elements, spec.nbytes());
    if (spec.view == dlpack_conformance::View::kWhole) return dense;
    return dense.as_strided(Dims(spec.view_shape), Dims(spec.view_strides), spec.view_offset);
  }
  static DLManagedTensorVersioned* Export(const Tensor& x) { return x.ToDLPackVersioned(); }
  static DLManagedTensor* ExportLegacy(const Tensor& x) { return x.ToDLPack(); }
  static Tensor Import(DLManagedTensorVersioned* managed) {
    return Tensor::FromDLPackVersioned(managed);
  }
  static Tensor ImportLegacy(DLManagedTensor* managed) { return Tensor::FromDLPack(managed); }
  // Elements are read as tvm-ffi's users do.
  static Seen Look(const Tensor& y) {
    const char* const data = static_cast<const char*>(y.data_ptr()) + y.byte_offset();
    return {y.dtype(),
            data,
            {y.shape().begin(), y.shape().end()},
            {y.strides().begin(), y.strides().end()}};
  }
  static void Write(const Tensor& y) { *static_cast<float*>(y.data_ptr()) = 7; }
};

DLPACK_CONFORMANCE(TvmFfi, TvmFfi,
                   {{"producer.empty", "allocated memory is exported"},
                    {"consumer.major", "the version is not looked at"},
                    {"consumer.impossible", "sizes are not looked at"},
                    {"consumer.null-data", "data is not looked at"}});

}  // namespace
