"""Python, the C library and the processor."""

import platform
import sys
import sysconfig

from .finding import FACT, Finding


def check():
    gil = "without the GIL" if sysconfig.get_config_var("Py_GIL_DISABLED") else "with the GIL"
    python = f"{platform.python_implementation()} {platform.python_version()}, {gil}"
    library = " ".join(platform.libc_ver()) or "a C library that is not glibc"
    machine = f"{platform.system()} {platform.release()} on {platform.machine()}, {library}"
    return [
        Finding(FACT, "system", f"{python}: {sys.executable}"),
        Finding(FACT, "system", machine),
    ]
