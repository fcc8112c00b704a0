// CheckOneCopy: that this shared object's calls of Dovetail stay in it.
//
//   inline void RegisterDefaultBackends() { CheckOneCopy(); … }
//
// A shared object that has Dovetail linked in, with visible symbols, calls another one's functions
// if that was loaded first and for all to see (as a program's own libraries are). What is hidden,
// such as the parts of the CPU's backend, is each object's own, so that the two would share half of
// their state. It is found where a program begins: at Registry::Global(), the functions that
// register backends, NoCopiesScope and TraceSubscription. The remedies are in the message, and in
// docs/bazel.md, "Several copies in one process".

#ifndef DOVETAIL_CORE_LINKAGE_ONE_COPY_H_
#define DOVETAIL_CORE_LINKAGE_ONE_COPY_H_

#include "absl/base/optimization.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_linkage {

// Of the copy in this shared object. Weak: an object that gets Dovetail from the program, as the
// libraries of a Bazel test do, has none.
extern const char copy [[gnu::weak, gnu::visibility("hidden")]];

// The same, of the copy whose functions this shared object calls.
const char* CalledCopy();

// Says on stderr which shared objects have the two copies, and ends the program.
[[noreturn]] void EndForTwoCopies(const char* own, const char* called);

}  // namespace internal_linkage

// Compiled into its caller, since a function could be another copy's. Ends the program, with a
// message that names both shared objects. Any thread.
[[gnu::always_inline]] inline void CheckOneCopy() {
  const char* const own = &internal_linkage::copy;
  if (own == nullptr) return;
  const char* const called = internal_linkage::CalledCopy();
  if (ABSL_PREDICT_FALSE(own != called)) internal_linkage::EndForTwoCopies(own, called);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_LINKAGE_ONE_COPY_H_
