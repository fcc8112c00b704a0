#include "dovetail/core/trace/exchange.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_trace {

thread_local constinit int ExchangeScope::depth_ = 0;

}  // namespace internal_trace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
