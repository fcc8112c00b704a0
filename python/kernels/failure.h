// Why a call of a kernel failed, until an exception or an error of some framework says it.

#ifndef DOVETAIL_PYTHON_KERNELS_FAILURE_H_
#define DOVETAIL_PYTHON_KERNELS_FAILURE_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "dovetail/python/args/arg_abi.h"
#include "dovetail/python/kernels/kernel_abi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

// Whether bytes above 127 come as UTF-8 has them: each lead byte with its continuation bytes.
inline bool IsUtf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    const int more = lead < 0x80 ? 0 : lead < 0xc2 ? -1 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (more < 0 || lead > 0xf4) return false;
    for (int k = 0; k < more; ++k, ++i) {
      if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return false;
    }
  }
  return true;
}

struct KernelFailure : DovetailFailure {
  KernelFailure() : DovetailFailure{&Set} {}
  // `set` of the C struct. What is no UTF-8 has question marks.
  static void Set(DovetailFailure* self, int32_t kind, const char* message) {
    auto* const failure = static_cast<KernelFailure*>(self);
    failure->kind = kind;
    failure->message = message;
    if (IsUtf8(failure->message)) return;
    for (char& c : failure->message) c = static_cast<unsigned char>(c) < 0x80 ? c : '?';
  }
  // False, for the end of a function that failed.
  bool Say(int32_t what, std::string text) {
    kind = what;
    message = std::move(text);
    return false;
  }
  [[noreturn]] void Throw() const {
    if (kind == DOVETAIL_MEMORY_ERROR) throw std::bad_alloc();
    if (kind == DOVETAIL_VALUE_ERROR) throw std::invalid_argument(message);
    throw std::runtime_error(message);
  }

  int32_t kind = DOVETAIL_RUNTIME_ERROR;
  std::string message;
};

// Says what exception is in flight.
inline void Report(DovetailFailure* failure) {
  try {
    throw;
  } catch (const std::bad_alloc& error) {
    failure->set(failure, DOVETAIL_MEMORY_ERROR, error.what());
  } catch (const std::out_of_range& error) {
    failure->set(failure, DOVETAIL_INDEX_ERROR, error.what());
  } catch (const std::overflow_error& error) {
    failure->set(failure, DOVETAIL_OVERFLOW_ERROR, error.what());
  } catch (const std::logic_error& error) {  // invalid_argument, domain_error, length_error
    failure->set(failure, DOVETAIL_VALUE_ERROR, error.what());
  } catch (const std::range_error& error) {
    failure->set(failure, DOVETAIL_VALUE_ERROR, error.what());
  } catch (const std::exception& error) {
    failure->set(failure, DOVETAIL_RUNTIME_ERROR, error.what());
  } catch (...) {
    failure->set(failure, DOVETAIL_RUNTIME_ERROR, "an exception that is no std::exception");
  }
}

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_FAILURE_H_
