#include "dovetail/python/kernels/loader/torch_shims.h"

#include <bit>
#include <string>

namespace dovetail::python {
namespace {

constexpr char kCpu[] = "libtorch_cpu.so";

struct NamedType {
  const char* name;  // of the function that says PyTorch's number
  DLDataType dtype;
};
constexpr NamedType kTypes[] = {
    {"aoti_torch_dtype_uint8", {kDLUInt, 8, 1}},
    {"aoti_torch_dtype_int8", {kDLInt, 8, 1}},
    {"aoti_torch_dtype_int16", {kDLInt, 16, 1}},
    {"aoti_torch_dtype_int32", {kDLInt, 32, 1}},
    {"aoti_torch_dtype_int64", {kDLInt, 64, 1}},
    {"aoti_torch_dtype_uint16", {kDLUInt, 16, 1}},
    {"aoti_torch_dtype_uint32", {kDLUInt, 32, 1}},
    {"aoti_torch_dtype_uint64", {kDLUInt, 64, 1}},
    {"aoti_torch_dtype_float16", {kDLFloat, 16, 1}},
    {"aoti_torch_dtype_float32", {kDLFloat, 32, 1}},
    {"aoti_torch_dtype_float64", {kDLFloat, 64, 1}},
    {"aoti_torch_dtype_bfloat16", {kDLBfloat, 16, 1}},
    {"aoti_torch_dtype_bool", {kDLBool, 8, 1}},
    {"aoti_torch_dtype_complex32", {kDLComplex, 32, 1}},
    {"aoti_torch_dtype_complex64", {kDLComplex, 64, 1}},
    {"aoti_torch_dtype_complex128", {kDLComplex, 128, 1}},
    {"aoti_torch_dtype_float8_e4m3fn", {kDLFloat8_e4m3fn, 8, 1}},
    {"aoti_torch_dtype_float8_e4m3fnuz", {kDLFloat8_e4m3fnuz, 8, 1}},
    {"aoti_torch_dtype_float8_e5m2", {kDLFloat8_e5m2, 8, 1}},
    {"aoti_torch_dtype_float8_e5m2fnuz", {kDLFloat8_e5m2fnuz, 8, 1}},
    {"torch_dtype_float8_e8m0fnu", {kDLFloat8_e8m0fnu, 8, 1}},
    {"torch_dtype_float4_e2m1fn_x2", {kDLFloat4_e2m1fn, 4, 2}},
};

TorchShims Find() {
  TorchShims found{};
  const auto find = [&found]<typename Function>(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(FindTorchSymbol(kCpu, name));
    if (*function == nullptr) found.missing = name;
  };
  find("aoti_torch_library_init_fragment", &found.library_init_fragment);
  find("aoti_torch_library_init_impl", &found.library_init_impl);
  find("aoti_torch_library_def", &found.library_def);
  find("torch_library_impl", &found.library_impl);
  find("aoti_torch_get_device_type", &found.get_device_type);
  find("aoti_torch_get_device_index", &found.get_device_index);
  find("aoti_torch_clone", &found.clone);
  find("aoti_torch_empty_strided", &found.empty_strided);
  find("torch_list_size", &found.list_size);
  find("torch_list_get_item", &found.list_get_item);
  find("torch_delete_list", &found.delete_list);
  find("torch_string_length", &found.string_length);
  find("torch_string_c_str", &found.string_c_str);
  find("torch_delete_string", &found.delete_string);
  find("torch_delete_stable_ivalue", &found.delete_value);
  find("aoti_torch_grad_mode_is_enabled", &found.grad_mode_is_enabled);
  find("aoti_torch_grad_mode_set_enabled", &found.grad_mode_set_enabled);
  int32_t (*cpu)() = nullptr;
  find("aoti_torch_device_type_cpu", &cpu);
  if (cpu != nullptr) found.cpu = cpu();
  for (const NamedType& type : kTypes) {
    const auto number_of = reinterpret_cast<int32_t (*)()>(FindTorchSymbol(kCpu, type.name));
    const int32_t number = number_of != nullptr ? number_of() : -1;
    if (number >= 0 && static_cast<size_t>(number) < found.types.size()) {
      found.types[static_cast<size_t>(number)] = type.dtype;
    }
  }
  if (!FindTorchFunctions().is_complete) found.missing = "aoti_torch_get_sizes";
  for (const char* library : {"libtorch_cuda.so", "libtorch_hip.so"}) {
    if (found.get_current_cuda_stream != nullptr) break;
    found.get_current_cuda_stream = reinterpret_cast<decltype(found.get_current_cuda_stream)>(
        FindTorchSymbol(library, "aoti_torch_get_current_cuda_stream"));
  }
  return found;
}

}  // namespace

const TorchShims& FindTorchShims() {
  static const TorchShims found = Find();
  return found;
}

int32_t TorchShims::NumberOf(DLDataType dtype) const {
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].bits != 0 && std::bit_cast<uint32_t>(types[i]) == std::bit_cast<uint32_t>(dtype)) {
      return static_cast<int32_t>(i);
    }
  }
  return -1;
}

}  // namespace dovetail::python
