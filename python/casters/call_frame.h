// What the casters of one call of a bound function know together.
//
// A binding library makes the casters of all arguments of a call first, then loads them from left
// to right, calls the function, casts its result, and destroys the casters. So casters that are
// made while none of the newest frame's has been loaded belong to one call. Frames of nested calls,
// such as of a Python method that a load runs, lie between. Casters are destroyed in the reverse of
// the order in which they were made, so the first one, which has the frame, goes last.

#ifndef DOVETAIL_PYTHON_CASTERS_CALL_FRAME_H_
#define DOVETAIL_PYTHON_CASTERS_CALL_FRAME_H_

#include <Python.h>

#include "dovetail/python/arg_requirements.h"
#include "dovetail/python/capi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

// Sets the members that capi.h asks for, and not the array of sizes.
inline void StartCall(DovetailCall* call) {
  call->function = nullptr;
  call->argument = nullptr;
  call->position = 0;
  call->is_quiet = 0;
  call->num_sizes = 0;
}

class CallFrame {
 public:
  CallFrame() {
    CallFrame*& newest = Newest();
    if (newest != nullptr && !newest->is_started_) {
      shared_ = newest;
      return;
    }
    StartCall(&call_);
    outer_ = newest;
    newest = this;
    shared_ = this;
  }
  ~CallFrame() {
    if (shared_ == this) Newest() = outer_;
  }
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

  // For the load of an argument.
  DovetailCall* Start() {
    shared_->is_started_ = true;
    return &shared_->call_;
  }
  // The first argument that was loaded is what a result is made like.
  void NoteLoaded(PyObject* object) {
    if (shared_->like_ == nullptr) shared_->like_ = object;
  }
  // Of the call whose result is being cast; nullptr if it has no argument of this kind.
  static PyObject* Like() { return Newest() != nullptr ? Newest()->like_ : nullptr; }

 private:
  static CallFrame*& Newest() {
    static thread_local CallFrame* newest = nullptr;
    return newest;
  }

  CallFrame* shared_;
  // Of the frame's own caster only:
  CallFrame* outer_ = nullptr;
  bool is_started_ = false;
  PyObject* like_ = nullptr;
  DovetailCall call_;
};

// The argument that a strict pass over the overloads of a function refused last. Binding libraries
// try all overloads strictly and then with conversions, but a function without overloads only with
// conversions. So an argument that is refused there for the first time has no other overload left,
// and its error is the one to report.
class Refused {
 public:
  // Whether the strict pass refused the object. If so, clears its error, but no interrupt.
  static bool ClearError(PyObject* object) {
    if (object != Last() || !PyErr_ExceptionMatches(PyExc_Exception)) return false;
    PyErr_Clear();
    return true;
  }
  static void Note(PyObject* object) { Last() = object; }
  static void Forget() { Last() = nullptr; }

 private:
  static PyObject*& Last() {
    static thread_local PyObject* last = nullptr;
    return last;
  }
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_CASTERS_CALL_FRAME_H_
