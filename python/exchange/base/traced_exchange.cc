#include "dovetail/python/exchange/base/traced_exchange.h"

#include <utility>

#include "dovetail/python/exchange/base/call_site.h"
#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {
TracedExchange::TracedExchange(TraceKind kind, PyObject* source)
    : copies_before_(internal_trace::CopiesOfThisThread()),
      source_(source != nullptr ? ClassName(Py_TYPE(source)) : ""),
      trace_(kind, "") {
  trace_.event().source = source_;
}

void TracedExchange::set_target(std::string target) {
  target_ = std::move(target);
  trace_.event().target = target_;
}

void TracedExchange::Done(const Tensor& tensor, bool copied) {
  trace_.Done(tensor, copied || internal_trace::CopiesOfThisThread() != copies_before_);
}

void TracedExchange::Failed() { trace_.Failed(MessageOfError()); }

struct TracedExport::Export {
  TracedExchange exchange;
  Tensor tensor;
};

void TracedExport::Begin(const char* way, PyObject* self, const Tensor& tensor) {
  export_ = new Export{TracedExchange(TraceKind::kExport, self), tensor};
  export_->exchange.set_way(way);
  export_->exchange.set_target(CurrentCallSite().caller);
}

void TracedExport::End() noexcept {
  if (PyErr_Occurred() != nullptr) {
    export_->exchange.Failed();
  } else {
    export_->exchange.Done(export_->tensor, false);
  }
  delete export_;
}

}  // namespace dovetail::python
