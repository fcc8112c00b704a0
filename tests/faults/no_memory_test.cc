// Each allocation of an exchange fails once, and then all after it, too. The answer is an error or
// std::bad_alloc, every deleter is called once, and nothing leaks.

#include <fcntl.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/threads/parallel.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segment_folder.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/testing/answers.h"
#include "dovetail/core/testing/child_process.h"
#include "dovetail/core/testing/failing_new.h"
#include "dovetail/core/testing/system_call_fault.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/interop/arrow/export.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/dlpack/testing/foreign.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

constexpr Failures kEach[] = {Failures::kOne, Failures::kAllLater};

class NoMemory : public testing::Test {
 protected:
  // Whatever is made on first use is made, so that it does not count.
  NoMemory() { EXPECT_TRUE(Copied(*Tensor::Empty({2}, kFloat32), {.dtype = kFloat16}).ok()); }

  // Calls body() with each allocation failing, on a thread of its own: its caches start empty, and
  // are freed at its end. Returns the number of failures.
  template <typename Body, typename Check>
  static int FailEach(Failures failures, Body body, Check check) {
    const int64_t live = LiveBlocks();
    int count = 0;
    std::thread([&] { count = ForEachAllocationFailure(body, check, failures); }).join();
    EXPECT_EQ(LiveBlocks(), live);
    return count;
  }

 private:
  ScopedBackendOverride cpu_{MakeCpuBackend()};
};

int CountMappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("/dev/shm/dovetail.") != std::string::npos;
  }
  return count;
}
int CountFiles() {
  int count = 0;
  for (int file = 0; file < 200; ++file) count += fcntl(file, F_GETFD) >= 0;
  return count;
}

// A lent tensor is imported, viewed, copied and exported.
template <typename Managed>
void Exchange(Managed* lent) {
  const absl::StatusOr<Tensor> x = FromDLPack(lent);
  if (!x.ok()) return;
  std::vector<int64_t> order;
  for (int i = x->rank(); i-- > 0;) order.push_back(i);
  const absl::StatusOr<Tensor> view = x->Permute(order);
  if (!view.ok()) return;
  const absl::StatusOr<Tensor> slice = view->Slice(0, {.stop = 1});
  if (!slice.ok()) return;
  const absl::StatusOr<Tensor> copy = Copied(*slice, {.dtype = kFloat16});
  if (!copy.ok()) return;
  const absl::StatusOr<UniqueDLPack> out = ToDLPack(*copy);
  const absl::StatusOr<UniqueDLPack> same = ToDLPack(*slice);
}

template <typename Managed>
class NoMemoryDLPack : public NoMemory {};
using BothStructs = testing::Types<DLManagedTensorVersioned, DLManagedTensor>;
TYPED_TEST_SUITE(NoMemoryDLPack, BothStructs);

TYPED_TEST(NoMemoryDLPack, AnExchangeDeletesOnceWhicheverAllocationFails) {
  for (const Failures failures : kEach) {
    for (const int rank : {2, 40}) {  // beyond the inline rank, shapes are on the heap
      Foreign<TypeParam> lent;
      std::vector<int64_t> shape(rank, 1);
      shape[0] = 2;
      shape[1] = 3;
      lent.tensor().ndim = rank;
      lent.tensor().shape = shape.data();
      std::vector<int64_t> strides(rank, 1);
      strides[0] = 3;
      lent.tensor().strides = strides.data();
      int rounds = 0;
      const int count = this->FailEach(
          failures, [&] { Exchange(&lent.managed); }, [&] { EXPECT_EQ(lent.deleted, ++rounds); });
      EXPECT_GE(count, 3);
    }
  }
}

// Memory of tensors does not come from operator new.
TYPED_TEST(NoMemoryDLPack, AnExchangeDeletesOnceWhicheverMemoryOfTensorsIsMissing) {
  if (!SystemCallFault::kWorks) GTEST_SKIP() << "ThreadSanitizer needs libc's functions";
  for (const int64_t size : {int64_t{2}, int64_t{3} << 20}) {
    std::vector<float> data(static_cast<size_t>(size));
    Foreign<TypeParam> lent;
    lent.shape[0] = 1;
    lent.shape[1] = size;
    lent.strides[0] = size;
    lent.tensor().data = data.data();
    int rounds = 0;
    for (bool done = false; !done; ++rounds) {
      std::thread([&] {
        const SystemCallFault fault(rounds, ENOMEM);
        const absl::StatusOr<Tensor> x = FromDLPack(&lent.managed);
        const absl::StatusOr<Tensor> copy = Copied(*x->Permute({1, 0}), {.dtype = kFloat16});
        done = !SystemCallFault::happened();
        if (!copy.ok()) {
          EXPECT_FALSE(done);
          EXPECT_EQ(copy.status().code(), absl::StatusCode::kResourceExhausted);
        }
      }).join();
      EXPECT_EQ(lent.deleted, rounds + 1);
    }
    EXPECT_GE(rounds, 2) << size;
    EXPECT_TRUE(Registry::Global().host_allocator()->Trim(0).ok());  // empties the process's cache
  }
}

TEST_F(NoMemory, AnArrowArrayIsReleasedOnceWhicheverAllocationFails) {
  for (const Failures failures : kEach) {
    const Tensor tensor = *Tensor::Empty({2, 3}, kFloat32);
    FailEach(
        failures,
        [&] {
          ArrowSchema schema = {};
          ArrowArray array = {};
          if (!ToArrow(tensor, &schema, &array).ok()) return;
          const absl::StatusOr<Tensor> again = FromArrow(&schema, &array);
          EXPECT_EQ(array.release, nullptr);
          EXPECT_EQ(schema.release, nullptr);
        },
        [&] { EXPECT_EQ(tensor.storage()->use_count(), 1); });
  }
}

// The memory's file is made each time, too.
TEST_F(NoMemory, SharedMemoryIsGivenBackWhicheverAllocationFails) {
  ASSERT_TRUE(ipc::Empty({1}, kFloat32).ok());  // makes this process's token
  Allocator& allocator =
      **(*BackendFor(Device::Cpu()))->GetAllocator(Device::Cpu(), MemoryKind::kShared);
  ASSERT_TRUE(allocator.Trim(0).ok());
  for (const Failures failures : kEach) {
    const int files = CountFiles();
    const int count = FailEach(
        failures,
        [&] {
          const absl::StatusOr<Tensor> t = ipc::Empty({100}, kFloat32);
          if (!t.ok()) return;
          const absl::StatusOr<ipc::Handle> handle = ipc::Share(*t);
          if (!handle.ok()) return;
          const absl::StatusOr<ipc::Handle> again = ipc::Handle::FromBytes(handle->ToBytes());
          if (again.ok()) (void)ipc::Open(*again).ok();
        },
        [&] {
          EXPECT_EQ(allocator.Stats().allocated_bytes, 0);
          EXPECT_TRUE(allocator.Trim(0).ok());
          EXPECT_EQ(CountMappings(), 0);
          EXPECT_EQ(CountFiles(), files);
        });
    EXPECT_GE(count, 16);
  }
}

TEST_F(NoMemory, OpenedMemoryIsLetGoWhicheverAllocationFails) {
  ChildProcess owner([](Channel& parent) {
    Tensor t = *ipc::Empty({100}, kFloat32);
    parent.Send(ipc::Share(t)->ToBytes());
    parent.Receive<char>();
    const ipc::SlotHold slot = ipc::SlotHold::FindAt(t.raw_data());
    parent.Send(!slot.IsHeldByOthers(/*thorough=*/false));
  });
  const ipc::Handle handle = *ipc::Handle::FromBytes(owner.Receive<std::string>());
  ASSERT_TRUE(ipc::Open(handle).ok());  // stays mapped
  const int mappings = CountMappings();
  for (const Failures failures : kEach) {
    const int files = CountFiles();
    const int count = FailEach(
        failures, [&] { (void)ipc::Open(handle).ok(); },
        [&] {
          EXPECT_EQ(CountMappings(), mappings);
          EXPECT_EQ(CountFiles(), files);
        });
    EXPECT_GE(count, 2);
  }
  owner.Send('x');
  EXPECT_TRUE(owner.Receive<bool>());
  EXPECT_EQ(owner.Join(), 0);
}

// A process opens a file once.
TEST_F(NoMemory, AProcessOpensMemoryAfterItsFirstTryFailed) {
  ChildProcess owner([](Channel& parent) {
    const Tensor t = *ipc::Empty({100}, kFloat32);
    parent.Send(ipc::Share(t)->ToBytes());
    parent.Receive<char>();
  });
  const ipc::Handle handle = *ipc::Handle::FromBytes(owner.Receive<std::string>());
  for (int allowed = 0; allowed < 30; ++allowed) {
    ChildProcess child([&](Channel&) {
      const int files = CountFiles();
      try {
        const FailingNew fault(allowed);
        (void)ipc::Open(handle).ok();
      } catch (const std::bad_alloc&) {
      }
      EXPECT_LE(CountFiles(), files + 1);
      EXPECT_TRUE(ipc::Open(handle).ok());
      EXPECT_LE(CountFiles(), files + 1);
      EXPECT_EQ(CountMappings(), 2);
      _exit(HasFailure() ? 1 : 0);
    });
    EXPECT_EQ(child.Join(), 0) << allowed;
  }
  owner.Send('x');
  EXPECT_EQ(owner.Join(), 0);
}

// A process has no token before, and makes one at its next try.
TEST_F(NoMemory, AProcessCanShareMemoryAfterItsFirstTryFailed) {
  for (int allowed = 0; allowed < 30; ++allowed) {
    ChildProcess child([allowed](Channel&) {
      const int files = CountFiles();
      try {
        const FailingNew fault(allowed);
        const absl::StatusOr<Tensor> t = ipc::Empty({1}, kFloat32);
      } catch (const std::bad_alloc&) {
      }
      EXPECT_LE(CountFiles(), files + 1);  // of the memory
      EXPECT_TRUE(ipc::Empty({1}, kFloat32).ok());
      ipc::UnlinkMySegments();
      _exit(HasFailure() ? 1 : 0);
    });
    EXPECT_EQ(child.Join(), 0) << allowed;
  }
  ipc::UnlinkLeftBehind();
}

// The first threaded work of a process starts the pool. Fewer threads than wanted suffice.
TEST_F(NoMemory, ThreadedWorkIsDoneWhicheverAllocationFails) {
  for (const Failures failures : kEach) {
    for (int allowed = 0; allowed < 12; ++allowed) {
      ChildProcess child([=](Channel&) {
        const ScopedNumThreads threads(4);
        std::atomic<int> done = 0;
        try {
          const FailingNew fault(allowed, failures);
          ParallelFor(100, [&](int64_t) { ++done; });
        } catch (const std::bad_alloc&) {
          _exit(2);
        }
        _exit(done == 100 ? 0 : 1);
      });
      EXPECT_EQ(child.Join(), 0) << allowed;
    }
  }
}

}  // namespace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
