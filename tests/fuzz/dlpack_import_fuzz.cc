// Imports DLPack structs of any content, views and copies what is taken, exports it, edits the
// exported struct as another library may, and imports it again. A struct is taken if and only if it
// is valid, its deleter is called exactly once, and each view and copy has the elements that it
// should.

#include <cstring>
#include <utility>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/testing/guarded_memory.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/interop/dlpack/view.h"
#include "dovetail/tests/fuzz/elements.h"
#include "dovetail/tests/fuzz/given_dlpack.h"
#include "dovetail/tests/fuzz/input.h"
#include "dovetail/tests/fuzz/require.h"

namespace dovetail::fuzz {
namespace {

constexpr int64_t kMostElements = 600;

// Where all valid tensors lie, and what is there.
struct Arena {
  Arena() {
    for (int64_t i = 0; i < memory.size(); ++i) {
      memory.begin()[i] = static_cast<char>(i * 167 + (i >> 8) * 59);
    }
    before.assign(memory.begin(), memory.begin() + memory.size());
    Require(RegisterCpuBackend(Registry::Global()).ok(), "the CPU has a backend");
  }
  bool unchanged() const { return std::memcmp(memory.begin(), before.data(), before.size()) == 0; }

  void Restore() const { std::memcpy(memory.begin(), before.data(), before.size()); }

  GuardedMemory memory{16384};
  std::vector<char> before;
};
const Arena& TheArena() {
  static const Arena* const arena = new Arena;
  return *arena;
}

// Whether an element of `bits` bits is the same at two places, which count bits.
DOVETAIL_MODEL bool SameElement(const char* a, int64_t a_bit, const char* b, int64_t b_bit,
                                int bits) {
  if (bits % 8 == 0 && a_bit % 8 == 0 && b_bit % 8 == 0) {
    return std::memcmp(a + a_bit / 8, b + b_bit / 8, bits / 8) == 0;
  }
  for (int i = 0; i < bits; ++i) {
    const int64_t p = a_bit + i, q = b_bit + i;
    if ((a[p / 8] >> p % 8 & 1) != (b[q / 8] >> q % 8 & 1)) return false;
  }
  return true;
}

// Copies a view, and back again.
void TryCopies(Input& input, Tensor view, const Elements& elements) {
  constexpr MemoryOrder kOrders[] = {MemoryOrder::kC, MemoryOrder::kF, MemoryOrder::kA,
                                     MemoryOrder::kK};
  const MemoryOrder order = input.Pick(kOrders);
  const absl::StatusOr<Tensor> copy = Copied(view, {.order = order});
  Require(copy.ok(), "a tensor of the CPU is copied", copy.status(), view);
  const auto* memory = static_cast<const char*>(copy->raw_data());
  const Elements copied = Elements::Of(*copy, memory);
  Require(copied.shape == elements.shape, "a copy has the source's shape");
  for (size_t i = 0; i < copied.bits.size(); ++i) {
    Require(SameElement(TheArena().memory.begin(), elements.bits[i], memory, copied.bits[i],
                        view.dtype().element_bits()),
            "a copy has the source's elements", view, *copy, i);
  }
  if (!view.is_read_only()) {
    Require(CopyInto(view, *copy).ok(), "a copy is copied back");
    // (The bits beside an element that has a byte of its own mean nothing.)
    if (view.packing() == Packing::kPadded) TheArena().Restore();
    Require(TheArena().unchanged(), "what is copied back is what was there", view);
  }
  const DType other = input.Pick(kAllDTypes);
  const absl::StatusOr<Tensor> cast = Copied(view, {.dtype = other, .order = order});
  Require(cast.ok() || absl::IsInvalidArgument(cast.status()), "a cast is made or refused",
          cast.status());
}

// Checks a tensor that was taken from a struct.
void CheckTaken(const Tensor& tensor, const DLTensor& t, uint64_t flags,
                const Judgement& judgement) {
  Require(tensor.rank() == t.ndim, "the tensor has the struct's rank");
  for (int dim = 0; dim < t.ndim; ++dim) {
    Require(tensor.shape()[dim] == t.shape[dim], "the tensor has the struct's shape");
    Require(t.strides == nullptr || tensor.strides()[dim] == t.strides[dim],
            "the tensor has the struct's strides");
  }
  Require(tensor.is_read_only() == ((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0),
          "the tensor has the struct's access");
  if (judgement.verdict != Verdict::kValid || judgement.empty) return;
  if (tensor.packing() == Packing::kPacked) {  // a DLTensor has no flags
    const DLTensor lent = ToDLTensor(tensor.view());
    const absl::StatusOr<TensorView> view = FromDLTensor(lent);
    Require(view.ok() && view->data == tensor.view().data &&
                view->byte_offset == tensor.view().byte_offset && view->dtype == tensor.dtype() &&
                view->shape == tensor.shape() && view->strides == tensor.strides(),
            "a borrowed tensor is the same", view.status(), tensor);
  }
  Require(reinterpret_cast<uintptr_t>(tensor.raw_data()) == judgement.origin,
          "element 0 is where the struct says", tensor);
  const auto base = reinterpret_cast<uintptr_t>(tensor.storage()->data());
  const uint64_t below = judgement.lowest - base;
  Require(judgement.lowest >= base && below <= tensor.storage()->nbytes() &&
              judgement.nbytes <= tensor.storage()->nbytes() - below,
          "the storage has all elements", tensor);
}

// Reads all elements of an imported tensor if they lie in the arena.
void TryViews(Input& input, Tensor tensor, const Judgement& judgement);

// Changes a struct as a library may that passes it on.
void Edit(Input& input, DLTensor& t, uint64_t* flags, DLPackVersion* version) {
  const int64_t dim = t.ndim > 0 ? input.Between(0, t.ndim - 1) : 0;
  switch (input.Between(0, 9)) {
    case 0:
      if (t.ndim > 0) t.shape[dim] = input.Between(0, 6);
      break;
    case 1:
      if (t.ndim > 0) t.shape[dim] = input.Number();
      break;
    case 2:
      if (t.ndim > 0) t.strides[dim] = input.Between(-8, 8);
      break;
    case 3:
      if (t.ndim > 0) t.strides[dim] = input.Number();
      break;
    case 4:
      t.data =
          reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(t.data) + input.Between(-64, 64));
      break;
    case 5:
      t.byte_offset = static_cast<uint64_t>(input.Number());
      break;
    case 6:
      t.dtype = input.OneIn(2) ? input.Any<DLDataType>()
                               : DLDataType{static_cast<uint8_t>(input.Between(0, 17)),
                                            static_cast<uint8_t>(8 << input.Between(0, 4)), 1};
      break;
    case 7:
      *flags ^= uint64_t{1} << input.Between(0, 9);
      break;
    case 8:
      if (t.ndim > 0) --t.ndim;
      break;
    default:
      *version = {static_cast<uint32_t>(input.Between(0, 2)), 9};
      t.device.device_id = static_cast<int32_t>(input.Between(-1, 1));
  }
}

template <typename Managed>
void Return(Input& input, const Tensor& tensor, std::unique_ptr<Managed, DLPackDeleter> out) {
  DLPackVersion version = {DLPACK_MAJOR_VERSION, 0};
  uint64_t no_flags = tensor.is_read_only() ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  uint64_t* flags = &no_flags;
  DLPackVersion* major = &version;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    flags = &out->flags;
    major = &out->version;
  }
  DLTensor& t = out->dl_tensor;
  Judgement judgement = Judge(t, *flags, *major);
  Require(judgement.verdict != Verdict::kInvalid, "what is exported is valid", tensor);
  CheckTaken(tensor, t, *flags, judgement);
  const int64_t edits = input.Between(0, 2);
  for (int64_t i = 0; i < edits; ++i) Edit(input, t, flags, major);
  if constexpr (std::is_same_v<Managed, DLManagedTensor>) {
    no_flags = 0;
    version = {DLPACK_MAJOR_VERSION, 0};
  }
  judgement = Judge(t, *flags, *major);
  // The struct is gone once it is taken.
  GivenDLPack given{*major, *flags, t, {}, {}};
  if (t.ndim > 0) given.shape.assign(t.shape, t.shape + t.ndim);
  if (t.ndim > 0) given.strides.assign(t.strides, t.strides + t.ndim);
  given.tensor.shape = given.shape.data();
  given.tensor.strides = given.strides.data();

  const absl::StatusOr<Tensor> back = FromDLPack(std::move(out));
  Require(back.ok() || absl::IsInvalidArgument(back.status()), "a refusal is InvalidArgument");
  Require(
      judgement.verdict == Verdict::kEither || back.ok() == (judgement.verdict == Verdict::kValid),
      "exactly valid structs are taken again", back.status(), tensor);
  if (!back.ok()) return;
  Require(edits != 0 || back->storage() == tensor.storage(), "an export is unwrapped", tensor);
  CheckTaken(*back, given.tensor, given.flags, judgement);
  TryViews(input, *back, judgement);
}

// A tensor of the CPU that has few elements and, if a size is 0, would have few with a size of 1.
bool IsSmall(const Tensor& tensor) {
  int64_t count = 1;
  for (int64_t size : tensor.shape()) {
    if (size > kMostElements / count) return false;
    if (size != 0) count *= size;
  }
  return tensor.device() == Device::Cpu() && tensor.dtype().lanes < 16;
}

void TryViews(Input& input, Tensor tensor, const Judgement& judgement) {
  if (judgement.verdict != Verdict::kValid || !IsSmall(tensor)) return;
  if (!judgement.empty && !judgement.IsIn(TheArena().memory)) return;
  const char* memory = TheArena().memory.begin();
  Elements elements = Elements::Of(tensor, memory);
  for (int64_t views = input.Between(0, 5); views > 0; --views) {
    RandomView(input, &tensor, &elements, memory);
  }
  if (input.OneIn(2)) TryCopies(input, tensor, elements);
  if (input.ended()) return;
  if (input.OneIn(2)) {
    absl::StatusOr<UniqueDLPack> out = ToDLPack(tensor, {.is_copied = input.OneIn(4)});
    Require(out.ok(), "a tensor is exported", out.status());
    Return(input, tensor, *std::move(out));
  } else {
    absl::StatusOr<UniqueDLPackLegacy> out = ToDLPackLegacy(tensor);
    Require(out.ok() || tensor.is_read_only() || tensor.packing() == Packing::kPadded,
            "a tensor without flags is exported", out.status());
    if (out.ok()) Return(input, tensor, *std::move(out));
  }
}

// Takes the struct; false if it is refused.
template <typename Managed>
bool Take(Input& input, Managed* managed, const int& deleted, Tensor* tensor) {
  absl::Status status;
  if (input.OneIn(2)) {
    status = ImportDLPack(managed, tensor);
    Require(deleted == 0, "ImportDLPack deletes nothing");
    if (!status.ok()) {
      Require(tensor->is_null(), "an error leaves no tensor");
      managed->deleter(managed);
    }
  } else {
    absl::StatusOr<Tensor> taken = FromDLPack(managed);
    status = taken.status();
    if (taken.ok()) *tensor = *std::move(taken);
    Require(deleted == (status.ok() ? 0 : 1), "FromDLPack deletes exactly what it refuses");
  }
  Require(status.ok() || absl::IsInvalidArgument(status), "a refusal is InvalidArgument", status);
  return status.ok();
}

template <typename Managed>
void Try(Input& input) {
  GivenDLPack given = DrawDLPack(input, TheArena().memory);
  if constexpr (std::is_same_v<Managed, DLManagedTensor>) {
    given.flags = 0;
    given.version = {DLPACK_MAJOR_VERSION, 0};
  }
  int deleted = 0;
  Managed* managed = Lend<Managed>(given, &deleted);
  const Judgement judgement = Judge(managed->dl_tensor, given.flags, given.version);
  {
    Tensor tensor;
    const bool taken = Take(input, managed, deleted, &tensor);
    Require(
        judgement.verdict == Verdict::kEither || taken == (judgement.verdict == Verdict::kValid),
        taken ? "what is taken is valid" : "what is valid is taken", ShapeToString(given.shape),
        ShapeToString(given.strides), ToDType(given.tensor.dtype), given.tensor.data,
        given.tensor.byte_offset);
    if (taken) {
      CheckTaken(tensor, managed->dl_tensor, given.flags, judgement);
      TryViews(input, std::move(tensor), judgement);
      // (Moved into the call: nothing holds the memory any more.)
    }
  }
  Require(deleted == 1, "the deleter is called exactly once", deleted);
}

}  // namespace
}  // namespace dovetail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dovetail::fuzz::Input input(data, size);
  if (input.OneIn(2)) {
    dovetail::fuzz::Try<DLManagedTensor>(input);
  } else {
    dovetail::fuzz::Try<DLManagedTensorVersioned>(input);
  }
  return 0;
}
