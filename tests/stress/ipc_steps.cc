#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/testing/child_process.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "dovetail/tests/stress/steps.h"

namespace dovetail::stress {
namespace {

constexpr int kOfChild = 4;

Tensor NewShared(int64_t size, int32_t key) {
  Tensor t = ValueOf(ipc::Empty({size}, kInt32));
  EXPECT_TRUE(Fill(t, &key).ok());
  return t;
}

// The second process. It lends kOfChild tensors, whose keys are their numbers. Then it opens what
// it is sent, and answers with the first element, until it is sent an empty text.
void Serve(Channel& parent) {
  std::vector<Tensor> mine;
  for (int key = 0; key < kOfChild; ++key) {
    mine.push_back(NewShared(50 + key, key));
    parent.Send(ValueOf(ipc::Share(mine.back())).ToBytes());
  }
  while (true) {
    const auto bytes = parent.Receive<std::string>();
    if (bytes.empty()) return;
    const Tensor t = ValueOf(ipc::Open(ValueOf(ipc::Handle::FromBytes(bytes))));
    parent.Send(**t.at<const int32_t>({0}));
  }
}

// Memory of this process, and a handle to it.
struct Shared {
  Held held;
  std::string bytes;
};

class Ipc final : public Steps {
 public:
  explicit Ipc(Board& board) : board_(board), child_(&Serve) {
    absl::MutexLock lock(&mutex_);
    for (std::string& bytes : of_child_) bytes = child_.Receive<std::string>();
  }

  void Run(Random& random) override {
    switch (random.Below(8)) {
      case 0:
        return Make(random);
      case 1:
        if (random.OneIn(4)) return AskTheChild(random);
        return OpenGone(random);
      case 2:
      case 3:
        return OpenOfChild(random);
      default:
        return OpenOwn(random);
    }
  }

  void Finish() override {
    shared_.Clear();
    absl::MutexLock lock(&mutex_);
    child_.Send(std::string());
    EXPECT_EQ(child_.Join(), 0);
  }

  void Check() override {
    Allocator& allocator =
        **(*BackendFor(Device::Cpu()))->GetAllocator(Device::Cpu(), MemoryKind::kShared);
    EXPECT_GT(allocator.Stats().allocations, 0);
    EXPECT_EQ(allocator.Stats().allocated_bytes, 0);
  }

 private:
  void Make(Random& random) {
    auto shared = std::make_shared<Shared>();
    shared->held.key = NewKey(random);
    shared->held.tensor = NewShared(1 + random.Below(2000), shared->held.key);
    shared->bytes = ValueOf(ipc::Share(shared->held.tensor)).ToBytes();
    shared_.Put(random, std::move(shared));
  }

  // In the owner's process a handle gives the same memory.
  void OpenOwn(Random& random) {
    const std::shared_ptr<const Shared> shared = shared_.Look(random);
    if (shared == nullptr) return;
    const Tensor t = ValueOf(ipc::Open(ValueOf(ipc::Handle::FromBytes(shared->bytes))));
    EXPECT_EQ(t.raw_data(), shared->held.tensor.raw_data());
    board_.tensors.Swap(random, std::make_unique<Held>(Held{t, shared->held.key}));
  }

  void OpenOfChild(Random& random) {
    const auto key = static_cast<int32_t>(random.Below(kOfChild));
    const Tensor t = ValueOf(ipc::Open(ValueOf(ipc::Handle::FromBytes(of_child_[key]))));
    CheckElements(t, key);
    board_.read_only.Put(random, std::make_shared<Held>(Held{t, key}));
  }

  void AskTheChild(Random& random) {
    const std::shared_ptr<const Shared> shared = shared_.Look(random);
    if (shared == nullptr) return;
    absl::MutexLock lock(&mutex_);
    child_.Send(shared->bytes);
    EXPECT_EQ(child_.Receive<int32_t>(), shared->held.key);
  }

  // Memory that its owner drops may be opened or not, but is never another's.
  void OpenGone(Random& random) {
    std::shared_ptr<const Shared> shared = shared_.Look(random);
    if (shared == nullptr) return;
    const std::string bytes = shared->bytes;
    const int32_t key = shared->held.key;
    shared = nullptr;
    const absl::StatusOr<Tensor> t = ipc::Open(ValueOf(ipc::Handle::FromBytes(bytes)));
    if (t.ok()) return CheckElements(*t, key);
    EXPECT_EQ(t.status().code(), absl::StatusCode::kFailedPrecondition) << t.status();
  }

  Board& board_;
  SharedShelf<Shared> shared_;
  std::string of_child_[kOfChild];  // handles
  absl::Mutex mutex_;
  ChildProcess child_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Steps> IpcSteps(Board& board) { return std::make_unique<Ipc>(board); }

}  // namespace dovetail::stress
