#include "dovetail/core/abi/import.h"

#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/abi/convert.h"
#include "dovetail/core/abi/memory_source.h"
#include "dovetail/core/internal/exceptions.h"
#include "dovetail/core/registry.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using abi::AdoptEvent;
using abi::AdoptStream;
using abi::CStream;
using abi::CUses;
using abi::LendEvent;
using abi::Message;
using abi::ToC;

class ImportedAllocator final : public Allocator {
 public:
  ImportedAllocator(const DovetailBackend& c, const DeviceBackend& backend, void* allocator)
      : c_(c), backend_(backend), allocator_(allocator) {}

  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override {
    Message message;
    void* data = nullptr;
    const CStream on(stream);
    absl::Status s = message.Of(c_.allocate(allocator_, nbytes, on.get(), &data, message.get()));
    if (!s.ok()) return s;
    return data;
  }
  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override {
    DOVETAIL_TRY {
      if (uses == nullptr) return c_.deallocate(allocator_, data, nbytes, nullptr);
      c_.deallocate(allocator_, data, nbytes, CUses(*uses, backend_).get());
    }
    DOVETAIL_CATCH(const std::bad_alloc&) {  // no memory to describe its uses: leaked
    }
  }
  absl::Status Trim(size_t keep) override {
    Message message;
    return message.Of(c_.trim(allocator_, keep, message.get()));
  }
  AllocatorStats Stats() override {
    DovetailAllocatorStats s{};
    c_.stats(allocator_, &s);
    return {s.allocated_bytes, s.peak_bytes, s.reserved_bytes, s.allocations, s.retries};
  }

 private:
  const DovetailBackend& c_;
  const DeviceBackend& backend_;
  void* allocator_;
};

class ImportedBackend final : public DeviceBackend {
 public:
  explicit ImportedBackend(const DovetailBackend* c) : c_(*c), name_(c->name(c->self)) {
    const int32_t* types = nullptr;
    const size_t count = c_.device_types(c_.self, &types);
    for (size_t i = 0; i < count; ++i) types_.push_back(static_cast<DeviceType>(types[i]));
  }
  ~ImportedBackend() override {
    if (c_.release != nullptr) c_.release(c_.self);
  }

  std::string_view name() const override { return name_; }
  absl::Span<const DeviceType> device_types() const override { return types_; }
  absl::StatusOr<int> DeviceCount() override {
    Message message;
    int32_t count = 0;
    absl::Status s = message.Of(c_.device_count(c_.self, &count, message.get()));
    if (!s.ok()) return s;
    return count;
  }

  absl::StatusOr<Allocator*> GetAllocator(Device device, MemoryKind kind) override {
    Message message;
    void* found = nullptr;
    absl::Status s = message.Of(
        c_.get_allocator(c_.self, ToC(device), static_cast<int32_t>(kind), &found, message.get()));
    if (!s.ok()) return s;
    absl::MutexLock lock(&mutex_);
    std::unique_ptr<ImportedAllocator>& allocator = allocators_[found];
    if (allocator == nullptr) allocator = std::make_unique<ImportedAllocator>(c_, *this, found);
    return allocator.get();
  }
  std::vector<std::string> AllocatorNames(Device device, MemoryKind kind) override {
    struct {
      std::vector<std::string> names;
      std::exception_ptr error;  // of the callback, which C calls: nothing may be thrown there
    } taken;
    using Taken = decltype(taken);
    c_.allocator_names(c_.self, ToC(device), static_cast<int32_t>(kind), &taken,
                       [](void* context, const char* name) noexcept {
                         auto& to = *static_cast<Taken*>(context);
                         DOVETAIL_TRY { to.names.emplace_back(name); }
                         DOVETAIL_CATCH(...) { to.error = std::current_exception(); }
                       });
    if (taken.error != nullptr) std::rethrow_exception(taken.error);
    return std::move(taken.names);
  }
  absl::Status SelectAllocator(Device device, MemoryKind kind, std::string_view name) override {
    Message message;
    return message.Of(c_.select_allocator(c_.self, ToC(device), static_cast<int32_t>(kind),
                                          std::string(name).c_str(), message.get()));
  }
  absl::StatusOr<std::unique_ptr<Allocator>> MakeAllocator(Device device, MemoryKind kind,
                                                           MemorySource& source) override {
    if (!Has(&DovetailBackend::make_allocator)) {
      return DeviceBackend::MakeAllocator(device, kind, source);
    }
    Message message;
    void* made = nullptr;
    const DovetailAllocator lent = LendMemorySource(source);
    absl::Status s = message.Of(c_.make_allocator(c_.self, ToC(device), static_cast<int32_t>(kind),
                                                  &lent, &made, message.get()));
    if (!s.ok()) return s;
    return std::make_unique<ImportedAllocator>(c_, *this, made);
  }
  Device MemoryDevice(Device device, MemoryKind kind) override {
    return abi::FromC(c_.memory_device(c_.self, ToC(device), static_cast<int32_t>(kind)));
  }

  absl::StatusOr<Stream> CreateStream(Device device) override {
    Message message;
    DovetailStream made{};
    absl::Status s = message.Of(c_.create_stream(c_.self, ToC(device), &made, message.get()));
    if (!s.ok()) return s;
    return AdoptStream(made);
  }
  absl::StatusOr<StreamRequest> DecodeStream(Device device, std::optional<int64_t> code) override {
    Message message;
    int32_t has_stream = 0;
    DovetailStream stream{};
    absl::Status s = message.Of(c_.decode_stream(c_.self, ToC(device), code ? &*code : nullptr,
                                                 &has_stream, &stream, message.get()));
    if (!s.ok()) return s;
    if (has_stream == 0) return StreamRequest{};
    return StreamRequest{.stream = AdoptStream(stream), .host_waits = has_stream == 2};
  }
  absl::StatusOr<std::optional<int64_t>> EncodeStream(const Stream& stream) override {
    Message message;
    int32_t is_none = 0;
    int64_t code = 0;
    const CStream c(stream);
    absl::Status s = message.Of(c_.encode_stream(c_.self, c.get(), &is_none, &code, message.get()));
    if (!s.ok()) return s;
    return is_none != 0 ? std::optional<int64_t>() : code;
  }

  absl::StatusOr<Event> Record(const Stream& stream) override {
    Message message;
    DovetailEvent event{};
    const CStream on(stream);
    absl::Status s = message.Of(c_.record(c_.self, on.get(), &event, message.get()));
    if (!s.ok()) return s;
    return AdoptEvent(event);
  }
  absl::Status Wait(const Stream& stream, const Event& event) override {
    if (!Serves(event.device().type)) return AwaitOnHost(event);
    Message message;
    const CStream on(stream);
    const DovetailEvent lent = LendEvent(event);
    return message.Of(c_.wait(c_.self, on.get(), &lent, message.get()));
  }
  absl::Status OrderBefore(Uses& uses, const Stream& consumer) override {
    for (const Uses::Use& use : uses.streams()) {
      if (Serves(use.stream.device().type)) continue;
      if (absl::Status s = AwaitOnHost(use.stream); !s.ok()) return s;
    }
    for (const Event& event : uses.events()) {
      if (Serves(event.device().type)) continue;
      if (absl::Status s = AwaitOnHost(event); !s.ok()) return s;
    }
    Message message;
    const CStream on(consumer), current(CurrentStream(consumer.device()));
    const CUses given(uses, *this);
    return message.Of(
        c_.order_before(c_.self, given.get(), on.get(), current.get(), message.get()));
  }
  absl::Status WaitForeign(const Stream& stream, const void* event) override {
    Message message;
    const CStream on(stream);
    return message.Of(c_.wait_foreign(c_.self, on.get(), event, message.get()));
  }
  absl::StatusOr<bool> Query(const Event& event) override {
    if (!Serves(event.device().type)) return HasHappened(event);
    Message message;
    int32_t happened = 0;
    const DovetailEvent lent = LendEvent(event);
    absl::Status s = message.Of(c_.query(c_.self, &lent, &happened, message.get()));
    if (!s.ok()) return s;
    return happened != 0;
  }
  absl::Status HostWait(const Event& event) override {
    if (!Serves(event.device().type)) return AwaitOnHost(event);
    Message message;
    const DovetailEvent lent = LendEvent(event);
    return message.Of(c_.host_wait(c_.self, &lent, message.get()));
  }
  absl::Status Synchronize(const Stream& stream) override {
    Message message;
    const CStream on(stream);
    return message.Of(c_.synchronize(c_.self, on.get(), message.get()));
  }
  void ReleaseAfter(std::unique_ptr<Uses> uses, Release release) noexcept override {
    DOVETAIL_TRY {
      c_.release_after(c_.self, CUses(*uses, *this).get(), release.function, release.context);
    }
    DOVETAIL_CATCH(const std::bad_alloc&) {  // leaked, as in Deallocate
    }
  }

  absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream& stream) override {
    Message message;
    const CStream on(stream);
    const DovetailTensorView to = ToC(dst), from = ToC(src);
    return message.Of(c_.copy(c_.self, &to, &from, on.get(), message.get()));
  }
  absl::Status Fill(const TensorView& dst, const void* element, const Stream& stream) override {
    if (!Has(&DovetailBackend::fill)) return DeviceBackend::Fill(dst, element, stream);
    Message message;
    const CStream on(stream);
    const DovetailTensorView to = ToC(dst);
    return message.Of(c_.fill(c_.self, &to, element, on.get(), message.get()));
  }
  absl::Status CastCopy(const TensorView& dst, const TensorView& src,
                        const Stream& stream) override {
    if (!Has(&DovetailBackend::cast_copy)) return DeviceBackend::CastCopy(dst, src, stream);
    Message message;
    const CStream on(stream);
    const DovetailTensorView to = ToC(dst), from = ToC(src);
    return message.Of(c_.cast_copy(c_.self, &to, &from, on.get(), message.get()));
  }
  absl::Status Arange(const TensorView& dst, const Progression& numbers,
                      const Stream& stream) override {
    if (!Has(&DovetailBackend::arange)) return DeviceBackend::Arange(dst, numbers, stream);
    Message message;
    const CStream on(stream);
    const DovetailTensorView to = ToC(dst);
    const DovetailProgression made = {numbers.is_integer, numbers.start, numbers.step,
                                      numbers.real_start, numbers.real_step};
    return message.Of(c_.arange(c_.self, &to, &made, on.get(), message.get()));
  }
  absl::StatusOr<MemoryShare> ShareMemory(Device device, void* data, size_t nbytes,
                                          const Uses* uses, const Stream& stream) override {
    if (!Has(&DovetailBackend::share_memory)) {
      return DeviceBackend::ShareMemory(device, data, nbytes, uses, stream);
    }
    Message message;
    DovetailMemoryShare made{};
    const CStream on(stream);
    std::optional<CUses> c_uses;
    if (uses != nullptr) c_uses.emplace(*uses, *this);
    absl::Status s = message.Of(c_.share_memory(c_.self, ToC(device), data, nbytes,
                                                c_uses ? c_uses->get() : nullptr, on.get(), &made,
                                                message.get()));
    if (!s.ok()) return s;
    MemoryShare share{.offset = made.offset};
    if (made.has_until != 0) share.until = AdoptEvent(made.until);
    if (made.name_bytes > sizeof made.name) {
      return absl::InternalError("The backend gives memory a name that is too long.");
    }
    share.name.assign(reinterpret_cast<const char*>(made.name), made.name_bytes);
    return share;
  }
  absl::StatusOr<OpenedMemory> OpenMemory(DeviceType type, std::string_view name) override {
    if (!Has(&DovetailBackend::open_memory)) return DeviceBackend::OpenMemory(type, name);
    Message message;
    DovetailOpenedMemory memory{};
    absl::Status s = message.Of(c_.open_memory(c_.self, static_cast<int32_t>(type), name.data(),
                                               name.size(), &memory, message.get()));
    if (!s.ok()) return s;
    OpenedMemory opened{.data = memory.data,
                        .nbytes = memory.nbytes,
                        .device = abi::FromC(memory.device),
                        .release = {memory.release, memory.context}};
    if (memory.has_ready != 0) opened.ready = AdoptEvent(memory.ready);
    return opened;
  }

  absl::StatusOr<PointerAttributes> GetPointerAttributes(const void* data) override {
    Message message;
    DovetailPointerAttributes a{};
    absl::Status s = message.Of(c_.pointer_attributes(c_.self, data, &a, message.get()));
    if (!s.ok()) return s;
    return PointerAttributes{abi::FromC(a.device), static_cast<MemoryKind>(a.kind), a.base,
                             a.nbytes};
  }

 private:
  // Whether the struct has a function of a later minor version.
  template <typename Function>
  bool Has(Function DovetailBackend::* function) const {
    const auto* place = reinterpret_cast<const char*>(&(c_.*function));
    const size_t end = place + sizeof(Function) - reinterpret_cast<const char*>(&c_);
    return c_.struct_size >= end && c_.*function != nullptr;
  }

  const DovetailBackend& c_;
  const std::string name_;
  std::vector<DeviceType> types_;
  absl::Mutex mutex_;
  std::map<void*, std::unique_ptr<ImportedAllocator>> allocators_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceBackend>> ImportBackend(const DovetailBackend* c) {
  if (c->major != DOVETAIL_BACKEND_ABI_MAJOR) {
    return absl::InvalidArgumentError(
        absl::StrCat("The backend follows version ", c->major, ".", c->minor,
                     " of Dovetail's interface for backends; this Dovetail understands version ",
                     DOVETAIL_BACKEND_ABI_MAJOR, "."));
  }
  // The functions of minor version 0 are required.
  constexpr size_t kLeast = offsetof(DovetailBackend, share_memory);
  if (c->struct_size < kLeast) {
    return absl::InvalidArgumentError(
        absl::StrCat("The backend's struct has ", c->struct_size, " bytes, where version ",
                     DOVETAIL_BACKEND_ABI_MAJOR, ".0 has ", kLeast, "."));
  }
  // All fields after `release` are functions.
  const auto* begin = reinterpret_cast<void (*const*)()>(&c->name);
  const auto* end = reinterpret_cast<void (*const*)()>(&c->share_memory);
  for (const auto* function = begin; function != end; ++function) {
    if (*function == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("The backend lacks the function number ",
                                                     function - begin, " after its name."));
    }
  }
  return std::make_unique<ImportedBackend>(c);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
