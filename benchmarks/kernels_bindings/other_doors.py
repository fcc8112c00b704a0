"""The kernel of kernels.cc within JAX's programs and called by tvm-ffi, for kernels.py.

"handler" and "typed function" are what the C++ headers of XLA and of tvm-ffi make of scale_add.h;
"jax-tvm-ffi" is the package of that name, over the typed function. A handler's time is that of a
program of 200 calls, divided by 200; "jax.jit" is a program of one call, from Python and until its
result is there.
"""

import ctypes
import pathlib

import jax
import jax.numpy as jnp
import jax_tvm_ffi
import measure
import numpy as np
import torch
import tvm_ffi

FOLDER = pathlib.Path(__file__).parent
CHAIN = 200
X = np.arange(16, dtype=np.float32)
Y = np.linspace(-1, 1, 16, dtype=np.float32)

HANDLER, PROGRAM, SYMBOL = "XLA's handler", "jax.jit", "by tvm-ffi, "
# The first peer, and the goals of all.
WANTED = {
    HANDLER: {"handler": 1.05, "jax-tvm-ffi": 0.8},
    PROGRAM: {"handler": 1.05},
    **{SYMBOL + library: {"typed function": 1.1} for library in ("PyTorch", "NumPy", "tvm-ffi")},
}


def foreign(target):
    """A call of a handler of XLA's."""
    call = jax.ffi.ffi_call(target, jax.ShapeDtypeStruct(X.shape, X.dtype))
    return lambda x, y, a: call(x, y, a=np.float64(a))


def programs(function):
    """By name, what JAX is to trace."""
    library = ctypes.CDLL(str(FOLDER / "xla_kernels.so"))
    handler = jax.ffi.pycapsule(library.scale_add_handler)
    jax.ffi.register_ffi_target("scale_add_handler", handler, platform="cpu")
    typed = tvm_ffi.load_module(str(FOLDER / "tvm_kernels.so")).scale_add
    jax_tvm_ffi.register_ffi_target("scale_add_typed", typed, ["args", "attrs.a", "rets"])
    return {
        "dovetail": function,
        "handler": foreign("scale_add_handler"),
        "jax-tvm-ffi": foreign("scale_add_typed"),
    }


def chained(f):
    """A program that calls the function CHAIN times."""

    def chain(x, y):
        for _ in range(CHAIN):
            x = f(x, y, 0.5)
        return x

    return jax.jit(chain)


def program_rows(function):
    x, y = jnp.asarray(X), jnp.asarray(Y)
    chains, ones = {}, {}
    wanted = X
    for _ in range(CHAIN):
        wanted = np.float32(0.5) * wanted + Y
    for name, f in programs(function).items():
        chain, one = chained(f), jax.jit(lambda x, y, f=f: f(x, y, 2.0))
        np.testing.assert_array_equal(chain(x, y), wanted)
        np.testing.assert_array_equal(one(x, y), 2 * X + Y)
        chains[name] = lambda chain=chain: chain(x, y).block_until_ready()
        ones[name] = lambda one=one: one(x, y).block_until_ready()
    return [
        measure.Row(HANDLER, chains, "handler", WANTED[HANDLER]["handler"]),
        measure.Row(PROGRAM, ones, "handler", WANTED[PROGRAM]["handler"]),
    ]


def symbol_rows():
    functions = {
        "dovetail": tvm_ffi.load_module(str(FOLDER / "kernels.so")).scale_add,
        "typed function": tvm_ffi.load_module(str(FOLDER / "tvm_kernels.so")).scale_add,
    }
    makers = {
        "PyTorch": lambda x: torch.from_numpy(x.copy()),
        "NumPy": np.copy,
        "tvm-ffi": lambda x: tvm_ffi.from_dlpack(x.copy()),
    }
    for library, make in makers.items():
        x, y, calls = make(X), make(Y), {}
        for name, f in functions.items():
            out = make(np.zeros_like(X))
            f(x, y, 2.0, out)
            np.testing.assert_array_equal(np.from_dlpack(out), 2 * X + Y)
            calls[name] = lambda f=f, out=out, x=x, y=y: f(x, y, 2.0, out)
        work = SYMBOL + library
        yield measure.Row(work, calls, "typed function", WANTED[work]["typed function"])


def rows(function):
    return [*program_rows(function), *symbol_rows()]
