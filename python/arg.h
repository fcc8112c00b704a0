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
// abseil. Needs the GIL only where it is made.

#ifndef DOVETAIL_PYTHON_ARG_H_
#define DOVETAIL_PYTHON_ARG_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/python/arg_requirements.h"
#include "dovetail/python/capi.h"

#if defined(__has_include)
#if __has_include(<version>)
#include <version>
#endif
#endif
#ifdef __cpp_lib_span
#include <span>
#endif
#ifdef __cpp_lib_mdspan
#include <array>
#include <mdspan>
#endif

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {

template <typename T, typename... Rules>
class Arg {
 public:
  using element_type = internal_arg::ElementOf<T, Rules...>;
  using reference = std::add_lvalue_reference_t<element_type>;
  using value_type = std::remove_const_t<element_type>;
  using Facts = internal_arg::Facts<T, Rules...>;

  // Of a tensor that meets kRequirements and outlives the Arg.
  explicit Arg(const DovetailBorrowed& borrowed) : borrowed_(borrowed) {}
  static constexpr DovetailRequirements kRequirements = Facts::kRequirements;

  // Element 0, aligned to the element type; on a GPU a device pointer. May be null without
  // elements.
  element_type* data() const { return static_cast<element_type*>(borrowed_.tensor.data); }

  // The number of elements.
  int64_t size() const {
    int64_t size = 1;
    for (int i = 0; i < ndim(); ++i) size *= shape(i);
    return size;
  }
  bool empty() const { return size() == 0; }
  int ndim() const {
    if constexpr (Facts::kRank >= 0) return Facts::kRank;
    return borrowed_.tensor.ndim;
  }
  // Of dimension i, from 0 to ndim() - 1. Strides are in elements and may be negative.
  int64_t shape(int i) const { return borrowed_.shape[i]; }
  int64_t stride(int i) const { return borrowed_.strides[i]; }
  // ndim() entries.
  const int64_t* shape() const { return borrowed_.shape; }
  const int64_t* strides() const { return borrowed_.strides; }

  // An element by its indices, which are not checked.
  template <typename... Indices>
  reference operator()(Indices... indices) const {
    static_assert(Facts::kOnHost, "The CPU can't read memory on this device.");
    static_assert(Facts::kRank < 0 || Facts::kRank == static_cast<int>(sizeof...(Indices)),
                  "One index for each dimension.");
    int64_t offset = 0;
    int i = 0;
    ((offset += static_cast<int64_t>(indices) * stride(i++)), ...);
    return data()[offset];
  }

  // The elements in row-major order, for Contiguous arguments.
  reference operator[](int64_t i) const {
    CheckDense();
    return data()[i];
  }
  element_type* begin() const {
    CheckDense();
    return data();
  }
  element_type* end() const { return begin() + size(); }

#ifdef __cpp_lib_span
  std::span<element_type> span() const {
    CheckDense();
    return {data(), static_cast<size_t>(size())};
  }
#endif

#ifdef __cpp_lib_mdspan
  // Of the argument's rank, sizes and strides.
  auto mdspan() const {
    static_assert(Facts::kRank >= 0, "An mdspan needs a rank: add Shape<...> or Rank<n>.");
    using Extents = std::dextents<int64_t, static_cast<size_t>(Facts::kRank)>;
    std::array<int64_t, static_cast<size_t>(Facts::kRank)> sizes{}, steps{};
    for (int i = 0; i < Facts::kRank; ++i) {
      sizes[static_cast<size_t>(i)] = shape(i);
      steps[static_cast<size_t>(i)] = stride(i);
    }
    return std::mdspan<element_type, Extents, std::layout_stride>(
        data(), std::layout_stride::mapping<Extents>(Extents(sizes), steps));
  }
#endif

  // As DLPack writes them. dtype() is of interest for Arg<void>, which takes any.
  DLDataType dtype() const { return borrowed_.tensor.dtype; }
  DLDevice device() const { return borrowed_.tensor.device; }
  // For functions that take a DLTensor. Its data must not be written if the Arg is of const.
  const DLTensor& dl_tensor() const { return borrowed_.tensor; }
  bool is_read_only() const { return (borrowed_.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0; }
  // Whether the argument is a copy, which AllowCopy and AllowCast allow.
  bool is_copy() const { return (borrowed_.flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0; }

  // The stream to launch on: the current one of the argument's library (Dovetail_CurrentStream()).
  // Null for the default stream and for host memory.
  //
  //   kernel<<<blocks, threads, 0, x.stream<cudaStream_t>()>>>(x.data(), x.size());
  template <typename StreamHandle = void*>
  StreamHandle stream() const {
    return static_cast<StreamHandle>(borrowed_.stream);
  }
  // The argument itself, not counted. Results can be made like it (OwnedTensor::ToPython).
  PyObject* object() const { return borrowed_.object; }

 private:
  static void CheckDense() {
    static_assert(Facts::kIsDense,
                  "Elements lie one after the other only in an Arg<..., dovetail::Contiguous>.");
    static_assert(Facts::kOnHost, "The CPU can't read memory on this device.");
  }

  const DovetailBorrowed& borrowed_;
};

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARG_H_
