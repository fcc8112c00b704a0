#include "dovetail/python/exchange/base/host_ready.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/storage.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/without_gil.h"

namespace dovetail::python::internal_host_ready {

bool Await(const Tensor& tensor) {
  const Device device = tensor.device();
  if (!IsHostAccessible(device.type)) {
    RaiseExchange(absl::StrCat("The host can't reach memory on ", device.ToString(),
                               "; copy it first, as in dovetail.from_dlpack(t, device=\"cpu\")."));
    return false;
  }
  if (tensor.storage()->uses() == nullptr || FindServing(device.type) == nullptr) return true;
  const absl::Status status =
      WithoutGilIf(true, [storage = tensor.storage()] { return storage->Synchronize(); });
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
