// emulated_gpu: emulated GPUs for tests of the Python package. An extension module that is not part
// of the wheel; it registers its backend by a capsule, like a backend from another wheel.
//
//   gpu = emulated_gpu.Gpu("cuda", devices=2)
//   dovetail.register_backend(gpu.backend())
//   ... assert gpu.complaints() == []
//
// Gpu's methods do what other libraries do on their own streams. Addresses are numbers.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dovetail/core/abi/allocator_abi.h"
#include "dovetail/core/abi/export.h"
#include "dovetail/devices/gpu/backend.h"
#include "dovetail/devices/register_default.h"
#include "dovetail/tests/emulator/emulator.h"

namespace nb = nanobind;

namespace dovetail {
namespace {

using emulator::Emulator;

class Gpu {
 public:
  Gpu(const std::string& vendor, int devices, bool kernels)
      : emulator_(new Emulator(
            {.vendor = VendorOf(vendor), .devices = devices, .has_kernels = kernels})) {}

  // The backend lives as long as the process, and so does its emulator.
  nb::object backend() {
    return nb::steal(PyCapsule_New(ExportBackend(gpu::MakeGpuBackend(emulator_->api())),
                                   DOVETAIL_BACKEND_CAPSULE, nullptr));
  }
  Emulator* operator->() const { return emulator_; }

 private:
  static const gpu::VendorTraits* VendorOf(const std::string& name) {
    if (name == "cuda") return &gpu::kCudaTraits;
    if (name == "rocm") return &gpu::kRocmTraits;
    throw nb::value_error("vendor must be \"cuda\" or \"rocm\"");
  }
  Emulator* const emulator_;
};

// A pool in C, with the signatures of PyTorch's CUDAPluggableAllocator: the driver's stream-ordered
// one, on the Gpu whose c_functions() was called last.
struct CPool {
  std::mutex mutex;
  Emulator* emulator = nullptr;
  std::vector<std::tuple<std::string, ssize_t, int, uintptr_t>> calls;
};
CPool& TheCPool() {
  static CPool* const pool = new CPool();
  return *pool;
}

void* CAlloc(ssize_t nbytes, int device, void* stream) {
  CPool& pool = TheCPool();
  const std::lock_guard lock(pool.mutex);
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  pool.calls.emplace_back("alloc", nbytes, device, handle);
  const gpu::RuntimeApi& api = pool.emulator->api();
  void* data = nullptr;
  const NativeStream native = handle == 0 ? api.legacy_stream : NativeStream{handle};
  return api.malloc_async(api.self, static_cast<size_t>(nbytes), native, &data) == 0 ? data
                                                                                     : nullptr;
}

void CFree(void* data, ssize_t nbytes, int device, void* stream) {
  CPool& pool = TheCPool();
  const std::lock_guard lock(pool.mutex);
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  pool.calls.emplace_back("free", nbytes, device, handle);
  const gpu::RuntimeApi& api = pool.emulator->api();
  api.free_async(api.self, data, handle == 0 ? api.legacy_stream : NativeStream{handle});
}

// The same pool as the C struct of core/abi/allocator_abi.h.
const DovetailAllocator capsule_allocator = {
    .struct_size = sizeof(DovetailAllocator),
    .major = DOVETAIL_ALLOCATOR_ABI_MAJOR,
    .minor = DOVETAIL_ALLOCATOR_ABI_MINOR,
    .context = nullptr,
    .release =
        [](void*) {
          CPool& pool = TheCPool();
          const std::lock_guard lock(pool.mutex);
          pool.calls.emplace_back("release", 0, 0, 0);
        },
    .allocate =
        [](void*, size_t nbytes, const DovetailStream* stream, void** data, DovetailMessage*) {
          *data = CAlloc(static_cast<ssize_t>(nbytes), stream->device.index,
                         reinterpret_cast<void*>(stream->handle));
          return int32_t{0};
        },
    .deallocate =
        [](void*, void* data, size_t nbytes, const DovetailStream* stream) {
          CFree(data, static_cast<ssize_t>(nbytes), stream->device.index,
                reinterpret_cast<void*>(stream->handle));
        },
};

void* Address(uintptr_t address) { return reinterpret_cast<void*>(address); }

nb::bytes AsBytes(const std::vector<unsigned char>& bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace
}  // namespace dovetail

NB_MODULE(emulated_gpu, m) {
  using dovetail::Address;
  using dovetail::AsBytes;
  using dovetail::Gpu;
  using dovetail::NativeStream;
  nb::set_leak_warnings(false);
  dovetail::RegisterDefaultBackends();  // of this shared object: copies pass through the CPU's
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the macro declares it
  nb::class_<Gpu>(m, "Gpu")
      .def(nb::init<const std::string&, int, bool>(), nb::arg("vendor"), nb::arg("devices") = 2,
           nb::arg("kernels") = true)
      .def("backend", &Gpu::backend)
      // Of its gpu::RuntimeApi.
      .def("runtime_api", [](Gpu& g) { return reinterpret_cast<uintptr_t>(&g->api()); })
      .def("complaints", [](Gpu& g) { return g->TakeComplaints(); })
      .def("reset_counts", [](Gpu& g) { g->ResetCounts(); })
      .def("counts",
           [](Gpu& g) {
             const auto c = g->counts();
             nb::dict d;
             d["event_records"] = c.event_records;
             d["stream_waits"] = c.stream_waits;
             d["host_waits"] = c.host_waits;
             d["copies"] = c.copies;
             d["link_bytes"] = c.link_bytes;
             d["launches"] = c.launches;
             d["total"] = c.total;
             return d;
           })
      .def("make_stream",
           [](Gpu& g, int device) { return static_cast<uintptr_t>(g->MakeStream(device)); })
      .def("destroy_stream", [](Gpu& g, uintptr_t s) { g->DestroyStream(NativeStream{s}); })
      .def("malloc",
           [](Gpu& g, int device, size_t nbytes) {
             return reinterpret_cast<uintptr_t>(g->Malloc(device, nbytes));
           })
      // The addresses of two C functions, and what they were called with: tuples (name, nbytes,
      // device, stream).
      .def("c_functions",
           [](Gpu& g) {
             dovetail::TheCPool().emulator = g.operator->();
             return std::make_pair(reinterpret_cast<uintptr_t>(&dovetail::CAlloc),
                                   reinterpret_cast<uintptr_t>(&dovetail::CFree));
           })
      .def("allocator_capsule",
           [](Gpu& g) {
             dovetail::TheCPool().emulator = g.operator->();
             auto* allocator = const_cast<DovetailAllocator*>(&dovetail::capsule_allocator);
             return nb::steal(PyCapsule_New(allocator, DOVETAIL_ALLOCATOR_CAPSULE, nullptr));
           })
      .def("take_c_calls",
           [](Gpu&) {
             dovetail::CPool& pool = dovetail::TheCPool();
             const std::lock_guard lock(pool.mutex);
             return std::exchange(pool.calls, {});
           })
      .def("free", [](Gpu& g, uintptr_t p) { g->Free(Address(p)); })
      .def("set",
           [](Gpu& g, uintptr_t stream, int device, uintptr_t p, int value, size_t nbytes) {
             g->Set(NativeStream{stream}, device, Address(p), value, nbytes);
           })
      .def("copy",
           [](Gpu& g, uintptr_t stream, int device, uintptr_t dst, uintptr_t src, size_t nbytes) {
             g->CopyOn(NativeStream{stream}, device, Address(dst), Address(src), nbytes);
           })
      .def("record_and_wait",
           [](Gpu& g, uintptr_t recorded, uintptr_t waiting, int device) {
             g->RecordAndWait(NativeStream{recorded}, NativeStream{waiting}, device);
           })
      .def("synchronize",
           [](Gpu& g, uintptr_t stream) {
             const auto& api = g->api();
             api.stream_synchronize(api.self, NativeStream{stream});
           })
      .def("finish", [](Gpu& g) { g->Finish(); })
      .def("peek",
           [](Gpu& g, uintptr_t p, size_t nbytes) { return AsBytes(g->Peek(Address(p), nbytes)); })
      .def("is_live", [](Gpu& g, uintptr_t p) { return g->IsLive(Address(p)); })
      .def("begin_capture",
           [](Gpu& g, uintptr_t s, int device) { g->BeginCapture(NativeStream{s}, device); })
      .def("end_capture",
           [](Gpu& g, uintptr_t s, int device) { return g->EndCapture(NativeStream{s}, device); });
}
