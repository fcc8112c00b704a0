"""What mpi_test.py runs on each rank: python mpi_ranks.py NAME, under mpirun."""

import gc
import os
import random
import signal
import sys
import weakref

import numpy as np
from mpi4py import MPI
from mpi4py.util import pkl5

import dovetail as dt
import dovetail.mpi

COMM = MPI.COMM_WORLD
RANK = COMM.rank
OTHER = 1 - RANK
message = dovetail.mpi.message


def raised(error, call, *arguments, **keywords):
    """The message of the error that the call raises."""
    try:
        call(*arguments, **keywords)
    except error as e:
        return str(e)
    raise AssertionError(f"no {error} was raised")


def exchange(source, target):
    """Send to the other rank and receive from it."""
    COMM.Sendrecv(source, OTHER, 0, target, OTHER, 0)


def random_bytes(count, rank):
    """The same on every rank for each `rank`."""
    return bytearray(random.Random(rank).randbytes(count))


def tensors_go_as_they_are():
    t = dt.arange(6, dtype="float32").reshape(2, 3)
    assert MPI.buffer.frombuffer(t).address == t.data_ptr()  # what MPI is given
    u = dt.zeros((2, 3))
    pointer = u.data_ptr()
    if RANK == 0:
        COMM.Send(t, 1)
        COMM.Isend(t[1], 1).Wait()
    else:
        COMM.Recv(u, 0)
        assert u.tolist() == [[0, 1, 2], [3, 4, 5]]
        COMM.Irecv(u[0], 0).Wait()
        assert u.tolist() == [[3, 4, 5], [3, 4, 5]]
    v = t if RANK == 1 else dt.zeros((2, 3))
    COMM.Bcast(v, 1)
    COMM.Allreduce(v, u, MPI.SUM)
    assert u.tolist() == [[0, 2, 4], [6, 8, 10]]
    COMM.Allreduce(MPI.IN_PLACE, u, MPI.MAX)
    assert u.data_ptr() == pointer


def every_type_keeps_its_bits(names):
    for name in names.split():
        mine, theirs = (dt.frombuffer(random_bytes(96, r), dtype=name) for r in (RANK, OTHER))
        expected = bytes(dt.frombuffer(theirs, dtype=dt.uint8))
        target = dt.zeros(mine.shape, dtype=name)
        buffer, datatype = message(target)
        assert MPI.buffer.frombuffer(buffer).address == target.data_ptr()
        exchange(message(mine), (buffer, datatype))
        assert bytes(dt.frombuffer(target, dtype=dt.uint8)) == expected
        assert datatype.Get_size() == (1 if target.dtype.bits < 8 else target.itemsize)


def strided_tensors_keep_their_order():
    whole = np.arange(5 * 6 * 7).reshape(5, 6, 7)
    s = np.s_
    views = [s[:], s[::-1], s[:, ::-2], s[1:4, ::3, ::-1], s[..., 0], s[0, 0, 0, ...], s[3:3]]
    for dtype in ("int8", "int16", "float64"):
        for view in views:
            a = whole.astype(dtype)[view]
            for source in (a, a.T):
                shape = source.shape
                every_second = (..., *(slice(None, None, -2) for _ in shape))
                for target in (
                    np.zeros(shape, dtype),
                    np.zeros(shape[::-1], dtype).T,
                    np.zeros([2 * size for size in shape], dtype)[every_second],
                    np.zeros(shape, dtype)[(..., *(slice(None, None, -1) for _ in shape))],
                ):
                    sent = message(source)
                    if source.size:
                        assert MPI.buffer.frombuffer(sent[0]).address == source.ctypes.data
                    exchange(sent, message(target))
                    assert (source == target).all(), (dtype, view)


def only_the_elements_of_a_view_are_written():
    memory = np.zeros(64, np.int8)
    target = memory.reshape(8, 8)[6:1:-2, 5::-1]
    exchange(message(dt.full((3, 6), 7, dtype="int8")), message(target))
    assert memory.sum() == 7 * target.size and (target == 7).all()


def random_view(choose, dtype, shape):
    """A tensor of this shape, whose dimensions are in any order, with gaps or reversed."""
    order = choose.sample(range(len(shape)), len(shape))
    whole = [shape[d] * choose.randint(1, 3) for d in order]
    t = dt.arange(int(np.prod(whole)), dtype="float32").to(dtype).reshape(whole)
    steps = [choose.choice([1, -1, whole[i] // shape[d]]) for i, d in enumerate(order)]
    t = t[tuple(slice(None, None, step) for step in steps)]
    t = t[tuple(slice(shape[d]) for d in order)]
    return t.permute([order.index(d) for d in range(len(shape))])


def random_layouts_travel():
    choose = random.Random(5)  # the same on both ranks
    for _ in range(300):
        dtype = choose.choice(["int8", "float8_e5m2", "bfloat16", "float32", "complex64"])
        shape = [choose.randint(1, 4) for _ in range(choose.randint(1, 4))]

        source, target = (random_view(choose, dtype, shape) for _ in range(2))
        expected = source.tolist()
        exchange(message(source), message(target))
        assert str(target.tolist()) == str(expected)


def alltoallw_takes_views_of_any_memory():
    base = dt.from_dlpack(np.arange(24, dtype="int32").reshape(4, 6) + 100 * RANK)
    parts = [dt.zeros((4, 3), dtype="int32")[::-1], dt.zeros((3, 4), dtype="int32").T]
    send = dovetail.mpi.messages([base[:, 0:3], base[:, 3:6]])
    COMM.Alltoallw(send, dovetail.mpi.messages(parts, writable=True))
    columns = slice(3 * RANK, 3 * RANK + 3)
    whole = np.arange(24).reshape(4, 6)
    assert parts[0].tolist() == whole[:, columns].tolist()
    assert parts[1].tolist() == (whole + 100)[:, columns].tolist()
    request = COMM.Ialltoallw(send, dovetail.mpi.messages(parts[::-1], writable=True))
    request.Wait()
    lasting = dovetail.mpi.messages([np.full(1000, 100 * RANK + r) for r in (0, 1)])
    np.zeros((20, 1000))  # where the arrays would have been
    received = np.zeros((2, 1000), int)
    COMM.Alltoallw(lasting, dovetail.mpi.messages(received, writable=True))
    assert (received.T == [RANK, 100 + RANK]).all()
    frozen = np.broadcast_to(np.zeros(1), (4,))
    assert "read-only" in raised(dt.ExchangeError, dovetail.mpi.messages, [frozen], writable=True)


def more_elements_than_mpi_counts_are_one_derived_type():
    dovetail.mpi._MOST = 5
    for size in (5, 6):
        t, u = dt.arange(size), dt.zeros(size, dtype="int64")
        assert len(message(t)) == (2 if size == 5 else 3)
        exchange(message(t), message(u))
        assert u.tolist() == t.tolist()


def gathers_count_the_elements_of_each_rank():
    mine = dt.full(3, RANK + 1, dtype="bfloat16")
    all_ = dt.zeros((2, 3), dtype="bfloat16")
    COMM.Allgather(message(mine), message(all_))
    assert all_.tolist() == [[1] * 3, [2] * 3]
    COMM.Alltoall(message(all_), message(all_.copy()))
    COMM.Scatter(message(all_), message(mine), root=1)
    assert mine.tolist() == [RANK + 1] * 3
    COMM.Gather(message(all_[:, 1:][RANK]), message(dt.zeros((2, 2), dtype="bfloat16")))


def reductions_round_to_nearest_and_even(names):
    sources = [np.random.RandomState(r).standard_normal(40_003).astype("f4") for r in (0, 1)]
    compute = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
    for name in names.split():
        a, b = (dt.from_dlpack(s).to(name) for s in sources)
        for operation, f in compute.items():
            expected = dt.from_dlpack(f(a.to("float32").numpy(), b.to("float32").numpy())).to(name)
            result = dt.zeros(a.shape, dtype=name)
            op = dovetail.mpi.op(operation, name)
            COMM.Allreduce(message((a, b)[RANK]), message(result), op)
            np.testing.assert_array_equal(  # in which -0 equals 0, and NaN equals NaN
                *(t.to("float32").numpy() for t in (result, expected)), f"{name} {operation}"
            )
    x = dt.tensor([1 + 2j, 3], dtype="complex32")
    COMM.Allreduce(MPI.IN_PLACE, message(x), dovetail.mpi.op("prod", x.dtype))
    assert x.tolist() == [-3 + 4j, 9]
    # 1 + 2**-8 lies halfway between two numbers of bfloat16, and 1 is the even one of them.
    x = dt.tensor([1.0 if RANK else 2.0**-8], dtype="bfloat16")
    COMM.Allreduce(MPI.IN_PLACE, message(x), dovetail.mpi.op("sum", "bfloat16"))
    assert x.tolist() == [1.0]


def types_of_mpi_have_its_own_operations():
    x = dt.full((2, 3), RANK + 1, dtype="int16")
    assert dovetail.mpi.op("sum", x.dtype) == MPI.SUM
    COMM.Allreduce(MPI.IN_PLACE, message(x), dovetail.mpi.op("prod", np.int16))
    assert x.tolist() == [[2] * 3] * 2


def an_operation_that_a_type_lacks_is_an_error():
    op = dovetail.mpi.op
    assert "bool" in raised(TypeError, op, "sum", "bool")
    assert "int4" in raised(TypeError, op, "sum", "int4")
    assert "complex64" in raised(TypeError, op, "max", "complex64")
    assert "complex32" in raised(TypeError, op, "max", "complex32")
    assert "'avg'" in raised(ValueError, op, "avg", "float32")
    x = dt.zeros(2, dtype="bfloat16")
    raised(MPI.Exception, COMM.Allreduce, MPI.IN_PLACE, message(x), MPI.SUM)


def a_reduction_finds_its_type_while_others_are_made():
    class Inserts:
        def __eq__(self, other):
            dovetail.mpi._elements[f"made meanwhile {len(dovetail.mpi._elements)}"] = None
            return False

    dovetail.mpi.element("bfloat16")
    assert "element(dtype)" in raised(TypeError, dovetail.mpi._reduction("sum"), 0, 0, Inserts())


def an_operation_on_bytes_ends_all_ranks():
    reduce = dovetail.mpi._reduction("sum")
    assert "element(dtype)" in raised(TypeError, reduce, bytearray(4), bytearray(4), MPI.BYTE)
    x, y = dt.zeros(2, dtype="bfloat16"), dt.zeros(2, dtype="bfloat16")
    COMM.Reduce(x, y, dovetail.mpi.op("sum", "bfloat16"))
    COMM.Barrier()


def packed_elements_go_as_bytes():
    x = dt.tensor([[1, 2, 3, 4], [5, 6, 7, -8]], dtype="int4")
    y = dt.zeros((2, 4), dtype="int4")
    exchange(message(x), message(y))
    assert y.tolist() == x.tolist() and message(x)[1] == MPI.BYTE
    target = dt.zeros((2, 2), dtype="int4")[::-1]
    exchange(message(x[:, 2:]), message(target))
    assert target.tolist() == [[3, 4], [7, -8]]
    for view in (x.T, x[:, :3], x[:, ::2]):
        assert "share bytes" in raised(dt.ExchangeError, message, view)
    assert "share bytes" in raised(TypeError, dovetail.mpi.element, "float4_e2m1fn")


def read_only_tensors_are_not_received_into():
    a = np.zeros((4, 4))
    a.flags.writeable = False
    for x in (a, a[:, ::2], a[:0]):
        t = dt.from_dlpack(x)
        assert "writable" in raised(BufferError, COMM.Irecv, message(t), OTHER)
    raised(BufferError, COMM.Irecv, dt.from_dlpack(a), OTHER)
    exchange(message(a[::-1]), message(np.ones((4, 4))))  # and sent nevertheless


def tensors_that_require_gradients_are_refused():
    t = dt.zeros(3)
    t.requires_grad = True
    assert "detach" in raised(dt.ExchangeError, message, t)
    assert "detach" in raised(dt.ExchangeError, COMM.Isend, t, OTHER)


def pending_messages_keep_the_memory():
    class Array(np.ndarray):  # can be referred to weakly
        pass

    for view in (slice(None), slice(None, None, -2)):
        a = np.arange(1_000_000, dtype="f4").view(Array)
        expected = a[view].copy()
        alive = weakref.ref(a)
        request = COMM.Isend(message(a[view]), OTHER)
        target = np.zeros_like(expected)
        del a
        gc.collect()
        assert alive() is not None
        COMM.Recv(target, OTHER)
        request.Wait()
        assert (target == expected).all()
        del request
        gc.collect()
        assert alive() is None


def a_message_that_is_too_long_is_an_error():
    target = dt.zeros(3)
    raised(MPI.Exception, exchange, message(dt.zeros(10)), message(target))


def datatypes_are_freed_once():
    freed = []

    class Counting(dovetail.mpi._Datatype):
        def Free(self):  # noqa: N802
            freed.append(self.handle)
            super().Free()

    dovetail.mpi._Datatype = Counting
    t = dt.zeros((4, 4, 4))[::2, ::2, ::2]
    d = dovetail.mpi.datatype(t)
    assert d.Get_size() == 8 * 4 and len(freed) == 3  # the steps on the way
    del d
    assert len(freed) == 4
    dovetail.mpi.datatype(t).Free()
    assert len(freed) == 8
    kept = dovetail.mpi.datatype(t[:0])
    assert kept.Get_size() == 0
    assert dovetail.mpi.element("bfloat16") is dovetail.mpi.element(dt.bfloat16)
    MPI.Finalize()
    del kept  # without a call of MPI, which would end the process


class OnGpu:
    """Memory of the host that says it is a GPU's: there may be none here."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, "stream": None}


class AwareOfGpus:
    """Stands for the MPI library where dovetail.mpi asks it."""

    MPIX_Query_cuda_support = staticmethod(lambda: 1)


def memory_of_a_gpu_is_refused_unless_mpi_can_access_it():
    a = np.arange(6, dtype="f4").reshape(2, 3)
    t = dt.from_cuda_array_interface(OnGpu(a))
    assert str(t.device) == "cuda:0"
    assert MPI.buffer.frombuffer(t).address == a.ctypes.data  # mpi4py takes it
    for call in (message, lambda t: dovetail.mpi.messages([t])):
        text = raised(dt.ExchangeError, call, t)
        assert "without CUDA support" in text and 't.to("cpu")' in text

    dovetail.mpi.ctypes.CDLL = lambda path: AwareOfGpus
    target = np.zeros((2, 3), "f4")
    exchange(message(t[:, ::-1]), message(target))
    assert (target == a[:, ::-1]).all()


def messages_of_an_emulated_gpu_wait_for_its_work():
    import emulated_gpu

    gpu = emulated_gpu.Gpu("cuda")
    dt.register_backend(gpu.backend())
    assert "without CUDA support" in raised(dt.ExchangeError, message, dt.zeros(3, device="cuda:0"))
    dovetail.mpi.ctypes.CDLL = lambda path: AwareOfGpus
    t = dt.zeros((4, 16), dtype="int32", device="cuda:0")
    stream = dt.Stream("cuda:0")
    for i in range(1, 20):
        with dt.stream(stream):
            gpu.set(stream.handle, 0, t.data_ptr(), i, t.nbytes)
            u = t.copy()  # pending work
        buffer, datatype = message(u)
        assert MPI.buffer.frombuffer(buffer).address == u.data_ptr()
        assert gpu.peek(u.data_ptr(), u.nbytes) == bytes([i]) * u.nbytes
        buffer, _, datatype = message(t[::-1, ::2])
        assert MPI.buffer.frombuffer(buffer).address == t[::-1, ::2].data_ptr()
        assert datatype.Get_size() == t.nbytes // 2
    assert gpu.complaints() == []


def pickles_bring_type_and_shape():
    comm = pkl5.Intracomm(COMM)
    t = dt.tensor([[1, 2, 3], [4, 5, 6]], dtype="float8_e4m3fn")
    request = comm.isend(t, OTHER)
    u = comm.recv(source=OTHER)
    request.wait()
    assert (u.dtype, u.shape, u.tolist()) == (t.dtype, t.shape, t.tolist())


def a_killed_rank_ends_the_others():
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    COMM.Recv(dt.zeros(3), OTHER)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
    print("done", flush=True)
