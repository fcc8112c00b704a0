// Copies a tensor to a device type that Dovetail does not know, and copies its transpose back.
//
//   bazel run //:vendor

#include <cstdio>

#include "backend.h"
#include "dovetail/copy.h"
#include "dovetail/dovetail.h"

namespace {

absl::Status Run() {
  dovetail::RegisterDefaultBackends();
  if (absl::Status s = vendor::RegisterVendorBackend(dovetail::Registry::Global()); !s.ok()) {
    return s;
  }
  auto x = dovetail::Tensor::Empty({2, 3}, dovetail::kInt32);
  if (!x.ok()) return x.status();
  for (int i = 0; i < 6; ++i) static_cast<int32_t*>(x->raw_data())[i] = i;

  auto there = dovetail::Copied(*x, {.device = vendor::kDevice});
  if (!there.ok()) return there.status();
  auto turned = there->Transpose(0, 1);
  if (!turned.ok()) return turned.status();
  auto back = dovetail::Copied(*turned, {.device = dovetail::Device::Cpu()});
  if (!back.ok()) return back.status();

  std::printf("there: %s\n", turned->ToString().c_str());
  for (int i = 0; i < 6; ++i) std::printf("%d ", static_cast<int32_t*>(back->raw_data())[i]);
  std::puts("");

  // DLPack passes the opaque handle on unchanged; the import accepts it.
  auto out = dovetail::ToDLPack(*there);
  if (!out.ok()) return out.status();
  std::printf("as DLPack: device type %d\n", (*out)->dl_tensor.device.device_type);
  return dovetail::FromDLPack(out->release()).status();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
