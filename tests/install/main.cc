// A program that imports a tensor through DLPack, copies it, shares it with another process, plans
// a reshard and hands the tensor to Eigen. It exits with 1 if a check fails.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "dlpack/dlpack.h"
#include "dovetail/copy.h"
#include "dovetail/devices/cuda/backend.h"
#include "dovetail/devices/oneapi/backend.h"
#include "dovetail/devices/rocm/backend.h"
#include "dovetail/dovetail.h"
#include "dovetail/interop/eigen/export.h"
#include "dovetail/ipc.h"
#include "dovetail/reshard.h"
#include "dovetail/trace.h"
#include "transposed.h"

namespace {

using dovetail::Tensor;

void Check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "install: failed: " << what << "\n";
  std::exit(1);
}

// A matrix of 2 × 3 that came through DLPack.
Tensor Imported() {
  std::vector<float> values(6);
  std::iota(values.begin(), values.end(), 0.0f);
  absl::StatusOr<Tensor> lent = Tensor::Wrap(std::move(values), {2, 3});
  absl::StatusOr<dovetail::UniqueDLPack> managed = dovetail::ToDLPack(*lent);
  Check(managed.ok() && managed->get()->dl_tensor.ndim == 2, "ToDLPack");
  absl::StatusOr<Tensor> imported = dovetail::FromDLPack(*std::move(managed));
  Check(imported.ok(), "FromDLPack");
  return *std::move(imported);
}

void CopiesAndCasts(const Tensor& matrix) {
  int copies = 0;
  const dovetail::TraceSubscription trace([&copies](const dovetail::TraceEvent&) { ++copies; });
  const absl::StatusOr<Tensor> transposed = Transposed(matrix);
  Check(transposed.ok() && (*transposed->data<const int64_t>())[1] == 3, "Transposed");
  Check(copies > 0, "a trace of the copy");
}

// Another process writes to the memory.
void Shares(const Tensor& matrix) {
  const absl::StatusOr<Tensor> shared = dovetail::ipc::CopyToShared(matrix);
  Check(shared.ok(), "CopyToShared");
  const absl::StatusOr<dovetail::ipc::Handle> handle = dovetail::ipc::Share(*shared);
  Check(handle.ok(), "Share");
  const std::string message = handle->ToBytes();
  const pid_t child = fork();
  if (child == 0) {
    const absl::StatusOr<Tensor> there = dovetail::ipc::Open(message);
    if (!there.ok()) _exit(1);
    (*there->data<float>())[5] = 50;
    _exit(0);
  }
  int status = 1;
  Check(waitpid(child, &status, 0) == child && status == 0, "the other process");
  Check((*shared->data<const float>())[5] == 50, "what the other process wrote");
}

void PlansAReshard() {
  using dovetail::reshard::Mesh, dovetail::reshard::Placement, dovetail::reshard::Sharding;
  const Mesh mesh = {.shape = {2}, .ranks = {0, 1}};
  const auto rows = Sharding::OnMesh({4, 6}, mesh, {Placement::Shard(0)});
  const auto columns = Sharding::OnMesh({4, 6}, mesh, {Placement::Shard(1)});
  const auto plan = dovetail::reshard::Plan::Make(*rows, *columns);
  Check(plan.ok(), "Plan::Make");
  int pieces = 0;
  plan->ForEachReceive(0, [&pieces](const dovetail::reshard::Piece&) { ++pieces; });
  Check(pieces == 2, "a piece from each rank");
}

void IsAMatrixOfEigen(const Tensor& matrix) {
  const auto map = dovetail::AsMap<const float>(matrix);
  Check(map.ok() && (*map)(1, 2) == 5, "AsMap");
}

}  // namespace

int main() {
  dovetail::RegisterDefaultBackends();
  dovetail::Registry& registry = dovetail::Registry::Global();
  Check(dovetail::RegisterCudaBackend(registry).ok() &&
            dovetail::RegisterRocmBackend(registry).ok() &&
            dovetail::RegisterOneApiBackend(registry).ok(),
        "the backends of GPUs");
  const Tensor matrix = Imported();
  CopiesAndCasts(matrix);
  Shares(matrix);
  PlansAReshard();
  IsAMatrixOfEigen(matrix);
  std::cout << "install: Dovetail " DOVETAIL_VERSION_STRING " works\n";
  return 0;
}
