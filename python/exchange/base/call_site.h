// Where in the user's program a call came from, for a trace. Work that runs without the GIL can't
// look at frames, so who releases the GIL notes the place before.
//
//   CallSite site = CurrentCallSite();
//   if (IsObserved()) note.emplace();             // NotedCallSite, before the GIL is released

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_CALL_SITE_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_CALL_SITE_H_

#include <Python.h>

#include <string>

namespace dovetail::python {

struct CallSite {
  // Of the innermost frame outside this package and outside installed libraries; of the innermost
  // one outside this package if there is no such frame. Empty if unknown.
  std::string file;
  int line = 0;
  // The top-level package of the innermost frame outside this one if it is an installed library,
  // such as "torch": the library that called.
  std::string caller;
};

// The place of this thread's call: looked up if the thread holds the GIL, else the noted one.
CallSite CurrentCallSite();

// Notes the place for the time without the GIL. Made and destroyed with the GIL held.
class NotedCallSite {
 public:
  NotedCallSite();
  ~NotedCallSite();
  NotedCallSite(const NotedCallSite&) = delete;
  NotedCallSite& operator=(const NotedCallSite&) = delete;

 private:
  CallSite site_;
  const CallSite* outer_;
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_CALL_SITE_H_
