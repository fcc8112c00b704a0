#include "dovetail/devices/cpu/cast/cast_copy.h"

#include <memory>
#include <new>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dovetail/core/layout.h"
#include "dovetail/devices/cpu/cast/cast_loops.h"
#include "dovetail/devices/cpu/cast/caster.h"
#include "dovetail/devices/cpu/cast/path.h"
#include "dovetail/devices/cpu/copy/strided_copy.h"
#include "dovetail/devices/cpu/large_work.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// A dense buffer for the elements of a sub-byte view, with a byte for each.
class Unpacked {
 public:
  explicit Unpacked(const TensorView& packed)
      : strides_(DenseStrides(packed.shape)),
        data_(new (std::nothrow) char[Product(packed.shape)]),
        view_(packed) {
    view_.data = data_.get();
    view_.packing = Packing::kPadded;
    view_.strides = strides_;
  }
  bool is_there() const { return data_ != nullptr; }
  const TensorView& view() const { return view_; }

 private:
  CastDims strides_;
  std::unique_ptr<char[]> data_;
  TensorView view_;
};

bool SharesBytes(const TensorView& view) { return StepBits(view.dtype, view.packing) % 8 != 0; }

absl::Status RunCast(const CastPath& path, const TensorView& dst, const TensorView& src) {
  if (SharesBytes(src)) {
    const Unpacked own(src);
    if (!own.is_there()) return absl::ResourceExhaustedError("No memory to unpack the elements.");
    if (!StridedCopy(own.view(), src)) return cpu::LargeWork::Stopped();
    return RunCast(path, dst, own.view());
  }
  if (SharesBytes(dst)) {
    const Unpacked own(dst);
    if (!own.is_there()) return absl::ResourceExhaustedError("No memory to unpack the elements.");
    const bool done = Caster(path, own.view(), src).Run() && StridedCopy(dst, own.view());
    return done ? absl::OkStatus() : cpu::LargeWork::Stopped();
  }
  return Caster(path, dst, src).Run() ? absl::OkStatus() : cpu::LargeWork::Stopped();
}

// A view of a type with lanes as a view of the type without, with one more innermost dimension.
class Lanes {
 public:
  explicit Lanes(const TensorView& view) : view_(view) {
    if (view.dtype.lanes == 1) return;
    shape_ = CastDims(view.shape);
    shape_.push_back(view.dtype.lanes);
    for (int64_t stride : view.strides)
      strides_.push_back(WrappingMultiply(stride, view.dtype.lanes));
    strides_.push_back(1);
    view_.shape = shape_;
    view_.strides = strides_;
    view_.dtype.lanes = 1;
    view_.packing = Packing::kPacked;  // as HasEvenLanes makes sure
  }
  const TensorView& view() const { return view_; }

 private:
  CastDims shape_, strides_;
  TensorView view_;
};

// Whether there is no gap between the last lane of an element and the first of the next.
bool HasEvenLanes(const TensorView& view) {
  return view.dtype.lanes == 1 || StepBits(view.dtype, view.packing) == view.dtype.element_bits();
}

}  // namespace

absl::Status CastStrided(const TensorView& dst, const TensorView& src) {
  const Lanes to(dst), from(src);
  std::optional<CastPath> path;
  if (dst.dtype.lanes == src.dtype.lanes && HasEvenLanes(dst) && HasEvenLanes(src)) {
    path = CastPath::Find(from.view().dtype, to.view().dtype);
  }
  if (!path) {
    const bool loses_part = src.dtype.is_complex() && !dst.dtype.is_complex();
    return absl::InvalidArgumentError(
        absl::StrCat("There is no cast from ", src.dtype.ToString(), " to ", dst.dtype.ToString(),
                     loses_part ? ", which would lose the imaginary part." : "."));
  }
  for (int64_t size : dst.shape) {
    if (size == 0) return absl::OkStatus();
  }
  return RunCast(*path, to.view(), from.view());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
