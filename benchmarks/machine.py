"""The machine that a Python benchmark runs on, and the processors that it uses.

context = machine.describe(["numpy", "torch"])   # what one must know of it to judge a time
machine.use_threads(1)                           # pinned to one processor
"""

import datetime
import importlib.metadata
import os
import pathlib
import platform
import sys

ALLOWED = os.sched_getaffinity(0)  # before the first call of use_threads()
_GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"


def use_threads(count):
    """Make Dovetail and PyTorch, if they are imported, use `count` threads each.

    One thread is pinned to the last processor that the process may use, because the first often
    serves interrupts. Several may use every processor. (A thread that is started later inherits the
    processors of the thread that starts it.)
    """
    for name in ("dovetail", "torch"):
        if library := sys.modules.get(name):
            library.set_num_threads(count)
    os.sched_setaffinity(0, {max(ALLOWED)} if count == 1 else ALLOWED)


def processor():
    """Return the processor's name."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def describe(packages):
    """Return the `context` of Google Benchmark's JSON format, and the versions of packages."""
    governor = _governor()
    context = {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "host_name": platform.node(),
        "executable": sys.argv[0],
        "num_cpus": os.cpu_count(),
        "processor": processor(),
        "processors_usable": str(len(ALLOWED)),
        "frequency_governor": governor,
        "cpu_scaling_enabled": governor not in ("unknown", "performance"),
        "load_avg": list(os.getloadavg()),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }
    for package in packages:
        try:
            context[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            context[package] = "not installed"
    return context


def report(context):
    """Print the context to stderr, and warn if the frequency is scaled or the machine is busy."""
    for key, value in context.items():
        if key not in ("executable", "host_name"):
            print(f"{key}: {value}", file=sys.stderr)
    if context["cpu_scaling_enabled"]:
        _warn("CPU scaling is enabled: the processor's frequency, and with it times, will vary.")
    if context["load_avg"][0] > 0.5 * len(ALLOWED):
        _warn(
            f"The load average of the last minute is {context['load_avg'][0]:.1f}: if other "
            "programs still run, times are not to be trusted."
        )


def _warn(text):
    print(f"***WARNING*** {text}", file=sys.stderr)


def _governor():
    try:
        return pathlib.Path(_GOVERNOR).read_text().strip()
    except OSError:
        return "unknown"
