#!/usr/bin/env bash
# Fuzzes the Python package with Atheris: tests/fuzz/python/run.sh [OPTION OF LIBFUZZER…]
#
#   tests/fuzz/python/run.sh -max_total_time=600     # default: 60 seconds
#
# Atheris and the wheel are in an environment of their own (tests/wheel_environment.sh). Inputs that reach new code are
# kept in ~/.cache/dovetail/fuzz/doors_fuzz. The Python must be one that requirements.lock has a wheel for: CPython 3.11
# on x86-64.
set -euo pipefail
cd "$(dirname "$0")/../../.."

environment=$(tests/wheel_environment.sh atheris tests/fuzz/python/requirements.lock)
found=${XDG_CACHE_HOME:-$HOME/.cache}/dovetail/fuzz/doors_fuzz
mkdir -p "$found"
exec "$environment/bin/python" tests/fuzz/python/doors_fuzz.py -max_total_time=60 -max_len=400 -len_control=0 \
  "-artifact_prefix=$found." "$@" "$found"
