// A trace: what happens to tensors, told as it happens. Exchanges, copies, casts, fills,
// allocations, streams that are ordered after others, and waits of the host.
//
//   TraceSubscription trace([](const TraceEvent& event) { std::cerr << event << "\n"; });
//   Work();                                       // on any thread
//
// A subscription hears the whole process. Its function is called on the thread that did the work,
// when the work is done (for work on a device: enqueued), and from several threads at once. It must
// not throw; what it does with tensors itself is not told. An event's views and pointers are valid
// during the call. Without subscriptions a call costs one test of a number.

#ifndef DOVETAIL_CORE_TRACE_TRACE_H_
#define DOVETAIL_CORE_TRACE_TRACE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/linkage/one_copy.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/trace/observed.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class TraceKind : uint8_t {
  kImport,    // another library's object became a tensor
  kExport,    // a tensor was handed out
  kConvert,   // an object of one library became one of another
  kCopy,      // elements were copied into other memory
  kCast,      // the same, to another type
  kFill,      // memory was filled with one element
  kAllocate,  // memory was allocated
  kOrder,     // a stream waits for work of other streams
  kWait,      // the host waited
};

// "import", "export", ...
std::string_view TraceKindName(TraceKind kind);

struct TraceEvent {
  TraceKind kind;
  int64_t start_ns = 0;  // of std::chrono::steady_clock
  int64_t duration_ns = 0;

  // Exchanges alone: the protocol, and the classes of the object that came in and of the one that
  // went out. Empty if unknown.
  std::string_view way = {};
  std::string_view source = {};
  std::string_view target = {};
  // Whether the result has memory of its own. No value: it failed.
  std::optional<bool> copied = {};
  // Why it was copied, or failed. Empty for what shares memory and for work that succeeded.
  std::string_view reason = {};

  // The tensor: the source of a copy, the target of a fill. Without a type for allocations, orders
  // and waits, which know bytes alone, and for exchanges that failed.
  std::optional<DType> dtype = {};
  absl::Span<const int64_t> shape = {};
  int64_t nbytes = 0;
  Device device = {};
  // The result of a copy or an exchange.
  std::optional<DType> to_dtype = {};
  Device to_device = {};

  // kOrder: the stream that waits. A copy or fill: the stream that does the work. nullptr: the
  // host.
  const Stream* stream = nullptr;
  // kOrder and kWait: the streams that are waited for, as far as known.
  absl::Span<const Stream> awaited = {};

  // In one line.
  std::string ToString() const;
  friend std::ostream& operator<<(std::ostream& os, const TraceEvent& event) {
    return os << event.ToString();
  }
};

class [[nodiscard]] TraceSubscription {
 public:
  using Function = std::function<void(const TraceEvent& event)>;

  [[gnu::always_inline]] explicit TraceSubscription(Function function)
      : TraceSubscription((CheckOneCopy(), std::move(function)), Checked()) {}
  // An event that another thread is telling meanwhile may still arrive afterwards.
  ~TraceSubscription();
  TraceSubscription(const TraceSubscription&) = delete;
  TraceSubscription& operator=(const TraceSubscription&) = delete;

 private:
  struct Checked {};
  TraceSubscription(Function function, Checked);

  std::shared_ptr<const Function> function_;
  internal_trace::Observer observer_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TRACE_TRACE_H_
