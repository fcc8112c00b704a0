// Which of the tensors that a function refuses are reported as an error.
//
// A binding library tries the overloads of a function one after the other: first all strictly, then
// all with conversions. It tries a function without overloads once, with conversions. Its casters
// are not told which of the two it is. So each thread notes the attempts of the strict pass, by the
// place of the call. A call without such a note is of a function without overloads, whose refusals
// are reported. With overloads, the one that alone accepted most tensors is reported, if that is at
// least one and no attempt failed for another reason. Otherwise the library's error says that no
// overload fits.

#ifndef DOVETAIL_PYTHON_CASTERS_OVERLOADS_H_
#define DOVETAIL_PYTHON_CASTERS_OVERLOADS_H_

#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "dovetail/python/arg_requirements.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

// The instruction that calls the function. Python code that runs within the call has another frame.
struct CallSite {
  static CallSite Current() {
    PyFrameObject* const frame = PyEval_GetFrame();
    if (frame == nullptr) return {nullptr, 0};
#if PY_VERSION_HEX >= 0x030B0000
    return {frame, PyFrame_GetLasti(frame)};
#else
    return {frame, PyFrame_GetLineNumber(frame)};
#endif
  }
  bool operator==(const CallSite& other) const {
    return frame == other.frame && instruction == other.instruction;
  }

  const void* frame;  // compared only
  int instruction;
};

// One for each thread. Small: the loader has little memory for variables of threads.
class Overloads {
 public:
  static constexpr int32_t kEvery = 0;
  static constexpr int32_t kNone = -1;
  static constexpr int32_t kUnasked = -2;  // for those who ask when they need to

  // Whether there is no note, as in a thread that has called no function with overloads.
  bool is_empty() const { return notes_ == nullptr || notes_->num_calls == 0; }

  // The number of the tensor argument whose refusal the next converting attempt of this call
  // reports, or kEvery or kNone.
  int32_t Reported() const { return is_empty() ? kEvery : ReportedByNotes(); }

  // After an attempt. `refused` is the number of the tensor argument that was refused; 0 if none
  // was, and the call did not take place.
  void NoteStrict(int32_t refused) {
    Call& call = FindOrAdd();
    if (call.num_converting > 0) call = Call{call.site};
    ++call.num_strict;
    if (refused == 0) call.is_open = true;
    if (refused == call.furthest) call.furthest_attempt = 0;  // not alone
    if (refused <= call.furthest) return;
    call.furthest = refused;
    call.furthest_attempt = call.num_strict;
  }
  void NoteConverting() {
    Call* const call = Find();
    if (call != nullptr && ++call->num_converting >= call->num_strict) Remove(call);
  }
  // An attempt in which no tensor argument was loaded, because another was refused before.
  [[gnu::noinline]] void NoteSkipped() {
    Call& call = FindOrAdd();
    if (call.num_converting > 0) return NoteConverting();
    ++call.num_strict;
    call.is_open = true;
  }
  // After the call took place or raised an error.
  void Forget() {
    if (Call* const call = Find()) Remove(call);
  }

 private:
  struct Call {
    CallSite site;
    int num_strict = 0;  // attempts
    int num_converting = 0;
    int32_t furthest = 0;      // the number of a refused argument
    int furthest_attempt = 0;  // the strict attempt that came so far alone; 0 if there is none
    bool is_open = false;      // whether the converting pass may get further than the strict one
  };
  // Calls in progress, one within the other, and calls that ended without a note; the newest last.
  static constexpr int kMaxCalls = 16;
  struct Notes {
    int num_calls = 0;
    Call calls[kMaxCalls] = {};
  };
  struct AtThreadEnd {
    ~AtThreadEnd() { delete std::exchange(notes, nullptr); }
    Notes*& notes;
  };

  [[gnu::noinline]] int32_t ReportedByNotes() const {
    const Call* const call = Find();
    if (call == nullptr) return kEvery;
    const bool is_it = call->furthest_attempt == call->num_converting + 1;
    return is_it && call->furthest > 1 && !call->is_open ? call->furthest : kNone;
  }

  Call* Find() const { return is_empty() ? nullptr : Find(CallSite::Current()); }
  Call* Find(CallSite site) const {
    for (int i = notes_->num_calls - 1; i >= 0; --i) {
      if (notes_->calls[i].site == site) return &notes_->calls[i];
    }
    return nullptr;
  }
  Call& FindOrAdd() {
    if (notes_ == nullptr) {
      static thread_local AtThreadEnd end{notes_};
      end.notes = new Notes();
    }
    const CallSite site = CallSite::Current();
    if (Call* const call = Find(site)) return *call;
    if (notes_->num_calls == kMaxCalls) Remove(notes_->calls);
    Call& added = notes_->calls[notes_->num_calls++];
    added = Call{site};
    return added;
  }
  void Remove(Call* call) {
    std::move(call + 1, notes_->calls + notes_->num_calls, call);
    --notes_->num_calls;
  }

  Notes* notes_ = nullptr;  // made when there is a first
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_CASTERS_OVERLOADS_H_
