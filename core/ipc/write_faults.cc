#include "dovetail/core/ipc/write_faults.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

// The handler reads what other threads may be writing: a description that is torn is a text that is
// wrong, and no fault.
struct Description {
  std::atomic<uintptr_t> begin;
  std::atomic<uintptr_t> end;
  char text[120];
};
constexpr uint64_t kCount = 512;
Description descriptions[kCount];
std::atomic<uint64_t> next_description = 0;

std::atomic<bool> is_reported = false;
struct sigaction previous;
// The threads that are in it, and that called it last.
std::atomic<pid_t> in_previous = 0, was_in_previous = 0;
// The last fault that was reported.
std::atomic<pid_t> last_thread = 0;
std::atomic<uintptr_t> last_address = 0;

// The latest one that contains the address.
const Description* Find(uintptr_t address) {
  const uint64_t last = next_description.load();
  for (uint64_t i = last; i-- > (last > kCount ? last - kCount : 0);) {
    const Description& d = descriptions[i % kCount];
    if (d.begin.load() <= address && address < d.end.load()) return &d;
  }
  return nullptr;
}

void Print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

// Ends the process: the instruction runs again, or the signal is raised again.
void EndBySignal(int signal, const siginfo_t& info) {
  struct sigaction end = {};
  end.sa_handler = SIG_DFL;
  sigaction(signal, &end, nullptr);
  if (info.si_code <= 0) raise(signal);
}

// Calls nothing but what a signal handler may.
void Handle(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto me = static_cast<pid_t>(syscall(SYS_gettid));
  // The handler that was there before may have this one as its own previous one. It then calls this
  // one, or raises the signal (faulthandler does), and both would do so for ever.
  if (in_previous.load() == me || (info->si_code <= 0 && was_in_previous.load() == me)) {
    return EndBySignal(signal, *info);
  }
  // (An access to memory that is no longer mapped has another code.)
  const Description* d =
      info->si_code == SEGV_ACCERR ? Find(reinterpret_cast<uintptr_t>(info->si_addr)) : nullptr;
  if (d != nullptr) {
    Print("dovetail: a write to memory that was shared read-only: ");
    Print(std::string_view(d->text, strnlen(d->text, sizeof d->text)));
    Print(". Write to a copy, or share it without readonly.\n");
  }
  // The handler that was there before has returned, and the instruction has run again.
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (d != nullptr && last_thread.load() == me && last_address.load() == address) {
    return EndBySignal(signal, *info);
  }
  if (d != nullptr) last_thread.store(me), last_address.store(address);
  errno = error;
  in_previous.store(me);
  was_in_previous.store(me);
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    EndBySignal(signal, *info);
  }
  in_previous.store(0);
}

}  // namespace

void ReportWriteFaults() {
  struct sigaction action = {}, current = {};
  action.sa_sigaction = &Handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGSEGV, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) != 0 &&
      current.sa_sigaction == &Handle) {
    return;
  }
  previous = current;
  sigaction(SIGSEGV, &action, nullptr);
  is_reported.store(true);
}

bool WriteFaultsAreReported() { return is_reported.load(std::memory_order_relaxed); }

void DescribeReadOnly(const void* data, size_t nbytes, std::string_view description) {
  Description& d = descriptions[next_description.fetch_add(1) % kCount];
  d.end.store(0);
  d.begin.store(reinterpret_cast<uintptr_t>(data));
  const size_t length = std::min(description.size(), sizeof d.text - 1);
  std::memcpy(d.text, description.data(), length);
  d.text[length] = '\0';
  d.end.store(reinterpret_cast<uintptr_t>(data) + nbytes);
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
