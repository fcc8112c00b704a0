// A model of ONNX Runtime whose input and output are tensors, without a copy.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/onnxruntime/export.h"
#include "dovetail/interop/onnxruntime/import.h"
#include "dovetail/interop/onnxruntime/testing/double_model.h"
#include "onnxruntime_cxx_api.h"

using dovetail::AsOrtInput, dovetail::AsOrtValue, dovetail::FromOrtValue, dovetail::Tensor;

namespace {

void Check(bool condition, const char* what) {
  std::printf("%s: %s\n", condition ? "yes" : "NO", what);
  if (!condition) std::exit(1);
}

// The tensor of the values 2, 4, 6, 8, 10, 12.
bool IsDoubled(const Tensor& y) {
  const auto values = y.span<const float>();
  if (!values.ok() || values->size() != 6) return false;
  for (size_t i = 0; i < 6; ++i) {
    if ((*values)[i] != 2 * static_cast<float>(i + 1)) return false;
  }
  return true;
}

}  // namespace

int main() {
  const Ort::Env env;
  Ort::Session session(env, dovetail::kDoubleModel.data(), dovetail::kDoubleModel.size(),
                       Ort::SessionOptions());
  const char* const in_names[] = {"x"};
  const char* const out_names[] = {"y"};
  const Ort::RunOptions run;
  const Tensor input = *Tensor::Wrap(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor output = *Tensor::Wrap(std::vector<float>(6), {2, 3});

  // [page]
  Ort::Value x = *AsOrtInput(input);  // the same memory, kept alive
  std::vector<Ort::Value> results = session.Run(run, in_names, &x, 1, out_names, 1);
  const void* address = results[0].GetTensorRawData();
  Tensor y = *FromOrtValue(std::move(results[0]));  // owns the value
  Check(x.GetTensorRawData() == input.raw_data(), "the session reads the tensor's memory");
  Check(y.raw_data() == address, "the result is the session's memory");

  Ort::Value out = *AsOrtValue(output);  // a preallocated output
  session.Run(run, in_names, &x, 1, out_names, &out, 1);
  Check(IsDoubled(output), "the session wrote into the tensor");
  // [page]
  Check(IsDoubled(y), "the result is right");
  return 0;
}
