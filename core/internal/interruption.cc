#include "dovetail/core/internal/interruption.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

thread_local constinit ScopedInterruption* ScopedInterruption::innermost_ = nullptr;

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
