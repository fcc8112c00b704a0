// The five things of README.md in C++; //docs/site:pages_test compares its code with the page.
//
//   ./bazelw run //examples:readme

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "dovetail/copy.h"  // for 5; of the target @dovetail//:copy
#include "dovetail/dovetail.h"
using dovetail::Tensor;

namespace {

absl::Status FiveThings(DLManagedTensorVersioned* managed) {
  // 1. Take a tensor in. Ownership passes to Dovetail, on an error too.
  absl::StatusOr<Tensor> x = dovetail::FromDLPack(managed);
  if (!x.ok()) return x.status();

  // 2. Use it: views share the memory; access is checked for type, alignment and access rights.
  absl::StatusOr<Tensor> rows = x->Slice(0, {.start = 1, .stop = 3});
  for (float& value : *rows->elements<float>()) value *= 2;

  // 3. Hand it on.
  absl::StatusOr<dovetail::UniqueDLPack> out = dovetail::ToDLPack(*rows);
  if (!out.ok()) return out.status();

  // 4. Wrap the program's own memory: a vector, an array, or a pointer with a deleter.
  absl::StatusOr<Tensor> y = Tensor::Wrap(std::vector<float>{1, 2, 3, 4}, {2, 2});
  if (!y.ok()) return y.status();

  // 5. Copy: to another type, device or memory order, or into existing memory.
  absl::StatusOr<Tensor> half = dovetail::Copied(*y, {.dtype = dovetail::kFloat16});
  absl::Status done = dovetail::CopyInto(*y, *half);
  if (!done.ok()) return done;

  std::printf("rows: %s\nhalf: %s\n", rows->ToString().c_str(), half->ToString().c_str());
  return absl::OkStatus();
}

// Four rows of two numbers, as another library would hand them over.
absl::Status Run() {
  absl::StatusOr<Tensor> numbers = Tensor::Wrap(std::vector<float>(8, 1), {4, 2});
  if (!numbers.ok()) return numbers.status();
  absl::StatusOr<dovetail::UniqueDLPack> managed = dovetail::ToDLPack(*numbers);
  if (!managed.ok()) return managed.status();
  return FiveThings(managed->release());
}

}  // namespace

int main() {
  dovetail::RegisterDefaultBackends();  // the CPU's; docs/devices.md has the GPUs'
  absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
