#include "dovetail/core/abi/memory_source.h"

#include <cstring>
#include <new>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dovetail/core/abi/convert.h"
#include "dovetail/core/internal/exceptions.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

class ImportedSource final : public MemorySource {
 public:
  explicit ImportedSource(const DovetailAllocator& c) : c_(c) {}
  ~ImportedSource() override {
    if (c_.release != nullptr) c_.release(c_.context);
  }

  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override {
    abi::Message message;
    void* data = nullptr;
    const abi::CStream on(stream);
    absl::Status s = message.Of(c_.allocate(c_.context, nbytes, on.get(), &data, message.get()));
    if (!s.ok()) return s;
    return data;
  }

  void Deallocate(void* data, size_t nbytes, const Stream& stream) noexcept override {
    std::optional<abi::CStream> on;
    DOVETAIL_TRY { on.emplace(stream); }
    DOVETAIL_CATCH(const std::bad_alloc&) {
      // Without its owner: the caller keeps the stream during the call.
      on.emplace(Stream::Borrow(stream.device(), stream.native()));
    }
    c_.deallocate(c_.context, data, nbytes, on->get());
  }

 private:
  const DovetailAllocator c_;
};

int32_t Allocate(void* context, size_t nbytes, const DovetailStream* stream, void** data,
                 DovetailMessage* message) noexcept {
  DOVETAIL_TRY {
    absl::StatusOr<void*> made =
        static_cast<MemorySource*>(context)->Allocate(nbytes, abi::ToStream(*stream));
    if (made.ok()) *data = *made;
    return abi::Report(made.status(), message);
  }
  DOVETAIL_CATCH(const std::bad_alloc&) {
    return static_cast<int32_t>(absl::StatusCode::kResourceExhausted);
  }
  DOVETAIL_CATCH(...) { return static_cast<int32_t>(absl::StatusCode::kInternal); }
}

void Deallocate(void* context, void* data, size_t nbytes, const DovetailStream* stream) noexcept {
  auto& source = *static_cast<MemorySource*>(context);
  DOVETAIL_TRY { return source.Deallocate(data, nbytes, abi::ToStream(*stream)); }
  DOVETAIL_CATCH(const std::bad_alloc&) {}
  source.Deallocate(data, nbytes,
                    Stream::Borrow(abi::FromC(stream->device), NativeStream{stream->handle}));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MemorySource>> ImportMemorySource(const DovetailAllocator* c) {
  if (c->major != DOVETAIL_ALLOCATOR_ABI_MAJOR) {
    return absl::InvalidArgumentError(
        absl::StrCat("The allocator follows version ", c->major, ".", c->minor,
                     " of Dovetail's interface for allocators; this Dovetail understands version ",
                     DOVETAIL_ALLOCATOR_ABI_MAJOR, "."));
  }
  if (c->struct_size < sizeof(DovetailAllocator)) {
    return absl::InvalidArgumentError(
        absl::StrCat("The allocator's struct has ", c->struct_size, " bytes, where version ",
                     DOVETAIL_ALLOCATOR_ABI_MAJOR, ".0 has ", sizeof(DovetailAllocator), "."));
  }
  if (c->allocate == nullptr || c->deallocate == nullptr) {
    return absl::InvalidArgumentError(
        "The allocator lacks a function: allocate or deallocate is NULL.");
  }
  return std::make_unique<ImportedSource>(*c);
}

DovetailAllocator LendMemorySource(MemorySource& source) {
  return {.struct_size = sizeof(DovetailAllocator),
          .major = DOVETAIL_ALLOCATOR_ABI_MAJOR,
          .minor = DOVETAIL_ALLOCATOR_ABI_MINOR,
          .context = &source,
          .release = nullptr,
          .allocate = &Allocate,
          .deallocate = &Deallocate};
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
