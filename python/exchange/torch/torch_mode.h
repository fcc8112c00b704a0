// Whether PyTorch would answer by a mode of this thread's: FakeTensorMode, or any other dispatch or
// function mode, sees what __dlpack__ does, and may refuse it. The C exchange API asks no mode.
//
//   if (TorchModeIsActive()) ...                     // then only __dlpack__ knows the answer

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_MODE_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_MODE_H_

namespace dovetail::python {

// True, too, where it can't be told. PyTorch must have been imported. Needs the GIL.
bool TorchModeIsActive();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_MODE_H_
