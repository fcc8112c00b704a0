#include "dovetail/core/trace/trace.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dovetail/core/internal/std_mutex.h"
#include "dovetail/core/trace/traced.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using Function = TraceSubscription::Function;

thread_local constinit int64_t copies_of_this_thread = 0;
thread_local constinit bool is_telling = false;

class Subscriptions {
 public:
  void Add(std::shared_ptr<const Function> function) {
    const StdMutexLock lock(mutex_);
    functions_.push_back(std::move(function));
  }
  void Remove(const std::shared_ptr<const Function>& function) {
    const StdMutexLock lock(mutex_);
    functions_.erase(std::find(functions_.begin(), functions_.end(), function));
  }
  std::vector<std::shared_ptr<const Function>> All() {
    const StdMutexLock lock(mutex_);
    return functions_;
  }

  // Never destroyed: deleters may run late.
  static Subscriptions& Global() {
    static Subscriptions* const subscriptions = [] {
      auto* made = new Subscriptions;
      HoldDuringForks<&Mutex>();
      return made;
    }();
    return *subscriptions;
  }

 private:
  static StdMutex& Mutex() { return Global().mutex_; }

  StdMutex mutex_;
  std::vector<std::shared_ptr<const Function>> functions_ ABSL_GUARDED_BY(mutex_);
};

bool IsExchange(TraceKind kind) {
  return kind == TraceKind::kImport || kind == TraceKind::kExport || kind == TraceKind::kConvert;
}

// "cpu -> cuda:0", or one of the two if they are equal.
std::string Change(const std::string& from, const std::string& to) {
  return from == to ? from : absl::StrCat(from, " -> ", to);
}

std::string Streams(absl::Span<const Stream> streams) {
  return absl::StrJoin(streams, ", ", [](std::string* out, const Stream& stream) {
    absl::StrAppend(out, stream.ToString());
  });
}

void AppendExchange(const TraceEvent& event, std::string* text) {
  for (const std::string_view part : {event.way, event.source}) {
    if (!part.empty()) absl::StrAppend(text, " ", part);
  }
  if (!event.target.empty()) absl::StrAppend(text, " -> ", event.target);
  absl::StrAppend(text, !event.copied ? ": failed" : *event.copied ? ": copied" : ": shared");
}

}  // namespace

std::string_view TraceKindName(TraceKind kind) {
  switch (kind) {
    case TraceKind::kImport:
      return "import";
    case TraceKind::kExport:
      return "export";
    case TraceKind::kConvert:
      return "convert";
    case TraceKind::kCopy:
      return "copy";
    case TraceKind::kCast:
      return "cast";
    case TraceKind::kFill:
      return "fill";
    case TraceKind::kAllocate:
      return "allocate";
    case TraceKind::kOrder:
      return "order";
    case TraceKind::kWait:
      return "wait";
  }
  return "unknown";
}

std::string TraceEvent::ToString() const {
  std::string text(TraceKindName(kind));
  if (IsExchange(kind)) AppendExchange(*this, &text);
  if (kind == TraceKind::kOrder || kind == TraceKind::kWait) {
    absl::StrAppend(&text, ": ", stream == nullptr ? "the host" : stream->ToString(), " after [",
                    Streams(awaited), "]");
  } else if (kind == TraceKind::kAllocate) {
    absl::StrAppend(&text, ": ", nbytes, " bytes on ", device.ToString());
  } else if (dtype) {
    absl::StrAppend(&text, ", ", Change(dtype->ToString(), to_dtype.value_or(*dtype).ToString()),
                    " [", absl::StrJoin(shape, ", "), "] on ",
                    Change(device.ToString(), to_device.ToString()), ", ", nbytes, " bytes");
  }
  absl::StrAppend(&text, ", ", duration_ns, " ns");
  if (!reason.empty()) absl::StrAppend(&text, ": ", reason);
  return text;
}

TraceSubscription::TraceSubscription(Function function, Checked)
    : function_(std::make_shared<const Function>(std::move(function))) {
  Subscriptions::Global().Add(function_);
}

TraceSubscription::~TraceSubscription() { Subscriptions::Global().Remove(function_); }

namespace internal_trace {

int64_t Now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int64_t CopiesOfThisThread() { return copies_of_this_thread; }

// Without the lock, since a function may take as long as it likes.
void Tell(const TraceEvent& event) {
  if (is_telling) return;
  const absl::Cleanup end = [] { is_telling = false; };
  is_telling = true;
  const bool is_copy = event.kind == TraceKind::kCopy || event.kind == TraceKind::kCast;
  if (is_copy && event.reason.empty()) ++copies_of_this_thread;
  for (const std::shared_ptr<const Function>& function : Subscriptions::Global().All()) {
    (*function)(event);
  }
}

}  // namespace internal_trace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
