#!/usr/bin/env bash
# Builds the wheel and prints the folder of a virtual environment that has it: wheel_environment.sh NAME PINS
#
# PINS is a lock file with hashes. The environment has its packages and no others, is kept in
# $DOVETAIL_ENVIRONMENTS/NAME (default: ~/.cache/dovetail/environments/NAME), and is made again when the pins change.
# $DOVETAIL_PYTHON names the Python (default: python3).
set -euo pipefail
cd "$(dirname "$0")/.."

directory=${DOVETAIL_ENVIRONMENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/dovetail/environments}/$1
pins=$2
install=("$directory/bin/python" -m pip --quiet --no-input --disable-pip-version-check install)

./bazelw build //python:wheel >&2
wheel=$(ls -t "$PWD"/bazel-bin/python/dovetail_dlpack-*.whl | head -n 1) # another version may have left its own
if ! cmp --silent "$pins" "$directory/pins.lock"; then
  rm -rf "$directory"
  "${DOVETAIL_PYTHON:-python3}" -m venv "$directory"
  "${install[@]}" --only-binary=:all: --no-deps --require-hashes --requirement "$pins" >&2
  cp "$pins" "$directory/pins.lock"
fi
"${install[@]}" --no-deps --force-reinstall "$wheel" >&2
echo "$directory"
