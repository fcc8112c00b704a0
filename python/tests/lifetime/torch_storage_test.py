"""PyTorch tensors whose storage PyTorch's Python side knows come in, and their memory stays.

The cases run in a process of their own, because a wrongly counted storage crashes it.
"""

from process import run_python

# Statements after which the storage of the tensor `x`, whose values are 0, 1, 2, ..., has an object
# of its own in Python.
STORAGES = {
    "worker": "x = next(iter(DataLoader([make()], num_workers=1, batch_size=None)))",
    "load": "f = io.BytesIO(); torch.save(make(), f); f.seek(0); x = torch.load(f)",
    "load, mapped": "torch.save(make(), path); x = torch.load(path, mmap=True)",
    "deepcopy": "x = copy.deepcopy(make())",
    "pickled": "x = make(); pickle.dumps(x)",
    "unpickled": "x = pickle.loads(pickle.dumps(make()))",
    "untyped_storage": "x = make(); x.untyped_storage()",
    "untyped_storage, kept": "x = make(); kept = x.untyped_storage()",
    "is_shared": "x = make(); x.is_shared()",
    "share_memory": "x = make().share_memory_()",
}
DOORS = {
    "convert": "dt.convert(x, np.ndarray)",
    "from_dlpack": "dt.from_dlpack(x)",
    "asarray": "dt.asarray(x)",
    "convert_tree": "dt.convert_tree([x], np.ndarray)[0]",
    "jax": "dt.convert(x, 'jax')",
    "tvm_ffi": "dt.convert(x, 'tvm_ffi')",
    "paddle": "dt.convert(x, 'paddle')",
    "view": "dt.from_dlpack(x.view(100, 100)).reshape(-1)",
}
SCENES = """
    import copy, gc, io, os, pickle, tempfile
    import numpy as np
    import torch
    import dovetail as dt
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    path = tempfile.mktemp()

    def make():
        return torch.arange(10_000, dtype=torch.float32)

    for name, storage in STORAGES.items():
        for door in DOORS.values():
            exec(storage)
            shared = eval(door)
            del x
            kept = None
            others = [make().fill_(7) for _ in range(4)]
            assert dt.asarray(shared)[1:].tolist() == list(range(1, 10_000)), (name, door)
            del shared
            make().fill_(7)
        gc.collect()
        make().fill_(7)
        print(name, flush=True)
    os._exit(0)  # Paddle's exit handlers can crash in a process that has forked
"""


# All in one process, since the libraries take seconds to import. The last name that is printed is
# that before the storage that crashes.
def test_a_storage_with_an_object_in_python_is_held_and_dropped():
    given = f"    STORAGES, DOORS = {STORAGES!r}, {DOORS!r}\n"
    assert run_python(given + SCENES).splitlines() == list(STORAGES)


def test_a_held_storage_is_counted_once_and_dropped_once():
    printed = run_python("""
        import torch
        import dovetail as dt
        count = torch._C._storage_Use_Count
        x = torch.arange(3)
        storage = x.untyped_storage()
        before = count(storage._cdata)
        t = dt.from_dlpack(x)
        held = [t, t[1:], dt.from_dlpack(x)]
        print(count(storage._cdata) - before, storage.resizable())
        del t, held
        print(count(storage._cdata) - before)
    """)
    assert printed.splitlines() == ["2 True", "0"]
