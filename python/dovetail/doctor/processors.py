"""Threads for copies, and the limit that a container sets on processors."""

import math
import pathlib

from .finding import FACT, FAULT, Finding


def check(threads, root=pathlib.Path("/")):
    """`threads` is what dt.get_num_threads() says."""
    limit = quota(root)
    said = f"{threads} thread" + ("" if threads == 1 else "s")
    if limit is None:
        return [Finding(FACT, "processors", f"{said} for large copies; no limit by a cgroup")]
    text = f"{said} for large copies, and the cgroup allows {limit:g} processors"
    fitting = max(math.ceil(limit), 1)
    if threads > fitting:
        reason = f"{text}: the kernel stops all threads when they have used that up"
        return [Finding(FAULT, "processors", reason, f"dovetail.set_num_threads({fitting})")]
    return [Finding(FACT, "processors", text)]


def quota(root):
    """Return how many processors this process's cgroups allow; None if there is no limit."""
    limits = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            folders = _upwards(root / "sys/fs/cgroup", path)
            limits += [_ratio(*_read(folder / "cpu.max").split()) for folder in folders]
        elif "cpu" in controllers.split(","):
            for folder in _upwards(root / "sys/fs/cgroup" / controllers, path):
                names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
                limits.append(_ratio(*(_read(folder / name).strip() for name in names)))
    return min((limit for limit in limits if limit is not None), default=None)


def _upwards(mount, path):
    """The cgroup's folder and those around it. In a container the path may be the host's."""
    folder = mount / path.strip("/")
    return [folder, *(parent for parent in folder.parents if parent.is_relative_to(mount))]


def _ratio(quota="max", period="100000"):
    is_number = quota.isdigit() and period.isdigit()  # "max" and -1 are none
    return int(quota) / int(period) if is_number and int(period) else None


def _read(path):
    try:
        return path.read_text()
    except OSError:
        return ""
