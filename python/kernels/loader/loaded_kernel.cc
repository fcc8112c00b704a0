#include "dovetail/python/kernels/loader/loaded_kernel.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The value of a default's text, whose form the library's compiler checked. A new reference;
// nullptr with an error set.
PyObject* DefaultValue(const DovetailParameter& facts) {
  const std::string_view text = facts.default_text;
  if (text == "None") return Py_NewRef(Py_None);
  switch (facts.kind) {
    case DOVETAIL_KIND_FLOAT: {
      const nb::object string = nb::steal(PyUnicode_FromString(facts.default_text));
      return string.is_valid() ? PyFloat_FromString(string.ptr()) : nullptr;
    }
    case DOVETAIL_KIND_INT:
      return PyLong_FromString(facts.default_text, nullptr, 10);
    case DOVETAIL_KIND_BOOL:
      return PyBool_FromLong(text == "True");
    case DOVETAIL_KIND_STRING:
      return PyUnicode_FromStringAndSize(text.data() + 1, static_cast<Py_ssize_t>(text.size()) - 2);
    default:
      return Raise(PyExc_ImportError, absl::StrCat("no default of '", facts.name, "': ", text));
  }
}

// An Out at the end, or before others that have defaults, may be left out.
void AddDefaultsOfOuts(LoadedKernel* loaded) {
  auto& all = loaded->parameters;
  for (auto parameter = all.rbegin(); parameter != all.rend(); ++parameter) {
    if (parameter->default_value != nullptr) continue;
    if (parameter->is(DOVETAIL_PARAMETER_OUT)) {
      parameter->default_value = Py_NewRef(Py_None);
    } else if (!parameter->is(DOVETAIL_PARAMETER_KEYWORD_ONLY)) {
      return;
    }
  }
}

// "scale_add($module, /, x, y, a, out=None)\n--\n\n", as CPython takes it out of a docstring.
std::string SignatureOf(const LoadedKernel& loaded) {
  std::string text = absl::StrCat(loaded.kernel->name, "($module, /");
  bool is_keyword_only = false;
  for (const LoadedParameter& parameter : loaded.parameters) {
    if (parameter.is(DOVETAIL_PARAMETER_KEYWORD_ONLY) && !is_keyword_only) {
      absl::StrAppend(&text, ", *");
      is_keyword_only = true;
    }
    absl::StrAppend(&text, ", ", parameter.facts->name);
    if (parameter.default_value == nullptr) continue;
    const char* const written = parameter.facts->default_text;
    absl::StrAppend(&text, "=", written != nullptr ? written : "None");
  }
  return absl::StrCat(text, ")\n--\n\n");
}

// "float32[n], writable" of "typing.Annotated[typing.Any, \"float32[n], writable\"]".
std::string_view TensorText(std::string_view annotated) {
  const size_t first = annotated.find('"'), last = annotated.rfind('"');
  return first < last ? annotated.substr(first + 1, last - first - 1) : annotated;
}

std::string ParameterText(const DovetailParameter& facts) {
  constexpr const char* kNames[] = {"", "tensor", "float", "int", "bool", "str", "stream"};
  std::string text = facts.kind == DOVETAIL_KIND_TENSOR ? std::string(TensorText(facts.type_text))
                                                        : kNames[facts.kind];
  if ((facts.flags & DOVETAIL_PARAMETER_LIST) != 0) text = absl::StrCat("list of ", text);
  if ((facts.flags & DOVETAIL_PARAMETER_OPTIONAL) != 0) absl::StrAppend(&text, ", or None");
  if ((facts.flags & DOVETAIL_PARAMETER_OUT) != 0) absl::StrAppend(&text, "; None: a new one");
  if ((facts.flags & DOVETAIL_PARAMETER_INOUT) != 0) {
    absl::StrAppend(&text, "; changed and returned, of JAX a changed copy");
  }
  return text;
}

std::string DocOf(const LoadedKernel& loaded) {
  std::string text = SignatureOf(loaded);
  if (loaded.kernel->doc != nullptr) absl::StrAppend(&text, loaded.kernel->doc, "\n\n");
  size_t width = 0;
  for (const char* name : loaded.names) width = std::max(width, std::strlen(name));
  for (const LoadedParameter& parameter : loaded.parameters) {
    const std::string padding(width - std::strlen(parameter.facts->name), ' ');
    absl::StrAppend(&text, parameter.facts->name, padding, "  ", ParameterText(*parameter.facts),
                    "\n");
  }
  text.pop_back();
  return text;
}

}  // namespace

LoadedKernel* LoadedKernel::New(const DovetailKernel& kernel, const char* library) {
  auto loaded = std::make_unique<LoadedKernel>(kernel, library);
  for (const DovetailParameter* const facts : loaded->named) {
    LoadedParameter parameter = {facts, PyUnicode_InternFromString(facts->name), nullptr};
    if (parameter.name == nullptr) return nullptr;
    if (facts->default_text != nullptr) {
      parameter.default_value = DefaultValue(*facts);
      if (parameter.default_value == nullptr) return nullptr;
    }
    loaded->parameters.push_back(parameter);
    if (!parameter.is(DOVETAIL_PARAMETER_KEYWORD_ONLY)) ++loaded->num_positional;
  }
  AddDefaultsOfOuts(loaded.get());
  loaded->doc = DocOf(*loaded);
  const auto count = static_cast<Py_ssize_t>(loaded->parameters.size()) - loaded->num_positional;
  loaded->keyword_names = PyTuple_New(count);
  if (loaded->keyword_names == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(loaded->num_positional + i);
    PyTuple_SET_ITEM(loaded->keyword_names, i, Py_NewRef(loaded->parameters[at].name));
  }
  // (Of a library that is loaded under two namespaces, the last one.)
  __atomic_store_n(kernel.package_data, loaded.get(), __ATOMIC_RELEASE);
  return loaded.release();
}

}  // namespace dovetail::python
