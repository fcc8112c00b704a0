// Functions of PyTorch's C++ libraries, by their mangled names.
//
//   static const auto f = reinterpret_cast<bool (*)(bool)>(FindTorchSymbol(kC10, "_ZN3c10…Eb"));
//
// For what each exchange asks and PyTorch answers in C++ at a fraction of the time that its Python
// takes. A mangled name fixes the types of the parameters; whoever asks needs another way for a
// PyTorch that has no such function.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_SYMBOL_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_SYMBOL_H_

namespace dovetail::python {

inline constexpr char kC10[] = "libc10.so";  // the core
inline constexpr char kTorchCpu[] = "libtorch_cpu.so";

// nullptr where there is none, or no PyTorch was imported. Any thread.
void* FindTorchSymbol(const char* library, const char* mangled_name);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_SYMBOL_H_
