// Lets one call of the operating system fail, or kills the process right before it. A program that
// links this replaces libc's functions that code of shared memory calls: those that make, open,
// map, lock, read, write, resize, list and unlink files, getrandom, aligned_alloc and
// posix_memalign. Each hands the call on to libc's own.
//
//   {
//     const SystemCallFault fault(3, EMFILE);         // the fourth such call of this thread fails
//     …
//   }
//   const SystemCallFault fault(3, SystemCallFault::kKill);  // the process gets a SIGKILL instead
//
// Calls that libc makes inside (opendir's open) are not counted.

#ifndef DOVETAIL_CORE_TESTING_SYSTEM_CALL_FAULT_H_
#define DOVETAIL_CORE_TESTING_SYSTEM_CALL_FAULT_H_

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class SystemCallFault {
 public:
  static constexpr int kKill = -1;
  // False under ThreadSanitizer, which needs libc's functions before this program has started.
#if defined(__SANITIZE_THREAD__)
  static constexpr bool kWorks = false;
#else
  static constexpr bool kWorks = true;
#endif

  // The call after `allowed` others of this thread fails with `error`, once.
  SystemCallFault(int allowed, int error);
  ~SystemCallFault();
  SystemCallFault(const SystemCallFault&) = delete;
  SystemCallFault& operator=(const SystemCallFault&) = delete;

  // Whether that call has been reached.
  static bool happened();
};

// While it lives, posix_fallocate fails with EINTR in a thread to which SIGUSR1 can be delivered,
// as it does on older kernels if a signal arrives meanwhile.
class SignalsInterruptReservations {
 public:
  SignalsInterruptReservations();
  ~SignalsInterruptReservations();
  SignalsInterruptReservations(const SignalsInterruptReservations&) = delete;
  SignalsInterruptReservations& operator=(const SignalsInterruptReservations&) = delete;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TESTING_SYSTEM_CALL_FAULT_H_
