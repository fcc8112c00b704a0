// Whether a PyTorch mode is active on this thread: FakeTensorMode, or any other dispatch or
// function mode. A mode sees the operations of __dlpack__ and may refuse them. The C exchange API
// calls no mode.
//
//   if (TorchModeIsActive()) ...                     // then call __dlpack__

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_MODE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_MODE_H_

namespace dovetail::python {

// Also true if the answer is unknown; an interrupt leaves its error set. PyTorch must have been
// imported. Needs the GIL.
bool TorchModeIsActive();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_MODE_H_
