"""Starts the Python interpreter with the program's import path, in the user's current directory.

`./bazelw run //python:interpreter -- script.py argument…` is this program.
"""

import os
import sys


def main() -> None:
    path = [entry for entry in sys.path[1:] if ".runfiles" in entry]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", os.getcwd()))
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])


if __name__ == "__main__":
    main()
