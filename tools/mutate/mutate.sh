#!/usr/bin/env bash
# Starts mutate.py with the Python that has libclang's bindings: mutate.sh PYTHON [arguments of mutate.py].
set -euo pipefail
if [[ ! -e /usr/lib/llvm-19/lib/libclang-19.so.1 ]]; then
  echo "mutate: libclang 19 is missing: apt-get install libclang1-19" >&2
  exit 1
fi
python=$PWD/../${1#external/} # the path of another repository's file is external/REPOSITORY/…
shift
exec "$python" "$PWD/tools/mutate/mutate.py" "$@"
