"""symbols.py: what it reads of shared objects, and what it objects to."""

import pathlib
import subprocess

import pytest
import symbols

# What the module may take of this machine's glibc by a newer version: glibc 2.28 has these, too,
# by an older version or in another library, or they are looked for at run time.
OLDER = {
    "dladdr",
    "dlclose",
    "dlerror",
    "dlinfo",
    "dlopen",
    "dlsym",
    "fstat",
    "log2",
    "lstat",
    "pthread_getspecific",
    "pthread_key_create",
    "pthread_mutex_trylock",
    "pthread_once",
    "pthread_setspecific",
    "pthread_sigmask",
    "stat",
    "__libc_single_threaded",
}

ENTRY = "void PyInit_module(void) {}\n"


@pytest.fixture
def module(tmp_path):
    def module(code, *flags):
        """What symbols.py reads of a shared object that is compiled from C."""
        source = tmp_path / "module.c"
        source.write_text(code)
        output = tmp_path / "module.so"
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", output, *flags], check=True)
        return symbols.read(output)

    return module


def test_a_module_that_exports_its_entry_point_alone_has_no_problem(module):
    assert symbols.problems(module(ENTRY)) == []


def test_another_export_is_a_problem(module):
    found = symbols.problems(module(ENTRY + "int leaked = 1; void leaks(void) {}"))
    assert found == ["exports leaked", "exports leaks"]


def test_a_module_without_an_entry_point_is_a_problem(module):
    assert symbols.problems(module("static int x;")) == ["exports no entry point"]


def test_functions_of_python_may_be_missing_and_others_may_not(module):
    python = "void PyObject_Free(void *); void f(void);\n"
    good = module(python + "void PyInit_module(void) { PyObject_Free(0); }")
    assert symbols.problems(good) == []
    bad = module(python + "void PyInit_module(void) { f(); }")
    assert symbols.problems(bad) == ["takes f, which no known library has"]


def test_a_newer_glibc_than_the_oldest_is_a_problem(module):
    # pthread_cond_clockwait came with glibc 2.30.
    call = (
        "int pthread_cond_clockwait(void); int PyInit_m(void) { return pthread_cond_clockwait(); }"
    )
    newer = module(call)
    assert symbols.newest_glibc(newer) >= (2, 30)
    assert any(one.startswith("needs glibc 2.") for one in symbols.problems(newer, glibc=(2, 28)))
    assert symbols.problems(newer, glibc=symbols.newest_glibc(newer)) == []


def test_another_library_and_a_path_to_look_for_it_are_problems(module):
    found = symbols.problems(module(ENTRY, "-Wl,--no-as-needed", "-lstdc++", "-Wl,-rpath,/opt/x"))
    assert found == ["needs libstdc++.so.6", "looks for libraries in /opt/x"]


def test_the_extension_module_of_this_build_has_no_problem_but_its_standard_library():
    [path] = pathlib.Path("python/dovetail").glob("_core*.so")
    module = symbols.read(path)
    assert module.exports == {"PyInit__core"}
    assert symbols.problems(module) in ([], ["needs libstdc++.so.6"])


def test_the_extension_module_takes_no_function_that_glibc_2_28_lacks():
    [path] = pathlib.Path("python/dovetail").glob("_core*.so")
    imports = symbols.read(path).imports
    newer = {name for name, version in imports.items() if symbols.glibc_of(version) > (2, 28)}
    assert {name for name in newer - OLDER if not name.startswith("__isoc23_")} == set()
