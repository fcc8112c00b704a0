#include "dovetail/python/exchange/base/exchange_told.h"

#include <utility>

#include "dovetail/python/exchange/base/call_site.h"
#include "dovetail/python/exchange/base/class_name.h"
#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {
ExchangeTold::ExchangeTold(TraceKind kind, PyObject* source)
    : copies_before_(internal_trace::CopiesOfThisThread()),
      source_(source != nullptr ? ClassName(Py_TYPE(source)) : ""),
      trace_(kind, "") {
  trace_.event().source = source_;
}

void ExchangeTold::set_target(std::string target) {
  target_ = std::move(target);
  trace_.event().target = target_;
}

void ExchangeTold::Done(const Tensor& tensor, bool copied) {
  trace_.Done(tensor, copied || internal_trace::CopiesOfThisThread() != copies_before_);
}

void ExchangeTold::Failed() { trace_.Failed(MessageOfError()); }

struct ExportTold::Told {
  ExchangeTold exchange;
  Tensor tensor;
};

void ExportTold::Begin(const char* way, PyObject* self, const Tensor& tensor) {
  told_ = new Told{ExchangeTold(TraceKind::kExport, self), tensor};
  told_->exchange.set_way(way);
  told_->exchange.set_target(CurrentCallSite().caller);
}

void ExportTold::End() noexcept {
  if (PyErr_Occurred() != nullptr) {
    told_->exchange.Failed();
  } else {
    told_->exchange.Done(told_->tensor, false);
  }
  delete told_;
}

}  // namespace dovetail::python
