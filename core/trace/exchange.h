// What the doors tell a trace (core/trace/trace.h) of an exchange.
//
//   return TellOfImport("IPC handle", [&] { return OpenUntold(handle); });
//
// A hot door asks IsObserved() itself, and calls these in a function of its own.

#ifndef DOVETAIL_CORE_TRACE_EXCHANGE_H_
#define DOVETAIL_CORE_TRACE_EXCHANGE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/trace/trace.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_trace {

// For use while IsObserved(). An exchange from its construction to the call of Done() or Failed().
// If it is part of another of this thread, it tells nothing.
class ExchangeTrace {
 public:
  ExchangeTrace(TraceKind kind, std::string_view way)
      : event_{.kind = kind, .start_ns = Now(), .way = way} {}

  TraceEvent& event() { return event_; }
  bool is_outermost() const { return scope_.is_outermost(); }

  void Done(const Tensor& tensor, bool copied) {
    if (!tensor.is_null()) {
      event_.dtype = event_.to_dtype = tensor.dtype();
      event_.shape = tensor.shape();
      event_.nbytes = tensor.nbytes();
      event_.device = event_.to_device = tensor.device();
    }
    event_.copied = copied;
    Finish();
  }
  void Failed(std::string_view reason) {
    event_.reason = reason;
    Finish();
  }

 private:
  void Finish() {
    if (!is_outermost()) return;
    event_.duration_ns = Now() - event_.start_ns;
    Tell(event_);
  }

  ExchangeScope scope_;
  TraceEvent event_;
};

// Calls `import`, which returns an absl::StatusOr<Tensor>.
template <typename Import>
absl::StatusOr<Tensor> TellOfImport(std::string_view way, Import import) {
  if (!IsObserved()) [[likely]]
    return import();
  ExchangeTrace trace(TraceKind::kImport, way);
  absl::StatusOr<Tensor> tensor = import();
  if (tensor.ok()) {
    trace.Done(*tensor, false);
  } else {
    trace.Failed(tensor.status().message());
  }
  return tensor;
}

// Calls `hand_out`, which returns an absl::Status or StatusOr. `copied`: whether the tensor is a
// copy that was made for this.
template <typename Export>
auto TellOfExport(std::string_view way, const Tensor& tensor, bool copied, Export hand_out) {
  if (!IsObserved()) [[likely]]
    return hand_out();
  ExchangeTrace trace(TraceKind::kExport, way);
  auto result = hand_out();
  if (result.ok()) {
    trace.Done(tensor, copied);
  } else {
    trace.Failed(MessageOf(result));
  }
  return result;
}

}  // namespace internal_trace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TRACE_EXCHANGE_H_
