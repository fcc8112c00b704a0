"""Damaged and forged handles, and files that are not valid shared memory."""

import contextlib
import fcntl
import os
import random
import struct

import pytest
from ipc_workers import path_of, shared

import dovetail as dt

HEAD = struct.Struct("<2sBBI")  # magic, version, flags, checksum
NAME_BYTES = 27
F_OFD_SETLK = 37
# struct flock: core/ipc/participants.h has the bytes.
MAKERS_LOCK = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, (1 << 60) + 2 + 2 * 256, 2, 0)
FIELDS = ["type", "index", "kind", "bits", "lanes", "rank"]  # then the numbers, and the offset
SIGNED = {"type", "index"}
ROW_MAJOR = 4


def encode(number, signed):
    number = (number << 1 ^ number >> 63) & (1 << 64) - 1 if signed else number
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes(result) + bytes([number])


def decode(data, at, signed):
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            break
    return (number >> 1 ^ -(number & 1) if signed else number), at


def forge(handle, **changes):
    """The handle with changed fields (also numbers= and memory=) and a recomputed checksum."""
    data = bytes(handle)
    magic, version, flags, _ = HEAD.unpack_from(data)
    at = HEAD.size
    fields = {}
    for field in FIELDS:
        fields[field], at = decode(data, at, field in SIGNED)
    count = fields["rank"] * (1 if flags & ROW_MAJOR else 2)
    numbers = []
    for _ in range(count):
        number, at = decode(data, at, True)
        numbers.append(number)
    fields["offset"], at = decode(data, at, True)
    memory = changes.pop("memory", data[at:])
    if "numbers" in changes:
        numbers = changes.pop("numbers")
        flags &= ~ROW_MAJOR
        fields["rank"] = len(numbers) // 2
    version, flags = changes.pop("version", version), changes.pop("flags", flags)
    magic, check = changes.pop("magic", magic), changes.pop("checksum", None)
    fields.update(changes)
    rest = b"".join(encode(fields[field], field in SIGNED) for field in FIELDS)
    rest += b"".join(encode(number, True) for number in numbers)
    rest += encode(fields["offset"], True) + memory
    check = checksum(bytes([flags]) + rest) if check is None else check
    return HEAD.pack(magic, version, flags, check) + rest


def checksum(data):
    total = 0xCBF29CE484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return (total ^ total >> 32) & (1 << 32) - 1


made = contextlib.ExitStack()  # of open files


@pytest.fixture(autouse=True)
def makers_end():
    with made:
        yield


@pytest.fixture
def handle():
    return dt.ipc.share(shared([[1, 2, 3], [4, 5, 6]]))


def test_handles_of_older_versions_are_refused_by_name():
    with pytest.raises(ValueError, match="older Dovetail"):
        dt.ipc.open(b"DIPC" + bytes(100))


def test_what_is_forged_as_it_was_is_accepted(handle):
    assert forge(handle) == bytes(handle)


def test_every_damaged_byte_and_every_cut_is_found(handle):
    data = bytes(handle)
    for i in range(len(data)):
        damaged = data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i + 1 :]
        with pytest.raises(ValueError, match="not a handle of shared memory"):
            dt.ipc.open(damaged)
        with pytest.raises(ValueError, match="not a handle of shared memory"):
            dt.ipc.Handle.from_bytes(data[:i])
    with pytest.raises(ValueError, match="damaged"):
        dt.ipc.open(data + b"\0")


HUGE = (1 << 63) - 1


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"offset": 4096 - 40}, "reaches outside"),
        ({"offset": -8}, "reaches outside"),
        ({"offset": HUGE}, "reaches outside"),
        ({"offset": -HUGE - 1}, "reaches outside"),
        ({"numbers": (2, 257, 256, 1)}, "reaches outside"),
        ({"numbers": (2, 3, -3, 1)}, "reaches outside"),
        ({"numbers": (2, 3, 1 << 60, 1)}, "overflow|beyond|outside"),
        ({"numbers": (HUGE, HUGE, 0, 0)}, "overflow|elements"),
        ({"numbers": (-2, 3, 3, 1)}, "negative"),
        ({"rank": 65}, "dimensions"),
        ({"rank": 1 << 63}, "dimensions"),
        ({"memory": bytes(5000)}, "name"),
        ({"version": 2}, "version 2"),
        ({"magic": b"DI"}, "magic"),
        ({"kind": 200}, "type|kind"),
        ({"kind": 256}, "no type"),
        ({"bits": 7}, "type|bits"),
        ({"lanes": 0}, "lanes"),
        ({"lanes": 1 << 40}, "no type"),
        ({"flags": 8}, "flags"),
        ({"type": 42}, "backend"),
        ({"type": -1}, "backend"),
        ({"type": 1 << 30}, "backend"),
        ({"type": 1 << 40}, "type"),
        ({"index": -1}, "index -1"),
        ({"index": 1 << 32}, "index"),
        ({"memory": b""}, "names no memory"),
        ({"memory": b"../../etc/passwd"}, "27"),
        ({"memory": bytes(NAME_BYTES)}, "gone"),
        ({"memory": b"\xfe" * (NAME_BYTES - 1) + b"\x01"}, "gone"),
        ({"memory": b"\xff" * (NAME_BYTES - 1) + b"\x01"}, "not attached"),
        ({"memory": b"\xff" * NAME_BYTES}, "27"),
    ],
)
def test_a_forged_handle_is_an_error(handle, changes, error):
    with pytest.raises((ValueError, RuntimeError), match=error):
        dt.ipc.open(forge(handle, **changes))


def test_random_handles_are_errors_or_tensors_inside_the_memory(handle):
    choose = random.Random(5)
    opened = 0
    for _ in range(3000):
        rank = choose.choice([0, 1, 2, 3, 64])
        numbers = [choose.choice([-1, 0, 1, 2, 3, 6, 7, 48, HUGE]) for _ in range(2 * rank)]
        changes = {
            "numbers": numbers,
            "offset": choose.choice([-1, 0, 1, 8, 4040, 4095, 4096, HUGE]),
            "kind": choose.randrange(20),
            "bits": choose.choice([1, 4, 6, 8, 16, 32, 64, 128]),
            "lanes": choose.choice([1, 2, 3, 65535]),
            "padded": choose.choice([0, 1]),
        }
        try:
            t = dt.ipc.open(forge(handle, **changes))
        except (ValueError, RuntimeError):
            continue
        if t.size <= 48:
            t.copy()  # reads all of it
            opened += 1
    assert opened > 20


def test_names_of_other_slots_and_generations_are_refused(handle):
    name = bytes(handle)[-NAME_BYTES:]
    slot, generation = (int.from_bytes(part, "little") for part in (name[16:20], name[20:25]))
    for other, then in ((slot + 1, generation), (slot, generation + 1), (slot, generation - 1)):
        changed = name[:16] + other.to_bytes(4, "little") + then.to_bytes(5, "little") + name[-2:]
        with pytest.raises(dt.ExchangeError, match="gone"):
            dt.ipc.open(forge(handle, memory=changed))
    assert dt.ipc.open(forge(handle, memory=name)).tolist() == [[1, 2, 3], [4, 5, 6]]


def test_memory_that_cant_be_written_is_a_read_only_tensor_whatever_the_handle_says(handle):
    name = bytes(handle)[-NAME_BYTES:]
    t = dt.ipc.open(forge(handle, flags=0 | ROW_MAJOR, memory=name[:-1] + b"\x01"))
    assert t.readonly
    with pytest.raises(ValueError, match="read-only"):
        t[0, 0] = 1


def test_a_record_that_was_written_over_is_an_error():
    pool = dt.ipc.Pool(1 << 20)
    t = pool.empty((1,) * 40, dtype="int8")
    t[...] = 3
    view = t.permute(*range(39, -1, -1))[(slice(None, None, -1),) * 40]
    message = pool.share(view)
    assert len(message) <= 64 and message.startswith(b"DR3")
    assert dt.ipc.open(message).shape == (1,) * 40
    name = message[3:-1] + b"\0"  # that can be written
    record = dt.ipc.open(forge(dt.ipc.share(pool.empty(100, dtype="int8")), memory=name))
    for value in (-1, 0, 77):
        record[...] = value
        with pytest.raises(ValueError, match="not a handle of shared memory"):
            dt.ipc.open(message)


def test_a_file_that_was_cut_short_is_found_when_it_is_opened():
    t = shared(list(range(2000)))
    handle = dt.ipc.share(t)
    size = os.path.getsize(path_of(handle))
    for cut in (0, 10, 4096, size - 1):
        copy = _lookalike(handle)
        os.truncate(path_of(copy), cut)
        with pytest.raises(dt.ExchangeError, match="cut short"):
            dt.ipc.open(copy)
        os.unlink(path_of(copy))


def _lookalike(handle):
    """A handle to a copy of the memory's file, under a name that no process has open."""
    name = bytes(handle)[-NAME_BYTES:]
    token, number = struct.unpack("<QQ", name[:16])
    number ^= random.getrandbits(60) << 1
    copy = forge(handle, memory=struct.pack("<QQ", token, number) + name[16:])
    # With a maker's lock from the moment that it has its name: others unlink what has none.
    other_name = path_of(copy).replace("dovetail.", "lookalike.")
    target = os.open(other_name, os.O_CREAT | os.O_WRONLY, 0o600)
    made.callback(os.close, target)
    fcntl.fcntl(target, F_OFD_SETLK, MAKERS_LOCK)
    os.truncate(target, os.path.getsize(path_of(handle)))
    with open(path_of(handle), "rb") as source:
        os.write(target, source.read(1 << 16))
    os.rename(other_name, path_of(copy))
    return copy


@pytest.mark.parametrize(
    ("offset", "value", "error"),
    [
        (0, b"XXXXXXXX", "no memory of this version"),
        (8, b"\x02\0\0\0", "another kind"),
        (16, b"\xff" * 8, "cut short"),
        (16, b"\x01" + b"\0" * 7, "cut short"),
        (24, b"\x01" * 8, "no memory of this version"),
    ],
)
def test_a_file_whose_head_says_otherwise_is_refused(handle, offset, value, error):
    copy = _lookalike(handle)
    number = bytes(copy)[-NAME_BYTES + 8 : -NAME_BYTES + 16]
    with open(path_of(copy), "r+b") as file:
        file.seek(32)
        file.write(number)  # the name matches
        file.seek(offset)
        file.write(value)
    with pytest.raises(dt.ExchangeError, match=error):
        dt.ipc.open(copy)
    os.unlink(path_of(copy))


def test_links_folders_and_other_users_files_are_refused(handle):
    copy = _lookalike(handle)
    path = path_of(copy)
    os.unlink(path)
    os.symlink(path_of(handle), path)
    try:
        with pytest.raises(dt.ExchangeError, match="can't be opened"):
            dt.ipc.open(copy)
        os.unlink(path)
        os.mkdir(path)
        with pytest.raises(dt.ExchangeError, match="can't be opened"):
            dt.ipc.open(copy)
        os.rmdir(path)
        copy = _lookalike(handle)
        try:
            os.chown(path, 12345, -1)
        except OSError:
            return  # not root, or in a user namespace without other users
        with pytest.raises(dt.ExchangeError, match="another user"):
            dt.ipc.open(copy)
    finally:
        if os.path.lexists(path):
            os.unlink(path)
