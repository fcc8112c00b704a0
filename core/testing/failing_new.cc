#include "dovetail/core/testing/failing_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

constexpr int64_t kNever = -1;
thread_local int64_t allowed_left = kNever;
thread_local bool has_failed = false;
thread_local bool all_fail_later = false;
std::atomic<int64_t> live_blocks{0};

}  // namespace

int64_t LiveBlocks() { return live_blocks.load(); }

FailingNew::FailingNew(int64_t allowed, Failures failures) {
  allowed_left = allowed;
  has_failed = false;
  all_fail_later = failures == Failures::kAllLater;
}
FailingNew::~FailingNew() { allowed_left = kNever; }
bool FailingNew::failed() { return has_failed; }

namespace internal_failing_new {

void* New(size_t size) {
  // After the failure, allowed_left is kNever, or 0 again.
  if (allowed_left != kNever && allowed_left-- == 0) {
    has_failed = true;
    if (all_fail_later) allowed_left = 0;
    throw std::bad_alloc();
  }
  void* data = std::malloc(size == 0 ? 1 : size);
  if (data == nullptr) throw std::bad_alloc();
  ++live_blocks;
  return data;
}

void* NewOrNull(size_t size) noexcept {
  try {
    return New(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Delete(void* data) noexcept {
  if (data != nullptr) --live_blocks;
  std::free(data);
}

}  // namespace internal_failing_new
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

// The array forms and those that do not throw are replaced, too, because AddressSanitizer has its
// own version of each form.
void* operator new[](size_t size) { return dovetail::internal_failing_new::New(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return dovetail::internal_failing_new::NewOrNull(size);
}
void operator delete[](void* data) noexcept { dovetail::internal_failing_new::Delete(data); }
void operator delete[](void* data, size_t) noexcept {
  dovetail::internal_failing_new::Delete(data);
}
void* operator new(size_t size) { return dovetail::internal_failing_new::New(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return dovetail::internal_failing_new::NewOrNull(size);
}
void operator delete(void* data) noexcept { dovetail::internal_failing_new::Delete(data); }
void operator delete(void* data, size_t) noexcept { dovetail::internal_failing_new::Delete(data); }
