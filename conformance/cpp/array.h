// The arrays that the DLPack suite asks a library for, and what the library says of one.
//
// suite.h includes this file and shows how a library's author uses it.

#ifndef DLPACK_CONFORMANCE_ARRAY_H_
#define DLPACK_CONFORMANCE_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dlpack/dlpack.h"

namespace dlpack_conformance {

// What an array is of the dense one that it is made from. The comments are NumPy's words for it.
enum class View {
  kWhole,
  kTransposed,  // x.T
  kSliced,      // x[1:, 1:3]
  kStepped,     // x[:, ::2]
  kReversed,    // x[::-1, :]
  kBroadcast,   // np.broadcast_to(x[:1], x.shape)
};

// An array to make: a dense row-major one with the given elements, and a view of it.
struct ArraySpec {
  DLDataType dtype = {};           // lanes are 1
  std::vector<int64_t> shape;      // of the dense array
  const void* elements = nullptr;  // of the dense array; copy them, they live as long as Make()
  bool read_only = false;          // the library refuses to write to the array
  // The view, in words and in numbers. Strides and offset count elements of the dense array.
  View view = View::kWhole;
  std::vector<int64_t> view_shape;
  std::vector<int64_t> view_strides;
  int64_t view_offset = 0;

  bool has_type(int code, int bits) const { return dtype.code == code && dtype.bits == bits; }
  int64_t num_elements() const {
    int64_t count = 1;
    for (int64_t size : shape) count *= size;
    return count;
  }
  size_t nbytes() const { return static_cast<size_t>(num_elements() * dtype.bits / 8); }
};

// An array as the library sees it.
struct Seen {
  DLDataType dtype;
  const void* data;  // element 0
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements; none: row-major
};

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_ARRAY_H_
