"""The build backend that pip calls for a source distribution or a checkout (PEP 517).

    pip install dovetail_dlpack-0.1.0.tar.gz
    pip wheel . --config-settings=bazel="--config=manylinux_x86_64 --disk_cache=/tmp/disk"

It runs `./bazelw build //python:wheel`, which needs Bazel and a C++20 compiler. What is missing is
named, but not installed. The build fetches its dependencies, as bazelw says, and leaves nothing
behind but the wheel.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import sdist

_FAILED = """dovetail: the build by Bazel failed; its messages are above. Wheels of dovetail-dlpack
need no build; docs/support.md lists the Pythons and processors that have one."""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    scratch = tempfile.mkdtemp(prefix="dovetail-")
    try:
        built = _build(f"{scratch}/bazel", shlex.split((config_settings or {}).get("bazel", "")))
        wheel = pathlib.Path(shutil.copy(built, wheel_directory))
    finally:
        subprocess.run(["chmod", "-R", "u+w", scratch], check=False)  # Bazel's are read-only
        shutil.rmtree(scratch, ignore_errors=True)
    wheel.chmod(0o644)
    return wheel.name


def build_sdist(sdist_directory, config_settings=None):
    return sdist.make(sdist_directory, sdist.metadata()).name


def _build(output_base, options):
    """The path of the wheel for the Python that runs this."""
    bazel = ["./bazelw", f"--output_base={output_base}", "--max_idle_secs=15"]
    build = ["--symlink_prefix=/", f"--repo_env=DOVETAIL_PYTHON={sys.executable}", *options]
    settings = dict(os.environ, DOVETAIL_NO_INSTALL="1")
    settings.pop("PYTHONPATH", None)  # pip's, which is not for the programs of the build

    def run(*command, **more):
        words = [*bazel, *command]
        return subprocess.run(words, cwd=sdist.ROOT, env=settings, text=True, **more)

    try:
        run("build", "//python:wheel", *build, check=True)
        information = run("info", "bazel-bin", *build, check=True, stdout=subprocess.PIPE)
    except subprocess.CalledProcessError:
        raise SystemExit(_FAILED) from None
    finally:
        run("shutdown", check=False)
    [wheel] = pathlib.Path(information.stdout.strip(), "python").glob("dovetail_dlpack-*.whl")
    return wheel
