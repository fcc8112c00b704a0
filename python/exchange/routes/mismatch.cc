#include "dovetail/python/exchange/routes/mismatch.h"

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/routes/peer_table.h"

namespace dovetail::python {
namespace {

PyObject* ErrorClass(Want misfit) {
  switch (misfit) {
    case Want::kDevice:
    case Want::kType:
    case Want::kRank:
      return PyExc_TypeError;
    case Want::kAccess:
      return ExchangeError();
    default:
      return PyExc_ValueError;
  }
}

}  // namespace

ArgumentClass ClassOf(PyObject* object) {
  using internal_fit::Manner;
  PyTypeObject* const type = Py_TYPE(object);
  const Peer* const peer = FindPeer(type);
  const Manner manner = numpy_ndarray.IsBaseOf(type)  ? Manner::kNumpy
                        : torch_tensor.IsBaseOf(type) ? Manner::kTorch
                                                      : Manner::kOther;
  return {ClassName(type), manner, peer != nullptr && peer->is_immutable};
}

void RaiseMismatch(const Misfit& misfit, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted, const DovetailCall& call) {
  // (A tensor that the package made has no object.)
  const ArgumentClass argument =
      borrowed.object != nullptr ? ClassOf(borrowed.object) : ArgumentClass{"dovetail.Tensor"};
  Raise(ErrorClass(misfit.want), Complain(misfit, borrowed.tensor, wanted, call, argument));
}

}  // namespace dovetail::python
