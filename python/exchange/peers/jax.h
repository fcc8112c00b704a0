// Borrows JAX arrays for a call of an extension's function.
//
//   if (jax_array_impl.Is(Py_TYPE(x))) result = BorrowJaxArray(x, &borrowed);
//
// On the CPU by the buffer protocol, which waits for the array's value, and takes a twentieth of
// the time of __dlpack__. Types that buffers do not have (bfloat16) and arrays on other devices
// come by __dlpack__. The memory is read-only in any case: JAX's arrays never change.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_JAX_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_JAX_H_

#include <Python.h>

#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/peer.h"

namespace dovetail::python {

// `x` is a JAX array with a value (jax_array_impl). Needs the GIL.
ExchangeResult BorrowJaxArray(PyObject* x, DovetailBorrowed* borrowed);

// Whether JAX has the type: those of 64 bits it has only with jax_enable_x64. 1 or 0; -1 with an
// error set. JAX must have been imported. Needs the GIL.
int JaxHasType(DType dtype);

DOVETAIL_NOT_SHARED inline PeerType jax_array("jax", "Array");  // the base class, known to users
DOVETAIL_NOT_SHARED inline PeerType jax_array_impl("jaxlib._jax", "ArrayImpl");  // with values

DOVETAIL_NOT_SHARED inline constexpr Peer kJaxArrayImplPeer = {
    .type = jax_array_impl,
    .borrow = &BorrowJaxArray,
};

// JAX never writes, so that it may share read-only memory. It may reuse the memory of a donated
// array, but on the CPU not memory that it shares. It copies misaligned memory by itself, without a
// warning. (JAX 0.10)
DOVETAIL_NOT_SHARED inline constexpr Peer kJaxArrayPeer = {
    .type = jax_array,
    .way_out = WayOut::kFunction,
    .accepts = {.read_only = ReadOnlyMemory::kCpu, .alignment = 64},
    .function = {"dovetail._targets", "to_jax"},
    .objects = &jax_array_impl,
    .own_function = {"jax.dlpack", "from_dlpack"},
    .checks_by_itself = true,
    .is_immutable = true,
    .can_hold = &JaxHasType,
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_JAX_H_
