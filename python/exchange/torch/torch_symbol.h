// Functions of PyTorch's C++ libraries, by their mangled names (torch_abi.h).
//
//   static const auto f = reinterpret_cast<bool (*)(bool)>(FindTorchSymbol(kC10, kAnyModesSet));
//
// Every exchange asks PyTorch these questions, and a C++ call takes a fraction of the time of its
// Python counterpart. The caller needs another way for a PyTorch without the function.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_SYMBOL_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_SYMBOL_H_

namespace dovetail::python {

// nullptr if there is no such function or PyTorch was not imported. Any thread.
void* FindTorchSymbol(const char* library, const char* mangled_name);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_SYMBOL_H_
