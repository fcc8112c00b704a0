#include "dovetail/core/internal/threads/interruption.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

thread_local constinit ScopedInterruption* ScopedInterruption::innermost_ = nullptr;

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
