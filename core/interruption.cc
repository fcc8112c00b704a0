#include "dovetail/core/interruption.h"

namespace dovetail::inline DOVETAIL_ABI {

thread_local constinit ScopedInterruption* ScopedInterruption::innermost_ = nullptr;

}  // namespace dovetail::inline DOVETAIL_ABI
