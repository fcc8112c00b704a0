#include "dovetail/python/module/ipc/pool_class.h"

#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "dovetail/core/ipc/write_faults.h"
#include "dovetail/interop/ipc/pool.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/arguments/method_table.h"
#include "dovetail/python/module/ipc/ipc.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/or_throw.h"
#include "dovetail/python/module/objects/placement.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

nb::bytes ToBytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// None is forever.
bool ParseTimeout(PyObject* value, absl::Duration* timeout) {
  if (value == Py_None) return *timeout = absl::InfiniteDuration(), true;
  const double seconds = PyFloat_AsDouble(value);
  if (seconds == -1 && PyErr_Occurred() != nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    PyErr_Format(PyExc_TypeError, "timeout is a number of seconds, 0 or more, or None; got %R",
                 value);
    return false;
  }
  if (seconds >= 0) return *timeout = absl::Seconds(seconds), true;
  PyErr_Format(PyExc_ValueError, "timeout is a number of seconds, 0 or more, or None; got %R",
               value);
  return false;
}

bool ParseFlag(PyObject* value, const char* name, bool* result) {
  std::optional<bool> given;
  if (value != nullptr && !ParseOptionalBool(value, name, &given)) return false;
  *result = given.value_or(false);
  return true;
}

bool ParseOpens(PyObject* value, uint32_t* opens) {
  int64_t given;
  if (!ParseInt(value, &given)) return false;
  if (given >= 0 && given <= ipc::kMostOpens) return *opens = static_cast<uint32_t>(given), true;
  PyErr_Format(PyExc_ValueError, "opens is how often the message is opened, 0 to %u; got %S",
               ipc::kMostOpens, value);
  return false;
}

// Null with an error set for an object that was made without __init__.
const ipc::Pool* PoolOf(PyObject* self) {
  if (nb::inst_ready(self)) return nb::inst_ptr<ipc::Pool>(self);
  return Raise(PyExc_RuntimeError, "this Pool was not initialised: call Pool.__init__()");
}

PyObject* EmptyMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("empty", 1, 1,
                                              {"shape", "dtype", "timeout", "isolated"});
  if (nargs > 1) {
    return Raise(
        PyExc_TypeError,
        "empty() takes the shape as one argument, such as empty((2, 3)), and the others by "
        "name");
  }
  PyObject* v[4];
  const ipc::Pool* const pool = PoolOf(self);
  Dims shape;
  Placement wanted;
  ipc::AllocateOptions options;
  if (pool == nullptr || !kSignature.Parse(args, nargs, kwnames, v) || !ParseShape(v[0], &shape) ||
      !wanted.Parse(v[1], nullptr) || (v[2] != nullptr && !ParseTimeout(v[2], &options.timeout)) ||
      !ParseFlag(v[3], "isolated", &options.isolated)) {
    return nullptr;
  }
  return WrapTensor(
      WithoutGilIf(true, [&] { return pool->Empty(shape, wanted.dtype_or(kFloat32), options); }));
}

PyObject* ShareMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("share", 1, 1, {"tensor", "readonly", "opens"});
  PyObject* v[3];
  const ipc::Pool* const pool = PoolOf(self);
  ipc::MessageOptions options;
  if (pool == nullptr || !kSignature.Parse(args, nargs, kwnames, v) ||
      !ParseFlag(v[1], "readonly", &options.read_only) ||
      (v[2] != nullptr && !ParseOpens(v[2], &options.opens))) {
    return nullptr;
  }
  Tensor shared;
  if (IsTensor(v[0])) {
    if (AsTensorObject(v[0])->requires_grad.load()) return RaiseRequiresGrad();
    shared = AsTensor(v[0]);
  } else if (!ImportToShare(v[0], &shared)) {
    return nullptr;
  }
  constexpr int kMostShort = 4;  // of that many dimensions, the message needs no memory of its own
  const absl::StatusOr<std::string> message =
      WithoutGilIf(shared.rank() > kMostShort, [&] { return pool->Share(shared, options); });
  if (!message.ok()) return RaiseStatus(message.status());
  return PyBytes_FromStringAndSize(message->data(), static_cast<Py_ssize_t>(message->size()));
}

// These two parse their arguments themselves, which is faster than nanobind does, and their errors
// say what they take. The class keeps the table's entries in use.
PyMethodDef methods[] = {
    FastKeywords<&EmptyMethod>(
        "empty",
        "empty($self, shape, *, dtype=None, timeout=0, isolated=False)\n--\n\n"
        "Return a new tensor on the CPU, in the pool's memory. The default is float32.\n"
        "\n"
        "timeout   how many seconds to wait for other processes to release memory, if there is\n"
        "          none; None: until there is\n"
        "isolated  put it in a file of its own, beside the pool: who opens it maps nothing else\n"
        "\n"
        "The elements are uninitialised. Raises MemoryError, with the processes that hold the\n"
        "memory, if there is no room. Thread-safe."),
    FastKeywords<&ShareMethod>(
        "share",
        "share($self, tensor, *, readonly=False, opens=0)\n--\n\n"
        "Return a message of at most 64 bytes with which dovetail.ipc.open() opens the tensor.\n"
        "\n"
        "tensor    in this pool's memory; it can be a view, and another library's tensor\n"
        "readonly  who opens the message gets memory that can't be written: a write by any library\n"
        "          ends that process (report_write_faults() says by which tensor)\n"
        "opens     how often the message is opened: it keeps the memory until then, or until this\n"
        "          process has ended, and the tensor can be dropped at once. 0: it keeps nothing;\n"
        "          keep the tensor until the others have opened it\n"
        "\n"
        "Raises ExchangeError for memory of no or another pool, and for a tensor that requires\n"
        "gradients. Thread-safe."),
    kEndOfMethods,
};

absl::StatusOr<ipc::Pool> MakePool(uint64_t nbytes, std::optional<uint64_t> max_nbytes, bool memfd,
                                   const std::optional<std::string>& name, std::optional<int> fd) {
  if (name) return ipc::Pool::Open(*name);
  if (fd) return ipc::Pool::Attach(*fd);
  return ipc::Pool::Create(
      {.nbytes = nbytes, .most_bytes = max_nbytes.value_or(nbytes), .anonymous = memfd});
}

nb::dict Stats(const ipc::Pool& pool) {
  const ipc::PoolStats stats = OrThrow(WithoutGilIf(true, [&] { return pool.Stats(); }));
  nb::list holders;
  for (const ipc::Holder& holder : stats.holders) {
    nb::dict of_process;
    of_process["process"] = holder.process_id;
    of_process["is_this_process"] = holder.is_this_process;
    of_process["tensors"] = holder.slots;
    of_process["nbytes"] = holder.nbytes;
    holders.append(of_process);
  }
  nb::dict result;
  result["capacity"] = stats.capacity;
  result["max_nbytes"] = stats.most_bytes;
  result["reserved_bytes"] = stats.reserved;
  result["used_bytes"] = stats.used;
  result["tensors"] = stats.used_slots;
  result["messages"] = stats.messages;
  result["segments"] = stats.segments;
  result["holders"] = holders;
  return result;
}

}  // namespace

void AddPool(nb::module_& m) {
  nb::class_<ipc::Pool> c(m, "_Pool", "The base of dovetail.ipc.Pool.");
  c.attr("__module__") = "dovetail.ipc";
  c.def(
      "__init__",
      [](ipc::Pool* self, uint64_t nbytes, std::optional<uint64_t> max_nbytes, bool memfd,
         std::optional<nb::bytes> name, std::optional<int> fd) {
        std::optional<std::string> own_name;
        if (name) own_name.emplace(name->c_str(), name->size());
        new (self) ipc::Pool(OrThrow(
            WithoutGilIf(true, [&] { return MakePool(nbytes, max_nbytes, memfd, own_name, fd); })));
      },
      nb::arg("nbytes") = 0, nb::kw_only(), nb::arg("max_nbytes") = nb::none(),
      nb::arg("memfd") = false, nb::arg("name") = nb::none(), nb::arg("fd") = nb::none());
  for (PyMethodDef* method = methods; method->ml_name != nullptr; ++method) {
    c.attr(method->ml_name) =
        nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(c.ptr()), method));
  }
  c.def(
      "stats", &Stats, nb::sig("def stats(self) -> dict[str, object]"),
      "Return what the pool has and who holds it, as a dict.\n"
      "\n"
      "capacity, max_nbytes  bytes of its segments, and of as many as it may have\n"
      "reserved_bytes        that take memory\n"
      "used_bytes, tensors   what any process holds, in multiples of 4 KiB\n"
      "segments              the number of its files\n"
      "holders               a dict for each process that holds some: process (its id, in its own\n"
      "                      PID namespace), is_this_process, tensors, nbytes\n"
      "\n"
      "Isolated tensors are not part of it. Frees what ended processes held, as reclaim() does.");
  c.def(
      "reclaim",
      [](const ipc::Pool& pool) {
        return OrThrow(WithoutGilIf(true, [&] { return pool.Reclaim(); }));
      },
      "Free what ended processes held, and return the number of bytes. empty() does so, too,\n"
      "before it would fail.");
  c.def(
      "fileno",
      [](const ipc::Pool& pool) {
        if (const int file = pool.file(); file >= 0) return file;
        Raise(PyExc_ValueError,
              "only a pool with memfd=True has a descriptor to send: pickle this one");
        throw nb::python_error();
      },
      "The file descriptor of a pool with memfd=True, which stays the pool's. Send it by\n"
      "socket.send_fds() to a process that attaches the pool by from_fd(). Raises ValueError for\n"
      "other pools, which can be pickled.");
  c.def_prop_ro(
      "_name",
      [](const ipc::Pool& pool) -> nb::object {
        const std::string name = pool.name();
        if (name.empty()) return nb::none();
        return ToBytes(name);
      },
      "For another process, if the pool has a name.");
  m.def("_ipc_report_write_faults", &ipc::ReportWriteFaults);
}

}  // namespace dovetail::python
