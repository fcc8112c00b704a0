#!/usr/bin/env bash
# Tests the wheel against libraries that can't share the environment of the other Python tests:
#
#   tests/other_libraries/run.sh                # all of them
#   tests/other_libraries/run.sh tensorflow     # one
#
# Each has its packages in pins/NAME.in, the pins and hashes of all in pins/NAME.lock (made as
# third_party/python/requirements.in says), and tests in NAME_test.py and NAME_*_test.py. The environments are those of
# tests/wheel_environment.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."

here=tests/other_libraries
if (($#)); then
  names=("$@")
else
  names=()
  for pins in "$here"/pins/*.lock; do names+=("$(basename "$pins" .lock)"); done
fi
for name in "${names[@]}"; do
  [[ -e $here/pins/$name.lock ]] || { echo "run.sh: there is no $here/pins/$name.lock" >&2 && exit 1; }
done

# Emulated GPUs, for tests that ask for them, and what runs beside oneapi_test.py.
./bazelw build //tests/emulator/python:emulated_gpu //tests/oneapi:conformance_test >&2
export DOVETAIL_ONEAPI_CONFORMANCE=$PWD/bazel-bin/tests/oneapi/conformance_test
path=$PWD/$here:$PWD/python/tests/testing:$PWD/bazel-bin/tests/emulator/python

failed=()
for name in "${names[@]}"; do
  echo "== $name"
  directory=$(tests/wheel_environment.sh "$name" "$here/pins/$name.lock")
  # From another directory, and with nothing of the source tree but tests and emulated GPUs on the path: the wheel
  # is tested.
  tests=("$PWD/$here/${name}"_*test.py)
  (cd "$directory" && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$path bin/python -m pytest -q -p no:cacheprovider \
    --rootdir="$directory" --import-mode=importlib "${tests[@]}") || failed+=("$name")
done
((${#failed[@]} == 0)) || { echo "run.sh: failed: ${failed[*]}" >&2 && exit 1; }
