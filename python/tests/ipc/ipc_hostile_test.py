"""Damaged and forged handles, and files that are not valid shared memory."""

import os
import random
import struct

import pytest
from ipc_workers import path_of, shared

import dovetail as dt

HEAD = struct.Struct("<IIQiiBBHBBHIIq")
FIELDS = [
    "magic",
    "version",
    "checksum",
    "type",
    "index",
    "kind",
    "bits",
    "lanes",
    "read_only",
    "padded",
    "rank",
    "name",
    "unused",
    "offset",
]


def forge(handle, **changes):
    """The handle with changed fields (also numbers= and memory=) and a recomputed checksum."""
    data = bytes(handle)
    fields = dict(zip(FIELDS, HEAD.unpack_from(data), strict=True))
    rank = fields["rank"]
    numbers = changes.pop("numbers", struct.unpack_from(f"<{2 * rank}q", data, HEAD.size))
    memory = changes.pop("memory", data[HEAD.size + 16 * rank :])
    fields.update(name=len(memory), rank=len(numbers) // 2)
    fields.update(changes)
    rest = struct.pack(f"<{len(numbers)}q", *numbers) + memory
    checked = (HEAD.pack(*fields.values()) + rest)[16:]
    if "checksum" not in changes:
        fields["checksum"] = checksum(checked)
    return HEAD.pack(*fields.values()) + rest


def checksum(data):
    total = 0xCBF29CE484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return total


@pytest.fixture
def handle():
    return dt.ipc.share(shared([[1, 2, 3], [4, 5, 6]]))


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
    with pytest.raises(ValueError, match="bytes"):
        dt.ipc.open(data + b"\0")


HUGE = (1 << 63) - 1


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"offset": 8}, "reaches outside"),
        ({"offset": -8}, "reaches outside"),
        ({"offset": HUGE}, "reaches outside"),
        ({"offset": -HUGE - 1}, "reaches outside"),
        ({"numbers": (2, 4, 3, 1)}, "reaches outside"),
        ({"numbers": (2, 3, -3, 1)}, "reaches outside"),
        ({"numbers": (2, 3, 1 << 60, 1)}, "overflow|beyond|outside"),
        ({"numbers": (HUGE, HUGE, 0, 0)}, "overflow|elements"),
        ({"numbers": (-2, 3, 3, 1)}, "negative"),
        ({"rank": 65}, "dimensions"),
        ({"name": 1 << 31}, "name"),
        ({"version": 2}, "version 2"),
        ({"kind": 200}, "type|kind"),
        ({"bits": 7}, "type|bits"),
        ({"lanes": 0}, "lanes"),
        ({"read_only": 2}, "flags"),
        ({"type": 42}, "backend"),
        ({"type": -1}, "backend"),
        ({"type": 1 << 30}, "backend"),
        ({"memory": b""}, "names no memory"),
        ({"memory": b"../../etc/passwd"}, "gone"),
        ({"memory": b"../../../etc/passwd"}, "16"),
        ({"memory": bytes(16)}, "gone"),
        ({"memory": b"\xff" * 16}, "gone"),
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
            "offset": choose.choice([-1, 0, 1, 8, 40, 47, 48, HUGE]),
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
    token, number = struct.unpack("<QQ", bytes(handle)[-16:])
    copy = forge(handle, memory=struct.pack("<QQ", token, number + 1_000_000))
    with open(path_of(handle), "rb") as source, open(path_of(copy), "wb") as target:
        target.write(source.read())
    os.chmod(path_of(copy), 0o600)
    return copy


@pytest.mark.parametrize(
    ("offset", "value", "error"),
    [
        (0, b"XXXXXXXX", "no memory of this version"),
        (8, b"\x02\0\0\0", "another kind"),
        (16, b"\xff" * 8, "cut short"),
        (24, b"\x01" * 8, "no memory of this version"),
    ],
)
def test_a_file_whose_head_says_otherwise_is_refused(handle, offset, value, error):
    copy = _lookalike(handle)
    number = struct.unpack("<Q", bytes(copy)[-8:])[0]
    with open(path_of(copy), "r+b") as file:
        file.seek(32)
        file.write(struct.pack("<Q", number))  # the name matches
        file.seek(offset)
        file.write(value)
    try:
        with pytest.raises(dt.ExchangeError, match=error):
            dt.ipc.open(copy)
    finally:
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
