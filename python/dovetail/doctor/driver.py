"""GPUs, their drivers, and what Dovetail and PyTorch make of both."""

import os
import pathlib

from .finding import FACT, FAULT, HINT, Finding

# For each backend: its vendor, the vendor's number on the PCI bus, files that the driver makes.
_VENDORS = {
    "cuda": ("NVIDIA", "0x10de", ("dev/nvidiactl", "proc/driver/nvidia/version")),
    "rocm": ("AMD", "0x1002", ("dev/kfd",)),
}
_VISIBLE = {"cuda": "CUDA_VISIBLE_DEVICES", "rocm": "ROCR_VISIBLE_DEVICES"}
_CHOICE = {"cuda": "DOVETAIL_CUDA_LIBRARY", "rocm": "DOVETAIL_ROCM_LIBRARY"}


def check(backends, torch=None, root=pathlib.Path("/"), files=None):
    """Look at each GPU backend.

    `backends` is what dt.backends() says, `torch` what PyTorch's probe says of CUDA, `files` the
    files of each backend's driver.
    """
    found = []
    for name, devices in backends.items():
        if name in _VENDORS:
            found.append(_backend(name, devices, root, (files or {}).get(name)))
    if torch and not torch["available"] and isinstance(backends.get("cuda"), int):
        text = f"PyTorch is built for CUDA {torch['built']} and can't use the NVIDIA driver"
        remedy = "update the driver, or install a PyTorch for an older CUDA (https://pytorch.org)"
        found.append(Finding(FAULT, "driver", text, remedy))
    return found


def check_copies(answers):
    """Find drivers that are loaded twice in the process of another library's probe."""
    found = []
    for module, answer in answers.items():
        for name, files in ((answer.values or {}).get("library_files") or {}).items():
            if name in _CHOICE and len(files) > 1:
                others = ", ".join(files[1:])
                text = f"{name}: {module} comes with a second copy of the driver, {others}; "
                text += f"its memory is not that of {files[0]}, which Dovetail uses"
                remedy = f"import {module} before Dovetail's first use of a GPU"
                remedy += f", and unset {_CHOICE[name]}"
                found.append(Finding(FAULT, "driver", text, remedy))
    return found


def _backend(name, devices, root, loaded):
    vendor, number, files = _VENDORS[name]
    if isinstance(devices, int):
        text = f"{name}: {devices} device" + "s" * (devices != 1)
        return Finding(FACT, "driver", f"{text}, {loaded[0]}" if loaded else text)
    if _CHOICE[name] in devices:
        remedy = f"name another file by {_CHOICE[name]}, or unset it"
        return Finding(FAULT, "driver", f"{name}: {devices}", remedy)
    if "too old" in devices or " lacks " in devices:
        return Finding(FAULT, "driver", f"{name}: {devices}", f"update {vendor}'s driver")
    if not _has_gpu(root, number) and not any((root / file).exists() for file in files):
        return Finding(FACT, "driver", f"{name}: no {vendor} GPU in this machine")
    text = f"{name}: this machine has a GPU, and {devices}"
    if os.environ.get(_VISIBLE[name]) in ("", "-1"):
        return Finding(HINT, "driver", text, f"unset {_VISIBLE[name]}, which hides all GPUs")
    if any((root / file).exists() for file in files):
        remedy = "in a container: start it with the GPU (docker run --gpus all; for AMD, --device)"
    else:
        remedy = f"install {vendor}'s driver"
    return Finding(FAULT, "driver", text, remedy)


def _has_gpu(root, vendor):
    """Whether a display or accelerator of the vendor is on the PCI bus."""
    for device in (root / "sys/bus/pci/devices").glob("*"):
        try:
            kind = (device / "class").read_text()
            if (device / "vendor").read_text().strip() == vendor and kind.startswith(
                ("0x03", "0x12")
            ):
                return True
        except OSError:
            continue
    return False
