"""What __dlpack__() answers to each request: the kind of the capsule, its version, refusals."""

from ..checks import check
from ..exports import export, export_any, make, read_versioned
from ..script import NotApplicableError, describe
from ..structs import DLManagedTensor, DLManagedTensorVersioned

_NEW = "x.__dlpack__(max_version=None)"


def _expect_name(s, request, kind, may_refuse):
    make(s)
    error = s.tried(f"capsule = x.__dlpack__({request})")
    if error is None:
        s.run(f"name = '\"{kind.name}\"'")
        s.expect(
            "name in repr(capsule)",
            f"__dlpack__({request}) returns {{capsule!r}}, not one named {{name}}",
        )
    elif isinstance(error, TypeError) and isinstance(s.tried(_NEW), TypeError):
        raise NotApplicableError(f"no keyword max_version: {describe(error)}")
    elif not (may_refuse and isinstance(error, BufferError)):
        s.raised(f"x.__dlpack__({request})", f"__dlpack__({request}) raises {describe(error)}")


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
        s.raised(f"x.__dlpack__({name}=None)", f"__dlpack__({name}=None) raises {describe(error)}")


@check("producer.stream", ["None", "2"], devices=["cpu"])
def stream(s, value):
    make(s)
    if s.evaluate("tuple(x.__dlpack_device__())")[0] != 1:
        raise NotApplicableError("the array is not on the CPU")
    arguments = ", ".join(filter(None, [export_any(s), f"stream={value}"]))
    line = f"x.__dlpack__({arguments})"
    error = s.tried(line)
    if value == "None" and error:
        s.raised(line, f"stream=None raises {describe(error)}")
    if value != "None" and error is None:
        s.broken(f"stream={value} is taken, which the CPU does not have")


@check("producer.unknown-keyword")
def unknown_keyword(s):
    make(s)
    error = s.tried("x.__dlpack__(keyword_of_the_future=None)")
    if error is None:
        s.broken("an unknown keyword is ignored")
    if not isinstance(error, TypeError):
        s.raised(
            "x.__dlpack__(keyword_of_the_future=None)",
            f"an unknown keyword raises {describe(error)}",
        )
