#include "dovetail/core/abi/export.h"

#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/abi/convert.h"
#include "dovetail/core/abi/memory_source.h"
#include "dovetail/core/internal/exceptions.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using abi::BoxEvent;
using abi::BoxStream;
using abi::FromC;
using abi::Report;
using abi::ToStream;
using abi::ToUses;
using abi::UnboxEvent;

// The `self` of an exported struct.
struct Exported {
  DovetailBackend c;
  // What make_allocator made. The backend goes first: memory that is being released returns here.
  absl::Mutex mutex;
  std::vector<std::unique_ptr<MemorySource>> sources ABSL_GUARDED_BY(mutex);
  std::vector<std::unique_ptr<Allocator>> allocators ABSL_GUARDED_BY(mutex);
  std::unique_ptr<DeviceBackend> backend;
  std::string name;
  std::vector<int32_t> types;
};
DeviceBackend& Backend(void* self) { return *static_cast<Exported*>(self)->backend; }
Allocator& AsAllocator(void* allocator) { return *static_cast<Allocator*>(allocator); }

// Runs `body`, which returns a status. Converts exceptions to errors.
template <typename Body>
int32_t Try(DovetailMessage* message, Body body) noexcept {
  DOVETAIL_TRY { return Report(body(), message); }
  DOVETAIL_CATCH(const std::bad_alloc&) {
    return static_cast<int32_t>(absl::StatusCode::kResourceExhausted);
  }
  DOVETAIL_CATCH(...) { return static_cast<int32_t>(absl::StatusCode::kInternal); }
}

// The same for a StatusOr, with its value.
template <typename Result, typename Take>
int32_t TryValue(DovetailMessage* message, Result result, Take take) noexcept {
  return Try(message, [&]() -> absl::Status {
    auto value = result();
    if (!value.ok()) return value.status();
    take(*std::move(value));
    return absl::OkStatus();
  });
}

void FreeExported(void* self) { delete static_cast<Exported*>(self); }

const char* Name(void* self) { return static_cast<Exported*>(self)->name.c_str(); }

size_t DeviceTypes(void* self, const int32_t** types) {
  *types = static_cast<Exported*>(self)->types.data();
  return static_cast<Exported*>(self)->types.size();
}

int32_t DeviceCount(void* self, int32_t* count, DovetailMessage* message) {
  return TryValue(message, [&] { return Backend(self).DeviceCount(); }, [&](int n) { *count = n; });
}

int32_t GetAllocator(void* self, DovetailDevice device, int32_t kind, void** allocator,
                     DovetailMessage* message) {
  return TryValue(
      message,
      [&] { return Backend(self).GetAllocator(FromC(device), static_cast<MemoryKind>(kind)); },
      [&](Allocator* a) { *allocator = a; });
}

int32_t Allocate(void* allocator, size_t nbytes, const DovetailStream* stream, void** data,
                 DovetailMessage* message) {
  return TryValue(
      message, [&] { return AsAllocator(allocator).Allocate(nbytes, ToStream(*stream)); },
      [&](void* p) { *data = p; });
}

void Deallocate(void* allocator, void* data, size_t nbytes, const DovetailUses* uses) {
  Try(nullptr, [&] {
    AsAllocator(allocator).Deallocate(data, nbytes, ToUses(uses));
    return absl::OkStatus();
  });
}

int32_t Trim(void* allocator, size_t keep, DovetailMessage* message) {
  return Try(message, [&] { return AsAllocator(allocator).Trim(keep); });
}

void Stats(void* allocator, DovetailAllocatorStats* stats) {
  *stats = {};  // stays so if Stats() throws
  Try(nullptr, [&] {
    const AllocatorStats s = AsAllocator(allocator).Stats();
    *stats = {s.allocated_bytes, s.peak_bytes, s.reserved_bytes, s.allocations, s.retries};
    return absl::OkStatus();
  });
}

void AllocatorNames(void* self, DovetailDevice device, int32_t kind, void* context,
                    void (*take)(void*, const char*)) {
  Try(nullptr, [&] {
    for (const std::string& name :
         Backend(self).AllocatorNames(FromC(device), static_cast<MemoryKind>(kind))) {
      take(context, name.c_str());
    }
    return absl::OkStatus();
  });
}

int32_t SelectAllocator(void* self, DovetailDevice device, int32_t kind, const char* name,
                        DovetailMessage* message) {
  return Try(message, [&] {
    return Backend(self).SelectAllocator(FromC(device), static_cast<MemoryKind>(kind), name);
  });
}

DovetailDevice MemoryDevice(void* self, DovetailDevice device, int32_t kind) {
  DovetailDevice found = device;  // if it throws
  Try(nullptr, [&] {
    found = abi::ToC(Backend(self).MemoryDevice(FromC(device), static_cast<MemoryKind>(kind)));
    return absl::OkStatus();
  });
  return found;
}

int32_t CreateStream(void* self, DovetailDevice device, DovetailStream* stream,
                     DovetailMessage* message) {
  return TryValue(
      message, [&] { return Backend(self).CreateStream(FromC(device)); },
      [&](const Stream& made) { *stream = BoxStream(made); });
}

int32_t DecodeStream(void* self, DovetailDevice device, const int64_t* code, int32_t* has_stream,
                     DovetailStream* stream, DovetailMessage* message) {
  return TryValue(
      message,
      [&] {
        return Backend(self).DecodeStream(
            FromC(device), code != nullptr ? std::optional<int64_t>(*code) : std::nullopt);
      },
      [&](const StreamRequest& request) {
        *has_stream = !request.stream ? 0 : request.host_waits ? 2 : 1;
        if (request.stream) *stream = BoxStream(*request.stream);
      });
}

int32_t EncodeStream(void* self, const DovetailStream* stream, int32_t* is_none, int64_t* code,
                     DovetailMessage* message) {
  return TryValue(
      message, [&] { return Backend(self).EncodeStream(ToStream(*stream)); },
      [&](const std::optional<int64_t>& value) {
        *is_none = !value.has_value();
        *code = value.value_or(0);
      });
}

int32_t Record(void* self, const DovetailStream* stream, DovetailEvent* event,
               DovetailMessage* message) {
  return TryValue(
      message, [&] { return Backend(self).Record(ToStream(*stream)); },
      [&](const Event& recorded) { *event = BoxEvent(recorded); });
}

int32_t Wait(void* self, const DovetailStream* stream, const DovetailEvent* event,
             DovetailMessage* message) {
  return Try(message, [&] { return Backend(self).Wait(ToStream(*stream), UnboxEvent(*event)); });
}

int32_t OrderBefore(void* self, const DovetailUses* uses, const DovetailStream* consumer,
                    const DovetailStream* current, DovetailMessage* message) {
  return Try(message, [&] {
    const StreamScope scope(ToStream(*current));
    return Backend(self).OrderBefore(*ToUses(uses), ToStream(*consumer));
  });
}

int32_t WaitForeign(void* self, const DovetailStream* stream, const void* event,
                    DovetailMessage* message) {
  return Try(message, [&] { return Backend(self).WaitForeign(ToStream(*stream), event); });
}

int32_t Query(void* self, const DovetailEvent* event, int32_t* happened, DovetailMessage* message) {
  return TryValue(
      message, [&] { return Backend(self).Query(UnboxEvent(*event)); },
      [&](bool value) { *happened = value; });
}

int32_t HostWait(void* self, const DovetailEvent* event, DovetailMessage* message) {
  return Try(message, [&] { return Backend(self).HostWait(UnboxEvent(*event)); });
}

int32_t Synchronize(void* self, const DovetailStream* stream, DovetailMessage* message) {
  return Try(message, [&] { return Backend(self).Synchronize(ToStream(*stream)); });
}

// Out of memory, the lender's memory is leaked rather than returned too early.
void ReleaseAfter(void* self, const DovetailUses* uses, void (*function)(void*), void* context) {
  Try(nullptr, [&] {
    Backend(self).ReleaseAfter(ToUses(uses), {function, context});
    return absl::OkStatus();
  });
}

int32_t Copy(void* self, const DovetailTensorView* dst, const DovetailTensorView* src,
             const DovetailStream* stream, DovetailMessage* message) {
  return Try(message,
             [&] { return Backend(self).Copy(FromC(*dst), FromC(*src), ToStream(*stream)); });
}

int32_t Fill(void* self, const DovetailTensorView* dst, const void* element,
             const DovetailStream* stream, DovetailMessage* message) {
  return Try(message, [&] { return Backend(self).Fill(FromC(*dst), element, ToStream(*stream)); });
}

int32_t CastCopy(void* self, const DovetailTensorView* dst, const DovetailTensorView* src,
                 const DovetailStream* stream, DovetailMessage* message) {
  return Try(message,
             [&] { return Backend(self).CastCopy(FromC(*dst), FromC(*src), ToStream(*stream)); });
}

int32_t Arange(void* self, const DovetailTensorView* dst, const DovetailProgression* numbers,
               const DovetailStream* stream, DovetailMessage* message) {
  const Progression made{.is_integer = numbers->is_integer != 0,
                         .start = numbers->start,
                         .step = numbers->step,
                         .real_start = numbers->real_start,
                         .real_step = numbers->real_step};
  return Try(message, [&] { return Backend(self).Arange(FromC(*dst), made, ToStream(*stream)); });
}

int32_t GetPointerAttributes(void* self, const void* data, DovetailPointerAttributes* attributes,
                             DovetailMessage* message) {
  return TryValue(
      message, [&] { return Backend(self).GetPointerAttributes(data); },
      [&](const PointerAttributes& a) {
        *attributes = {abi::ToC(a.device), static_cast<int32_t>(a.kind), a.base, a.nbytes};
      });
}

int32_t ShareMemory(void* self, DovetailDevice device, void* data, size_t nbytes,
                    const DovetailUses* uses, const DovetailStream* stream,
                    DovetailMemoryShare* share, DovetailMessage* message) {
  return TryValue(
      message,
      [&]() -> absl::StatusOr<MemoryShare> {
        const std::unique_ptr<Uses> copied = ToUses(uses);
        auto made =
            Backend(self).ShareMemory(FromC(device), data, nbytes, copied.get(), ToStream(*stream));
        if (made.ok() && made->name.size() > DOVETAIL_MOST_NAME_BYTES) {
          return absl::InternalError("The memory's name is too long for other shared objects.");
        }
        return made;
      },
      [&](const MemoryShare& made) {
        made.name.copy(reinterpret_cast<char*>(share->name), DOVETAIL_MOST_NAME_BYTES);
        share->name_bytes = made.name.size();
        share->offset = made.offset;
        share->has_until = made.until.has_value();
        if (made.until) share->until = BoxEvent(*made.until);
      });
}

int32_t OpenMemory(void* self, int32_t device_type, const void* name, size_t name_bytes,
                   DovetailOpenedMemory* opened, DovetailMessage* message) {
  return TryValue(
      message,
      [&] {
        return Backend(self).OpenMemory(
            static_cast<DeviceType>(device_type),
            std::string_view(static_cast<const char*>(name), name_bytes));
      },
      [&](const OpenedMemory& memory) {
        *opened = {.data = memory.data,
                   .nbytes = memory.nbytes,
                   .device = abi::ToC(memory.device),
                   .has_ready = memory.ready.has_value(),
                   .ready = {},
                   .release = memory.release.function,
                   .context = memory.release.context};
        if (memory.ready) opened->ready = BoxEvent(*memory.ready);
      });
}

int32_t MakeAllocator(void* self, DovetailDevice device, int32_t kind,
                      const DovetailAllocator* source, void** allocator, DovetailMessage* message) {
  return TryValue(
      message,
      [&]() -> absl::StatusOr<Allocator*> {
        auto& exported = *static_cast<Exported*>(self);
        absl::StatusOr<std::unique_ptr<MemorySource>> imported = ImportMemorySource(source);
        if (!imported.ok()) return imported.status();
        absl::StatusOr<std::unique_ptr<Allocator>> made = exported.backend->MakeAllocator(
            FromC(device), static_cast<MemoryKind>(kind), **imported);
        if (!made.ok()) return made.status();
        absl::MutexLock lock(&exported.mutex);
        exported.sources.push_back(*std::move(imported));
        exported.allocators.push_back(*std::move(made));
        return exported.allocators.back().get();
      },
      [&](Allocator* a) { *allocator = a; });
}

}  // namespace

DovetailBackend* ExportBackend(std::unique_ptr<DeviceBackend> backend) {
  auto exported = std::make_unique<Exported>();
  exported->name = std::string(backend->name());
  for (DeviceType type : backend->device_types()) {
    exported->types.push_back(static_cast<int32_t>(type));
  }
  exported->backend = std::move(backend);
  exported->c = {.struct_size = sizeof(DovetailBackend),
                 .major = DOVETAIL_BACKEND_ABI_MAJOR,
                 .minor = DOVETAIL_BACKEND_ABI_MINOR,
                 .self = exported.get(),
                 .release = &FreeExported,
                 .name = &Name,
                 .device_types = &DeviceTypes,
                 .device_count = &DeviceCount,
                 .get_allocator = &GetAllocator,
                 .allocate = &Allocate,
                 .deallocate = &Deallocate,
                 .trim = &Trim,
                 .stats = &Stats,
                 .allocator_names = &AllocatorNames,
                 .select_allocator = &SelectAllocator,
                 .memory_device = &MemoryDevice,
                 .create_stream = &CreateStream,
                 .decode_stream = &DecodeStream,
                 .encode_stream = &EncodeStream,
                 .record = &Record,
                 .wait = &Wait,
                 .order_before = &OrderBefore,
                 .wait_foreign = &WaitForeign,
                 .query = &Query,
                 .host_wait = &HostWait,
                 .synchronize = &Synchronize,
                 .release_after = &ReleaseAfter,
                 .copy = &Copy,
                 .pointer_attributes = &GetPointerAttributes,
                 .share_memory = &ShareMemory,
                 .open_memory = &OpenMemory,
                 .fill = &Fill,
                 .cast_copy = &CastCopy,
                 .arange = &Arange,
                 .make_allocator = &MakeAllocator};
  return &exported.release()->c;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
