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
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/or_throw.h"
#include "dovetail/python/module/objects/placement.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

nb::object Checked(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

nb::bytes ToBytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

absl::Duration ToDuration(std::optional<double> seconds) {
  if (!seconds) return absl::InfiniteDuration();
  if (*seconds >= 0) return absl::Seconds(*seconds);
  PyErr_Format(PyExc_ValueError, "timeout is a number of seconds, 0 or more, or None; got %S",
               nb::float_(*seconds).ptr());
  throw nb::python_error();
}

nb::object EmptyFromPool(const ipc::Pool& pool, nb::handle shape, nb::handle dtype,
                         std::optional<double> timeout, bool isolated) {
  Dims parsed;
  Placement wanted;
  if (!ParseShape(shape.ptr(), &parsed) || !wanted.Parse(dtype.ptr(), nullptr)) {
    throw nb::python_error();
  }
  const ipc::AllocateOptions options = {.timeout = ToDuration(timeout), .isolated = isolated};
  return Checked(WrapTensor(
      WithoutGilIf(true, [&] { return pool.Empty(parsed, wanted.dtype_or(kFloat32), options); })));
}

nb::bytes Share(const ipc::Pool& pool, nb::handle object, bool read_only) {
  // Another library's tensor shares its memory with what from_dlpack() makes of it.
  nb::object tensor = IsTensor(object.ptr())
                          ? nb::borrow(object)
                          : nb::module_::import_("dovetail._core").attr("from_dlpack")(object);
  if (AsTensorObject(tensor.ptr())->requires_grad.load()) {
    RaiseRequiresGrad();
    throw nb::python_error();
  }
  const Tensor shared = AsTensor(tensor.ptr());
  constexpr int kMostShort = 4;  // of that many dimensions, the message needs no memory of its own
  return ToBytes(OrThrow(WithoutGilIf(
      shared.rank() > kMostShort, [&] { return pool.Share(shared, {.read_only = read_only}); })));
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
        absl::StatusOr<ipc::Pool> made =
            name ? ipc::Pool::Open(std::string_view(name->c_str(), name->size()))
            : fd ? ipc::Pool::Attach(*fd)
                 : ipc::Pool::Create({.nbytes = nbytes,
                                      .most_bytes = max_nbytes.value_or(nbytes),
                                      .anonymous = memfd});
        new (self) ipc::Pool(OrThrow(std::move(made)));
      },
      nb::arg("nbytes") = 0, nb::kw_only(), nb::arg("max_nbytes") = nb::none(),
      nb::arg("memfd") = false, nb::arg("name") = nb::none(), nb::arg("fd") = nb::none());
  c.def(
      "empty", &EmptyFromPool, nb::arg("shape"), nb::kw_only(), nb::arg("dtype") = nb::none(),
      nb::arg("timeout").none() = 0.0, nb::arg("isolated") = false,
      nb::sig("def empty(self, shape: object, *, dtype: object = None, timeout: float | None = 0, "
              "isolated: bool = False) -> Tensor"),
      "Return a new tensor on the CPU, in the pool's memory. The default is float32.\n"
      "\n"
      "timeout   how many seconds to wait for other processes to release memory, if there is\n"
      "          none; None: until there is\n"
      "isolated  put it in a file of its own, beside the pool: who opens it maps nothing else\n"
      "\n"
      "The elements are uninitialised. Raises MemoryError, with the processes that hold the\n"
      "memory, if there is no room. Thread-safe.");
  c.def(
      "share", &Share, nb::arg("tensor"), nb::kw_only(), nb::arg("readonly") = false,
      nb::sig("def share(self, tensor: Tensor, *, readonly: bool = False) -> bytes"),
      "Return a message of at most 64 bytes with which dovetail.ipc.open() opens the tensor.\n"
      "\n"
      "tensor    in this pool's memory; it can be a view, and another library's tensor\n"
      "readonly  who opens the message gets memory that can't be written: a write by any library\n"
      "          ends that process (report_write_faults() says by which tensor)\n"
      "\n"
      "The message keeps nothing: keep the tensor until the others have opened it. Raises\n"
      "ExchangeError for memory of no or another pool, and for a tensor that requires gradients.\n"
      "Thread-safe.");
  c.def("stats", &Stats, nb::sig("def stats(self) -> dict[str, object]"),
        "Return what the pool has and who holds it, as a dict.\n"
        "\n"
        "capacity, max_nbytes  bytes of its segments, and of as many as it may have\n"
        "reserved_bytes        that take memory\n"
        "used_bytes, tensors   what any process holds, in multiples of 4 KiB\n"
        "segments              the number of its files\n"
        "holders               a dict for each process that holds some: process (its id),\n"
        "                      is_this_process, tensors, nbytes\n"
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
