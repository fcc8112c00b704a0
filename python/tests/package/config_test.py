"""dovetail.show_config(): what it tells of the build, the machine and the settings."""

import platform
import sys

import pytest
from process import run_python

import dovetail as dt

HEADINGS = ["dovetail", "build", "simd", "backends", "python", "settings"]


def test_it_returns_a_dict_for_each_heading_and_prints_nothing(capsys):
    config = dt.show_config(mode="dicts")
    assert list(config) == HEADINGS
    assert capsys.readouterr().out == ""


def test_it_prints_every_heading_and_fact(capsys):
    assert dt.show_config() is None
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == HEADINGS
    names = [line.split()[0] for line in lines if line.startswith(" ")]
    assert names == [name for facts in dt.show_config(mode="dicts").values() for name in facts]


def test_another_mode_is_an_error_that_names_the_modes():
    with pytest.raises(ValueError, match="'stdout' or 'dicts', not 'json'"):
        dt.show_config(mode="json")


def test_versions_are_those_of_the_package_and_of_its_interfaces():
    facts = dt.show_config(mode="dicts")["dovetail"]
    assert (facts["version"], facts["dlpack"]) == (dt.__version__, dt.dlpack_version)
    assert facts["c_api"][0] == facts["backend_abi"][0] == 1
    assert facts["abi_namespace"] == "v0"


def test_the_level_in_use_is_the_last_compiled_one_that_the_processor_has():
    simd = dt.show_config(mode="dicts")["simd"]
    if platform.machine() == "aarch64":
        assert simd == {"compiled": ["neon"], "in_use": "neon"}
        return
    assert simd["compiled"] == ["sse2", "ssse3", "avx2", "avx512", "avx512_vbmi"]
    with open("/proc/cpuinfo") as file:
        flags = next(line for line in file if line.startswith("flags")).split()
    has = {
        "sse2": {"sse2"},
        "ssse3": {"ssse3"},
        "avx2": {"avx2", "fma", "f16c", "bmi2"},
        "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
        "avx512_vbmi": {"avx512vbmi"},
    }
    in_use = simd["compiled"].index(simd["in_use"])
    for name in simd["compiled"][: in_use + 1]:
        assert has[name] <= set(flags)
    if in_use + 1 < len(simd["compiled"]):
        assert not has[simd["compiled"][in_use + 1]] <= set(flags)


def test_backends_have_their_devices_or_the_reason_why_they_have_none():
    backends = dt.show_config(mode="dicts")["backends"]
    assert backends == dt.backends()
    assert backends["cpu"] == 1


def test_python_is_the_one_that_runs():
    facts = dt.show_config(mode="dicts")["python"]
    assert facts["version"] == platform.python_version()
    assert facts["gil_enabled"] == getattr(sys, "_is_gil_enabled", lambda: True)()


def test_settings_are_those_of_the_environment():
    code = """
        import dovetail as dt
        dt.set_num_threads(3)
        settings = dt.show_config(mode="dicts")["settings"]
        print(settings.pop("num_threads"), *settings.values())
    """
    assert run_python(
        code,
        DOVETAIL_BACKENDS="cpu",
        DOVETAIL_CPU_CACHE_BYTES="1M",
        DOVETAIL_CPU_LARGE_CACHE_BYTES="0",
        DOVETAIL_ONEAPI_LIBRARY="none.so",
    ).split() == ["3", "cpu", "1M", "0", "None", "None", "none.so", "None", "None"]
