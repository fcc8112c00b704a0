#include "dovetail/core/trace/observed.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

constinit std::atomic<int> internal_trace::observers = 0;

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
