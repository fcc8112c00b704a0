// A tensor as Arrow's C++ library has it, and back, without a copy.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "arrow/array.h"
#include "arrow/tensor.h"
#include "dovetail/dovetail.h"
#include "dovetail/interop/arrow_tensor/export.h"
#include "dovetail/interop/arrow_tensor/import.h"

using dovetail::AsArrowArray, dovetail::AsArrowTensor, dovetail::FromArrowArray,
    dovetail::FromArrowTensor, dovetail::Tensor;

namespace {

void Check(bool condition, const char* what) {
  std::printf("%s: %s\n", condition ? "yes" : "NO", what);
  if (!condition) std::exit(1);
}

}  // namespace

int main() {
  dovetail::RegisterDefaultBackends();
  const Tensor images = *Tensor::Empty({100, 24, 32}, dovetail::kFloat32);

  // [page]
  std::shared_ptr<arrow::Tensor> tensor = *AsArrowTensor(images);  // any strides
  std::shared_ptr<arrow::Array> column = *AsArrowArray(images);    // 100 lists of 24 lists of 32
  Check(tensor->raw_data() == images.raw_data(), "Arrow's tensor is the same memory");
  Check(column->length() == 100, "a column has a row for each image");

  Tensor x = *FromArrowTensor(std::move(tensor));     // holds Arrow's buffer
  Tensor rows = *FromArrowArray(*column->Slice(10));  // read-only, as Arrow's arrays are
  Check(x.raw_data() == images.raw_data(), "back at the same address");
  Check(rows.shape()[0] == 90 && rows.shape()[2] == 32, "lists come back as dimensions");
  // [page]
  return 0;
}
