"""get_include(): the headers are there, and each can be compiled alone, without a warning."""

import pathlib
import shutil
import sysconfig

import nanobind
import pybind11
import pytest
from installation import run

import dovetail as dt

INCLUDE = pathlib.Path(dt.get_include())
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h"))
# Headers in C++ say so; the others are for C as well.
IN_C = [name for name in HEADERS if "namespace" not in (INCLUDE / name).read_text()]
COMPILERS = [("g++", "c++17"), ("g++", "c++20"), ("clang++-14", "c++17")]
INSTALLED = [pair for pair in COMPILERS if shutil.which(pair[0])]


def check(tmp_path, header, compiler, standard, include=INCLUDE):
    source = tmp_path / "source"
    source.write_text(f'#include "{header}"\nint IsNotEmpty(void);\n')
    libraries = [sysconfig.get_path("include"), nanobind.include_dir(), pybind11.get_include()]
    system = [f"-isystem{directory}" for directory in libraries]
    language = "c" if standard == "c11" else "c++"
    options = [f"-x{language}", f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    run(compiler, *options, "-fsyntax-only", f"-I{include}", f"-I{INCLUDE}", *system, source)


def test_the_headers_are_those_that_the_documentation_names():
    assert {"dlpack/dlpack.h", "dovetail/python/capi.h", "dovetail/python/arg.h"} <= {*HEADERS}
    assert "dovetail/python/casters/nanobind.h" in HEADERS
    assert "dovetail/python/casters/pybind11.h" in HEADERS
    assert "dovetail/kernels.h" in HEADERS
    assert IN_C == [
        "dlpack/dlpack.h",
        "dovetail/core/abi/allocator_abi.h",
        "dovetail/core/abi/backend_abi.h",
        "dovetail/python/borrowed.h",
        "dovetail/python/capi.h",
        "dovetail/python/kernels/kernel_abi.h",
    ]


@pytest.mark.parametrize("header", IN_C)
def test_each_header_in_c_compiles_as_c11(tmp_path, header):
    check(tmp_path, header, "cc", "c11")


@pytest.mark.parametrize(("compiler", "standard"), INSTALLED)
@pytest.mark.parametrize("header", HEADERS)
def test_each_header_compiles_as_cpp(tmp_path, header, compiler, standard):
    check(tmp_path, header, compiler, standard)


def test_no_header_includes_one_that_is_not_there():
    for name in HEADERS:
        text = (INCLUDE / name).read_text()
        # What follows needs Dovetail's C++ library, which Bazel's users have.
        text, _, _ = text.partition("#ifdef DOVETAIL_CAPI_LINKED\n#include")
        for line in text.splitlines():
            if line.startswith('#include "'):
                assert (INCLUDE / line.split('"')[1]).exists(), (name, line)


def test_an_older_dlpack_header_of_another_library_is_named(tmp_path):
    (tmp_path / "dlpack").mkdir()
    (tmp_path / "dlpack" / "dlpack.h").write_text("#define DLPACK_VERSION 80\n")
    with pytest.raises(
        AssertionError, match=r"dlpack\.h is older than 1\.0: put dovetail\.get_incl"
    ):
        check(tmp_path, "dovetail/python/capi.h", "cc", "c11", include=tmp_path)


USES = {
    "a read-only argument": "auto wanted = Arg<const Own>::kRequirements;",
    "an argument": "auto wanted = Arg<Own, Rank<1>>::kRequirements;",
    "Empty": "OwnedTensor Made() { return OwnedTensor::Empty<Own>({2}); }",
    "Wrap": "OwnedTensor Made() { return OwnedTensor::Wrap(std::vector<Own>(2), {2}); }",
}


def check_own_type(tmp_path, use, dtype):
    header = tmp_path / "own.h"
    header.write_text(f"""
        #include "dovetail/python/owned_tensor.h"
        struct Own {{ unsigned char byte; }};
        template <> struct dovetail::DLPackType<Own> {{
          static constexpr DLDataType value = {dtype};
        }};
        using namespace dovetail;
        {USES[use]}""")
    check(tmp_path, header, "g++", "c++17")


@pytest.mark.parametrize("use", USES)
def test_an_element_type_of_another_size_than_its_dlpack_type_does_not_compile(tmp_path, use):
    check_own_type(tmp_path, use, "{kDLInt, 4, 2}")
    for dtype in ("{kDLInt, 4, 1}", "{kDLFloat, 32, 1}"):
        with pytest.raises(AssertionError, match="has another size than T"):
            check_own_type(tmp_path, use, dtype)
