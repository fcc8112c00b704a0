"""Valid and hostile capsules: each error is clear, and the deleter is called exactly once."""

import ctypes

import numpy as np
import pytest
from managed import (
    Legacy,
    Lent,
    Versioned,
    call_deleter,
    kind_of,
    name_address,
    read,
    strides_of,
    take_over,
)

import dovetail as dt

BOTH_KINDS = pytest.mark.parametrize("version", [(1, 3), None], ids=["versioned", "legacy"])


def refused(lent, match):
    """Assert that from_dlpack refuses `lent` unchanged, and that the capsule frees its tensor."""
    capsule = lent.capsule()
    with pytest.raises(dt.ExchangeError, match=match):
        dt.from_dlpack(capsule)
    assert lent.deletions == 0
    assert kind_of(capsule) is type(lent.managed)
    del capsule
    assert lent.deletions == 1


@BOTH_KINDS
def test_the_deleter_runs_once_when_the_last_view_is_gone(version):
    lent = Lent((4,), version=version)
    capsule = lent.capsule()
    t = dt.from_dlpack(capsule)
    view, again = t[1:], dt.from_dlpack(t)
    del capsule, t, again
    assert lent.deletions == 0
    del view
    assert lent.deletions == 1
    assert lent.deletions == 1


# Rules 22, 26.
@BOTH_KINDS
def test_a_capsule_can_be_used_once(version):
    lent = Lent(version=version)
    capsule = lent.capsule()
    t = dt.from_dlpack(capsule)
    assert f'"{lent.managed.used_name.decode()}"' in repr(capsule)
    with pytest.raises(dt.ExchangeError, match="once"):
        dt.from_dlpack(capsule)
    assert t.tolist() == [0, 0, 0]
    del capsule
    assert lent.deletions == 0
    del t
    assert lent.deletions == 1


@BOTH_KINDS
def test_a_capsule_that_nobody_uses_frees_its_tensor_once(version):
    lent = Lent(version=version)
    capsule = lent.capsule()
    del capsule
    assert lent.deletions == 1


# Rule 27.
@pytest.mark.parametrize("version", [(1, 3), None])
def test_a_capsule_of_ours_that_nobody_uses_lets_go_of_the_memory(version):
    lent = Lent()
    t = dt.from_dlpack(lent.capsule())
    capsule = t.__dlpack__(max_version=version)
    del t
    assert lent.deletions == 0
    del capsule
    assert lent.deletions == 1


# Rule 23.
@pytest.mark.parametrize("version", [(1, 3), None])
def test_a_capsule_of_ours_that_was_used_frees_nothing_itself(version):
    lent = Lent()
    capsule = dt.from_dlpack(lent.capsule()).__dlpack__(max_version=version)
    managed = take_over(capsule)
    del capsule
    assert lent.deletions == 0
    call_deleter(managed)
    assert lent.deletions == 1


# Rule 22.
@pytest.mark.parametrize("version", [(1, 3), None])
def test_the_names_of_capsules_are_one_static_string_each(version):
    one, two = (dt.arange(3).__dlpack__(max_version=version) for _ in range(2))
    assert name_address(one) == name_address(two)
    t, u = dt.from_dlpack(one), dt.from_dlpack(two)
    assert name_address(one) == name_address(two)
    used = name_address(one)
    del one, two, t, u
    expected = (Legacy if version is None else Versioned).used_name
    assert ctypes.string_at(used) == expected


# Rule 7.
@BOTH_KINDS
def test_without_a_deleter_there_is_nothing_to_free(version):
    lent = Lent(version=version, null_deleter=True).fill([1, 2, 4])
    t = dt.from_dlpack(lent.capsule())
    u = dt.from_dlpack(t.__dlpack__())
    assert t.tolist() == u.tolist() == [1, 2, 4]
    del t, u
    assert lent.deletions == 0


@pytest.mark.parametrize("name", [b"dltensor2", b"tensor", b"", b"DLTENSOR", b"used_"])
def test_a_capsule_of_another_name_is_refused_and_left_alone(name):
    lent = Lent()
    capsule = lent.capsule(name or b"\0")
    with pytest.raises(dt.ExchangeError, match="capsule"):
        dt.from_dlpack(capsule)
    assert lent.deletions == 0


def test_capsules_of_other_libraries_are_refused():
    import datetime

    with pytest.raises(dt.ExchangeError, match="datetime"):
        dt.from_dlpack(datetime.datetime_CAPI)


# Rules 2, 4.
@pytest.mark.parametrize("version", [(2, 0), (0, 8), (99, 99)], ids=str)
def test_another_major_version_is_freed_unread_and_marked_used(version):
    lent = Lent(version=version, ndim=-5, null_shape=True, code=99, flags=1 << 40)
    capsule = lent.capsule()
    with pytest.raises(BufferError, match=rf"version {version[0]}\.{version[1]}"):
        dt.from_dlpack(capsule)
    assert lent.deletions == 1
    assert "used_dltensor_versioned" in repr(capsule)
    del capsule
    assert lent.deletions == 1


def test_another_major_version_without_a_deleter_is_refused_too():
    lent = Lent(version=(2, 0), null_deleter=True)
    with pytest.raises(BufferError, match="version"):
        dt.from_dlpack(lent.capsule())


# Rule 3.
@pytest.mark.parametrize("version", [(1, 0), (1, 4), (1, 4_000_000_000)], ids=str)
def test_another_minor_version_is_read(version):
    assert dt.from_dlpack(Lent(version=version).fill([1, 2, 4]).capsule()).tolist() == [1, 2, 4]


HOSTILE = {
    "negative size": ({"shape": (2, -3)}, "negative"),
    "negative size beside none": ({"shape": (0, -3)}, "negative"),
    "smallest size": ({"shape": (-(1 << 63),)}, "negative"),
    "elements beyond 64 bits": ({"shape": (1 << 40, 1 << 40)}, "more elements"),
    "bytes beyond 64 bits": ({"shape": (1 << 62,)}, "beyond"),
    "strides beyond 64 bits": ({"shape": (1 << 20, 2), "strides": (1 << 50, 1)}, "beyond|exceed"),
    "reach beyond memory": ({"shape": (2,), "strides": (1 << 61,)}, "beyond"),
    "smallest stride": ({"shape": (3,), "strides": (-(1 << 63),)}, "beyond"),
    "offset beyond memory": ({"byte_offset": (1 << 64) - 8}, "beyond"),
    "-1 dimensions": ({"ndim": -1}, "-1"),
    "a million dimensions": ({"ndim": 1_000_000}, "1000000"),
    "no shape": ({"null_shape": True}, "no shape"),
    "elements without data": ({"data": None}, "no data"),
    "negative device id": ({"device": (1, -1)}, "device id is -1"),
    "unknown code": ({"code": 19}, "code 19"),
    "last code": ({"code": 255}, "code 255"),
    "float of 24 bits": ({"bits": 24}, "24 bits"),
    "int of 3 bits": ({"code": 0, "bits": 3}, "3 bits"),
    "no bits": ({"bits": 0}, "0 bits"),
    "no lanes": ({"lanes": 0}, "0 lanes"),
    "bool of 1 bit": ({"code": 6, "bits": 1}, "1 bits"),
    "bfloat of 32 bits": ({"code": 4, "bits": 32}, "32 bits"),
    "complex of 16 bits": ({"code": 5, "bits": 16}, "16 bits"),
    "float8 of 16 bits": ({"code": 10, "bits": 16}, "16 bits"),
    "float6 of 8 bits": ({"code": 15, "bits": 8}, "8 bits"),
    "float4 of 8 bits": ({"code": 17, "bits": 8}, "8 bits"),
}


# Rules 10, 17, 19, 20, 30.
@BOTH_KINDS
@pytest.mark.parametrize("case", HOSTILE)
def test_a_tensor_that_cannot_be_is_refused_by_what_is_wrong(case, version):
    fields, message = HOSTILE[case]
    refused(Lent(version=version, **fields), message)


# Rule 5.
@pytest.mark.parametrize("flag", [8, 1 << 20, 1 << 63])
def test_flags_of_unknown_meaning_are_refused_by_their_bits(flag):
    refused(Lent(flags=flag | 1), f"0x{flag:x}")


# Rules 10, 31.
@BOTH_KINDS
@pytest.mark.parametrize("data", ["own", None, 1], ids=str)
def test_without_elements_any_pointer_will_do_and_the_deleter_runs(version, data):
    lent = Lent((2, 0), version=version, data=data, byte_offset=1 << 50)
    t = dt.from_dlpack(lent.capsule())
    assert (t.shape, t.tolist()) == ((2, 0), [[], []])
    assert np.from_dlpack(t).shape == (2, 0)
    del t
    assert lent.deletions == 1


# Rules 19, 21.
@BOTH_KINDS
@pytest.mark.parametrize("device", [(2, 3), (8, 0), (10, 1), (16, 0), (42, 7)], ids=str)
def test_a_device_without_a_backend_passes_through_untouched(device, version):
    lent = Lent((2, 2), (1, 2), version=version, device=device, data=0xDEAD0000, byte_offset=256)
    t = dt.from_dlpack(lent.capsule())
    assert t.__dlpack_device__() == device
    managed = read(t.__dlpack__(max_version=version))
    tensor = managed.dl_tensor
    assert (tensor.device_type, tensor.device_id) == device
    assert tensor.data + tensor.byte_offset == 0xDEAD0000 + 256
    assert strides_of(managed) == (1, 2)
    del t, managed, tensor
    assert lent.deletions == 1


# Rule 19.
@pytest.mark.parametrize("device", [(8, 0), (42, 7)], ids=str)
def test_values_on_a_device_that_the_cpu_cannot_reach_are_neither_printed_nor_read(device):
    t = dt.from_dlpack(Lent((2,), device=device, data=0xDEAD0000).capsule())
    text = repr(t)
    assert str(t.device) in text
    for read_values in (t.tolist, t.numpy, t[0].item, lambda: memoryview(t), lambda: float(t[0])):
        with pytest.raises((BufferError, ValueError, RuntimeError, TypeError)):
            read_values()
    with pytest.raises((BufferError, ValueError, RuntimeError)):
        t[0] = 1


# Rule 20.
@pytest.mark.parametrize("code", [3, 11, 13])
def test_host_memory_of_gpus_is_one_place_whatever_its_index(code):
    t = dt.from_dlpack(Lent(device=(code, 5)).fill([1, 2, 4]).capsule())
    assert t.tolist() == [1, 2, 4]
    assert t.__dlpack_device__() == (code, 0)


# Rule 24.
@pytest.mark.parametrize("version", [(1, 3), None])
def test_an_exception_in_flight_survives_the_end_of_a_capsule(version):
    def deleter_that_raises_and_catches():
        with pytest.raises(KeyError):
            {}["nothing"]

    lent = Lent(on_delete=deleter_that_raises_and_catches)
    with pytest.raises(TypeError, match=r"has no len\(\)"):
        # The capsule is destroyed when len() returns, while its error is set.
        len(dt.from_dlpack(lent.capsule()).__dlpack__(max_version=version))
    assert lent.deletions == 1


# Rules 25, 30.
@BOTH_KINDS
def test_an_error_after_the_import_still_frees_the_tensor(version):
    lent = Lent(version=version)
    with pytest.raises(dt.ExchangeError):
        dt.from_dlpack(lent.capsule(), device="hexagon")
    assert lent.deletions == 1
