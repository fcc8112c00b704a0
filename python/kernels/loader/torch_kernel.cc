#include "dovetail/python/kernels/loader/torch_kernel.h"

#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/kernels/loader/loaded_call.h"
#include "dovetail/python/kernels/loader/torch_arguments.h"
#include "dovetail/python/kernels/loader/torch_shims.h"

namespace dovetail::python {
namespace {

// PyTorch 2.13.0, whose values of the stack this file reads and writes.
constexpr uint64_t kWrittenFor = uint64_t{2} << 56 | uint64_t{13} << 48;

// The last failure of any thread. Another thread's may replace one before it is asked for: the
// error is then PyTorch's.
struct LastFailure {
  std::mutex mutex;
  std::thread::id thread;
  int32_t kind = 0;
  std::string message;
};
LastFailure& TheLastFailure() {
  static auto* const last = new LastFailure;
  return *last;
}

[[noreturn]] void Throw(const KernelFailure& failure) {
  {
    LastFailure& last = TheLastFailure();
    const std::lock_guard<std::mutex> lock(last.mutex);
    last.thread = std::this_thread::get_id();
    last.kind = failure.kind;
    last.message = failure.message;
  }
  throw std::runtime_error(failure.message);
}

absl::Status NoOperator(const char* why) {
  return absl::FailedPreconditionError(absl::StrCat("PyTorch takes no operator: ", why));
}

}  // namespace

void RunTorchKernel(const DovetailKernel* kernel, uint64_t* stack, uint64_t, uint64_t num_results) {
  const LoadedKernel* const loaded = LoadedOf(*kernel);
  KernelFailure failure;
  if (loaded == nullptr) {
    failure.message = "the kernel was not loaded by dovetail.load_kernels()";
    Throw(failure);
  }
  TorchArguments arguments(*loaded, stack, /*is_functional=*/num_results > 0);
  if (!arguments.Load(&failure)) Throw(failure);
  arguments.CountWrites();
  if (!arguments.call().Run(nullptr, &failure)) Throw(failure);
  arguments.Return(stack);
}

absl::Status RegisterTorchOperator(const LoadedKernel& loaded, const std::string& name_space,
                                   const std::vector<std::string>& schemas) {
  const TorchShims& torch = FindTorchShims();
  if (torch.missing != nullptr) {
    return NoOperator(absl::StrCat("it lacks ", torch.missing, "; PyTorch 2.13 has it").c_str());
  }
  // (What is registered stays so for the life of the process: the handles are not deleted.)
  TorchLibrary* fragment = nullptr;
  if (torch.library_init_fragment(name_space.c_str(), loaded.library, 0, &fragment) != 0) {
    return NoOperator(name_space.c_str());
  }
  for (const std::string& schema : schemas) {
    if (torch.library_def(fragment, schema.c_str()) != 0) return NoOperator(schema.c_str());
  }
  for (const char* key : {"CPU", "CUDA"}) {
    TorchLibrary* implementation = nullptr;
    if (torch.library_init_impl(name_space.c_str(), key, loaded.library, 0, &implementation) != 0) {
      return NoOperator(key);
    }
    for (const std::string& schema : schemas) {
      const std::string name = schema.substr(0, schema.find('('));
      if (torch.library_impl(implementation, name.c_str(), loaded.kernel->torch_kernel,
                             kWrittenFor) != 0) {
        return NoOperator(name.c_str());
      }
    }
  }
  return absl::OkStatus();
}

void ForgetTorchFailure() {
  LastFailure& last = TheLastFailure();
  const std::lock_guard<std::mutex> lock(last.mutex);
  if (last.thread == std::this_thread::get_id()) last.kind = 0;
}

void RestoreTorchFailure() {
  int32_t kind = 0;
  std::string message;
  {
    LastFailure& last = TheLastFailure();
    const std::lock_guard<std::mutex> lock(last.mutex);
    if (last.thread != std::this_thread::get_id()) return;
    kind = std::exchange(last.kind, 0);
    message = last.message;
  }
  if (kind == 0 || MessageOfError().find(message) == std::string::npos) return;
  PyErr_Clear();
  Raise(ExceptionOf(kind), message);
}

}  // namespace dovetail::python
