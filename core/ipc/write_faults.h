// Names the tensor when a write to read-only shared memory ends the process.
//
//   ipc::ReportWriteFaults();     // once, as early as the program likes
//
// A tensor that was shared read-only lies in a mapping that can't be written, so that a write by
// any library is a SIGSEGV. From this call on, the process then prints which tensor it was, and the
// signal takes its course: the handler that was there before gets it (faulthandler's, say), or the
// process ends.

#ifndef DOVETAIL_CORE_IPC_WRITE_FAULTS_H_
#define DOVETAIL_CORE_IPC_WRITE_FAULTS_H_

#include <cstddef>
#include <string_view>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

// Installs the handler of SIGSEGV. A second call does nothing, unless another handler has replaced
// it since. Any thread.
void ReportWriteFaults();
bool WriteFaultsAreReported();

// Describes read-only memory for the report. The last 512 descriptions are kept, up to 120 bytes of
// each. Any thread.
void DescribeReadOnly(const void* data, size_t nbytes, std::string_view description);

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_WRITE_FAULTS_H_
