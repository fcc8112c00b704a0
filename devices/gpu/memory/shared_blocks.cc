#include "dovetail/devices/gpu/memory/shared_blocks.h"

#include <cstring>
#include <optional>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

using ipc::SegmentKind;
using ipc::SlotHold;
using ipc::SlotName;

// The content of a slot. Written once, before its name leaves the process.
struct SharedBlocks::Description {
  uint64_t nbytes_of_this;
  char vendor[16];
  char pci_bus_id[32];
  int32_t device;  // the owner's number
  int32_t has_event;
  uint64_t nbytes;
  uint64_t base;  // the owner's address
  IpcHandle memory;
  IpcHandle event;
};

namespace {

// Text that another process wrote; it need not end with a null character.
template <size_t kSize>
std::string TextOf(const char (&text)[kSize]) {
  return std::string(text, strnlen(text, kSize));
}

constexpr std::string_view kCopyRemedy =
    "ask for a copy (share(tensor, copy=True), ipc::CopyToShared)";

class NothingToHold final : public Hold {
 public:
  bool IsOver(bool) noexcept override { return true; }
};

}  // namespace

// A block that this process shares. The memory's uses own it as a Hold. The Releaser destroys it
// while it drains, where vendor calls are allowed.
class SharedBlocks::Block final : public Hold {
 public:
  Block(GpuContext& context, void* base, int device)
      : context_(context), base_(base), device_(device) {}
  ~Block() override { DestroyEvent(); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Checking whether borrowers still live takes some microseconds per borrower: not at every call.
  bool IsOver(bool thorough) noexcept override {
    constexpr int kAskedForEachThoroughly = 64;
    if (asked_++ == 0) slot_.Renew();  // nobody opens it any more
    return !slot_.HasOtherHolds() &&
           !slot_.IsHeldByOthers(thorough || asked_ % kAskedForEachThoroughly == 0);
  }

  const void* shared_base() const noexcept override { return base_; }

  // Borrowers that open the block after this see the current work of `stream`.
  absl::Status Publish(const Stream& stream) {
    const RuntimeApi& api = context_.runtime.api();
    DeviceGuard guard(context_.runtime, device_);
    if (!guard.ok()) return guard.status();
    absl::MutexLock lock(&mutex_);
    if (event_ != nullptr) {
      Result result = api.event_record(api.self, event_, context_.runtime.Native(stream));
      // Drivers return the same handle each time.
      if (result == 0) result = api.ipc_event_handle(api.self, event_, &event_handle_);
      if (result == 0) return absl::OkStatus();
      if (!slot_) DestroyEvent();
    }
    return context_.runtime.Check(api.stream_synchronize(api.self, context_.runtime.Native(stream)),
                                  "waiting for the work on memory that is to be shared");
  }

  absl::Status Describe(const IpcHandle& memory, size_t nbytes) {
    absl::StatusOr<SlotHold> slot = ipc::SlotPool::OfDevices().Allocate(sizeof(Description));
    if (!slot.ok()) return slot.status();
    absl::StatusOr<void*> data = slot->Data();
    if (!data.ok()) return data.status();
    const Runtime& runtime = context_.runtime;
    absl::MutexLock lock(&mutex_);
    Description d = {.nbytes_of_this = sizeof(Description),
                     .device = device_,
                     .has_event = event_ != nullptr,
                     .nbytes = nbytes,
                     .base = reinterpret_cast<uintptr_t>(base_),
                     .memory = memory,
                     .event = event_handle_};
    runtime.vendor().name.copy(d.vendor, sizeof d.vendor);
    std::memcpy(d.pci_bus_id, runtime.Info(device_).pci_bus_id, sizeof d.pci_bus_id);
    std::memcpy(*data, &d, sizeof d);
    name_ = slot->name().ToBytes();
    slot_ = *std::move(slot);
    return absl::OkStatus();
  }

  // nullptr if the driver has no events for other processes.
  void MakeEvent() {
    const RuntimeApi& api = context_.runtime.api();
    DeviceGuard guard(context_.runtime, device_);
    if (guard.ok() && api.event_create(api.self, kEventInterprocess, &event_) != 0) {
      event_ = nullptr;
    }
  }

  void* base() const { return base_; }
  int device() const { return device_; }
  const std::string& name() const { return name_; }
  NativeEvent event() const { return event_; }  // constant once the slot is written

 private:
  void DestroyEvent() {
    if (event_ == nullptr) return;
    const RuntimeApi& api = context_.runtime.api();
    const RelaxedCaptureMode relaxed(context_.runtime);
    DeviceGuard guard(context_.runtime, device_);
    if (guard.ok()) api.event_destroy(api.self, event_);
    event_ = nullptr;
  }

  GpuContext& context_;
  void* const base_;
  const int device_;
  unsigned asked_ = 0;
  absl::Mutex mutex_;
  NativeEvent event_ = nullptr;
  IpcHandle event_handle_ ABSL_GUARDED_BY(mutex_) = {};
  SlotHold slot_;  // constant once it is set, as is the name
  std::string name_;
};

// Memory that Open returned, until it is closed.
struct SharedBlocks::Lent {
  static void GiveBack(void* self) {
    const std::unique_ptr<Lent> lent(static_cast<Lent*>(self));
    GpuContext& context = lent->blocks->context_;
    if (context.runtime.IsForkedChild()) return;
    if (lent->event != nullptr) {
      const RuntimeApi& api = context.runtime.api();
      const RelaxedCaptureMode relaxed(context.runtime);
      DeviceGuard guard(context.runtime, lent->device);
      if (guard.ok()) api.event_destroy(api.self, lent->event);
    }
    if (lent->key) lent->blocks->Unmap(*lent->key);
    lent->slot = SlotHold();  // last: the owner may free the memory now
  }

  SharedBlocks* blocks;
  SlotHold slot;
  int device = 0;
  std::optional<Key> key;       // nullopt: memory of this process
  NativeEvent event = nullptr;  // opened here
};

absl::StatusOr<PointerInfo> SharedBlocks::FindAllocation(Device device, const void* data,
                                                         size_t nbytes) {
  Runtime& runtime = context_.runtime;
  const RuntimeApi& api = runtime.api();
  if (device.type != runtime.vendor().device) {
    return absl::FailedPreconditionError(
        absl::StrCat("Memory on ", device.ToString(), " can't be opened by other processes; ",
                     kCopyRemedy, ", which is made in shared memory of the CPU."));
  }
  PointerInfo info{};
  absl::Status s = runtime.Check(api.pointer_info(api.self, data, &info), "asking about a pointer");
  if (!s.ok()) return s;
  const auto offset = reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(info.base);
  if (info.kind != PointerKind::kDevice || info.device != device.index || info.base == nullptr ||
      offset >= info.nbytes || nbytes > info.nbytes - offset) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The ", runtime.vendor().product, " driver knows no allocation of this memory on ",
        device.ToString(), ", so that no other process can open it; ", kCopyRemedy, "."));
  }
  if (IsMapped(info.base)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The memory belongs to another process, which alone can share it: pass on the handle that "
        "was opened here, or ",
        kCopyRemedy, "."));
  }
  return info;
}

std::shared_ptr<SharedBlocks::Block> SharedBlocks::FindBlock(const Uses* uses,
                                                             const void* base) const {
  if (uses == nullptr || base == nullptr) return nullptr;
  for (const Event& event : uses->events()) {
    if (event.device().type != context_.runtime.vendor().device) continue;  // of another backend
    Hold* const hold = Events::HoldOf(event);
    if (hold == nullptr || hold->shared_base() != base) continue;
    return {event.shared_state(), static_cast<Block*>(hold)};
  }
  return nullptr;
}

absl::StatusOr<std::shared_ptr<SharedBlocks::Block>> SharedBlocks::MakeBlock(
    const PointerInfo& info, const Stream& stream) {
  Runtime& runtime = context_.runtime;
  const RuntimeApi& api = runtime.api();
  DeviceGuard guard(runtime, info.device);
  if (!guard.ok()) return guard.status();
  const RelaxedCaptureMode relaxed(runtime);
  IpcHandle handle;
  const absl::Status s = runtime.Check(api.ipc_memory_handle(api.self, info.base, &handle),
                                       "getting a handle of memory for other processes");
  if (!s.ok()) {
    const std::string device = runtime.DeviceAt(info.device).ToString();
    return absl::FailedPreconditionError(absl::StrCat(
        "No other process can open this memory on ", device,
        ". Memory of a stream-ordered pool (the allocator \"async\", cudaMallocAsync) can't be "
        "shared, nor memory that is mapped in pieces (PyTorch's expandable segments); ",
        "make the tensor by ipc.empty(), call dovetail.set_allocator(\"", device,
        "\", \"direct\") before, or ", kCopyRemedy, ". (", s.message(), ")"));
  }
  auto block = std::make_shared<Block>(context_, info.base, info.device);
  block->MakeEvent();
  if (absl::Status published = block->Publish(stream); !published.ok()) return published;
  if (absl::Status made = block->Describe(handle, info.nbytes); !made.ok()) return made;
  return block;
}

absl::StatusOr<MemoryShare> SharedBlocks::Share(Device device, const void* data, size_t nbytes,
                                                const Uses* uses, const Stream& stream) {
  if (absl::Status s = context_.runtime.CheckDevice(device); !s.ok()) return s;
  context_.releaser.Drain(stream);
  absl::StatusOr<PointerInfo> info = FindAllocation(device, data, nbytes);
  if (!info.ok()) return info.status();
  absl::StatusOr<bool> capturing = context_.streams.IsCapturing(stream);
  if (!capturing.ok()) return capturing.status();
  if (*capturing ||
      (stream.native() == NativeStream{0} && context_.streams.IsCaptureOpen(device))) {
    return absl::FailedPreconditionError(
        "Memory can't be shared while a stream is captured into a graph: others could not wait for "
        "its work. Share it before the capture begins.");
  }
  MemoryShare share;
  share.offset = static_cast<const char*>(data) - static_cast<const char*>(info->base);
  if (const std::shared_ptr<Block> block = FindBlock(uses, info->base)) {
    if (absl::Status s = block->Publish(stream); !s.ok()) return s;
    share.name = block->name();
    return share;
  }
  absl::StatusOr<std::shared_ptr<Block>> made = MakeBlock(*info, stream);
  if (!made.ok()) return made.status();
  const std::string name = (*made)->name();
  {
    absl::MutexLock lock(&mutex_);
    std::erase_if(mine_, [](const auto& entry) { return entry.second.expired(); });
    mine_[name] = *made;
  }
  share.name = name;
  share.until = Events::OfHold(device, *std::move(made));
  return share;
}

absl::StatusOr<int> SharedBlocks::FindDevice(const Description& description) {
  Runtime& runtime = context_.runtime;
  absl::StatusOr<int> count = runtime.DeviceCount();
  if (!count.ok()) return count;
  const std::string wanted = TextOf(description.pci_bus_id);
  std::optional<int> found;
  for (int i = 0; i < *count; ++i) {
    if (wanted != runtime.Info(i).pci_bus_id) continue;
    if (!found || i == description.device)
      found = i;  // partitions (MIG) of one GPU share a PCI address
  }
  if (found) return *found;
  return absl::FailedPreconditionError(absl::StrCat(
      "The memory is on the GPU ", wanted, " (", runtime.vendor().name, ":", description.device,
      " of the process that shared it), which this process does not see; ",
      runtime.vendor().product, "'s environment variables may hide it."));
}

absl::StatusOr<void*> SharedBlocks::Map(const Key& key) {
  Runtime& runtime = context_.runtime;
  absl::MutexLock lock(&mutex_);
  if (const auto found = mapped_.find(key); found != mapped_.end()) {
    ++found->second.count;
    return found->second.data;
  }
  DeviceGuard guard(runtime, key.device);
  if (!guard.ok()) return guard.status();
  const RelaxedCaptureMode relaxed(runtime);
  const RuntimeApi& api = runtime.api();
  IpcHandle handle;
  std::memcpy(handle.bytes, key.handle.data(), sizeof handle.bytes);
  void* data = nullptr;
  const absl::Status s =
      runtime.Check(api.ipc_open(api.self, &handle, &data), "opening memory of another process");
  if (!s.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("The driver does not open the memory; its owner may have ended, or be in "
                     "another container. (",
                     s.message(), ")"));
  }
  mapped_[key] = {data, 1};
  return data;
}

void SharedBlocks::Unmap(const Key& key) noexcept {
  Runtime& runtime = context_.runtime;
  absl::MutexLock lock(&mutex_);
  const auto found = mapped_.find(key);
  if (found == mapped_.end() || --found->second.count != 0) return;
  const RelaxedCaptureMode relaxed(runtime);
  DeviceGuard guard(runtime, key.device);
  if (guard.ok()) runtime.api().ipc_close(runtime.api().self, found->second.data);
  mapped_.erase(found);
}

bool SharedBlocks::IsMapped(const void* base) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [key, mapped] : mapped_) {
    if (mapped.data == base) return true;
  }
  return false;
}

absl::StatusOr<OpenedMemory> SharedBlocks::Open(std::string_view bytes) {
  Runtime& runtime = context_.runtime;
  if (absl::Status s = runtime.Ready(); !s.ok()) return s;
  context_.releaser.Drain();
  absl::StatusOr<SlotName> name = SlotName::FromBytes(bytes);
  if (!name.ok()) return name.status();
  absl::StatusOr<SlotHold> slot = SlotHold::Open(*name, SegmentKind::kDeviceBlocks);
  if (!slot.ok()) return slot.status();
  absl::StatusOr<void*> content = slot->Data();
  if (!content.ok()) return content.status();
  Description d;
  std::memcpy(&d, *content, sizeof d);
  if (d.nbytes_of_this != sizeof d) {
    return absl::FailedPreconditionError(
        "The memory was shared by another version of Dovetail, or its description was damaged.");
  }
  if (const std::string vendor = TextOf(d.vendor); vendor != runtime.vendor().name) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The memory belongs to \"", vendor, "\" and not to ", runtime.vendor().name, "."));
  }
  absl::StatusOr<int> device = FindDevice(d);
  if (!device.ok()) return device.status();
  // The driver takes the memory away when its owner ends.
  if (!slot->segment()->has_maker()) return ipc::SegmentGoneError();
  auto lent =
      std::make_unique<Lent>(Lent{.blocks = this, .slot = *std::move(slot), .device = *device});
  absl::Cleanup give_back = [&] { Lent::GiveBack(lent.release()); };

  OpenedMemory opened{.data = nullptr,
                      .nbytes = d.nbytes,
                      .device = runtime.DeviceAt(*device),
                      .release = {&Lent::GiveBack, lent.get()}};
  NativeEvent event = nullptr;
  std::shared_ptr<Block> mine;
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = mine_.find(bytes); found != mine_.end()) mine = found->second.lock();
  }
  if (mine != nullptr) {
    opened.data = mine->base();
    event = mine->event();
  } else {
    Key key{.device = *device, .owner = name->segment.process, .base = d.base};
    std::memcpy(key.handle.data(), d.memory.bytes, sizeof d.memory.bytes);
    absl::StatusOr<void*> data = Map(key);
    if (!data.ok()) return data.status();
    lent->key = key;
    opened.data = *data;
    if (d.has_event != 0) {
      const RuntimeApi& api = runtime.api();
      DeviceGuard guard(runtime, *device);
      if (!guard.ok()) return guard.status();
      absl::Status s = runtime.Check(api.ipc_open_event(api.self, &d.event, &event),
                                     "opening an event of another process");
      if (!s.ok()) return s;
      lent->event = event;
    }
  }
  // Always an event: memory with uses is closed through the Releaser.
  opened.ready = event != nullptr
                     ? Events::Borrow(opened.device, event)
                     : Events::OfHold(opened.device, std::make_shared<NothingToHold>());
  std::move(give_back).Cancel();
  lent.release();
  return opened;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
