"""Sequences of calls on tensors of several libraries, against NumPy arrays that share as they do.

Every step may create, view, copy, write, export, import, pickle, share or drop a tensor. After each
step every tensor of the pool must have its mirror's elements (mirrored.py), and at the end all
memory must be released. See profiles.py for long runs.
"""

import copy
import gc
import pickle
import sys

import jax
import numpy as np
import pyarrow as pa
import torch
from draws import as_view_key, attempt, keys, names, numbers, pointer, setitem, shapes, values
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from managed import Lent
from mirrored import Pool, mirror_of
from profiles import run

import dovetail as dt

jax.config.update("jax_enable_x64", True)

MOST_HELD = 24


class Calls(RuleBasedStateMachine):
    tensors = Bundle("tensors")
    foreign = Bundle("foreign")

    @initialize()
    def start(self):
        self.pool = Pool()

    def teardown(self):
        # (While an error passes, its frames hold tensors.)
        if hasattr(self, "pool") and sys.exc_info()[0] is None:
            self.pool.release()

    @invariant()
    def every_tensor_has_its_elements(self):
        if hasattr(self, "pool"):
            self.pool.check()

    def full(self):
        return len(self.pool.held) > MOST_HELD

    # Sources.

    @rule(target=foreign, shape=shapes, name=names, first=numbers, order=st.sampled_from("CF"))
    def numpy_array(self, shape, name, first, order):
        array = np.array(values(shape, name, first), order=order)
        return self.pool.add_source(array, array, array.copy(order="K"), write=setitem)

    @rule(target=foreign, shape=shapes, name=names, first=numbers)
    def torch_tensor(self, shape, name, first):
        array = values(shape, name, first)
        x = torch.from_numpy(array.copy()).clone()
        return self.pool.add_source(x, x, array, read=lambda x: x.numpy(), write=setitem)

    @rule(target=foreign, shape=shapes, name=names, first=numbers)
    def jax_array(self, shape, name, first):
        array = values(shape, name, first)
        return self.pool.add_source(jax.device_put(array.copy()), None, array, readonly=True)

    @rule(target=foreign, count=st.integers(0, 6), name=names, first=numbers)
    def arrow_array(self, count, name, first):
        name = name if name[0] in "iuf" else "int32"
        array = values((count,), name, first)
        x = pa.array(array)
        return self.pool.add_source(
            x, x, array, readonly=True, read=lambda x: x.to_numpy(zero_copy_only=False)
        )

    @rule(target=tensors, held=foreign)
    def take_in(self, held):
        if not held.alive or self.full() or isinstance(held.value, memoryview):
            return self.any_dropped()
        if isinstance(held.value, pa.Array):
            tensor = dt.from_arrow(held.value)
        else:
            tensor = dt.from_dlpack(held.value)
        return self.pool.add(tensor, held.mirror, readonly=held.readonly)

    @rule(target=tensors, count=st.integers(0, 6), name=names, writable=st.booleans())
    def bytes_of_python(self, count, name, writable):
        array = values((count,), name, 1)
        if not count:
            return self.any_dropped()
        owner = (bytearray if writable else bytes)(array.tobytes())
        tensor = dt.frombuffer(owner, dtype=name)
        if writable:
            # (It can be resized only if nobody has its buffer.)
            self.pool.expect_at_release(lambda: owner.append(0) is None)
        return self.pool.add(tensor, array, readonly=not writable)

    @rule(target=tensors, shape=shapes, name=names, first=numbers)
    def tensor_of_numbers(self, shape, name, first):
        array = values(shape, name, first)
        return self.pool.add(dt.tensor(array, dtype=name), array)

    @rule(target=tensors, shape=shapes, name=names, fill=numbers)
    def full_tensor(self, shape, name, fill):
        return self.pool.add(dt.full(shape, fill, dtype=name), np.full(shape, fill, name))

    @rule(target=tensors, shape=shapes, flags=st.sampled_from([0, 1]))
    def struct_by_hand(self, shape, flags):
        lent = Lent(shape, flags=flags)
        count = int(np.prod(shape, dtype=int))
        array = values(shape, "float32", 2)
        lent.fill(array.ravel().tolist() if count else [])
        self.pool.expect_at_release(lambda: lent.deletions == 1)
        return self.pool.add(dt.from_dlpack(lent.capsule()), array, readonly=flags == 1)

    @rule(target=tensors, held=foreign, added=st.integers(0, 3))
    def broadcast_of_numpy(self, held, added):
        if not held.alive or not isinstance(held.value, np.ndarray) or self.full():
            return self.any_dropped()
        shape = (added, *held.mirror.shape)
        tensor = dt.from_dlpack(np.broadcast_to(held.value, shape))
        return self.pool.add(tensor, np.broadcast_to(held.mirror, shape), readonly=True)

    # Views.

    def any_dropped(self):
        """What a rule returns that makes nothing."""
        held = self.pool.add_foreign(0, np.zeros(()))
        self.pool.drop(held)
        return held

    def stand_in(self, held):
        """An array for one that was refused. (The memory's address may decide that, but how many
        tensors there are must not depend on it: Hypothesis repeats its examples.)"""
        array = held.mirror.copy()
        return self.pool.add_foreign(array, array.copy(), write=setitem)

    @rule(target=tensors, held=tensors, data=st.data())
    def index(self, held, data):
        if not held.alive or self.full():
            return self.any_dropped()
        key = data.draw(keys(held.mirror.ndim))
        mirror, wrong = attempt(lambda: held.mirror[as_view_key(key)], IndexError)
        tensor, error = attempt(lambda: held.value[key], IndexError)
        assert (error is None) == (wrong is None), (key, error, wrong)
        if error is not None:
            return self.any_dropped()
        return self.pool.add(tensor, mirror, readonly=held.readonly)

    @rule(target=tensors, held=tensors, data=st.data())
    def permute(self, held, data):
        if not held.alive or self.full():
            return self.any_dropped()
        order = data.draw(st.permutations(range(held.mirror.ndim)))
        by_t = order == list(range(held.mirror.ndim))[::-1] and held.mirror.ndim == 2
        tensor = held.value.T if by_t else held.value.permute(*order)
        return self.pool.add(tensor, held.mirror.transpose(order), readonly=held.readonly)

    @rule(target=tensors, held=tensors, data=st.data())
    def reshape(self, held, data):
        if not held.alive or self.full():
            return self.any_dropped()
        size = held.mirror.size
        shape = data.draw(
            st.sampled_from([(-1,), (size,), (1, -1), (size, 1), (2, -1), (-1, 3, 1), (7,)])
        )
        view, no_view = attempt(lambda: held.mirror.reshape(shape, copy=False), ValueError)
        copied, wrong = attempt(lambda: held.mirror.reshape(shape, copy=True), ValueError)
        tensor, error = attempt(lambda: held.value.reshape(shape), ValueError)
        assert (error is None) == (wrong is None), (shape, error, wrong)
        if error is not None:
            return self.any_dropped()
        if no_view is not None:
            return self.pool.add(tensor, mirror_of(tensor, copied))
        return self.pool.add(tensor, view, readonly=held.readonly)

    @rule(target=tensors, held=tensors, how=st.sampled_from(["detach", "copy", "to"]))
    def same_memory(self, held, how):
        if not held.alive or self.full():
            return self.any_dropped()
        calls = {"detach": held.value.detach, "copy": lambda: copy.copy(held.value),
                 "to": lambda: held.value.to(held.value.dtype)}  # fmt: skip
        return self.pool.add(calls[how](), held.mirror, readonly=held.readonly)

    # Copies and writes.

    @rule(target=tensors, held=tensors, order=st.sampled_from("CFAK"))
    def copy(self, held, order):
        if not held.alive or self.full():
            return self.any_dropped()
        tensor = held.value.copy(order=order)
        if order in "CF":
            return self.pool.add(tensor, np.array(held.mirror, order=order))
        return self.pool.add(tensor, mirror_of(tensor, held.mirror))

    @rule(target=tensors, held=tensors, name=names)
    def cast(self, held, name):
        if not held.alive or self.full():
            return self.any_dropped()
        if held.mirror.dtype == name:
            return self.any_dropped()
        tensor, error = attempt(lambda: held.value.to(name))
        if held.mirror.dtype.kind == "c" and name[0] not in "cb":
            assert error is not None or not held.mirror.size
            return self.any_dropped()
        assert error is None, error
        return self.pool.add(tensor, mirror_of(tensor, held.mirror.astype(name)))

    @rule(held=tensors, value=numbers, data=st.data())
    def write_number(self, held, value, data):
        if not held.alive:
            return
        key = data.draw(keys(held.mirror.ndim))
        value = held.mirror.dtype.type(value).item()
        part, wrong = attempt(lambda: held.mirror[as_view_key(key)], IndexError)
        _, error = attempt(lambda: setitem(held.value, key, value))
        assert (error is not None) == (wrong is not None or held.readonly), (key, error)
        if error is None:
            part[...] = value

    @rule(dst=tensors, src=tensors, casting=st.sampled_from(["no", "safe", "same_kind", "unsafe"]))
    def copyto(self, dst, src, casting):
        if not (dst.alive and src.alive):
            return
        if not dst.mirror.size:
            return  # a cast of no elements may exist
        before = dst.mirror.copy()
        _, error = attempt(lambda: dt.copyto(dst.value, src.value, casting=casting))
        kinds = src.mirror.dtype.kind, dst.mirror.dtype.kind
        no_cast = kinds[0] == "c" and kinds[1] not in "cb"
        _, wrong = attempt(lambda: self.copy_mirror(dst.mirror, src.mirror, casting))
        assert (error is not None) == (wrong is not None or dst.readonly or no_cast), (error, wrong)
        if error is not None and dst.mirror.flags.writeable:
            dst.mirror[...] = before

    def copy_mirror(self, dst, src, casting):
        if dst.flags.writeable:
            with np.errstate(all="ignore"):
                np.copyto(dst, src.copy(), casting=casting)

    @rule(held=foreign, value=numbers)
    def write_by_the_other_library(self, held, value):
        if held.alive and held.write is not None and not held.readonly:
            value = held.mirror.dtype.type(value).item()
            held.write(held.value, ..., value)
            held.mirror[...] = value

    # Exports.

    @rule(
        target=foreign, held=tensors, how=st.sampled_from(["numpy", "asarray", "dlpack", "convert"])
    )
    def to_numpy(self, held, how):
        if not held.alive or self.full():
            return self.any_dropped()
        t = held.value
        calls = {"numpy": t.numpy, "asarray": lambda: np.asarray(t),
                 "dlpack": lambda: np.from_dlpack(t),
                 "convert": lambda: dt.convert(t, np.ndarray, copy=False)}  # fmt: skip
        array = calls[how]()
        if array.size:  # NumPy allocates memory of its own for none
            assert array.flags.writeable == (not held.readonly)
            assert pointer(array) == t.data_ptr()
        return self.pool.add_foreign(array, held.mirror, readonly=held.readonly, write=setitem)

    @rule(target=foreign, held=tensors, copy=st.sampled_from([None, False, True]))
    def to_torch(self, held, copy):
        if not held.alive or self.full():
            return self.any_dropped()
        x, error = attempt(lambda: dt.convert(held.value, torch.Tensor, copy=copy))
        if error is not None:
            assert copy is False and isinstance(error, dt.ExchangeError)
            return self.stand_in(held)
        shared = x.numel() > 0 and x.data_ptr() == held.value.data_ptr()
        assert not (shared and (copy or held.readonly))
        assert shared or copy is not False or not x.numel()
        mirror = held.mirror if shared else held.mirror.copy()
        return self.pool.add_foreign(x, mirror, read=lambda x: x.numpy(), write=setitem)

    @rule(target=foreign, held=tensors, copy=st.sampled_from([None, False, True]))
    def to_jax(self, held, copy):
        if not held.alive or self.full():
            return self.any_dropped()
        x, error = attempt(lambda: dt.convert(held.value, jax.Array, copy=copy))
        if error is not None:
            assert copy is False and isinstance(error, dt.ExchangeError)
            return self.stand_in(held)
        shared = x.size > 0 and x.unsafe_buffer_pointer() == held.value.data_ptr()
        assert shared or copy is not False or not x.size
        mirror = held.mirror if shared else held.mirror.copy()
        return self.pool.add_foreign(x, mirror, readonly=True)

    @rule(held=tensors)
    def to_arrow(self, held):
        if not held.alive:
            return
        x, error = attempt(lambda: pa.array(dt.convert(held.value, pa.Array)))
        if error is None:
            assert np.array_equal(np.array(x.to_pylist()).reshape(held.mirror.shape), held.mirror)

    @rule(target=tensors, held=tensors,
          version=st.sampled_from([None, (0, 8), (1, 0), (1, 3), (2, 0)]),
          copy=st.sampled_from([None, False, True]),
          device=st.sampled_from([None, (1, 0), (2, 0), (99, 0)]),
          consumed=st.booleans())  # fmt: skip
    def capsule(self, held, version, copy, device, consumed):
        if not held.alive or self.full():
            return self.any_dropped()
        made, error = attempt(
            lambda: held.value.__dlpack__(max_version=version, copy=copy, dl_device=device)
        )
        legacy = version is None or version < (1, 0)
        refused = (legacy and held.readonly and not copy) or device not in (None, (1, 0))
        assert (error is not None) == refused, error
        if error is not None or not consumed:
            return self.any_dropped()
        tensor = dt.from_dlpack(made)
        if copy:
            return self.pool.add(tensor, mirror_of(tensor, held.mirror))
        return self.pool.add(tensor, held.mirror, readonly=held.readonly)

    @rule(target=foreign, held=tensors)
    def buffer_of_python(self, held):
        if not held.alive or self.full():
            return self.any_dropped()
        view = memoryview(held.value)
        assert view.readonly == held.readonly
        return self.pool.add_foreign(view, held.mirror, readonly=held.readonly)

    # Pickles and other processes' memory.

    @rule(target=tensors, held=tensors, protocol=st.integers(0, pickle.HIGHEST_PROTOCOL))
    def pickles(self, held, protocol):
        if not held.alive or self.full():
            return multiple(self.any_dropped(), self.any_dropped())
        tensor, view = pickle.loads(pickle.dumps((held.value, held.value.T), protocol=protocol))
        mirror = mirror_of(tensor, held.mirror)
        held_view = self.pool.add(view, mirror.T, readonly=held.readonly)
        return multiple(self.pool.add(tensor, mirror, readonly=held.readonly), held_view)

    @rule(target=tensors, held=tensors)
    def deep_copy(self, held):
        if not held.alive or self.full():
            return self.any_dropped()
        tensor = copy.deepcopy(held.value)
        return self.pool.add(tensor, mirror_of(tensor, held.mirror))

    @rule(target=tensors, shape=shapes, name=names)
    def shareable(self, shape, name):
        tensor = dt.ipc.empty(shape, dtype=name)
        tensor[...] = True if name == "bool" else 1
        return self.pool.add(tensor, np.ones(shape, name))

    @rule(target=tensors, held=tensors, copied=st.booleans())
    def share_and_open(self, held, copied):
        if not held.alive or self.full():
            return self.any_dropped()
        handle, error = attempt(lambda: dt.ipc.share(held.value, copy=copied), dt.ExchangeError)
        if error is not None:
            assert not copied
            return self.any_dropped()
        tensor = dt.ipc.open(pickle.loads(pickle.dumps(handle)))
        if copied:
            mirror = mirror_of(tensor, held.mirror)
            return self.pool.add(tensor, mirror, readonly=tensor.readonly)
        return self.pool.add(tensor, held.mirror, readonly=held.readonly)

    # Drops.

    @rule(held=consumes(tensors))
    def drop_tensor(self, held):
        if held.alive:
            self.pool.drop(held)

    @rule(held=consumes(foreign))
    def drop_foreign(self, held):
        if held.alive:
            self.pool.drop(held)

    @rule()
    def collect(self):
        gc.collect()


def test_sequences_of_calls_do_what_numpy_does_and_release_everything():
    run(lambda settings: run_state_machine_as_test(Calls, settings=settings), examples=25)
