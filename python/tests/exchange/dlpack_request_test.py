"""from_dlpack's device= and copy=: the requests that a producer gets, and who makes the copy."""

import numpy as np
import pytest
from managed import CPU, IS_COPIED, READ_ONLY, Lent, Producer
from peers import EXPORTERS

import dovetail as dt


# Rules 38, 39, 45.
@pytest.mark.parametrize("peer", EXPORTERS, ids=str)
@pytest.mark.parametrize("device", [None, "cpu", (1, 0), dt.Device("cpu")], ids=str)
@pytest.mark.parametrize("copy", [None, False])
def test_on_its_own_device_a_tensor_is_shared(peer, device, copy):
    x = peer.make("float32", [1, 2, 4])
    assert dt.from_dlpack(x, device=device, copy=copy).data_ptr() == peer.pointer(x)


# Rule 37.
@pytest.mark.parametrize("peer", EXPORTERS, ids=str)
@pytest.mark.parametrize("device", [None, "cpu"])
def test_copy_true_gives_memory_of_its_own_that_may_be_written(peer, device):
    x = peer.make("int64", [1, 2, 4])
    t = dt.from_dlpack(x, device=device, copy=True)
    assert t.data_ptr() != peer.pointer(x)
    t[0] = 50
    assert t.tolist() == [50, 2, 4]
    assert peer.values(x) == [1, 2, 4]


# Rules 37, 38.
@pytest.mark.parametrize("version", [(1, 0), None])
def test_a_capsule_is_copied_here(version):
    lent = Lent(version=version).fill([1, 2, 4])
    t = dt.from_dlpack(lent.capsule(), copy=True)
    assert lent.deletions == 1
    assert t.data_ptr() != lent.address
    assert t.tolist() == [1, 2, 4]
    shared = Lent(version=version)
    assert dt.from_dlpack(shared.capsule(), copy=False).data_ptr() == shared.address


# Rule 37.
def test_a_dovetail_tensor_is_copied_when_asked():
    a = dt.arange(3)
    b = dt.from_dlpack(a, copy=True)
    b[0] = 7
    assert a.tolist() == [0, 1, 2]
    assert dt.from_dlpack(a, copy=False).data_ptr() == a.data_ptr()


# Rule 45.
@pytest.mark.parametrize("peer", EXPORTERS, ids=str)
def test_a_device_that_nobody_serves_is_an_exchange_error_that_names_it(peer):
    x = peer.make("float32", [1, 2, 4])
    with pytest.raises(dt.ExchangeError, match="hexagon"):
        dt.from_dlpack(x, device="hexagon:0")


# Rules 38, 45.
@pytest.mark.parametrize("peer", EXPORTERS, ids=str)
@pytest.mark.parametrize("error", [BufferError, ValueError])
def test_another_device_without_a_copy_is_both_errors_of_the_standard(peer, error):
    with pytest.raises(error):
        dt.from_dlpack(peer.make("float32", [1, 2, 4]), device="cuda:0", copy=False)


# Rule 36.
def test_with_nothing_asked_for_a_producer_gets_the_newest_version_only():
    x = Producer(lambda **_: Lent().capsule())
    dt.from_dlpack(x)
    assert x.calls == [{"max_version": dt.dlpack_version}]


# Rule 45.
def test_copy_and_device_are_passed_on_as_they_were_asked():
    x = Producer(lambda **_: Lent(flags=IS_COPIED).capsule())
    dt.from_dlpack(x, copy=True)
    with pytest.raises(dt.ExchangeError):
        dt.from_dlpack(x, device="vulkan:1")
    version = {"max_version": dt.dlpack_version}
    assert x.calls[0] == {**version, "copy": True}
    assert x.calls[1] == {**version, "dl_device": (7, 1)}


# Rule 6.
@pytest.mark.parametrize("asked", [{}, {"copy": True}, {"device": "cpu"}], ids=str)
def test_a_copy_that_is_ours_alone_may_be_written_whatever_else_is_flagged(asked):
    lent = Lent(flags=IS_COPIED | READ_ONLY).fill([1, 2, 4])
    t = dt.from_dlpack(Producer(lambda **_: lent.capsule()), **asked)
    assert t.data_ptr() == lent.address
    t[0] = 9
    assert t.tolist() == [9, 2, 4]


# Rule 37.
def test_what_comes_read_only_and_is_not_flagged_as_a_copy_is_copied_here():
    lent = Lent(flags=READ_ONLY).fill([1, 2, 4])
    t = dt.from_dlpack(Producer(lambda **_: lent.capsule()), copy=True)
    assert t.data_ptr() != lent.address and not t.readonly
    assert lent.deletions == 1


# Rule 6.
def test_a_copy_that_the_producer_made_is_not_copied_again():
    lent = Lent(flags=IS_COPIED)
    t = dt.from_dlpack(Producer(lambda **_: lent.capsule()), copy=True)
    assert t.data_ptr() == lent.address


def old_producer(lent, error=TypeError):
    """A producer that knows none of the new keywords."""

    def dlpack(**kwargs):
        if kwargs:
            raise error(f"got an unexpected keyword argument '{min(kwargs)}'")
        return lent.capsule()

    return Producer(dlpack)


# Rule 36.
@pytest.mark.parametrize("version", [(1, 0), None])
def test_a_producer_that_knows_no_keywords_is_asked_again_without(version):
    lent = Lent(version=version)
    x = old_producer(lent)
    assert dt.from_dlpack(x).data_ptr() == lent.address
    assert len(x.calls) == 2
    assert x.calls[1] == {}


# Rule 36.
@pytest.mark.parametrize("asked", [{}, {"copy": True}, {"device": "cpu"}], ids=str)
def test_a_type_error_that_is_not_about_keywords_is_not_asked_away(asked):
    def dlpack(**_):
        raise TypeError("a fault inside")

    x = Producer(dlpack)
    with pytest.raises(dt.ExchangeError, match="TypeError: a fault inside"):
        dt.from_dlpack(x, **asked)
    assert len(x.calls) == 1


# Rule 36.
def test_the_first_error_is_told_where_the_second_call_fails_too():
    def dlpack(**kwargs):
        if kwargs:
            raise TypeError("got an unexpected keyword argument 'max_version'")
        raise OSError("not today")

    with pytest.raises(dt.ExchangeError, match="OSError: not today") as caught:
        dt.from_dlpack(Producer(dlpack))
    cause = caught.value.__cause__
    assert isinstance(cause, OSError)
    assert "max_version" in str(cause.__context__)


class OldSignature:
    """A producer whose method lacks the keyword, so that CPython raises the error."""

    def __init__(self, lent):
        self.lent = lent

    def __dlpack_device__(self):
        return CPU

    def __dlpack__(self, stream=None):
        return self.lent.capsule()


class WithoutArguments(OldSignature):
    def __dlpack__(self):
        return self.lent.capsule()


# Rule 36.
@pytest.mark.parametrize("kind", [OldSignature, WithoutArguments])
@pytest.mark.parametrize("asked", [{}, {"copy": True}], ids=str)
def test_an_old_signature_is_known_by_the_error_of_python(kind, asked):
    assert dt.from_dlpack(kind(Lent().fill([1, 2, 4])), **asked).tolist() == [1, 2, 4]


# Rules 36, 37, 45.
@pytest.mark.parametrize("version", [(1, 0), None])
def test_the_copy_of_an_old_producer_is_made_here(version):
    lent = Lent(version=version).fill([1, 2, 4])
    t = dt.from_dlpack(old_producer(lent), copy=True)
    assert t.data_ptr() != lent.address
    assert t.tolist() == [1, 2, 4]
    assert lent.deletions == 1


def refusing_producer(lent, error, keyword):
    def dlpack(**kwargs):
        if keyword in kwargs:
            raise error(f"no {keyword} here")
        return lent.capsule()

    return Producer(dlpack)


REFUSALS = [BufferError, ValueError, NotImplementedError, RuntimeError]


# Rules 37, 45.
@pytest.mark.parametrize("error", REFUSALS)
def test_a_producer_that_refuses_to_copy_is_copied_from(error):
    lent = Lent().fill([1, 2, 4])
    t = dt.from_dlpack(refusing_producer(lent, error, "copy"), copy=True)
    assert t.data_ptr() != lent.address
    assert t.tolist() == [1, 2, 4]
    assert lent.deletions == 1


# Rule 41.
def test_memory_that_a_producer_cannot_bring_to_the_cpu_is_refused_here():
    lent = Lent(device=(2, 0))
    x = refusing_producer(lent, BufferError, "dl_device")
    x._device = (2, 0)
    with pytest.raises(BufferError):
        dt.from_dlpack(x, device="cpu")
    assert lent.deletions == len(x.calls) - 1


# Rules 38, 45.
@pytest.mark.parametrize("error", REFUSALS)
@pytest.mark.parametrize("expected", [BufferError, ValueError])
def test_a_refusal_to_share_is_both_errors_and_keeps_the_cause(error, expected):
    lent = Lent()
    with pytest.raises(expected, match="no copy here") as caught:
        dt.from_dlpack(refusing_producer(lent, error, "copy"), copy=False)
    assert type(caught.value) is dt.ExchangeError
    assert type(caught.value.__cause__) is error


# Rule 38.
def test_a_producer_that_copies_although_it_must_not_is_refused():
    lent = Lent(flags=IS_COPIED)
    with pytest.raises(dt.ExchangeError, match="made a copy"):
        dt.from_dlpack(Producer(lambda **_: lent.capsule()), copy=False)
    assert lent.deletions == 1


@pytest.mark.parametrize("error", [KeyError, OSError, AttributeError, BufferError, TypeError])
@pytest.mark.parametrize("asked", [{}, {"copy": True}, {"copy": False}, {"device": "cpu"}], ids=str)
def test_an_error_of_the_producers_own_is_the_cause_of_an_exchange_error(error, asked):
    def dlpack(**_):
        raise error("of its own")

    with pytest.raises(dt.ExchangeError, match="of its own") as caught:
        dt.from_dlpack(Producer(dlpack), **asked)
    assert type(caught.value.__cause__) is error
    assert caught.value.__cause__.__traceback__.tb_frame.f_code.co_name == "__dlpack__"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, dt.ExchangeError])
@pytest.mark.parametrize("method", ["__dlpack__", "__dlpack_device__"])
def test_what_is_not_the_exchanges_to_tell_comes_through_as_it_is(error, method):
    def fail(*_, **__):
        raise error("of its own")

    methods = {"__dlpack__": None, "__dlpack_device__": lambda _: CPU, method: fail}
    with pytest.raises(error, match="of its own") as caught:
        dt.from_dlpack(type("Producer", (), methods)())
    assert type(caught.value) is error and caught.value.__cause__ is None


@pytest.mark.parametrize("error", [OSError, AttributeError, RuntimeError])
def test_an_error_of_dlpack_device_is_the_cause_of_an_exchange_error(error):
    class Broken(np.ndarray):
        def __dlpack_device__(self):
            raise error("no device today")

    with pytest.raises(dt.ExchangeError, match=f"{error.__name__}: no device today") as caught:
        dt.from_dlpack(np.zeros(2).view(Broken))
    assert type(caught.value.__cause__) is error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"copy": 1}, "copy must be True, False or None"),
        ({"device": 3.5}, "device"),
        ({"device": "nowhere"}, "nowhere"),
        ({"stream": 1}, "stream"),
    ],
    ids=str,
)
def test_arguments_of_other_types_are_refused_by_name(arguments, message):
    x = Producer(lambda **_: Lent().capsule())
    with pytest.raises((TypeError, ValueError), match=message):
        dt.from_dlpack(x, **arguments)
    assert x.calls == []


# Rule 45.
def test_the_source_is_positional_only_and_the_rest_is_by_keyword():
    x = np.zeros(2)
    with pytest.raises(TypeError):
        dt.from_dlpack(x=x)
    with pytest.raises(TypeError):
        dt.from_dlpack(x, "cpu")
    with pytest.raises(TypeError):
        dt.from_dlpack()
