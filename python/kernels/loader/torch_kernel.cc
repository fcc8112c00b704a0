#include "dovetail/python/kernels/loader/torch_kernel.h"

#include <mutex>
#include <new>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/kernels/loader/kernel_call.h"
#include "dovetail/python/kernels/loader/torch_arguments.h"
#include "dovetail/python/kernels/loader/torch_shims.h"

namespace dovetail::python {
namespace {

// PyTorch 2.13.0, whose values of the stack this file reads and writes.
constexpr uint64_t kWrittenFor = uint64_t{2} << 56 | uint64_t{13} << 48;

// The kernels by what the library's function passes. Never destroyed: threads of PyTorch may still
// run when the process ends.
struct Registered {
  std::mutex mutex;
  std::unordered_map<const DovetailKernel*, const LoadedKernel*> all;
};
Registered& AllRegistered() {
  static auto* const registered = new Registered;
  return *registered;
}

const LoadedKernel* FindLoaded(const DovetailKernel* kernel) {
  // (An entry is never removed: a hit of the last call on this thread stays right.)
  static thread_local std::pair<const DovetailKernel*, const LoadedKernel*> last;
  if (last.first != kernel) {
    Registered& registered = AllRegistered();
    const std::lock_guard<std::mutex> lock(registered.mutex);
    const auto found = registered.all.find(kernel);
    if (found == registered.all.end()) return nullptr;
    last = *found;
  }
  return last.second;
}

struct LastFailure {
  int32_t kind = 0;
  std::string message;
};
thread_local LastFailure last_failure;

[[noreturn]] void Throw(const KernelFailure& failure) {
  last_failure = {failure.kind, failure.message};
  throw std::runtime_error(failure.message);
}

absl::Status NoOperator(const char* why) {
  return absl::FailedPreconditionError(absl::StrCat("PyTorch takes no operator: ", why));
}

}  // namespace

void RunTorchKernel(const DovetailKernel* kernel, uint64_t* stack, uint64_t num_arguments,
                    uint64_t num_results) {
  const LoadedKernel* const loaded = FindLoaded(kernel);
  KernelFailure failure;
  if (loaded == nullptr) {
    failure.message = "the kernel was not loaded by dovetail.load_kernels()";
    Throw(failure);
  }
  TorchArguments arguments(*loaded, stack, num_arguments, /*is_functional=*/num_results > 0);
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
  {
    Registered& registered = AllRegistered();
    const std::lock_guard<std::mutex> lock(registered.mutex);
    registered.all[loaded.kernel] = &loaded;
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

void ForgetTorchFailure() { last_failure.kind = 0; }

void RestoreTorchFailure() {
  const LastFailure failure = std::exchange(last_failure, {});
  if (failure.kind == 0 || MessageOfError().find(failure.message) == std::string::npos) return;
  PyErr_Clear();
  Raise(ExceptionOf(failure.kind), failure.message);
}

}  // namespace dovetail::python
