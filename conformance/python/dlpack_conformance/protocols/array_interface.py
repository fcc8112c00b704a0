"""NumPy's array interface, version 3, and the absence of the CUDA Array Interface on the CPU."""

from ..cases import DTYPES
from ..checks import check
from ..exports import export_any, make, make_view, need, read
from ..script import NotApplicableError, describe
from .arrays import expect_layout, immutable, layouts, outlived, types

_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # by the codes of DLPack


def _interface(s):
    """interface = x.__array_interface__, and variables of its fields."""
    error = s.tried("interface = x.__array_interface__")
    if error:
        raise NotApplicableError(f"there is no array interface: {describe(error)}")


def _fields(s):
    s.run('(data, readonly), shape = interface["data"], list(interface["shape"])')
    s.run('strides = interface.get("strides")')


@check("array-interface.version", devices=["cpu"])
def version(s):
    make(s)
    _interface(s)
    s.expect('interface["version"] == 3', 'the version is {interface["version"]!r}')
    s.expect('type(interface["shape"]) is tuple', 'the shape is {interface["shape"]!r}')
    strides = 'interface.get("strides")'
    s.expect(f"{strides} is None or type({strides}) is tuple", f"the strides are {{{strides}}}")


@check("array-interface.type", types, devices=["cpu"])
def type_(s, name):
    dtype = DTYPES[name]
    _, places = make_view(s, "plain", dtype)
    _interface(s)
    if dtype.code in _KINDS:
        typestr = f"{'|' if dtype.size == 1 else '<'}{_KINDS[dtype.code]}{dtype.size}"
        seen = f"the typestr of {name} is {{interface['typestr']!r}}"
        s.expect(f"interface['typestr'] == {typestr!r}", seen)
    expected = dtype.encoded(places)
    s.run(f'elements = ctypes.string_at(interface["data"][0], {len(expected)})')
    s.expect(f"elements == {expected}", f"0 … 11 in {name} are {{elements}}")


@check("array-interface.layout", layouts, devices=["cpu"])
def layout(s, name):
    shape, places = make_view(s, name)
    _interface(s)
    _fields(s)
    expect_layout(s, shape, places)


@check("array-interface.read-only", devices=["cpu"])
def read_only(s):
    immutable(s)
    _interface(s)
    s.expect('interface["data"][1]', "the data of a read-only array are not marked as read-only")


@check("array-interface.writable", devices=["cpu"])
def writable(s):
    need(s.adapter.write, "the library's arrays are immutable")
    make(s)
    _interface(s)
    s.expect('not interface["data"][1]', "the data of a writable array are marked as read-only")


@check("array-interface.lifetime", ["1 MiB", "16 bytes"], devices=["cpu"])
def lifetime(s, size):
    def export():
        _interface(s)
        s.run('data = interface["data"][0]')

    outlived(s, size, export, "del interface")


@check("array-interface.dlpack", devices=["cpu"])
def dlpack(s):
    make(s)
    _interface(s)
    export_any(s)
    read(s)
    s.expect(
        'interface["data"][0] == data + byte_offset',
        'the address is {interface["data"][0]:#x}, by __dlpack__() {data + byte_offset:#x}',
    )


@check("cuda-array-interface.absent", devices=["cpu"])
def absent(s):
    make(s)
    device_type, _ = s.evaluate("tuple(x.__dlpack_device__())")
    if device_type != 1:
        raise NotApplicableError("the array is not on the CPU")
    s.expect(
        'not hasattr(x, "__cuda_array_interface__")',
        "an array on the CPU has __cuda_array_interface__",
    )
