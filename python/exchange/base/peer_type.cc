#include "dovetail/python/exchange/base/peer_type.h"

#include <nanobind/nanobind.h>

#include <string_view>

#include "dovetail/python/exchange/base/lookup.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The table behind type.__dlpack_c_exchange_api__, or an older one that it leads to.
const DLPackExchangeAPI* FindExchangeApi(PyTypeObject* type) {
  constexpr char kName[] = "dlpack_exchange_api";
  constexpr int kMaxTables = 100;  // a chain that leads to itself has no end
  nb::object capsule = nb::steal(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__"));
  void* table = capsule.is_valid() && PyCapsule_IsValid(capsule.ptr(), kName)
                    ? PyCapsule_GetPointer(capsule.ptr(), kName)
                    : nullptr;
  PyErr_Clear();
  auto* header = static_cast<const DLPackExchangeAPIHeader*>(table);
  for (int i = 0; i < kMaxTables && header != nullptr; ++i, header = header->prev_api) {
    if (header->version.major == DLPACK_MAJOR_VERSION) {
      return reinterpret_cast<const DLPackExchangeAPI*>(header);
    }
  }
  return nullptr;
}

// The tuple type.__mro__, which an assignment to __bases__ replaces.
nb::object BasesOf(PyTypeObject* type) {
#ifdef Py_GIL_DISABLED
  const nb::error_scope error;  // the caller may have set one
  static constinit InternedName name("__mro__");
  return nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name.get()));
#else
  return nb::borrow(type->tp_mro);
#endif
}

}  // namespace

PeerType builtins_bytes("builtins", "bytes");
PeerType numpy_ndarray("numpy", "ndarray");
PeerType numpy_scalar("numpy", "generic");
PeerType numpy_datetime("numpy", "datetime64");
PeerType numpy_timedelta("numpy", "timedelta64");
PeerType numpy_dtype("numpy", "dtype");
PeerType numpy_masked_array("numpy.ma", "MaskedArray");
PeerType torch_tensor("torch", "Tensor");
PeerType torch_parameter("torch.nn.parameter", "Parameter");
PeerType torch_dtype("torch", "dtype");
PeerType paddle_tensor("paddle", "Tensor");
PeerType paddle_dtype("paddle.base.libpaddle", "DataType");  // paddle.dtype
PeerType dovetail_tensor("dovetail", "Tensor");

void PeerType::Install(PyTypeObject* type) {
  exchange_api_.store(FindExchangeApi(type));
  type_.store(type);  // last: Is() reads it first
}

bool PeerType::IsBaseOf(PyTypeObject* type) {
  const nb::object bases = BasesOf(type);
  if (!bases.is_valid() || !PyTuple_Check(bases.ptr())) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases.ptr()); ++i) {
    if (Is(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases.ptr(), i)))) return true;
  }
  return false;
}

bool PeerType::Recognise(PyTypeObject* type) {
  other_.store(type);
  if (type == namesake_.load() || !std::string_view(type->tp_name).ends_with(name_)) return false;
  namesake_.store(type);
  const nb::error_scope error;  // the caller may have set one
  nb::object name = nb::steal(PyUnicode_FromString(module_));
  nb::object module = name.is_valid() ? nb::steal(PyImport_GetModule(name.ptr())) : nb::object();
  nb::object known =
      module.is_valid() ? nb::steal(PyObject_GetAttrString(module.ptr(), name_)) : nb::object();
  if (known.ptr() != reinterpret_cast<PyObject*>(type)) return false;
  Py_INCREF(type);
  Install(type);
  other_.store(nullptr);
  namesake_.store(nullptr);
  return true;
}

}  // namespace dovetail::python
