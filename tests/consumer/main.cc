// A program that imports a tensor through DLPack, takes a view of it and exports the view, without
// a copy.
//
// It plays all three parts: the producer (a vector of its own), Dovetail's user in the middle, and
// the consumer that reads the result. It exits with 1 if a check fails.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <vector>

#include "dlpack/dlpack.h"
#include "dovetail/dovetail.h"

namespace {

void Check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "consumer: failed: " << what << "\n";
  std::exit(1);
}

}  // namespace

int main() {
  dovetail::RegisterDefaultBackends();

  // The producer: 4 rows of 3 floats, and a deleter that counts its calls.
  int deletions = 0;
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), 0.0f);
  absl::StatusOr<dovetail::Tensor> lent =
      dovetail::Tensor::Wrap(values.data(), {4, 3}, {3, 1}, dovetail::Device::Cpu(),
                             [&deletions](const float*) { ++deletions; });
  Check(lent.ok(), "Wrap");
  absl::StatusOr<dovetail::UniqueDLPack> managed = dovetail::ToDLPack(*lent);
  Check(managed.ok(), "ToDLPack");
  lent = dovetail::Tensor();

  dovetail::UniqueDLPack out;
  {
    absl::StatusOr<dovetail::Tensor> x = dovetail::FromDLPack(*std::move(managed));
    Check(x.ok(), "FromDLPack");
    absl::StatusOr<dovetail::Tensor> rows = x->Slice(0, {.start = 1, .stop = 3});
    Check(rows.ok(), "Slice");
    absl::StatusOr<dovetail::UniqueDLPack> exported = dovetail::ToDLPack(*rows);
    Check(exported.ok(), "ToDLPack");
    out = *std::move(exported);
  }
  Check(deletions == 0, "the memory lives as long as its last user");

  const DLTensor& tensor = out->dl_tensor;
  const float* data =
      reinterpret_cast<const float*>(static_cast<const char*>(tensor.data) + tensor.byte_offset);
  Check(tensor.ndim == 2 && tensor.shape[0] == 2 && tensor.shape[1] == 3, "two rows of three");
  Check(data == values.data() + 3 && data[0] == 3.0f && data[5] == 8.0f,
        "the producer's own memory");

  out.reset();
  Check(deletions == 1, "the producer's deleter runs once");
  std::cout << "consumer: rows 1 and 2 of the producer's memory, without a copy\n";
  return 0;
}
