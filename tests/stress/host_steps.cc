#include <vector>

#include "dovetail/core/internal/threads/parallel.h"
#include "dovetail/core/registry.h"
#include "dovetail/tests/stress/steps.h"

namespace dovetail::stress {
namespace {

class Host final : public Steps {
 public:
  explicit Host(Board& board) : board_(board) {}

  void Run(Random& random) override {
    if (random.OneIn(2000)) return CopyLarge(random);
    switch (random.Below(64)) {
      case 0:
        EXPECT_TRUE(allocator().Trim(random.Below(2) << 20).ok());
        return;
      case 1:
        EXPECT_GE(allocator().Stats().peak_bytes, 0);
        return;
      case 2:
        EXPECT_TRUE(SetNumThreads(1 + random.Below(4)).ok());
        EXPECT_GE(GetNumThreads(), 1);
        return;
      case 3:
        return Divide(random);
      default:
        break;
    }
    switch (random.Below(5)) {
      case 0:
        return Make(random);
      case 1:
        return View(random);
      case 2:
        return Copy(random);
      case 3:
        return Cast(random);
      default:
        return ReadTogether(random);
    }
  }

  void Check() override {
    EXPECT_TRUE(allocator().Trim(0).ok());
    EXPECT_EQ(allocator().Stats().allocated_bytes, 0);
  }

 private:
  static Allocator& allocator() {
    return **(*BackendFor(Device::Cpu()))->GetAllocator(Device::Cpu(), MemoryKind::kDevice);
  }

  void Make(Random& random) {
    auto held = std::make_unique<Held>();
    held->tensor = ValueOf(Tensor::Empty(RandomShape(random), kInt32));
    held->key = NewKey(random);
    EXPECT_TRUE(Fill(held->tensor, &held->key).ok());
    if (random.OneIn(4)) return board_.read_only.Put(random, std::move(held));
    board_.tensors.Swap(random, std::move(held));  // drops what lay there
  }

  void View(Random& random) {
    std::unique_ptr<Held> held = board_.tensors.Take(random);
    if (held == nullptr) return;
    Tensor view = RandomView(held->tensor, random);
    CheckElements(view, held->key);
    if (random.OneIn(2)) held->tensor = std::move(view);
    board_.tensors.Swap(random, std::move(held));
  }

  void Copy(Random& random) {
    std::unique_ptr<Held> held = board_.tensors.Take(random);
    if (held == nullptr) return;
    const Tensor view = RandomView(held->tensor, random);
    Tensor copy = ValueOf(Copied(view));  // nobody else reads its memory yet
    if (random.OneIn(2)) {
      EXPECT_TRUE(CopyInto(copy, view).ok());
    }
    CheckElements(copy, held->key);
    held->tensor = ValueOf(AsContiguous(random.OneIn(2) ? copy : view));
    board_.tensors.Swap(random, std::move(held));
  }

  void Cast(Random& random) {
    std::unique_ptr<Held> held = board_.tensors.Take(random);
    if (held == nullptr) return;
    const Tensor floats = ValueOf(Copied(held->tensor, {.dtype = kFloat32}));
    CheckElements(ValueOf(Copied(floats, {.dtype = kInt32})), held->key);
    board_.tensors.Swap(random, std::move(held));
  }

  // One Tensor may be read on several threads.
  void ReadTogether(Random& random) {
    const std::shared_ptr<const Held> held = board_.read_only.Look(random);
    if (held == nullptr) return;
    CheckElements(held->tensor, held->key);
    auto view = std::make_unique<Held>(Held{RandomView(held->tensor, random), held->key});
    EXPECT_GE(held->tensor.storage()->use_count(), 1);
    board_.tensors.Swap(random, std::move(view));
  }

  // Work for several threads.
  static void Divide(Random& random) {
    std::vector<int64_t> squares(1 + random.Below(20));
    ParallelFor(static_cast<int64_t>(squares.size()),
                [&](int64_t part) { squares[part] = part * part; });
    for (size_t i = 0; i < squares.size(); ++i) EXPECT_EQ(squares[i], i * i);
  }

  // Large enough for several threads.
  static void CopyLarge(Random& random) {
    const int32_t key = NewKey(random);
    Tensor large = ValueOf(Tensor::Empty({600, 700}, kInt32));
    EXPECT_TRUE(Fill(large, &key).ok());
    CheckElements(ValueOf(Copied(*large.Transpose(0, 1))), key);
  }

  Board& board_;
};

}  // namespace

std::unique_ptr<Steps> HostSteps(Board& board) { return std::make_unique<Host>(board); }

}  // namespace dovetail::stress
