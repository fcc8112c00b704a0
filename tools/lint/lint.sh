#!/usr/bin/env bash
# Starts lint.py with the tools' own Python: lint.sh PYTHON [arguments of lint.py].
set -euo pipefail
runfiles=$PWD
tools=$(dirname "$runfiles/../${1#external/}") # the path of another repository's file is external/REPOSITORY/…
shift
exec "$tools/python" "$runfiles/tools/lint/lint.py" --tools="$tools" "$@"
