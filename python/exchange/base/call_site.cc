#include "dovetail/python/exchange/base/call_site.h"

#include <nanobind/nanobind.h>

#include <string_view>
#include <utility>

#include "dovetail/python/exchange/base/error.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

thread_local constinit const CallSite* noted = nullptr;

bool HoldsGil() {
  PyThreadState* const mine = PyGILState_GetThisThreadState();
#if PY_VERSION_HEX >= 0x030d0000
  return mine != nullptr && PyThreadState_GetUnchecked() == mine;
#else
  return mine != nullptr && _PyThreadState_UncheckedGet() == mine;
#endif
}

std::string Text(PyObject* object) {
  const char* text =
      object != nullptr && PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : nullptr;
  return text != nullptr ? text : "";
}

std::string ModuleName(PyObject* frame) {
  const nb::object globals = nb::steal(PyObject_GetAttrString(frame, "f_globals"));
  if (!globals.is_valid() || !PyDict_Check(globals.ptr())) return "";
  return Text(PyDict_GetItemString(globals.ptr(), "__name__"));
}

std::string FileOf(PyFrameObject* frame) {
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  return Text(nb::steal(PyObject_GetAttrString(code.ptr(), "co_filename")).ptr());
}

bool IsOurs(std::string_view module) {
  return module == "dovetail" || module.starts_with("dovetail.");
}

bool IsInstalled(std::string_view file) {
  return file.find("/site-packages/") != std::string_view::npos ||
         file.find("/dist-packages/") != std::string_view::npos || file.starts_with("<frozen ");
}

CallSite LookUp() {
  CallSite first;
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid()) {
    auto* const at = reinterpret_cast<PyFrameObject*>(frame.ptr());
    const std::string module = ModuleName(frame.ptr());
    if (!IsOurs(module)) {
      CallSite site{FileOf(at), PyFrame_GetLineNumber(at), first.caller};
      if (first.file.empty()) {
        if (IsInstalled(site.file)) site.caller = module.substr(0, module.find('.'));
        first = site;
      }
      if (!IsInstalled(site.file)) return site;
    }
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(at)));
  }
  return first;
}

}  // namespace

CallSite CurrentCallSite() {
  if (!HoldsGil()) return noted != nullptr ? *noted : CallSite();
  PyObject* const in_flight = PyErr_Occurred() != nullptr ? TakeError() : nullptr;
  CallSite site = LookUp();
  PyErr_Clear();
  if (in_flight != nullptr) RestoreError(in_flight);
  return site;
}

NotedCallSite::NotedCallSite() : site_(CurrentCallSite()), outer_(std::exchange(noted, &site_)) {}

NotedCallSite::~NotedCallSite() { noted = outer_; }

}  // namespace dovetail::python
