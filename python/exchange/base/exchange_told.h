// What the exchanges with Python objects tell a trace (core/trace/trace.h).
//
//   ExportTold told("__dlpack__", self, tensor);      // an export, until the end of the block
//
//   if (IsObserved()) [[unlikely]] {                  // an import or a conversion
//     ExchangeTold told(TraceKind::kImport, x);
//     …
//     told.Done("NumPy array", tensor, copied);       // or Failed(), with a Python error set
//   }
//
// All need the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_EXCHANGE_TOLD_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_EXCHANGE_TOLD_H_

#include <Python.h>

#include <memory>
#include <string>
#include <string_view>

#include "dovetail/core/tensor.h"
#include "dovetail/core/trace/exchange.h"

namespace dovetail::python {

using internal_trace::IsObserved;

// For use while IsObserved().
class ExchangeTold {
 public:
  // nullptr: a source that is not known.
  ExchangeTold(TraceKind kind, PyObject* source);

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
class ExportTold {
 public:
  ExportTold(const char* way, PyObject* self, const Tensor& tensor) {
    if (IsObserved()) [[unlikely]]
      Begin(way, self, tensor);
  }
  ~ExportTold() {
    if (told_ != nullptr) [[unlikely]]
      End();
  }
  ExportTold(const ExportTold&) = delete;
  ExportTold& operator=(const ExportTold&) = delete;

 private:
  void Begin(const char* way, PyObject* self, const Tensor& tensor);
  void End() noexcept;

  struct Told;
  Told* told_ = nullptr;
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_EXCHANGE_TOLD_H_
