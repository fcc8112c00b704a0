#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/tests/emulator/impl.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {
namespace {

std::string Name(const void* data) {
  return absl::StrCat("0x", absl::Hex(reinterpret_cast<uintptr_t>(data)));
}

size_t RoundUp(size_t nbytes, size_t to) { return (nbytes + to - 1) / to * to; }

}  // namespace

std::shared_ptr<Allocation> Emulator::Impl::FindAllocation(const void* data) const {
  const auto p = reinterpret_cast<uintptr_t>(data);
  auto found = allocations.upper_bound(p);
  if (found == allocations.begin()) return nullptr;
  --found;
  const Allocation& a = *found->second;
  return p - found->first < std::max<size_t>(a.size, 1) ? found->second : nullptr;
}

Result Emulator::Impl::Resolve(const void* data, size_t nbytes, int device, bool any_device,
                               const char* what, Access* access) {
  *access = {nullptr, data, nbytes};
  std::shared_ptr<Allocation> a = FindAllocation(data);
  if (a == nullptr) {
    for (const auto& arena : memory) {
      if (arena->Contains(data)) {
        Complain(absl::StrCat(what, " of ", Name(data), ", which was never allocated."));
        return Code(ResultClass::kInvalidValue);
      }
    }
    return kOk;
  }
  if (!a->live || a->freeing) {
    if (a->kind == PointerKind::kDevice) {
      Complain(absl::StrCat(what, " of ", Name(data), " after it was freed."));
      return Code(ResultClass::kInvalidValue);
    }
    return kOk;  // the program may use the address again
  }
  if (static_cast<const char*>(data) + nbytes > a->base + a->size) {
    Complain(absl::StrCat(what, " of ", nbytes, " bytes at ", Name(data),
                          " goes beyond the end of the allocation."));
    return Code(ResultClass::kInvalidValue);
  }
  if (!any_device && !MayAccess(device, *a)) {
    Complain(absl::StrCat(what, ": device ", device, " has no access to the memory of device ",
                          a->device, "."));
    return Code(ResultClass::kInvalidValue);
  }
  access->allocation = std::move(a);
  return kOk;
}

bool Emulator::Impl::MayAccess(int device, const Allocation& a) const {
  if (a.kind != PointerKind::kDevice || a.device == device) return true;
  return !a.apart && (a.from_pool ? pool_peers : peers).contains({device, a.device});
}

void Emulator::Impl::CheckAtRun(const Access& access, const char* what) {
  if (access.is_host()) return;
  const Allocation& a = *access.allocation;
  if (!a.live) {
    Complain(absl::StrCat(what, " of ", Name(access.data), " ran after its free had happened."));
  } else if (!a.ready) {
    Complain(
        absl::StrCat(what, " of ", Name(access.data), " ran before its allocation had happened."));
  }
}

void* Emulator::Impl::Translate(const Allocation& a, const void* data) const {
  return a.memory != nullptr ? a.memory->Translate(data) : const_cast<void*>(data);
}

void* Emulator::Impl::Reach(const Access& access) const {
  return access.is_host() ? const_cast<void*>(access.data)
                          : Translate(*access.allocation, access.data);
}

void Emulator::Impl::Poison(Allocation& a, unsigned char value) {
  std::memset(Translate(a, a.base), value, a.size);
}

// Forgets earlier allocations there.
void Emulator::Impl::Insert(std::shared_ptr<Allocation> a) {
  const auto base = reinterpret_cast<uintptr_t>(a->base);
  allocations.erase(allocations.lower_bound(base), allocations.lower_bound(base + a->size));
  allocations[base] = std::move(a);
}

Result Emulator::Impl::Allocate(PointerKind kind, int device, size_t nbytes, void** data) {
  if (const Result r = CheckUnsafe("an allocation"); r != kOk) return r;
  if (nbytes == 0) return Code(ResultClass::kInvalidValue);
  auto a = std::make_shared<Allocation>(
      Allocation{.kind = kind, .device = device, .base = nullptr, .size = nbytes});
  if (kind == PointerKind::kDevice) {
    a->memory = memory[device].get();
    a->base = static_cast<char*>(a->memory->Reserve(nbytes));
  } else if (nbytes <= options.device_bytes) {
    void* pages = mmap(nullptr, RoundUp(nbytes, 4096), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    a->base = pages == MAP_FAILED ? nullptr : static_cast<char*>(pages);
  }
  if (a->base == nullptr) return Code(ResultClass::kOutOfMemory);
  ++counts.allocations;
  Poison(*a, kAllocatedPoison);
  *data = a->base;
  Insert(std::move(a));
  return kOk;
}

// Waits for all work first, like the drivers.
Result Emulator::Impl::FreeNow(void* data, bool host) {
  if (const Result r = CheckUnsafe("a free"); r != kOk) return r;
  std::shared_ptr<Allocation> a = FindAllocation(data);
  const bool fits = a != nullptr && a->base == data && a->live && !a->freeing && !a->from_pool &&
                    !a->of_program && host == (a->kind == PointerKind::kPinnedHost);
  if (!fits) {
    Complain(absl::StrCat("A free of ", Name(data), ", which ",
                          a != nullptr && (!a->live || a->freeing)
                              ? "was freed before."
                              : "is no allocation of that kind."));
    return Code(ResultClass::kInvalidValue);
  }
  for (int device = 0; device < options.devices; ++device) queues.RunDevice(device);
  ++counts.frees;
  a->live = false;
  Poison(*a, kFreedPoison);
  if (a->memory != nullptr) {
    a->memory->Release(a->base, a->size);
  } else {
    munmap(a->base, RoundUp(a->size, 4096));
  }
  return kOk;
}

Result Emulator::Impl::AllocateFromPool(Queue* queue, size_t nbytes, void** data) {
  if (nbytes == 0) return Code(ResultClass::kInvalidValue);
  if (queue->graph != nullptr) return Code(ResultClass::kNotSupported);
  if (const Result r = CheckLegacy(queue); r != kOk) return r;
  const size_t size = RoundUp(nbytes, 512);
  const int device = queue->device;
  std::vector<PoolBlock>& pool = pools[device];
  char* base = nullptr;
  Points after;
  // The block that was freed last comes first. For another stream, the pool orders the work.
  for (auto block = pool.rbegin(); block != pool.rend() && base == nullptr; ++block) {
    if (block->size != size) continue;
    base = block->base;
    after = {block->freed};
    pool.erase(std::next(block).base());
    break;
  }
  if (base == nullptr) {
    base = static_cast<char*>(memory[device]->Reserve(size));
    if (base == nullptr) {
      TrimPool(device, 0);
      base = static_cast<char*>(memory[device]->Reserve(size));
    }
    if (base == nullptr) return Code(ResultClass::kOutOfMemory);
    ++counts.allocations;
  }
  auto a = std::make_shared<Allocation>(Allocation{.kind = PointerKind::kDevice,
                                                   .device = device,
                                                   .base = base,
                                                   .size = nbytes,
                                                   .from_pool = true,
                                                   .ready = false,
                                                   .memory = memory[device].get()});
  Insert(a);
  pool_used[device] += size;
  *data = base;
  return Add(
      queue,
      [this, a] {
        a->ready = true;
        Poison(*a, kAllocatedPoison);
      },
      std::move(after));
}

Result Emulator::Impl::FreeToPool(Queue* queue, void* data) {
  std::shared_ptr<Allocation> a = FindAllocation(data);
  if (a == nullptr || a->base != data || !a->live || a->freeing || !a->from_pool) {
    Complain(absl::StrCat(
        "A free in stream order of ", Name(data), ", which ",
        a != nullptr && (!a->live || a->freeing) ? "was freed before." : "is from no pool."));
    return Code(ResultClass::kInvalidValue);
  }
  if (queue->graph != nullptr) {
    BreakCaptures(queue->device, "a free of memory that is not the graph's");
    return Code(ResultClass::kCaptureViolation);
  }
  const Result r = Add(queue, [this, a] {
    a->live = false;
    Poison(*a, kFreedPoison);
  });
  if (r != kOk) return r;
  a->freeing = true;
  const size_t size = RoundUp(a->size, 512);
  pool_used[a->device] -= size;
  pools[a->device].push_back({a->base, size, queues.Tail(queue)});
  return kOk;
}

void Emulator::Impl::TrimPool(int device, size_t keep) {
  std::vector<PoolBlock>& pool = pools[device];
  size_t reserved = pool_used[device];
  for (const PoolBlock& block : pool) reserved += block.size;
  for (auto block = pool.begin(); block != pool.end() && reserved > keep;) {
    if (!queues.IsDone(block->freed)) {
      ++block;
      continue;
    }
    memory[device]->Release(block->base, block->size);
    ++counts.frees;
    reserved -= block->size;
    block = pool.erase(block);
  }
}

std::function<void()> Emulator::Impl::Checked(Access dst, Access src, const char* what,
                                              std::function<void(void*, const void*)> run) {
  return [this, dst = std::move(dst), src = std::move(src), what, run = std::move(run)] {
    CheckAtRun(dst, what);
    if (src.data != nullptr) CheckAtRun(src, what);
    run(Reach(dst), src.data == nullptr ? nullptr : Reach(src));
  };
}

Result Emulator::Impl::Copy(Queue* queue, void* dst, const void* src, size_t dst_pitch,
                            size_t src_pitch, size_t width, size_t height, bool any_device) {
  if (width == 0 || height == 0) return kOk;
  if (width > dst_pitch || width > src_pitch) return Code(ResultClass::kInvalidValue);
  ++counts.copies;
  const size_t dst_bytes = dst_pitch * (height - 1) + width;
  const size_t src_bytes = src_pitch * (height - 1) + width;
  if (has(Fault::kCopyOnHost)) {
    for (size_t i = 0; i < height; ++i) {
      std::memcpy(static_cast<char*>(dst) + i * dst_pitch,
                  static_cast<const char*>(src) + i * src_pitch, width);
    }
    return kOk;
  }
  Access to, from;
  Result r = Resolve(dst, dst_bytes, queue->device, any_device, "A copy's destination", &to);
  if (r == kOk) {
    r = Resolve(src, src_bytes, queue->device, any_device, "A copy's source", &from);
  }
  if (r != kOk) return r;
  const auto is_of_device = [](const Access& a) {
    return !a.is_host() && a.allocation->kind == PointerKind::kDevice;
  };
  const bool is_within =
      is_of_device(to) && is_of_device(from) && to.allocation->device == from.allocation->device;
  if (!is_within) counts.link_bytes += static_cast<int64_t>(width * height);
  // Pageable memory is read during the call, like in the drivers, and written before it returns.
  std::shared_ptr<std::vector<char>> aside;
  const bool captured = queue->graph != nullptr;
  if (from.is_host() && !captured) {
    aside = std::make_shared<std::vector<char>>(static_cast<const char*>(src),
                                                static_cast<const char*>(src) + src_bytes);
  }
  r = Add(queue, Checked(to, from, "A copy", [=](void* d, const void* s) {
            const char* source = aside != nullptr ? aside->data() : static_cast<const char*>(s);
            for (size_t i = 0; i < height; ++i) {
              std::memmove(static_cast<char*>(d) + i * dst_pitch, source + i * src_pitch, width);
            }
          }));
  if (r == kOk && to.is_host() && !captured) queues.RunTo(queues.Tail(queue));
  return r;
}

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
