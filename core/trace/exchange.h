// What the doors tell a trace (trace.h) of an exchange.
//
//   return Traced(TraceKind::kImport, "Arrow", [&] { return Import(schema, array); });
//   return Traced(TraceKind::kExport, "Arrow", tensor, /*copied=*/false,
//                 [&] { return Export(tensor, schema, array); });

#ifndef DOVETAIL_CORE_TRACE_EXCHANGE_H_
#define DOVETAIL_CORE_TRACE_EXCHANGE_H_

#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/trace/traced.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_trace {

// One exchange of this thread. Exchanges inside it are its parts, and tell nothing.
class ExchangeScope {
 public:
  ExchangeScope() : is_outermost_(depth_++ == 0) {}
  ~ExchangeScope() { --depth_; }
  ExchangeScope(const ExchangeScope&) = delete;
  ExchangeScope& operator=(const ExchangeScope&) = delete;

  bool is_outermost() const { return is_outermost_; }

 private:
  static thread_local constinit int depth_;
  bool is_outermost_;
};

// For use while IsObserved(). An exchange from its construction to the call of Done() or Failed().
// If it is part of another of this thread, it tells nothing.
class ExchangeTrace {
 public:
  ExchangeTrace(TraceKind kind, std::string_view way)
      : event_{.kind = kind, .start_ns = Now(), .way = way} {}

  TraceEvent& event() { return event_; }

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
    if (!scope_.is_outermost()) return;
    event_.duration_ns = Now() - event_.start_ns;
    Tell(event_);
  }

  ExchangeScope scope_;
  TraceEvent event_;
};

// `tensor` is nullptr if the result of `work` holds it. (See TellOf in traced.h.)
template <typename Work>
[[gnu::noinline, gnu::cold]] auto TellOfExchange(TraceKind kind, std::string_view way,
                                                 const Tensor* tensor, bool copied, Work work) {
  ExchangeTrace trace(kind, way);
  auto result = work();
  if (!result.ok()) {
    trace.Failed(MessageOf(result));
  } else if constexpr (std::is_same_v<decltype(result), absl::StatusOr<Tensor>>) {
    trace.Done(tensor != nullptr ? *tensor : *result, copied);
  } else {
    trace.Done(*tensor, copied);
  }
  return result;
}

// Calls `work`, which returns an absl::StatusOr<Tensor>, and tells a trace of it. `way` is the
// protocol. On a hot path, `work` captures no local variable by reference and is always_inline.
template <typename Work>
[[gnu::always_inline]] inline absl::StatusOr<Tensor> Traced(TraceKind kind, std::string_view way,
                                                            Work work) {
  if (IsObserved()) [[unlikely]]
    return TellOfExchange(kind, way, nullptr, /*copied=*/false, std::move(work));
  return work();
}

// The same of work that returns an absl::Status, or a StatusOr of anything. `tensor` is what it
// exchanges, which an import fills in; `copied` says whether that is a copy made for the exchange.
template <typename Work>
[[gnu::always_inline]] inline auto Traced(TraceKind kind, std::string_view way,
                                          const Tensor& tensor, bool copied, Work work) {
  if (IsObserved()) [[unlikely]]
    return TellOfExchange(kind, way, &tensor, copied, std::move(work));
  return work();
}

}  // namespace internal_trace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TRACE_EXCHANGE_H_
