// The tour of Dovetail in C++: a tensor comes in over DLPack, is viewed, and goes out again.
//
//   ./bazelw run //examples:exchange

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/dovetail.h"

namespace {

// A producer as any framework is one: it lends 2 x 3 floats and takes them back by its deleter.
struct Lent {
  DLManagedTensorVersioned managed = {};
  std::vector<float> values = {0, 1, 2, 3, 4, 5};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {3, 1};
};

DLManagedTensorVersioned* Lend() {
  auto* lent = new Lent;
  lent->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  lent->managed.manager_ctx = lent;
  lent->managed.deleter = [](DLManagedTensorVersioned* self) {
    std::puts("the producer has its memory back");
    delete static_cast<Lent*>(self->manager_ctx);
  };
  lent->managed.dl_tensor = {.data = lent->values.data(),
                             .device = {kDLCPU, 0},
                             .ndim = 2,
                             .dtype = {kDLFloat, 32, 1},
                             .shape = lent->shape,
                             .strides = lent->strides,
                             .byte_offset = 0};
  return &lent->managed;
}

absl::Status Run() {
  // Takes ownership, in failure too; the deleter runs when the last view is gone.
  absl::StatusOr<dovetail::Tensor> x = dovetail::FromDLPack(Lend());
  if (!x.ok()) return x.status();
  std::printf("in:   %s\n", x->ToString().c_str());

  absl::StatusOr<dovetail::Tensor> row = x->Select(0, 1);  // a view: no copy
  if (!row.ok()) return row.status();
  absl::StatusOr<float*> data = row->data<float>();  // type, access and alignment are checked
  if (!data.ok()) return data.status();
  (*data)[0] = 30;
  std::printf("row:  %s, first element %g\n", row->ToString().c_str(), (*data)[0]);

  absl::StatusOr<int32_t*> wrong = row->data<int32_t>();
  std::printf("as int32: %s\n", std::string(wrong.status().message()).c_str());

  absl::StatusOr<dovetail::UniqueDLPack> out = dovetail::ToDLPack(*row);  // owns until released
  if (!out.ok()) return out.status();
  std::printf("out:  %d dimension of %lld, flags %llu\n", (*out)->dl_tensor.ndim,
              static_cast<long long>((*out)->dl_tensor.shape[0]),
              static_cast<unsigned long long>((*out)->flags));
  return absl::OkStatus();
}

}  // namespace

int main() {
  dovetail::RegisterDefaultBackends();
  absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
