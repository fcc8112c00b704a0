"""The doctor's look at the machine: GPUs and drivers, shared memory, processors."""

import os
import types

import pytest

from dovetail.doctor import driver, processors, shared_memory, system
from dovetail.doctor.child import Answer
from dovetail.doctor.finding import FACT, FAULT, HINT

MIB = 1 << 20
NO_DRIVER = "no NVIDIA driver that can be used: libcuda.so.1: cannot open shared object file"


def plant(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def only(findings):
    (finding,) = findings
    return finding


def with_gpu(root, vendor="0x10de", kind="0x030200"):
    device = "sys/bus/pci/devices/0000:01:00.0"
    plant(root, {f"{device}/vendor": f"{vendor}\n", f"{device}/class": f"{kind}\n"})


def test_a_gpu_without_a_driver_is_a_fault(tmp_path):
    with_gpu(tmp_path)
    found = only(driver.check({"cpu": 1, "cuda": NO_DRIVER}, root=tmp_path))
    assert (found.level, found.text) == (FAULT, f"cuda: this machine has a GPU, and {NO_DRIVER}")
    assert found.remedy == "install NVIDIA's driver"


def test_a_driver_that_a_container_lacks_is_a_fault(tmp_path):
    plant(tmp_path, {"proc/driver/nvidia/version": "NVRM"})
    found = only(driver.check({"cuda": NO_DRIVER}, root=tmp_path))
    assert found.level == FAULT and "--gpus all" in found.remedy


@pytest.mark.parametrize(("vendor", "kind"), [("0x8086", "0x030000"), ("0x10de", "0x0c0330")])
def test_no_gpu_is_no_fault(tmp_path, vendor, kind):
    with_gpu(tmp_path, vendor, kind)
    found = only(driver.check({"cuda": NO_DRIVER}, root=tmp_path))
    assert (found.level, found.text) == (FACT, "cuda: no NVIDIA GPU in this machine")


@pytest.mark.parametrize(
    "reason",
    [
        "the NVIDIA driver is too old: CUDA 10.2",
        "no NVIDIA driver that can be used: x lacks cuInit",
    ],
)
def test_a_driver_that_is_too_old_is_a_fault(tmp_path, reason):
    found = only(driver.check({"cuda": reason}, root=tmp_path))
    assert (found.level, found.remedy) == (FAULT, "update NVIDIA's driver")


def test_gpus_that_the_environment_hides_are_a_hint(tmp_path, monkeypatch):
    with_gpu(tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    found = only(driver.check({"cuda": "the driver offers no device"}, root=tmp_path))
    assert found.level == HINT and "CUDA_VISIBLE_DEVICES" in found.remedy


def test_an_amd_gpu_is_told_from_nvidia_s(tmp_path):
    with_gpu(tmp_path, "0x1002", "0x120000")
    levels = [one.level for one in driver.check({"cuda": "none", "rocm": "none"}, root=tmp_path)]
    assert levels == [FACT, FAULT]


def test_a_pytorch_that_cannot_use_the_driver_is_a_fault(tmp_path):
    torch = {"built": "13.0", "available": False}
    fact, fault = driver.check({"cuda": 1}, torch, tmp_path)
    assert (fact.level, fact.text) == (FACT, "cuda: 1 device")
    assert fault.level == FAULT and "built for CUDA 13.0" in fault.text
    assert len(driver.check({"cuda": 2}, {"built": "13.0", "available": True}, tmp_path)) == 1
    assert len(driver.check({"cuda": NO_DRIVER}, torch, tmp_path)) == 1


def test_the_file_of_the_driver_is_named():
    found = only(driver.check({"rocm": 1}, files={"rocm": ["/opt/rocm/lib/libamdhip64.so.6"]}))
    assert found.text == "rocm: 1 device, /opt/rocm/lib/libamdhip64.so.6"


def test_a_chosen_driver_that_cannot_be_used_is_a_fault(tmp_path):
    reason = "DOVETAIL_CUDA_LIBRARY names a library that can't be opened: /x: No such file"
    found = only(driver.check({"cuda": reason}, root=tmp_path))
    assert found.level == FAULT and "DOVETAIL_CUDA_LIBRARY" in found.remedy


def test_two_copies_of_a_driver_in_one_process_are_a_fault():
    files = {"cpu": [], "cuda": ["/usr/lib/libcuda.so.1"], "rocm": ["/a.so.6", "/torch/a.so"]}
    answers = {"torch": Answer({"library_files": files}), "cupy": Answer(None, "broken")}
    found = only(driver.check_copies(answers))
    assert found.level == FAULT and found.remedy.startswith("import torch before")
    assert "/torch/a.so; " in found.text and "/a.so.6, which Dovetail uses" in found.text


def of_size(size, free):
    return lambda _: types.SimpleNamespace(
        f_frsize=4096, f_blocks=size // 4096, f_bavail=free // 4096
    )


@pytest.mark.parametrize(
    ("size", "free", "level", "word"),
    [
        (1024 * MIB, 1000 * MIB, FACT, "has 1,024 MiB"),
        (64 * MIB, 64 * MIB, FAULT, "is small"),
        (1024 * MIB, 8 * MIB, FAULT, "is full"),
    ],
)
def test_little_shared_memory_is_a_fault(tmp_path, size, free, level, word):
    found = only(shared_memory.check(tmp_path, of_size(size, free)))
    assert found.level == level and word in found.text
    assert bool(found.remedy) == (level == FAULT)


def test_missing_shared_memory_is_a_fault(tmp_path):
    found = only(shared_memory.check(tmp_path / "shm"))
    assert found.level == FAULT and "does not exist" in found.text


def test_shared_memory_that_cannot_be_written_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    found = only(shared_memory.check(tmp_path))
    assert found.level == FAULT and "can't be written" in found.text


V2 = {"proc/self/cgroup": "0::/a/b\n"}
V1 = {"proc/self/cgroup": "3:cpuset:/\n2:cpu,cpuacct:/a\n0::/\n"}
CGROUPS = {
    "none": ({}, None),
    "unlimited": ({**V2, "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, None),
    "limited": ({**V2, "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n"}, 1.5),
    "limited above": (
        {
            **V2,
            "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
            "sys/fs/cgroup/a/cpu.max": "200000 100000\n",
        },
        2,
    ),
    "in a container": ({**V2, "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3),
    "version 1": (
        {
            **V1,
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "50000\n",
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n",
        },
        0.5,
    ),
    "version 1, unlimited": (
        {
            **V1,
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n",
        },
        None,
    ),
}


@pytest.mark.parametrize("name", CGROUPS)
def test_the_limit_of_a_cgroup_is_read(tmp_path, name):
    files, limit = CGROUPS[name]
    plant(tmp_path, files)
    assert processors.quota(tmp_path) == limit


def test_more_threads_than_the_cgroup_allows_are_a_fault(tmp_path):
    plant(tmp_path, CGROUPS["limited"][0])
    found = only(processors.check(64, tmp_path))
    assert (found.level, found.remedy) == (FAULT, "dovetail.set_num_threads(2)")
    assert only(processors.check(2, tmp_path)).level == FACT
    assert only(processors.check(64, tmp_path / "no limit")).level == FACT


def test_python_and_the_c_library_are_facts():
    findings = system.check()
    assert {one.level for one in findings} == {FACT}
    assert any("Python" in one.text for one in findings)
