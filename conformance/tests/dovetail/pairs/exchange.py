"""One exchange: an array of one library, as another one takes it in."""

import contextlib
import dataclasses
import statistics
import time
from typing import NamedTuple

from dlpack_conformance.cases import DTYPES
from dlpack_conformance.exports import LEGACY, VERSIONED, name_of, pointer_in
from dlpack_conformance.script import BrokenRuleError, Script, describe
from dlpack_conformance.structs import KINDS

from .inputs import INPUTS
from .results import COPIED, DONE, NONE, OWN, REFUSED, SHARED, TAKEN, WRONG

# The class that dovetail.convert() makes one of, by library.
TARGETS = {
    "array_api_strict": "type(xp.zeros(1))",
    "jax": "jax.Array",
    "mlx": "mx.array",
    "numpy": "np.ndarray",
    "onnxruntime": "OrtValue",
    "paddle": "paddle.Tensor",
    "pyarrow": "pa.Array",
    "tensorflow": "tf.Tensor",
    "torch": "torch.Tensor",
    "tvm_ffi": "tvm_ffi.Tensor",
}
# The address of the first element of {y}, for arrays that DLPack can't describe.
ADDRESSES = {"numpy": "{y}.ctypes.data", "pyarrow": "{y}.buffers()[-1].address"}
# Arrays begin at multiples of this many bytes, because JAX and TensorFlow copy others.
ALIGNMENT = 64


def both(producer, consumer, way):
    """The consumer's adapter with the statements of both in front of an exchange's lines."""
    texts = [producer.setup, consumer.setup, *(["import dovetail as dt"] if way != OWN else [])]
    return dataclasses.replace(consumer, setup="\n".join(dict.fromkeys(texts)))


def expression_of(consumer, way):
    """The expression that takes x in; None if there is none."""
    if way == OWN:
        return consumer.take and consumer.take.format(x="x")
    target = TARGETS.get(consumer.name)
    return target and f"dt.convert(x, {target})"


def exchange(answer, producer, consumer, way, name):
    """Run an exchange, and answer with its lines and what became of it."""
    s = Script(both(producer, consumer, way), answer)
    nanoseconds = None
    try:
        status, seen = _make_and_take(s, producer, consumer, way, INPUTS[name])
        if status in DONE:
            nanoseconds = _median(s, expression_of(consumer, way))
            _expect_unwritten(s, producer, INPUTS[name])
    except BrokenRuleError as error:
        status, seen = WRONG, str(error)
    answer(status=status, seen=seen, nanoseconds=nanoseconds, lines=s.lines)


def _make_and_take(s, producer, consumer, way, given):
    """Make x, and y of it. Returns (status, what was seen)."""
    error = _make(s, producer, given)
    if error:
        return NONE, describe(error)
    line = f"y = {expression_of(consumer, way)}"
    error = s.tried(line)
    if error:
        s.note(line)
        return REFUSED, describe(error)
    source, result = _shown(s, producer, "x"), _shown(s, consumer, "y")
    dtype = DTYPES[given.dtype]
    expected = (dtype.code, dtype.bits, 1)
    if result.type not in (None, expected):
        s.broken(f"the type is (code, bits, lanes) = {result.type} in place of {expected}")
    if s.adapter.values and s.tried(f"values = {s.adapter.values.format(y='y')}") is None:
        s.expect(f"values == {given.elements_of(producer)}", "the elements are {values}")
    if not (given.has_elements and source.address and result.address):
        return TAKEN, ""
    return (SHARED if source.address == result.address else COPIED), ""


def _make(s, producer, given):
    """Make x, and return the exception if that fails."""
    lines = [f"x = {expression}" for expression in given.expressions(producer)]
    for line in lines:
        error = s.tried(line)
        if error:
            return error
    others = []  # keep the addresses that were not taken
    while (_shown(s, producer, "x").address or 0) % ALIGNMENT and len(others) < 200:
        others.append(s["x"])
        for line in lines:
            s.execute(line)
    return None


class _Shown(NamedTuple):
    type: tuple | None = None  # code, bits, lanes
    address: int | None = None


def _shown(s, adapter, name):
    """What an array shows of itself: by its export, or else by the adapter."""
    for request in (VERSIONED, LEGACY):
        with contextlib.suppress(Exception):
            capsule = s.evaluate(f"{name}.__dlpack__({request})")
            kind = KINDS[name_of(capsule)]
            pointer = s.evaluate(f"lambda capsule: {pointer_in('capsule', kind)}")(capsule)
            tensor = kind.from_address(pointer).dl_tensor
            address = (tensor.data or 0) + tensor.byte_offset
            return _Shown((tensor.code, tensor.bits, tensor.lanes), address)
    with contextlib.suppress(Exception):
        return _Shown(address=s.evaluate(ADDRESSES[adapter.name].format(y=name)))
    return _Shown()


def _median(s, expression):
    """The median time of an exchange in nanoseconds, of calls that take 10 ms together."""
    call = s.evaluate(f"lambda: {expression}")
    times, end = [], time.perf_counter_ns() + 10_000_000
    while not times or (len(times) < 1000 and time.perf_counter_ns() < end):
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
    return int(statistics.median(times))


def _expect_unwritten(s, producer, given):
    """Writing y does not write the memory of a read-only x."""
    if given.view != "read_only" or not (producer.values and s.adapter.write):
        return
    if s.tried(s.adapter.write.format(y="y")) is None:
        s.run(f"values = {producer.values.format(y='x')}")
        s.expect(f"values == {given.elements_of(producer)}", "read-only memory was written")
