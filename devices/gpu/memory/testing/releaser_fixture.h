// A test of the Releaser alone: an emulated GPU, and an allocator that notes how memory comes back.
//
//   class MyTest : public ReleaserTest {};
//   TEST_F(MyTest, …) {
//     const Stream a = MakeStream();
//     Work(a);
//     releaser().Push(Block(1, {a}));
//     releaser().Drain();
//     EXPECT_THAT(memory.reclaimed, ElementsAre(1));
//   }
//
// Pending work stays pending until the test runs it (Run, gpu().Finish()).

#ifndef DOVETAIL_DEVICES_GPU_MEMORY_TESTING_RELEASER_FIXTURE_H_
#define DOVETAIL_DEVICES_GPU_MEMORY_TESTING_RELEASER_FIXTURE_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dovetail/devices/gpu/context.h"
#include "dovetail/tests/emulator/emulator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Each block is known by a number, which is its size, too.
class NotingAllocator final : public ReleasedAllocator {
 public:
  bool takes_in_order = false;
  bool takes_after = false;
  std::vector<size_t> in_order, after, reclaimed;  // the blocks that came back in each way
  std::vector<Stream> orders;                      // of in_order
  std::vector<size_t> numbers_of_events;           // of after

  absl::StatusOr<void*> Allocate(size_t, const Stream&) override { return nullptr; }
  void Deallocate(void*, size_t, std::unique_ptr<Uses>) noexcept override {}
  bool ReclaimInOrder(void* data, size_t nbytes, const Stream& stream) noexcept override {
    if (!takes_in_order) return false;
    Note(data, nbytes, in_order);
    orders.push_back(stream);
    return true;
  }
  bool ReclaimAfter(void* data, size_t nbytes, const Uses::EventList& events) noexcept override {
    if (!takes_after) return false;
    Note(data, nbytes, after);
    numbers_of_events.push_back(events.size());
    return true;
  }
  void Reclaim(void* data, size_t nbytes) noexcept override { Note(data, nbytes, reclaimed); }

 private:
  static void Note(void* data, size_t nbytes, std::vector<size_t>& list) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data), nbytes);
    list.push_back(nbytes);
  }
};

// A Hold that the test ends. It outlives the memory.
class NotedHold final : public Hold {
 public:
  bool over = false;
  std::vector<bool> asked;  // `thorough` of each call

  bool IsOver(bool thorough) noexcept override {
    EXPECT_TRUE(asked.empty() || !over_before_) << "asked again";
    asked.push_back(thorough);
    over_before_ = over;
    return over;
  }

 private:
  bool over_before_ = false;
};

class ReleaserTest : public testing::Test {
 protected:
  using EmulatorOptions = emulator::EmulatorOptions;

  explicit ReleaserTest(EmulatorOptions options = {}) { Start(std::move(options)); }

  // Starts again with a new emulator. `edit` changes functions of its RuntimeApi.
  void Start(EmulatorOptions options, void (*edit)(RuntimeApi& api) = nullptr) {
    context_.reset();
    options.patience = 1 << 30;
    vendor_ = options.vendor;
    gpu_ = std::make_unique<emulator::Emulator>(std::move(options));
    RuntimeApi api = gpu_->api();
    if (edit != nullptr) edit(api);
    context_.emplace(api);
  }

  // Destroys the releaser.
  void End() { context_.reset(); }

  void TearDown() override {
    End();
    EXPECT_THAT(gpu_->TakeComplaints(), testing::IsEmpty());
  }

  emulator::Emulator& gpu() { return *gpu_; }
  GpuContext& context() { return *context_; }
  Releaser& releaser() { return context_->releaser; }
  Device device(int index = 0) const { return {vendor_->device, index}; }
  Stream MakeStream(int index = 0) { return *context_->streams.Create(device(index)); }

  // Adds work to a stream, which Run runs.
  void Work(const Stream& stream) {
    const int index = stream.device().index;
    gpu_->Set(stream.native(), index, gpu_->Malloc(index, 16), 1, 16);
  }
  void Run(const Stream& stream) {
    const RuntimeApi& api = gpu_->api();
    api.stream_synchronize(api.self, stream.native());
  }

  std::unique_ptr<Uses> Block(size_t number, std::initializer_list<Stream> streams = {}) {
    auto uses = std::make_unique<Uses>();
    uses->data = reinterpret_cast<void*>(number);
    uses->nbytes = number;
    uses->allocator = &memory;
    for (const Stream& stream : streams) uses->AddStream(stream, UseKind::kWork);
    return uses;
  }
  std::unique_ptr<Uses> UnknownBlock(size_t number) {
    std::unique_ptr<Uses> uses = Block(number);
    uses->AddUnknown();
    return uses;
  }
  // Memory whose lender counts in `*returned` how often it came back.
  static std::unique_ptr<Uses> Lent(int* returned, std::initializer_list<Stream> streams = {}) {
    auto uses = std::make_unique<Uses>();
    uses->release = {[](void* count) { ++*static_cast<int*>(count); }, returned};
    for (const Stream& stream : streams) uses->AddStream(stream, UseKind::kWork);
    return uses;
  }

  NotingAllocator memory;

 private:
  const VendorTraits* vendor_ = nullptr;
  std::unique_ptr<emulator::Emulator> gpu_;
  std::optional<GpuContext> context_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_MEMORY_TESTING_RELEASER_FIXTURE_H_
