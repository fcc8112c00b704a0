// A program that takes a tensor in by DLPack, views a part of it, and hands that on: no copy is
// made.
//
// It plays all three parts: the producer (a vector of this program's own), Dovetail's user in the
// middle, and the consumer that reads what comes out. It exits with 1 if anything is not as it
// should.

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

// The producer: 4 rows of 3 floats, which live until the deleter is called.
struct Producer {
  std::vector<float> values = std::vector<float>(12);
  int64_t shape[2] = {4, 3};
  int64_t strides[2] = {3, 1};
  int* deletions;
};

DLManagedTensorVersioned* Produce(Producer* producer) {
  std::iota(producer->values.begin(), producer->values.end(), 0.0f);
  auto* managed = new DLManagedTensorVersioned{};
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->manager_ctx = producer;
  managed->deleter = [](DLManagedTensorVersioned* self) {
    auto* context = static_cast<Producer*>(self->manager_ctx);
    ++*context->deletions;
    delete context;
    delete self;
  };
  managed->dl_tensor.data = producer->values.data();
  managed->dl_tensor.device = {kDLCPU, 0};
  managed->dl_tensor.ndim = 2;
  managed->dl_tensor.dtype = {kDLFloat, 32, 1};
  managed->dl_tensor.shape = producer->shape;
  managed->dl_tensor.strides = producer->strides;
  return managed;
}

}  // namespace

int main() {
  dovetail::RegisterDefaultBackends();

  int deletions = 0;
  auto* producer = new Producer;
  producer->deletions = &deletions;
  const float* memory = producer->values.data();

  dovetail::UniqueDLPack out;
  {
    absl::StatusOr<dovetail::Tensor> x = dovetail::FromDLPack(Produce(producer));
    Check(x.ok(), "FromDLPack");
    absl::StatusOr<dovetail::Tensor> rows = x->Slice(0, {.start = 1, .stop = 3});
    Check(rows.ok(), "Slice");
    absl::StatusOr<dovetail::UniqueDLPack> exported = dovetail::ToDLPack(*rows, {});
    Check(exported.ok(), "ToDLPack");
    out = *std::move(exported);
  }
  Check(deletions == 0, "the memory lives as long as its last user");

  const DLTensor& tensor = out->dl_tensor;
  const float* data =
      reinterpret_cast<const float*>(static_cast<const char*>(tensor.data) + tensor.byte_offset);
  Check(tensor.ndim == 2 && tensor.shape[0] == 2 && tensor.shape[1] == 3, "two rows of three");
  Check(data == memory + 3 && data[0] == 3.0f && data[5] == 8.0f, "the producer's own memory");

  out.reset();
  Check(deletions == 1, "the producer's deleter runs once");
  std::cout << "consumer: rows 1 and 2 of the producer's memory, without a copy\n";
  return 0;
}
