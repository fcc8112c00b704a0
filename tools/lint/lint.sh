#!/usr/bin/env bash
# Starts lint.py with the tools' own Python: lint.sh [arguments of lint.py].
set -euo pipefail
runfiles=$PWD
tools=$runfiles/../dovetail_lint/bin
exec "$tools/python" "$runfiles/tools/lint/lint.py" --tools="$tools" "$@"
