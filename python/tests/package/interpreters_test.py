"""Free-threaded Pythons, subinterpreters, and a second import: where the extension module loads."""

import sys
import sysconfig

import pytest
from process import run_python

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

# Runs code in a new interpreter of each kind that this Python has, and prints what it printed.
IN_SUBINTERPRETERS = """
    import sys
    inner = '''
    import sys
    sys.path[:] = {path!r}
    try:
        import dovetail
        print("loaded", flush=True)
    except ImportError as error:
        print(error, flush=True)
    '''
    if sys.version_info >= (3, 13):
        import _interpreters
        made = [_interpreters.create(config) for config in ("legacy", "isolated")]
        def run(interpreter):
            assert _interpreters.exec(interpreter, inner) is None
    else:
        import _xxsubinterpreters
        if sys.version_info >= (3, 12):
            made = [_xxsubinterpreters.create(isolated=isolated) for isolated in (False, True)]
        else:
            made = [_xxsubinterpreters.create()]
        def run(interpreter):
            assert _xxsubinterpreters.run_string(interpreter, inner) is None
"""


@pytest.mark.skipif(not FREE_THREADED, reason="this Python has a GIL")
def test_an_import_leaves_the_gil_disabled():
    printed = run_python("""
        import sys
        import warnings
        warnings.simplefilter("error")  # CPython warns of a module that needs the GIL
        import dovetail
        print(sys._is_gil_enabled())
    """)
    assert printed == "False\n"


def interpreters(code):
    return run_python(IN_SUBINTERPRETERS.format(path=sys.path) + code).splitlines()


def test_a_subinterpreter_refuses_the_module_and_says_what_to_do():
    printed = interpreters("""
    for interpreter in made:
        run(interpreter)
    print(len(made))
    """)
    assert len(printed) == int(printed[-1]) + 1
    for line in printed[:-1]:
        assert line.startswith("dovetail can't be imported in a subinterpreter"), line
        assert "Use it in the main interpreter" in line


def test_the_main_interpreter_goes_on_after_a_subinterpreter_tried():
    printed = interpreters("""
    for interpreter in made:
        run(interpreter)
    import dovetail as dt
    t = dt.tensor([1, 2])
    for interpreter in made:
        run(interpreter)
    print(dt.from_dlpack(t).tolist(), dt.Device("cpu"), dt.float32)
    """)
    assert printed[-1] == "[1, 2] cpu dovetail.float32"
    assert "loaded" not in printed


def test_a_second_import_gives_the_same_classes():
    printed = run_python("""
        import sys
        import warnings
        warnings.simplefilter("error")  # nanobind warns of a class that is registered twice
        import dovetail as first
        t = first.tensor([1, 2])
        for name in [name for name in sys.modules if name.startswith("dovetail")]:
            del sys.modules[name]
        import dovetail as second
        print(first._core is second._core, first.ExchangeError is second.ExchangeError)
        print(isinstance(t, second.Tensor), second.from_dlpack(t).dtype is first.int64)
    """)
    assert printed == "True True\nTrue True\n"
