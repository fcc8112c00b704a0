#include "dovetail/core/abi/memory_source.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/abi/export.h"
#include "dovetail/core/abi/import.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

// What a C program has for a pool.
struct CPool {
  std::map<void*, size_t> live;
  int32_t code = 0;  // what allocate returns
  int releases = 0;
  int allocations = 0;
  std::vector<std::pair<int32_t, uintptr_t>> freed_on;
};

int32_t Allocate(void* context, size_t nbytes, const DovetailStream*, void** data,
                 DovetailMessage* message) {
  auto& pool = *static_cast<CPool*>(context);
  ++pool.allocations;
  if (pool.code != 0) {
    message->set(message->context, "the pool is empty");
    return pool.code;
  }
  *data = std::aligned_alloc(256, (nbytes + 255) / 256 * 256);
  pool.live[*data] = nbytes;
  return 0;
}

void Deallocate(void* context, void* data, size_t nbytes, const DovetailStream* stream) {
  auto& pool = *static_cast<CPool*>(context);
  EXPECT_EQ(pool.live[data], nbytes);
  pool.live.erase(data);
  pool.freed_on.emplace_back(stream->device.index, stream->handle);
  std::free(data);
}

void Release(void* context) { ++static_cast<CPool*>(context)->releases; }

DovetailAllocator Struct(CPool* pool) {
  return {.struct_size = sizeof(DovetailAllocator),
          .major = DOVETAIL_ALLOCATOR_ABI_MAJOR,
          .minor = DOVETAIL_ALLOCATOR_ABI_MINOR,
          .context = pool,
          .release = &Release,
          .allocate = &Allocate,
          .deallocate = &Deallocate};
}

TEST(ImportMemorySource, CallsTheStructsFunctions) {
  CPool pool;
  {
    const DovetailAllocator c = Struct(&pool);
    const std::unique_ptr<MemorySource> source = *ImportMemorySource(&c);
    const Stream stream = FakeStream(Device::Cuda(1), 77);
    void* const data = *source->Allocate(100, stream);
    EXPECT_EQ(pool.live[data], 100u);
    source->Deallocate(data, 100, stream);
    EXPECT_EQ(pool.freed_on.back(), std::make_pair(1, uintptr_t{77}));
    pool.code = 8;
    EXPECT_EQ(source->Allocate(100, stream).status(),
              absl::ResourceExhaustedError("the pool is empty"));
    EXPECT_EQ(pool.releases, 0);
  }
  EXPECT_EQ(pool.releases, 1);
}

TEST(ImportMemorySource, RefusesStructsThatItDoesNotUnderstand) {
  CPool pool;
  const auto reason = [](const DovetailAllocator& c) {
    const absl::Status s = ImportMemorySource(&c).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
    return std::string(s.message());
  };
  DovetailAllocator c = Struct(&pool);
  c.major = 2;
  EXPECT_THAT(reason(c), HasSubstr("version 2.0"));
  c = Struct(&pool);
  c.struct_size -= sizeof(void*);
  EXPECT_THAT(reason(c), HasSubstr("struct has 40 bytes"));
  c = Struct(&pool);
  c.allocate = nullptr;
  EXPECT_THAT(reason(c), HasSubstr("NULL"));
  c = Struct(&pool);
  c.deallocate = nullptr;
  EXPECT_THAT(reason(c), HasSubstr("NULL"));
  EXPECT_EQ(pool.releases, 0) << "it stays the caller's";
}

// A backend in another shared object makes the allocator there; the source is called back here.
TEST(ImportedBackend, PassesASourceToTheBackend) {
  static int made;
  made = 0;
  class Making final : public FakeBackend {
   public:
    using FakeBackend::FakeBackend;
    absl::StatusOr<std::unique_ptr<Allocator>> MakeAllocator(Device device, MemoryKind kind,
                                                             MemorySource& source) override {
      ++made;
      return FakeBackend::MakeAllocator(device, kind, source);
    }
  };
  CPool pool;
  FakeLog log;
  const ScopedBackendOverride scope(*ImportBackend(
      ExportBackend(std::make_unique<Making>(std::vector{DeviceType::kCuda}, &log))));
  const DovetailAllocator c = Struct(&pool);
  constexpr MemoryKind kKind = MemoryKind::kDevice;
  ASSERT_TRUE(
      Registry::Global().SetMemorySource(Device::Cuda(1), kKind, *ImportMemorySource(&c)).ok());
  EXPECT_EQ(made, 1);
  ASSERT_TRUE(Storage::Allocate(100, FakeStream(Device::Cuda(1), 5)).ok());
  EXPECT_EQ(pool.allocations, 1);
  ASSERT_EQ(log.late.size(), 1u);
  log.late[0].function(log.late[0].context);
  EXPECT_EQ(pool.freed_on.back(), std::make_pair(1, uintptr_t{0}));
  pool.code = 3;
  const absl::Status status = Storage::Allocate(100, Device::Cuda(1)).status();
  EXPECT_EQ(status, absl::InvalidArgumentError("the pool is empty"));
  ASSERT_TRUE(Registry::Global().SetAllocator(Device::Cuda(1), kKind, nullptr).ok());
  EXPECT_EQ(pool.releases, 1);
  EXPECT_EQ(
      Registry::Global().SetMemorySource(Device::Cuda(7), kKind, *ImportMemorySource(&c)).code(),
      absl::StatusCode::kNotFound);
}

TEST(ImportedBackend, WithoutTheFunctionMemoryGoesBackThroughReleaseAfter) {
  CPool pool;
  FakeLog log;
  DovetailBackend* exported =
      ExportBackend(std::make_unique<FakeBackend>(std::vector{DeviceType::kCuda}, &log));
  exported->struct_size = offsetof(DovetailBackend, make_allocator);
  const ScopedBackendOverride scope(*ImportBackend(exported));
  const DovetailAllocator c = Struct(&pool);
  constexpr MemoryKind kKind = MemoryKind::kDevice;
  ASSERT_TRUE(
      Registry::Global().SetMemorySource(Device::Cuda(0), kKind, *ImportMemorySource(&c)).ok());
  ASSERT_TRUE(Storage::Allocate(100, Device::Cuda(0)).ok());
  EXPECT_EQ(pool.live.size(), 1u);
  ASSERT_EQ(log.late.size(), 1u);
  log.late[0].function(log.late[0].context);
  EXPECT_EQ(pool.live.size(), 0u);
}

}  // namespace
}  // namespace dovetail
