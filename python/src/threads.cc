#include "dovetail/python/src/threads.h"

#include "dovetail/core/parallel.h"
#include "dovetail/python/src/error.h"

namespace nb = nanobind;

namespace dovetail::python {

void AddThreads(nb::module_& m) {
  m.def(
      "get_num_threads", &GetNumThreads, nb::sig("def get_num_threads() -> int"),
      "The most threads that one copy on the CPU uses, the calling thread included. At first, the\n"
      "number of processors that the process may run on.");
  m.def(
      "set_num_threads",
      [](int count) {
        absl::Status status = SetNumThreads(count);
        if (status.ok()) return;
        RaiseStatus(status);
        throw nb::python_error();
      },
      nb::arg("count"), nb::sig("def set_num_threads(count: int) -> None"),
      "Sets the most threads that one copy on the CPU uses, for the whole process; 1: the calling\n"
      "thread alone. ValueError below 1.\n\n"
      "Threads are started by the first copy that is large enough to need them, and after a fork\n"
      "the child starts its own.");
}

}  // namespace dovetail::python
