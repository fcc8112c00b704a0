#include "dovetail/python/src/backends.h"

#include <nanobind/stl/string.h>

#include <string>

#include "dovetail/core/registry.h"

namespace nb = nanobind;

namespace dovetail::python {

void AddBackends(nb::module_& m) {
  m.def(
      "backends",
      [] {
        nb::dict result;
        for (DeviceBackend* backend : Registry::Global().Backends()) {
          const std::string name(backend->name());
          absl::StatusOr<int> count = backend->DeviceCount();
          if (count.ok()) {
            result[name.c_str()] = *count;
          } else {
            result[name.c_str()] = std::string(count.status().message());
          }
        }
        return result;
      },
      nb::sig("def backends() -> dict[str, int | str]"),
      "The backends by name, each with its number of devices or, as text, why it has none.");
}

}  // namespace dovetail::python
