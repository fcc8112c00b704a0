"""What __dlpack__() answers to each request: the kind of the capsule, its version, refusals."""

from ..checks import check
from ..exports import (
    LEGACY,
    VERSIONED,
    address_in,
    export,
    make,
    name_of,
    read,
    read_versioned,
)
from ..script import NotApplicableError, describe
from ..structs import DLManagedTensor, DLManagedTensorVersioned


def _expect_name(s, request, kind, may_refuse):
    make(s)
    error = s.tried(f"capsule = x.__dlpack__({request})")
    if error is None:
        name = name_of(s["capsule"])
        if name != kind.name:
            s.run("print(capsule)")
            s.broken(f"__dlpack__({request}) returns {name or s['capsule']!r}, not {kind.name!r}")
    elif request and isinstance(error, TypeError):
        raise NotApplicableError(f"no keyword max_version: {describe(error)}")
    elif not (may_refuse and isinstance(error, BufferError)):
        s.note(f"x.__dlpack__({request})")
        s.broken(f"__dlpack__({request}) raises {describe(error)}")


@check("producer.legacy", ["", "max_version=None"])
def legacy(s, request):
    _expect_name(s, request, DLManagedTensor, may_refuse=True)


@check("producer.versioned", ["max_version=(1, 0)", "max_version=(1, 99)", "max_version=(2, 0)"])
def versioned(s, request):
    _expect_name(s, request, DLManagedTensorVersioned, may_refuse=False)


@check("producer.old-major")
def old_major(s):
    _expect_name(s, "max_version=(0, 8)", DLManagedTensor, may_refuse=True)


@check("producer.version", ["max_version=(1, 0)", "max_version=(1, 99)", "max_version=(2, 0)"])
def version(s, request):
    make(s)
    export(s, request)
    read_versioned(s)
    s.expect("major == 1", "the struct says version {major}.{minor}")


@check("producer.keywords", ["stream", "max_version", "dl_device", "copy"])
def keywords(s, name):
    make(s)
    error = s.tried(f"x.__dlpack__({name}=None)")
    if isinstance(error, TypeError):
        s.note(f"x.__dlpack__({name}=None)")
        s.broken(f"__dlpack__({name}=None) raises {describe(error)}")


@check("producer.unknown-keyword")
def unknown_keyword(s):
    make(s)
    error = s.tried("x.__dlpack__(keyword_of_the_future=None)")
    if error is None:
        s.broken("an unknown keyword is ignored")
    if not isinstance(error, TypeError):
        s.note("x.__dlpack__(keyword_of_the_future=None)")
        s.broken(f"an unknown keyword raises {describe(error)}")


@check("producer.copied-flag")
def copied_flag(s):
    make(s)
    export(s, VERSIONED)
    shared = address_in(s["capsule"])
    s.lines.pop()
    export(s, f"{VERSIONED}, copy=True")
    if address_in(s["capsule"]) == shared:
        raise NotApplicableError("copy=True does not copy")
    read_versioned(s)
    s.expect("flags & 2", "the flags of a copy are {flags:#x}")


@check("producer.copy-true", [VERSIONED, LEGACY])
def copy_true(s, request):
    make(s)
    arguments = ", ".join(filter(None, [request, "copy=True"]))
    error = s.tried(f"capsule = x.__dlpack__({arguments})")
    if error:
        if isinstance(error, TypeError):
            raise NotApplicableError(f"no keyword copy: {describe(error)}")
        if request == LEGACY and isinstance(error, BufferError):
            raise NotApplicableError("a legacy capsule can't say that it is a copy")
        s.note(f"x.__dlpack__({arguments})")
        s.broken(f"copy=True raises {describe(error)}")
    _compare_addresses(s, request, "!=", "copy=True shares the memory")


@check("producer.copy-false", [VERSIONED, LEGACY])
def copy_false(s, request):
    make(s)
    arguments = ", ".join(filter(None, [request, "copy=False"]))
    error = s.tried(f"capsule = x.__dlpack__({arguments})")
    if isinstance(error, TypeError):
        raise NotApplicableError(f"no keyword copy: {describe(error)}")
    if error:
        if not isinstance(error, BufferError):
            s.note(f"x.__dlpack__({arguments})")
            s.broken(f"copy=False raises {describe(error)}")
        return
    _compare_addresses(s, request, "==", "copy=False copies")


def _compare_addresses(s, request, comparison, seen):
    """Compare the address in `capsule` with that of an export without copy=."""
    read(s)
    s.run("address = data + byte_offset")
    s.run(f"plain = x.__dlpack__({request})")
    read(s, "plain")
    s.expect(f"address {comparison} data + byte_offset", seen + ", at {address:#x}")


@check("producer.dl-device")
def dl_device(s):
    make(s)
    if tuple(s.evaluate("x.__dlpack_device__()"))[0] != 1:
        raise NotApplicableError("the array is not on the CPU")
    error = s.tried("x.__dlpack__(dl_device=(1, 0))")
    if isinstance(error, TypeError):
        raise NotApplicableError(f"no keyword dl_device: {describe(error)}")
    if error:
        s.note("x.__dlpack__(dl_device=(1, 0))")
        s.broken(f"dl_device=(1, 0) raises {describe(error)}")


@check("producer.other-device")
def other_device(s):
    make(s)
    line = "x.__dlpack__(dl_device=(16, 0))"  # Hexagon
    error = s.tried(line)
    if isinstance(error, TypeError):
        raise NotApplicableError(f"no keyword dl_device: {describe(error)}")
    if error is None:
        s.broken("dl_device=(16, 0) is ignored")
    if not isinstance(error, BufferError):
        s.note(line)
        s.broken(f"dl_device=(16, 0) raises {describe(error)}")
