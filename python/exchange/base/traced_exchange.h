// What the exchanges with Python objects tell a trace (core/trace/trace.h).
//
//   const TracedExport traced("__dlpack__", self, tensor);      // an export, until the block ends
//
//   TracedExchange traced(TraceKind::kImport, x);               // an import or a conversion
//   …
//   traced.Done(tensor, copied);                                // or Failed(), with an error set
//
// All need the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_TRACED_EXCHANGE_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_TRACED_EXCHANGE_H_

#include <Python.h>

#include <string>
#include <string_view>

#include "dovetail/core/tensor.h"
#include "dovetail/core/trace/exchange.h"

namespace dovetail::python {

using internal_trace::IsObserved;

// For use while IsObserved().
class TracedExchange {
 public:
  // nullptr: a source that is not known.
  TracedExchange(TraceKind kind, PyObject* source);

  void set_way(std::string_view way) { trace_.event().way = way; }
  void set_target(std::string target);
  void set_reason(std::string_view reason) { trace_.event().reason = reason; }

  // Copied: if it is said to be, or elements were copied meanwhile on this thread.
  void Done(const Tensor& tensor, bool copied);
  // The Python error stays set.
  void Failed();

 private:
  int64_t copies_before_;
  std::string source_;
  std::string target_;
  internal_trace::ExchangeTrace trace_;
};

// An export of an object with a tensor in it, for the life of this. It failed if a Python error is
// set at the end.
class TracedExport {
 public:
  TracedExport(const char* way, PyObject* self, const Tensor& tensor) {
    if (IsObserved()) [[unlikely]]
      Begin(way, self, tensor);
  }
  ~TracedExport() {
    if (export_ != nullptr) [[unlikely]]
      End();
  }
  TracedExport(const TracedExport&) = delete;
  TracedExport& operator=(const TracedExport&) = delete;

 private:
  void Begin(const char* way, PyObject* self, const Tensor& tensor);
  void End() noexcept;

  struct Export;
  Export* export_ = nullptr;
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_TRACED_EXCHANGE_H_
