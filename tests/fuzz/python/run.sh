#!/usr/bin/env bash
# Fuzzes the Python package with Atheris: tests/fuzz/python/run.sh [OPTION OF LIBFUZZER…]
#
#   tests/fuzz/python/run.sh -max_total_time=600     # default: 60 seconds
#
# Atheris and the wheel are in an environment of their own, ~/.cache/dovetail/environments/atheris. Inputs that reach new
# code are kept in ~/.cache/dovetail/fuzz/doors_fuzz. $DOVETAIL_PYTHON names the Python (default: python3), which must be
# one that requirements.txt has a wheel for: CPython 3.11 on x86-64.
set -euo pipefail
cd "$(dirname "$0")/../../.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/dovetail
environment=$cache/environments/atheris
pins=tests/fuzz/python/requirements.txt
pip=("$environment/bin/python" -m pip --quiet --no-input --disable-pip-version-check)

./bazelw build //python:wheel
wheel=$(ls -t "$PWD"/bazel-bin/python/dovetail-*.whl | head -n 1)
if ! cmp --silent "$pins" "$environment/made_from.txt"; then
  rm -rf "$environment"
  "${DOVETAIL_PYTHON:-python3}" -m venv "$environment"
  "${pip[@]}" install --only-binary=:all: --require-hashes --requirement "$pins"
  cp "$pins" "$environment/made_from.txt"
fi
"${pip[@]}" install --no-deps --force-reinstall "$wheel"

found=$cache/fuzz/doors_fuzz
mkdir -p "$found"
exec "$environment/bin/python" tests/fuzz/python/doors_fuzz.py -max_total_time=60 -max_len=400 -len_control=0 \
  "-artifact_prefix=$found." "$@" "$found"
