"""The engines' packages, in an environment of their own: engines.lock, with pins and hashes.

It is made at the first use, in $DOVETAIL_ENVIRONMENTS or ~/.cache/dovetail/environments. Its
packages come after those of the benchmark, which has PyTorch and NumPy. (engines.lock is made from
engines.in as third_party/python/requirements.in says.)
"""

import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import venv

LOCK = pathlib.Path(__file__).with_name("engines.lock")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")


def use():
    """Make the environment if it is not there, and let this process and its children import it."""
    directory = pathlib.Path(
        os.environ.get("DOVETAIL_ENVIRONMENTS") or CACHE / "dovetail" / "environments", "carriage"
    )
    made_from = directory / "made_from.lock"
    if not made_from.exists() or not filecmp.cmp(LOCK, made_from, shallow=False):
        print(f"Installing the engines of {LOCK.name} in {directory}", file=sys.stderr)
        venv.EnvBuilder(clear=True, with_pip=True).create(directory)
        command = [directory / "bin/python", "-m", "pip", "--quiet", "--no-input", "install"]
        command += ["--only-binary=:all:", "--require-hashes", f"--requirement={LOCK}"]
        subprocess.run(command, check=True, stdout=sys.stderr, env=_without_paths())
        shutil.copy(LOCK, made_from)
    (packages,) = directory.glob("lib/python*/site-packages")
    sys.path.append(str(packages))
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    os.environ["PATH"] = f"{directory / 'bin'}{os.pathsep}{os.environ['PATH']}"


def _without_paths():
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
