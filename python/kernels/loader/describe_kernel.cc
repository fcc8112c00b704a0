#include "dovetail/python/kernels/loader/describe_kernel.h"

#include <nanobind/nanobind.h>

#include "dovetail/core/dtype.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/fit/fits.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr const char* kKinds[] = {"", "tensor", "float", "int", "bool", "str", "stream"};

nb::list TypesOf(const DovetailRequirements& wanted) {
  nb::list types;
  if ((wanted.flags & DOVETAIL_ONE_OF) != 0) {
    for (int32_t i = 0; i < wanted.num_types; ++i) {
      types.append(ToDType(wanted.types[i]).ToString().c_str());
    }
  } else if (wanted.dtype.bits != 0) {
    types.append(ToDType(wanted.dtype).ToString().c_str());
  }
  return types;
}

nb::object ShapeOf(const DovetailRequirements& wanted) {
  const bool has_rank = (wanted.flags & (DOVETAIL_NDIM | DOVETAIL_LEADING)) != 0;
  if (wanted.shape == nullptr && !has_rank) return nb::none();
  nb::list shape;
  for (int32_t i = 0; i < wanted.ndim; ++i) {
    const int64_t size = wanted.shape != nullptr ? wanted.shape[i] : DOVETAIL_ANY_SIZE;
    if (size >= 0) {
      shape.append(size);
    } else if (size == DOVETAIL_ANY_SIZE) {
      shape.append(nb::none());
    } else {
      shape.append(nb::make_tuple(internal_fit::NameIn(size), internal_fit::MultipleIn(size)));
    }
  }
  return shape;
}

nb::object LeadOf(const DovetailRequirements& wanted) {
  if ((wanted.flags & DOVETAIL_LEADING) == 0) return nb::int_(0);
  return wanted.leading_name != 0 ? nb::object(nb::int_(wanted.leading_name)) : nb::none();
}

nb::dict Describe(const LoadedParameter& parameter) {
  const DovetailParameter& facts = *parameter.facts;
  nb::dict all;
  all["name"] = facts.name;
  all["kind"] = kKinds[facts.kind];
  if (parameter.default_value != nullptr) all["default"] = nb::borrow(parameter.default_value);
  all["is_optional"] = parameter.is(DOVETAIL_PARAMETER_OPTIONAL);
  all["is_list"] = parameter.is(DOVETAIL_PARAMETER_LIST);
  all["is_out"] = parameter.is(DOVETAIL_PARAMETER_OUT);
  all["is_inout"] = parameter.is(DOVETAIL_PARAMETER_INOUT);
  all["keyword_only"] = parameter.is(DOVETAIL_PARAMETER_KEYWORD_ONLY);
  all["size_name"] = facts.size_name != 0 ? nb::object(nb::int_(facts.size_name)) : nb::none();
  if (!parameter.is_tensor()) return all;
  const DovetailRequirements& wanted = *facts.wanted;
  all["types"] = TypesOf(wanted);
  all["type_name"] = wanted.type_name;
  all["is_host"] = wanted.device_type == DOVETAIL_HOST_MEMORY || wanted.device_type == kDLCPU;
  all["lead"] = LeadOf(wanted);
  all["shape"] = ShapeOf(wanted);
  return all;
}

}  // namespace

PyObject* DescribeParameters(const LoadedKernel& loaded) {
  nb::list all;
  for (const LoadedParameter& parameter : loaded.parameters) all.append(Describe(parameter));
  return all.release().ptr();
}

}  // namespace dovetail::python
