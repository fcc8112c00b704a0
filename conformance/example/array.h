// A small library of float arrays, which gives and takes memory by DLPack. array_test.cc runs
// the conformance suite on it.

#ifndef DLPACK_CONFORMANCE_EXAMPLE_ARRAY_H_
#define DLPACK_CONFORMANCE_EXAMPLE_ARRAY_H_

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dlpack/dlpack.h"

namespace mine {

// Floats in memory that several arrays may share.
struct Array {
  std::shared_ptr<void> owner;
  float* data = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements

  static Array Of(const std::vector<float>& values, std::vector<int64_t> shape,
                  std::vector<int64_t> strides, int64_t offset) {
    auto memory = std::make_shared<std::vector<float>>(values);
    return {memory, memory->data() + offset, std::move(shape), std::move(strides)};
  }
};

// The array lives until the deleter is called, on any thread.
inline DLManagedTensorVersioned* ToDLPack(const Array& x) {
  struct Export {
    DLManagedTensorVersioned managed = {};
    Array array;
  };
  auto* made = new Export{{}, x};
  bool empty = false;
  for (int64_t size : x.shape) empty = empty || size == 0;
  DLManagedTensorVersioned& m = made->managed;
  m.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  m.manager_ctx = made;
  m.deleter = [](DLManagedTensorVersioned* self) {
    delete static_cast<Export*>(self->manager_ctx);
  };
  m.dl_tensor.data = empty ? nullptr : x.data;
  m.dl_tensor.device = {kDLCPU, 0};
  m.dl_tensor.ndim = static_cast<int32_t>(x.shape.size());
  m.dl_tensor.dtype = {kDLFloat, 32, 1};
  m.dl_tensor.shape = made->array.shape.data();
  m.dl_tensor.strides = made->array.strides.data();
  return &m;
}

// Takes the tensor in, and owns it unless an exception is thrown.
inline Array FromDLPack(DLManagedTensorVersioned* managed) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
  };
  require(managed->version.major == 1, "DLPack of another major version");
  const DLTensor& t = managed->dl_tensor;
  // Without read-only arrays, DLPACK_FLAG_BITMASK_READ_ONLY is the user's to keep.
  constexpr uint64_t kKnown = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
  require((managed->flags & ~kKnown) == 0, "an unknown flag");
  require(t.device.device_type == kDLCPU, "memory of another device");
  require(t.dtype.code == kDLFloat && t.dtype.bits == 32 && t.dtype.lanes == 1, "not float32");
  require(t.ndim >= 0, "a negative number of dimensions");
  Array y;
  int64_t count = 1;
  for (int32_t i = 0; i < t.ndim; ++i) {
    const int64_t size = t.shape[i];
    require(size >= 0 && (size == 0 || count <= (int64_t{1} << 60) / size), "an impossible size");
    count *= size;
    y.shape.push_back(size);
  }
  y.strides.resize(y.shape.size());
  int64_t step = 1;
  for (size_t i = y.shape.size(); i-- > 0;) {
    y.strides[i] = t.strides != nullptr ? t.strides[i] : step;
    step *= y.shape[i];
  }
  y.data = reinterpret_cast<float*>(static_cast<char*>(t.data) + t.byte_offset);
  const auto release = [](DLManagedTensorVersioned* m) {
    if (m->deleter != nullptr) m->deleter(m);
  };
  y.owner = std::shared_ptr<DLManagedTensorVersioned>(managed, release);
  return y;
}

}  // namespace mine

#endif  // DLPACK_CONFORMANCE_EXAMPLE_ARRAY_H_
