// The elements of a strided array, read by address, and compared with those that it should have.

#ifndef DLPACK_CONFORMANCE_ELEMENTS_H_
#define DLPACK_CONFORMANCE_ELEMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "dlpack/dlpack.h"
#include "dlpack_conformance/array.h"
#include "dlpack_conformance/dtypes.h"
#include "dlpack_conformance/library.h"

namespace dlpack_conformance {

// An array as the documents describe it: what a producer has to make, and a consumer to see.
struct Elements {
  DLDataType dtype = kFloat32;
  std::vector<int64_t> shape;
  std::vector<unsigned char> bytes;  // row-major

  bool operator==(const Elements& other) const;
};

// Of float32.
Elements Floats(std::vector<int64_t> shape, const std::vector<float>& values);

// Twelve elements of a type in three rows of four; of float32 those of Base(). In other types they
// have the bits of 1 and what follows.
Elements Numbered(const DType& dtype);

// 0 … 11 in three rows of four: what views are made from.
Elements Base();

std::vector<int64_t> RowMajor(const std::vector<int64_t>& shape);

// Reads the elements where shape and strides say that they are.
Elements Gather(const Seen& seen);

// An exported tensor as its fields describe it; strides that are NULL are row-major. `ndim` must be
// that of a small tensor.
Seen SeenIn(const DLTensor& tensor);

// "float32 [3, 4]: 0 1 2 …"; the elements of other types in hexadecimal digits.
std::string ToText(const Elements& elements);

// A view of three rows of four elements.
struct Layout {
  const char* name;
  View view;  // kWhole, too, where View has no word for it
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t offset;  // of the first element

  // Whether producers are asked for it.
  bool has_word() const { return view != View::kWhole || (offset == 0 && shape.size() == 2); }
};

// The first one is plain.
const std::vector<Layout>& Layouts();

// The elements that a layout of others leads to.
Elements ViewOf(const Elements& base, const Layout& layout);

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_ELEMENTS_H_
