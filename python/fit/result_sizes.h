// The sizes of a result that a call makes: those that its arguments have by name. C++17, without
// Python.

#ifndef DOVETAIL_PYTHON_FIT_RESULT_SIZES_H_
#define DOVETAIL_PYTHON_FIT_RESULT_SIZES_H_

#include <cstdint>
#include <string>

#include "dovetail/python/args/arg_abi.h"
#include "dovetail/python/borrowed.h"
#include "dovetail/python/fit/complaint.h"
#include "dovetail/python/fit/fits.h"
#include "dovetail/python/fit/words.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_fit {

struct ResultSizes {
  int32_t ndim = 0;
  int64_t all[DOVETAIL_MAX_NDIM];
};

// "halves(): argument 'low' can't be made: …"
inline std::string ResultRefusal(const DovetailCall& call, const std::string& what,
                                 bool may_be_given = true) {
  return Words(call.argument != nullptr ? ArgumentPrefix(call) : std::string("A result"),
               " can't be made: ", what,
               may_be_given ? ". Pass one for the function to write to." : ".");
}

// "" or what is wrong.
inline std::string AddSizes(const int64_t* more, int32_t count, ResultSizes* sizes) {
  if (count > DOVETAIL_MAX_NDIM - sizes->ndim) return "it has more than 64 dimensions";
  for (int32_t i = 0; i < count; ++i) sizes->all[sizes->ndim++] = more[i];
  return "";
}

// Each of these returns what is missing; empty if nothing is.
inline std::string AddLeading(const DovetailRequirements& wanted, const DovetailCall& call,
                              ResultSizes* sizes) {
  const int32_t index = FindNamedLead(call, wanted.leading_name);
  if (index == call.num_leads) return "no argument has its leading dimensions";
  const auto& known = call.leads[index];
  return AddSizes(known.shape, known.ndim, sizes);
}

inline std::string AddSize(const DovetailRequirements& wanted, int32_t entry,
                           const DovetailCall& call, ResultSizes* sizes) {
  int64_t size = wanted.shape[entry];
  if (size == DOVETAIL_ANY_SIZE) return "a size of it is not said";
  if (size < 0) {
    const int32_t known = FindNamedSize(call, NameIn(size));
    if (known == call.num_sizes) return Words("no argument has the size ", SizeName(wanted, entry));
    if (__builtin_mul_overflow(MultipleIn(size), call.sizes[known].size, &size)) {
      return Words("the size ", SizeName(wanted, entry), " is too large");
    }
  }
  return AddSizes(&size, 1, sizes);
}

// Why the result can't be made, as ResultRefusal() takes it; empty if it can.
inline std::string FindResultSizes(const DovetailRequirements& wanted, const DovetailCall& call,
                                   ResultSizes* sizes) {
  if (wanted.shape == nullptr && (wanted.ndim > 0 || (wanted.flags & DOVETAIL_NDIM) == 0)) {
    return "its sizes are not said";
  }
  std::string missing;
  if ((wanted.flags & DOVETAIL_LEADING) != 0) missing = AddLeading(wanted, call, sizes);
  for (int32_t i = 0; missing.empty() && i < wanted.ndim; ++i) {
    missing = AddSize(wanted, i, call, sizes);
  }
  return missing;
}

}  // namespace internal_fit
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_FIT_RESULT_SIZES_H_
