// What the casters of one attempt to call a bound function know together.
//
// For each overload that it tries, a binding library makes the casters of all arguments, loads them
// from left to right, calls the function if all are loaded, casts its result, and destroys the
// casters. Other calls may run within a load or within the function. So the casters of an attempt
// find each other by a key: an address that the library keeps for the attempt and no other attempt
// in progress has.

#ifndef DOVETAIL_PYTHON_CASTERS_CALL_FRAME_H_
#define DOVETAIL_PYTHON_CASTERS_CALL_FRAME_H_

#include <Python.h>

#include <cstdint>

#include "dovetail/python/arg_requirements.h"
#include "dovetail/python/args/overlap.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/casters/overloads.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

class CallFrame;

// The tensors that one argument borrowed: several if it is a list.
struct Loans {
  DovetailBorrowed* first;
  int64_t count;
  int32_t position;
  Loans* before;  // of the attempt's arguments
};

// What a thread knows of the calls in progress.
struct ThreadCalls {
  static ThreadCalls& Current() {
    static thread_local ThreadCalls calls;
    return calls;
  }

  CallFrame* newest = nullptr;
  bool is_loaded = false;  // whether a caster was loaded since one was made
  Overloads overloads;
};

// One in each caster. The first to join is the attempt's, and the others share it.
class CallFrame {
 public:
  CallFrame() {}  // (`= default` lets some compilers clear all of a caster)
  ~CallFrame() {
    if (shared_ == this) End();
  }
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

  // A frame without a key is alone.
  void Join(const void* key) {
    shared_ = key != nullptr ? Find(key, thread_.newest) : nullptr;
    if (shared_ == nullptr) Begin(key);
  }

  // For casters that learn of their attempt when they are loaded, not when they are made. They find
  // attempts in which none is loaded.
  void NoteMade() { thread_.is_loaded = false; }
  void JoinLate(const void* key) {
    thread_.is_loaded = true;
    Join(key);
  }
  void NoteDestroyed() {
    if (shared_ == nullptr && !thread_.is_loaded) thread_.overloads.NoteSkipped();
    thread_.is_loaded = true;  // by this attempt: once is enough
  }

  // The rest is for frames that joined.

  // An Arg is among the attempt's arguments.
  void ExpectArg() {
    if (shared_->outcome_ == Outcome::kUnknown) shared_->outcome_ = Outcome::kSkipped;
  }
  // Before an Arg is loaded.
  DovetailCall* StartArg(bool converts) {
    CallFrame& frame = *shared_;
    frame.outcome_ = Outcome::kOpen;
    if (converts && frame.reported_ == Overloads::kUnasked) {
      frame.reported_ = thread_.overloads.Reported();
    }
    frame.call_.is_quiet = !converts || (frame.reported_ != Overloads::kEvery &&
                                         frame.reported_ != frame.call_.position + 1);
    return &frame.call_;
  }
  void EndArg(int result) {
    if (result != 0) shared_->outcome_ = result < 0 ? Outcome::kDone : Outcome::kRefused;
  }
  // After an Arg was loaded: its tensors, which stay where they are.
  void Link(DovetailBorrowed* first, int64_t count, Loans* loans) {
    *loans = {first, count, shared_->call_.position, shared_->loans_};
    shared_->loans_ = loans;
  }
  // For NoOverlap: the position of another argument that has memory in common with one of these
  // tensors, or its own if two of them have; 0 if there is none.
  int32_t FindOverlap(const Loans& loans) const {
    for (const Loans* other = shared_->loans_; other != nullptr; other = other->before) {
      if (other != &loans && Overlap(*other, loans)) return other->position;
    }
    for (int64_t i = 1; i < loans.count; ++i) {
      const Loans before = {loans.first, i, 0, nullptr}, one = {loans.first + i, 1, 0, nullptr};
      if (Overlap(before, one)) return loans.position;
    }
    return 0;
  }
  DovetailCall* call() { return &shared_->call_; }

  // An argument that is a tensor or None, and no Arg.
  void CountArgument() { ++shared_->call_.position; }
  // The function is called.
  void NoteCalled() { shared_->outcome_ = Outcome::kDone; }

  // The first tensor that was loaded is what a result is made like.
  void NoteLoaded(PyObject* object) {
    if (shared_->like_ != nullptr) return;
    Py_INCREF(object);
    shared_->like_ = object;
  }
  PyObject* like() const { return shared_->like_; }  // borrowed; nullptr: none yet
  static PyObject* Like(const void* key) {
    const CallFrame* const frame = Find(key, ThreadCalls::Current().newest);
    return frame != nullptr ? frame->like_ : nullptr;
  }

 private:
  enum class Outcome : uint8_t {
    kUnknown,  // without an Arg
    kSkipped,  // no Arg was loaded
    kOpen,     // another argument was refused
    kRefused,  // an Arg was refused
    kDone,     // called, or an error was raised
  };

  static bool Overlap(const Loans& a, const Loans& b) {
    for (int64_t i = 0; i < a.count; ++i) {
      for (int64_t j = 0; j < b.count; ++j) {
        if (MayOverlap(a.first[i].tensor, b.first[j].tensor)) return true;
      }
    }
    return false;
  }
  static CallFrame* Find(const void* key, CallFrame* newest) {
    CallFrame* frame = newest;
    while (frame != nullptr && frame->key_ != key) frame = frame->outer_;
    return frame;
  }
  void Begin(const void* key) {
    shared_ = this;
    key_ = key;
    outer_ = nullptr;
    like_ = nullptr;
    outcome_ = Outcome::kUnknown;
    reported_ = Overloads::kUnasked;
    call_.function = nullptr;
    call_.argument = nullptr;
    call_.names = nullptr;
    call_.position = 0;
    call_.element = 0;
    call_.num_sizes = 0;
    call_.num_types = 0;
    call_.num_leads = 0;
    loans_ = nullptr;
    if (key == nullptr) return;
    outer_ = thread_.newest;
    thread_.newest = this;
  }
  void End() {
    if (thread_.newest == this) {
      thread_.newest = outer_;
    } else {
      Unlink();
    }
    if (outcome_ != Outcome::kDone || !thread_.overloads.is_empty()) NoteOutcome();
    Py_XDECREF(like_);
  }
  [[gnu::noinline]] void Unlink() {
    for (CallFrame** at = &thread_.newest; *at != nullptr; at = &(*at)->outer_) {
      if (*at != this) continue;
      *at = outer_;
      return;
    }
  }
  [[gnu::noinline]] void NoteOutcome() const {
    Overloads& overloads = thread_.overloads;
    if (outcome_ == Outcome::kUnknown) return;
    if (outcome_ == Outcome::kSkipped) return overloads.NoteSkipped();
    if (outcome_ == Outcome::kDone) return overloads.Forget();
    if (reported_ != Overloads::kUnasked) return overloads.NoteConverting();
    overloads.NoteStrict(outcome_ == Outcome::kRefused ? call_.position : 0);
  }

  ThreadCalls& thread_ = ThreadCalls::Current();
  CallFrame* shared_ = nullptr;
  // Of the attempt's own frame only, from Begin on:
  const void* key_;
  CallFrame* outer_;
  PyObject* like_;
  Outcome outcome_;
  int32_t reported_;  // of Overloads; kUnasked before an argument that may be converted
  Loans* loans_;
  DovetailCall call_;
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_CASTERS_CALL_FRAME_H_
