#include "dovetail/python/exchange/protocols/dlpack_out.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/exchange/protocols/capsule.h"

namespace dovetail::python {
namespace {

// Dovetail starts no work on a device that no backend serves, so most tensors on it are exported
// unchecked. A tensor that was imported with its producer's stream (__cuda_array_interface__) goes
// only to consumers that use the same stream or want no synchronisation (-1).
bool CheckUnserved(const Tensor& tensor, std::optional<int64_t> code) {
  constexpr int64_t kNoSync = -1, kLegacyDefault = 1;
  for (const Stream& stream : tensor.storage()->used_on()) {
    if (code == kNoSync || code.value_or(kLegacyDefault) == static_cast<int64_t>(stream.native())) {
      continue;
    }
    const std::string device = tensor.device().ToString();
    RaiseExchange("The memory is ready only after " + stream.ToString() +
                  ", and no backend serves " + device +
                  " to wait for it; take it on that stream, or register one.");
    return false;
  }
  return true;
}

// A number is never taken for the address of a queue, nor an address for a number.
bool CheckKindOfStream(Device device, const ExportRequest& request) {
  const bool is_number = request.stream.value_or(-1) != -1 && !request.is_sycl_queue;
  if (device.type == DeviceType::kOneApi && is_number) {
    RaiseStream("oneAPI's streams have no numbers; pass a dpctl.SyclQueue, None, or -1.");
    return false;
  }
  if (device.type != DeviceType::kOneApi && request.is_sycl_queue) {
    RaiseStream(absl::StrCat("A SYCL queue is no stream of ", device.ToString(), "."));
    return false;
  }
  return true;
}

// Decodes the consumer's stream on `device` by the rules of its backend.
bool DecodeStream(const Tensor& tensor, Device device, const ExportRequest& asked,
                  ExportOptions* options) {
  const std::optional<int64_t> code = asked.stream;
  if (!CheckKindOfStream(device, asked)) return false;
  if (!code.has_value() && device.type == DeviceType::kCpu) return true;
  DeviceBackend* backend = FindServing(device.type);
  if (backend == nullptr) return CheckUnserved(tensor, code);
  absl::StatusOr<StreamRequest> request = backend->DecodeStream(device, code);
  if (!request.ok()) return RaiseStream(request.status().message()), false;
  options->stream = std::move(request->stream);
  options->host_waits = request->host_waits;
  return true;
}

// Finds the device of the exported memory and whether the memory has to be a copy.
bool FindDestination(const Tensor& tensor, const ExportRequest& request, Device* device,
                     bool* copies) {
  *device = request.device.value_or(tensor.device());
  *copies = request.copy.value_or(false);
  if (*device == tensor.device()) return true;
  const std::string way =
      absl::StrCat("from ", tensor.device().ToString(), " to ", device->ToString());
  if (request.copy == std::optional<bool>(false)) {
    RaiseExchange("Moving the tensor " + way + " takes a copy, which copy=False forbids.");
    return false;
  }
  if (device->type == DeviceType::kCpu && request.stream.has_value()) {
    RaiseStream("stream must be None when the data are asked for on the CPU.");
    return false;
  }
  if (Registry::Shared().Find(device->type) == nullptr) {
    RaiseExchange("The tensor can't be moved " + way + ": no backend serves that device.");
    return false;
  }
  *copies = true;
  return true;
}

// Waits without the GIL, which the work waited for may need (dpctl's does).
template <auto kExport>
auto Export(const Tensor& tensor, const ExportOptions& options) {
  if (!options.host_waits) return kExport(tensor, options);
  return WithoutGilIf(true, [&, own = tensor] { return kExport(own, options); });
}

}  // namespace

PyObject* ExportCapsule(const Tensor& tensor, const ExportRequest& request) {
  Device device;
  ExportOptions options;
  if (!FindDestination(tensor, request, &device, &options.is_copied) ||
      !DecodeStream(tensor, device, request, &options)) {
    return nullptr;
  }
  Tensor copied;
  if (options.is_copied) {
    // A stand-in may be of another device than the tensor. Without a stream, the host waits.
    const std::optional<Stream> stream = options.host_waits ? std::nullopt : options.stream;
    absl::StatusOr<Tensor> result = WithoutGilIf(IsLong(tensor, device), [&] {
      return Copied(tensor, {.device = device, .stream = stream});
    });
    if (!result.ok()) return RaiseExchange(result.status());
    copied = *std::move(result);
  }
  const Tensor& exported = options.is_copied ? copied : tensor;
  if (request.is_versioned) {
    absl::StatusOr<UniqueDLPack> managed = Export<&ToDLPack>(exported, options);
    if (!managed.ok()) return RaiseExchange(managed.status());
    return MakeCapsule(*std::move(managed));
  }
  if (exported.is_read_only()) {
    return RaiseExchange(
        "The tensor is read-only, which DLPack before 1.0 can't say. Ask for max_version=(1, 0) or "
        "later, or for a copy. A library that never writes may share it: "
        "dovetail.convert(tensor, jax.Array).");
  }
  absl::StatusOr<UniqueDLPackLegacy> managed = Export<&ToDLPackLegacy>(exported, options);
  if (!managed.ok()) return RaiseExchange(managed.status());
  return MakeCapsule(*std::move(managed));
}

}  // namespace dovetail::python
