#include "dovetail/python/exchange/base/host_ready.h"

#include <utility>

#include "absl/status/statusor.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/internal/host_ready.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/storage.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/without_gil.h"

namespace dovetail::python::internal_host_ready {

bool Await(const Tensor& tensor) {
  const bool may_wait = tensor.storage()->uses() != nullptr;
  const absl::Status status =
      WithoutGilIf(may_wait, [tensor] { return internal_tensor::ReadyHost(tensor); });
  return status.ok() || (RaiseExchange(status), false);
}

const Tensor* AwaitOrCopy(const Tensor& tensor, Tensor* copy) {
  const DeviceType type = tensor.device().type;
  if (IsHostAccessible(type) || FindServing(type) == nullptr) {
    return Await(tensor) ? &tensor : nullptr;
  }
  absl::StatusOr<Tensor> copied =
      WithoutGilIf(true, [tensor] { return Copied(tensor, {.device = Device::Cpu()}); });
  if (!copied.ok()) return RaiseExchange(copied.status());
  *copy = *std::move(copied);
  return copy;
}

}  // namespace dovetail::python::internal_host_ready
