// Arg: a tensor of any library as a typed argument of a C++ function.
//
//   #include "dovetail/python/casters/nanobind.h"        // or casters/pybind11.h
//
//   using Vector = dovetail::Arg<const float, dovetail::Shape<"n">, dovetail::Contiguous>;
//   using Output = dovetail::Arg<float, dovetail::Shape<"n">, dovetail::Contiguous>;
//
//   m.def("add", [](Vector x, Vector y, Output out) {
//     for (int64_t i = 0; i < out.size(); ++i) out[i] = x[i] + y[i];
//   });
//
// NumPy, PyTorch, JAX, Paddle, CuPy and all other tensors are accepted alike, without a copy. A
// tensor that does not fit the type is refused with a Python error that names the argument, what it
// is, what is wanted and what to pass instead. Without requirements an Arg takes any shape and any
// strides in host memory; a const element type takes read-only memory too.
//
// An Arg is valid for the duration of the call, and so are its copies. C++17; Shape with names in
// quotation marks needs C++20, C++17 writes Shape<dovetail::Named("n")>. Nothing to link, no
// abseil, no Python.h. Needs the GIL only where it is made.

#ifndef DOVETAIL_PYTHON_ARG_H_
#define DOVETAIL_PYTHON_ARG_H_

#include <cstdint>
#include <type_traits>

#ifdef __cpp_exceptions
#include <stdexcept>
#else
#include <cstdio>
#include <cstdlib>
#endif

#include "dovetail/python/arg_requirements.h"
#include "dovetail/python/args/arg_view.h"
#include "dovetail/python/args/sizes.h"
#include "dovetail/python/borrowed.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {

namespace internal_arg {

template <typename Facts>
using ViewOf = View<typename Facts::Element, Facts::kRank, Facts::kDense, Facts::kOnHost>;

[[noreturn]] inline void RefuseView(const char* why) {
#ifdef __cpp_exceptions
  throw std::invalid_argument(why);
#else
  std::fprintf(stderr, "%s\n", why);
  std::abort();
#endif
}

}  // namespace internal_arg

template <typename T, typename... Rules>
class Arg : public internal_arg::ViewOf<internal_arg::Facts<T, Rules...>> {
 public:
  using Facts = internal_arg::Facts<T, Rules...>;
  using Base = internal_arg::ViewOf<Facts>;
  using typename Base::element_type;

  // Of a tensor that meets kRequirements and outlives the Arg.
  explicit Arg(const DovetailBorrowed& borrowed)
      : Base(static_cast<element_type*>(borrowed.tensor.data), borrowed.tensor.ndim, borrowed.shape,
             borrowed.strides),
        borrowed_(&borrowed) {}
  static constexpr DovetailRequirements kRequirements = Facts::kRequirements;

  // (The size of a dimension is shape(i) of View.)
  using Base::shape;
#if __cplusplus >= 202002L
  // By the name in the argument's Shape: x.template shape<"n">() in templates.
  template <Size kName>
  int64_t shape() const {
    constexpr int kFromEnd = Facts::Sizes::Find(kName.value);
    static_assert(kFromEnd < 0, "The argument's Shape has no size of this name.");
    return shape(Base::ndim() + kFromEnd);
  }
#endif
  // The dimensions before those that Shape<"...", …> or MinRank<…> names.
  SizeSpan leading_shape() const {
    static_assert(Facts::kHasLead, "Only Shape<\"...\", ...> and MinRank have leading dimensions.");
    return SizeSpan(shape(), Base::ndim() - Facts::kNamedRank);
  }

  // As a view of its element type, where that is a OneOf or void, and of the rank kNdim where the
  // Arg has any. Throws std::invalid_argument for another type or rank.
  template <typename U = std::remove_const_t<element_type>, int kNdim = Facts::kRank>
  auto view() const {
    static_assert(Facts::kRank < 0 || kNdim == Facts::kRank, "The argument has another rank.");
    using Element = std::conditional_t<Facts::kIsConst, const U, U>;
    if (!holds<U>()) internal_arg::RefuseView("view<T>() of a tensor of another type");
    if (kNdim >= 0 && Base::ndim() != kNdim) {
      internal_arg::RefuseView("view<T, rank>() of a tensor of another rank");
    }
    return View<Element, kNdim, Facts::kDense, Facts::kOnHost>(
        static_cast<Element*>(borrowed_->tensor.data), Base::ndim(), shape(), Base::strides());
  }
  // Whether the elements have this type.
  template <typename U>
  bool holds() const {
    constexpr DLDataType kType = internal_arg::TypeOf<std::remove_const_t<U>>();
    const DLDataType type = borrowed_->tensor.dtype;
    return type.code == kType.code && type.bits == kType.bits && type.lanes == kType.lanes;
  }

  // As DLPack writes them. dtype() is of interest for Arg<void>, which takes any, and OneOf.
  DLDataType dtype() const { return borrowed_->tensor.dtype; }
  DLDevice device() const { return borrowed_->tensor.device; }
  // For functions that take a DLTensor. Its data must not be written if the Arg is of const.
  const DLTensor& dl_tensor() const { return borrowed_->tensor; }
  bool is_read_only() const { return (borrowed_->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0; }
  // Whether the argument is a copy, which AllowCopy and AllowCast allow.
  bool is_copy() const { return (borrowed_->flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0; }

  // The stream to launch on: the current one of the argument's library (Dovetail_CurrentStream()).
  // Null for the default stream and for host memory.
  //
  //   kernel<<<blocks, threads, 0, x.stream<cudaStream_t>()>>>(x.data(), x.size());
  template <typename StreamHandle = void*>
  StreamHandle stream() const {
    return static_cast<StreamHandle>(borrowed_->stream);
  }
  // The argument itself, a PyObject that is not counted. Results can be made like it
  // (OwnedTensor::ToPython). nullptr for a tensor that the binding made (Out), and in kernels of
  // dovetail/kernels.h.
  PyObject* object() const { return borrowed_->object; }
  const DovetailBorrowed& borrowed() const { return *borrowed_; }

 private:
  const DovetailBorrowed* borrowed_;
};

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARG_H_
