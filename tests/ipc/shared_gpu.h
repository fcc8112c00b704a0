// A test with memory of emulated GPUs in two processes. Each has its own emulator, and maps the
// other emulator's memory, like the drivers.
//
//   TEST_P(SharedGpuTest, …) {
//     ChildProcess child(Borrower());          // first: fork before the emulator is used
//     const Tensor t = Counting6();
//     OpenIn(child, *ipc::Share(t));
//     EXPECT_EQ(FirstIn(child), 0);
//   }
//
// Instantiated for both vendors where this is included.

#ifndef DOVETAIL_TESTS_IPC_SHARED_GPU_H_
#define DOVETAIL_TESTS_IPC_SHARED_GPU_H_

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/testing/child_process.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

inline std::string Text(const absl::Status& s) { return s.ToString(); }

class SharedGpuTest : public EmulatedGpu,
                      public testing::WithParamInterface<const gpu::VendorTraits*> {
 protected:
  SharedGpuTest() : EmulatedGpu({.vendor = GetParam()}) {}

  // A new process with its own GPUs.
  void StartInChild() { Start({.vendor = GetParam()}); }

  // 0, 1, 2, … in shareable memory; the copy there is pending.
  Tensor Counting6() {
    Tensor t = *ipc::Empty({2, 3}, kInt32, device());
    EXPECT_TRUE(CopyInto(t, Counting({2, 3})).ok());
    return t;
  }
  // Releases all memory that can be released.
  void Trim() { EXPECT_TRUE(AllocatorOf(device(), MemoryKind::kShared).Trim(0).ok()); }

  // Opens, reads, writes and releases on command, in its own process.
  void Borrow(Channel& parent) {
    StartInChild();
    Tensor t;
    while (true) {
      switch (parent.Receive<char>()) {
        case 'o': {  // open
          absl::StatusOr<Tensor> opened =
              ipc::Open(*ipc::Handle::FromBytes(parent.Receive<std::string>()));
          parent.Send(opened.ok() ? opened->ToString() : Text(opened.status()));
          if (opened.ok()) t = *std::move(opened);
          break;
        }
        case 'r': {  // read the first element
          parent.Send(Values(t)[0]);
          break;
        }
        case 'w': {  // write
          const std::vector<int32_t> sevens(t.num_elements(), 7);
          Tensor from = *Tensor::Empty(t.shape(), kInt32);
          std::memcpy(from.raw_data(), sevens.data(), sevens.size() * sizeof(int32_t));
          parent.Send(CopyInto(t, from).ok() && t.storage()->Synchronize().ok());
          break;
        }
        case 'l':  // let go
          t = Tensor();
          Trim();
          parent.Send(gpu().TakeComplaints().empty());
          break;
        case 's':  // share on
          parent.Send(Text(ipc::Share(t).status()));
          break;
        case 'c':  // counts
          parent.Send(gpu().counts());
          break;
        default:
          return;
      }
    }
  }
  std::string OpenIn(ChildProcess& child, const ipc::Handle& handle) {
    child.Send('o');
    child.Send(handle.ToBytes());
    return child.Receive<std::string>();
  }
  int32_t FirstIn(ChildProcess& child) {
    child.Send('r');
    return child.Receive<int32_t>();
  }
  bool LetGoIn(ChildProcess& child) {
    child.Send('l');
    return child.Receive<bool>();
  }
  std::function<void(Channel&)> Borrower() {
    return [this](Channel& parent) { Borrow(parent); };
  }
};

INSTANTIATE_TEST_SUITE_P(Vendors, SharedGpuTest,
                         testing::Values(&gpu::kCudaTraits, &gpu::kRocmTraits),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_IPC_SHARED_GPU_H_
