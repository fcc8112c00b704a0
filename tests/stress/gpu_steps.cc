#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "dovetail/tests/stress/steps.h"

namespace dovetail::stress {
namespace {

// A tensor on its way to the consumer that has `stream`.
struct Sent {
  int32_t key;
  UniqueDLPack managed;
  Stream stream;
};

class Gpu final : public Steps {
 public:
  Gpu(Board& board, DeviceBackend& backend) : board_(board), backend_(backend) {}

  void Run(Random& random) override {
    switch (random.Below(256)) {
      case 0:
        EXPECT_TRUE(RandomAllocator(random).Trim(random.Below(2) << 16).ok());
        return;
      case 1:
        EXPECT_GE(RandomAllocator(random).Stats().peak_bytes, 0);
        return;
      case 2:
        return SelectAllocator(random);
      case 3:
        return MakeStream(random);
      case 4:
      case 5:
        return ShareMemory(random);
      default:
        break;
    }
    switch (random.Below(8)) {
      case 0:
      case 1:
        return FromHost(random);
      case 2:
        return ToHost(random);
      case 3:
        return Copy(random);
      case 4:
        return Lend(random);
      case 5:
        return Send(random);
      case 6:
        return Receive(random);
      default:
        return UseTogether(random);
    }
  }

  void Finish() override {
    sent_.Clear();
    tensors_.Clear();
    read_only_.Clear();
    shared_.Clear();
    streams_.Clear();
  }

  // Memory that is given back may hold other memory, which the next trim gives back.
  void Check() override {
    for (int i = 0; i < 1000 && TrimAll() > 0; ++i) {
    }
    EXPECT_EQ(TrimAll(), 0);
    EXPECT_GT(lent_, 0);
    EXPECT_EQ(lent_, given_back_);
  }

 private:
  static constexpr MemoryKind kDevice = MemoryKind::kDevice;

  // Returns the bytes that are still allocated.
  int64_t TrimAll() {
    int64_t bytes = 0;
    const auto trim = [&bytes](Allocator& allocator) {
      EXPECT_TRUE(allocator.Trim(0).ok());
      bytes += allocator.Stats().allocated_bytes;
    };
    for (int index = 0; index < 2; ++index) {
      const Device device = DeviceAt(index);
      for (const std::string& name : backend_.AllocatorNames(device, kDevice)) {
        EXPECT_TRUE(backend_.SelectAllocator(device, kDevice, name).ok());
        trim(**backend_.GetAllocator(device, kDevice));
      }
      trim(**backend_.GetAllocator(device, MemoryKind::kShared));
    }
    return bytes;
  }

  Device DeviceAt(int index) const { return {backend_.device_types()[0], index}; }
  Device RandomDevice(Random& random) const { return DeviceAt(static_cast<int>(random.Below(2))); }
  Allocator& RandomAllocator(Random& random) {
    return **backend_.GetAllocator(RandomDevice(random), kDevice);
  }

  void SelectAllocator(Random& random) {
    const Device device = RandomDevice(random);
    const std::vector<std::string> names = backend_.AllocatorNames(device, kDevice);
    const std::string& name = names[random.Below(static_cast<int64_t>(names.size()))];
    EXPECT_TRUE(backend_.SelectAllocator(device, kDevice, name).ok());
  }

  // The emulator keeps streams that were destroyed, which slow it down: there is a limit to them.
  void MakeStream(Random& random) {
    if (streams_made_.fetch_add(1, std::memory_order_relaxed) >= 30) return;
    const Stream stream = *backend_.CreateStream(RandomDevice(random));
    const std::optional<int64_t> code = *backend_.EncodeStream(stream);
    EXPECT_EQ(backend_.DecodeStream(stream.device(), code)->stream, stream);
    streams_.Put(random, std::make_shared<const Stream>(stream));
  }
  // A stream that several threads use.
  Stream RandomStream(Device device, Random& random) {
    const std::shared_ptr<const Stream> stream = streams_.Look(random);
    if (stream == nullptr || stream->device() != device) return Stream::Default(device);
    return *stream;
  }

  // A tensor of this thread alone, or one that others read, too; or nullptr.
  std::shared_ptr<const Held> Any(Random& random) {
    if (random.OneIn(2)) return read_only_.Look(random);
    return std::shared_ptr<const Held>(tensors_.Take(random));
  }
  void Put(Random& random, Tensor tensor, int32_t key) {
    auto held = std::make_unique<Held>(Held{std::move(tensor), key});
    if (random.OneIn(2)) return read_only_.Put(random, std::move(held));
    tensors_.Swap(random, std::move(held));
  }

  void FromHost(Random& random) {
    const std::shared_ptr<const Held> held = board_.read_only.Look(random);
    if (held == nullptr || held->tensor.num_elements() > 50000) return;
    const Device device = RandomDevice(random);
    StreamScope scope(RandomStream(device, random));
    Put(random, ValueOf(Copied(RandomView(held->tensor, random), {.device = device})), held->key);
  }

  void ToHost(Random& random) {
    const std::shared_ptr<const Held> held = Any(random);
    if (held == nullptr) return;
    StreamScope scope(RandomStream(held->tensor.device(), random));
    const Tensor view = RandomView(held->tensor, random);
    Tensor host = ValueOf(Copied(view, {.device = Device::Cpu()}));
    CheckElements(host, held->key);
    board_.tensors.Swap(random, std::make_unique<Held>(Held{std::move(host), held->key}));
  }

  void Copy(Random& random) {
    const std::shared_ptr<const Held> held = Any(random);
    if (held == nullptr) return;
    const Device device = RandomDevice(random);
    const Stream stream = RandomStream(device, random);
    const Tensor view = RandomView(held->tensor, random);
    Put(random, ValueOf(Copied(view, {.device = device, .stream = stream})), held->key);
  }

  // As a library that lends memory which it wrote on a stream of its own.
  void Lend(Random& random) {
    const std::shared_ptr<const Held> held = Any(random);
    if (held == nullptr || held->tensor.num_elements() == 0) return;
    const Tensor& owner = held->tensor;
    const Stream stream = RandomStream(owner.device(), random);
    const bool is_ready = random.OneIn(2);  // then the next users are the first
    const absl::Status s =
        is_ready ? owner.storage()->Synchronize() : owner.storage()->OrderBefore(stream);
    EXPECT_TRUE(s.ok()) << s;
    lent_.fetch_add(1, std::memory_order_relaxed);
    Tensor lent = ValueOf(Tensor::Wrap(
        static_cast<const int32_t*>(owner.raw_data()), owner.shape(), owner.strides(),
        owner.device(), [this, owner] { given_back_.fetch_add(1, std::memory_order_relaxed); }));
    if (!is_ready) lent.storage()->RecordUse(stream);
    Put(random, std::move(lent), held->key);
  }

  void Send(Random& random) {
    const std::shared_ptr<const Held> held = Any(random);
    if (held == nullptr) return;
    const Stream stream = RandomStream(held->tensor.device(), random);
    const Stream known =
        random.OneIn(2) ? stream : Stream::Borrow(stream.device(), stream.native());
    UniqueDLPack managed = ValueOf(ToDLPack(held->tensor, {.stream = known}));
    sent_.Swap(random, std::make_unique<Sent>(Sent{held->key, std::move(managed), stream}));
  }

  void Receive(Random& random) {
    const std::unique_ptr<Sent> sent = sent_.Take(random);
    if (sent == nullptr || random.OneIn(8)) return;  // deleted unseen
    Tensor tensor = ValueOf(FromDLPack(std::move(sent->managed)));
    tensor.storage()->RecordUse(sent->stream, UseKind::kOrder);
    StreamScope scope(sent->stream);
    CheckElements(ValueOf(Copied(tensor, {.device = Device::Cpu()})), sent->key);
    Put(random, std::move(tensor), sent->key);
  }

  void ShareMemory(Random& random) {
    const std::shared_ptr<const Shared> shared = shared_.Look(random);
    if (shared != nullptr && random.OneIn(2)) {
      Tensor opened = ValueOf(ipc::Open(shared->handle));
      CheckElements(ValueOf(Copied(opened, {.device = Device::Cpu()})), shared->held.key);
      return Put(random, std::move(opened), shared->held.key);
    }
    const int32_t key = NewKey(random);
    Tensor tensor = ValueOf(ipc::Empty({1 + random.Below(100)}, kInt32, RandomDevice(random)));
    EXPECT_TRUE(Fill(tensor, &key).ok());
    ipc::Handle handle = ValueOf(ipc::Share(tensor));
    shared_.Put(random, std::make_shared<Shared>(Shared{{tensor, key}, std::move(handle)}));
  }

  // The functions of a Storage that several threads may call at the same time.
  void UseTogether(Random& random) {
    const std::shared_ptr<const Held> held = Any(random);
    if (held == nullptr) return;
    Storage& storage = *held->tensor.storage();
    const Stream stream = RandomStream(storage.device(), random);
    switch (random.Below(8)) {
      case 0:
        return storage.RecordUse(stream);
      case 1:
        return storage.RecordUse(Stream::Borrow(stream.device(), stream.native()));
      case 2:
        return storage.RecordUse(*backend_.Record(stream));
      case 3:
        EXPECT_TRUE(storage.Synchronize().ok());
        return;
      case 4:
        EXPECT_TRUE(storage.OrderBefore(stream).ok());
        return;
      case 5:
        EXPECT_TRUE(storage.Share(std::nullopt).ok());
        return;
      case 6:
        for (const Stream& used : storage.used_on()) EXPECT_TRUE(used.is_lasting());
        return;
      default:
        if (storage.uses() != nullptr) static_cast<void>(storage.uses()->has_work());
        return;
    }
  }

  // Memory that other processes may open, and its handle.
  struct Shared {
    Held held;
    ipc::Handle handle;
  };

  Board& board_;
  DeviceBackend& backend_;
  Shelf<Held> tensors_;
  SharedShelf<Held> read_only_;
  Shelf<Sent> sent_;
  SharedShelf<Shared> shared_;
  SharedShelf<Stream> streams_;
  std::atomic<int64_t> streams_made_ = 0, lent_ = 0, given_back_ = 0;
};

}  // namespace

std::unique_ptr<Steps> GpuSteps(Board& board, DeviceBackend& backend) {
  return std::make_unique<Gpu>(board, backend);
}

}  // namespace dovetail::stress
