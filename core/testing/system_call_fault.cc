// With it, clang finds libc's functions to be defined inline in its headers.
#undef _FORTIFY_SOURCE

#include "dovetail/core/testing/system_call_fault.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

constexpr int kNever = -1;
thread_local int allowed_left = kNever;
thread_local int error_to_set = 0;
thread_local bool has_happened = false;
std::atomic<bool> signals_interrupt{false};

[[maybe_unused]] bool CanBeInterrupted() {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return signals_interrupt && sigismember(&blocked, SIGUSR1) == 0;
}

// Whether the call that is about to be made is the one that fails.
[[maybe_unused]] bool Fails() {
  if (allowed_left == kNever || allowed_left-- != 0) return false;
  // allowed_left is kNever from now on.
  has_happened = true;
  if (error_to_set == SystemCallFault::kKill) kill(getpid(), SIGKILL);
  errno = error_to_set;
  return true;
}

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

SystemCallFault::SystemCallFault(int allowed, int error) {
  has_happened = false;
  error_to_set = error;
  allowed_left = allowed;
}
SystemCallFault::~SystemCallFault() { allowed_left = kNever; }
bool SystemCallFault::happened() { return has_happened; }

SignalsInterruptReservations::SignalsInterruptReservations() { signals_interrupt = true; }
SignalsInterruptReservations::~SignalsInterruptReservations() { signals_interrupt = false; }

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#if !defined(__SANITIZE_THREAD__)

// `name(arguments)` of libc, unless it is the call that fails.
#define DOVETAIL_CALL(on_failure, name, ...)                          \
  do {                                                                \
    static const auto real = dovetail::Real<decltype(::name)>(#name); \
    if (dovetail::Fails()) return on_failure;                         \
    return real(__VA_ARGS__);                                         \
  } while (false)

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  DOVETAIL_CALL(-1, open, path, flags, mode);
}

int fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  DOVETAIL_CALL(-1, fcntl, file, command, argument);
}

void* mmap(void* at, size_t nbytes, int access, int flags, int file, off_t offset) noexcept {
  DOVETAIL_CALL(MAP_FAILED, mmap, at, nbytes, access, flags, file, offset);
}

ssize_t pread(int file, void* data, size_t nbytes, off_t offset) {
  DOVETAIL_CALL(-1, pread, file, data, nbytes, offset);
}

ssize_t pwrite(int file, const void* data, size_t nbytes, off_t offset) {
  DOVETAIL_CALL(-1, pwrite, file, data, nbytes, offset);
}

int ftruncate(int file, off_t nbytes) noexcept { DOVETAIL_CALL(-1, ftruncate, file, nbytes); }

int memfd_create(const char* name, unsigned flags) noexcept {
  DOVETAIL_CALL(-1, memfd_create, name, flags);
}

int posix_fallocate(int file, off_t begin, off_t nbytes) {
  if (dovetail::CanBeInterrupted()) return EINTR;
  DOVETAIL_CALL(errno, posix_fallocate, file, begin, nbytes);  // it returns its error
}

void* aligned_alloc(size_t alignment, size_t nbytes) noexcept {
  DOVETAIL_CALL(nullptr, aligned_alloc, alignment, nbytes);
}

int posix_memalign(void** data, size_t alignment, size_t nbytes) noexcept {
  DOVETAIL_CALL(errno, posix_memalign, data, alignment, nbytes);  // it returns its error
}

int fstat(int file, struct stat* facts) noexcept { DOVETAIL_CALL(-1, fstat, file, facts); }
int lstat(const char* path, struct stat* facts) noexcept { DOVETAIL_CALL(-1, lstat, path, facts); }
int unlink(const char* path) noexcept { DOVETAIL_CALL(-1, unlink, path); }
DIR* opendir(const char* path) { DOVETAIL_CALL(nullptr, opendir, path); }
ssize_t getrandom(void* data, size_t nbytes, unsigned flags) {
  DOVETAIL_CALL(-1, getrandom, data, nbytes, flags);
}

}  // extern "C"

#endif  // !__SANITIZE_THREAD__
