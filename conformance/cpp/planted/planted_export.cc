// The exports of planted.h.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <type_traits>

#include "dlpack_conformance/elements.h"
#include "dlpack_conformance/planted/planted.h"

namespace dlpack_conformance::planted {
namespace {

size_t ItemSize(const Array& x) { return x.dtype.bits / 8u; }

Array Allocated(size_t nbytes, const void* elements) {
  Array x;
  x.owner.reset(std::malloc(nbytes + 1), std::free);
  x.first = static_cast<unsigned char*>(x.owner.get());
  if (nbytes > 0) std::memcpy(x.first, elements, nbytes);
  return x;
}

template <typename T>
struct Block {
  T managed = {};
  Array array;
};

template <typename T>
T* Managed(const Array& x) {
  auto* block = new Block<T>{{}, x};
  Array& array = block->array;
  const bool empty = ArraySpec{{}, x.shape, nullptr}.num_elements() == 0;
  const bool row_major = x.strides == RowMajor(x.shape);
  constexpr bool kLegacy = std::is_same_v<T, DLManagedTensor>;
  if (Breaks("producer.elements") || (Breaks("producer.elements legacy") && kLegacy) ||
      (Breaks("producer.elements int16") && x.dtype.code == kDLInt && x.dtype.bits == 16)) {
    std::sort(array.strides.begin(), array.strides.end(), std::greater<>());
  }
  if (Breaks("producer.scalar") && x.shape.empty()) array.shape = array.strides = {1};
  if (Breaks("producer.lifetime") && x.shape == std::vector<int64_t>{4}) array.owner.reset();
  T& m = block->managed;
  m.manager_ctx = block;
  m.deleter = [](T* managed) {
    if (!Breaks("producer.deleter")) delete static_cast<Block<T>*>(managed->manager_ctx);
  };
  if (Breaks("producer.deleter NULL")) m.deleter = nullptr;
  DLTensor& t = m.dl_tensor;
  t.data = empty && !Breaks("producer.empty") ? nullptr : array.first;
  t.device = {kDLCPU, Breaks("producer.device-id") ? 1 : 0};
  t.ndim = static_cast<int32_t>(array.shape.size());
  t.dtype = x.dtype;
  if (Breaks("producer.type") && x.dtype.code == kDLInt) t.dtype.lanes = 2;
  t.shape = array.shape.data();
  t.strides = Breaks("producer.strides") && row_major ? nullptr : array.strides.data();
  return &m;
}

DLManagedTensorVersioned* Versioned(const Array& x, uint64_t flags) {
  auto* m = Managed<DLManagedTensorVersioned>(x);
  m->version = {Breaks("producer.version") ? 2u : 1u, 3};
  if (x.read_only && !Breaks("producer.read-only")) flags |= 1;
  if (Breaks("producer.flags")) flags |= 8;
  if (Breaks("producer.flags READ_ONLY")) flags |= 1;
  if (Breaks("producer.copied-only")) flags |= 2;
  m->flags = flags;
  return m;
}

}  // namespace

std::optional<Array> Library::Make(const ArraySpec& spec) {
  if (spec.read_only && Breaks("consumer.read-only-ignored")) return std::nullopt;
  Array x = Allocated(spec.nbytes(), spec.elements);
  x.dtype = spec.dtype;
  x.shape = spec.view_shape;
  x.strides = spec.view_strides;
  x.first += spec.view_offset * static_cast<int64_t>(ItemSize(x));
  x.read_only = spec.read_only;
  return x;
}

DLManagedTensorVersioned* Library::Export(const Array& x) {
  static DLManagedTensorVersioned* last = nullptr;
  static const void* last_owner = nullptr;
  const bool again = x.shape.size() == 2 && x.owner.get() == last_owner;
  if (Breaks("producer.repeated") && again) return last;
  last_owner = x.owner.get();
  return last = Versioned(x, 0);
}

DLManagedTensor* Library::ExportLegacy(const Array& x) {
  if (x.read_only && !Breaks("producer.read-only-legacy")) return nullptr;
  return Managed<DLManagedTensor>(x);
}

DLManagedTensorVersioned* Library::ExportCopy(const Array& x) {
  if (Breaks("producer.copy-true")) return Versioned(x, 2);
  const Elements elements = Gather({x.dtype, x.first, x.shape, x.strides});
  Array copy = Allocated(elements.bytes.size(), elements.bytes.data());
  copy.dtype = x.dtype;
  copy.shape = x.shape;
  copy.strides = RowMajor(x.shape);
  if (Breaks("producer.elements copy")) copy.strides = x.strides;
  return Versioned(copy, Breaks("producer.copied-flag") ? 0 : 2);
}

}  // namespace dlpack_conformance::planted
