#!/usr/bin/env bash
# Tests the wheel against libraries that can't share the environment of the other Python tests:
#
#   tests/other_libraries/run.sh                # all of them
#   tests/other_libraries/run.sh tensorflow     # one
#
# Each has its packages in NAME.in, the pins and hashes of all in NAME.lock (made as third_party/python/requirements.in
# says), and tests in NAME_test.py. The virtual environments are kept in $DOVETAIL_ENVIRONMENTS (default:
# ~/.cache/dovetail/environments), and made again when the pins change.
# $DOVETAIL_PYTHON names the Python (default: python3).
set -euo pipefail
cd "$(dirname "$0")/../.."

here=tests/other_libraries
environments=${DOVETAIL_ENVIRONMENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/dovetail/environments}
python=${DOVETAIL_PYTHON:-python3}
pip=(-m pip --quiet --no-input --disable-pip-version-check)

if (($#)); then
  names=("$@")
else
  names=()
  for pins in "$here"/*.lock; do names+=("$(basename "$pins" .lock)"); done
fi
for name in "${names[@]}"; do
  [[ -e $here/$name.lock ]] || { echo "run.sh: there is no $here/$name.lock" >&2 && exit 1; }
done

# Prints the directory of the environment of one library, which it makes if need be.
environment() {
  local pins=$here/$1.lock directory=$environments/$1
  if ! cmp --silent "$pins" "$directory/made_from.lock"; then
    rm -rf "$directory"
    "$python" -m venv "$directory"
    "$directory/bin/python" "${pip[@]}" install --only-binary=:all: --require-hashes --requirement "$pins"
    cp "$pins" "$directory/made_from.lock"
  fi
  echo "$directory"
}

./bazelw build //python:wheel
wheel=$(ls -t "$PWD"/bazel-bin/python/dovetail-*.whl | head -n 1) # another version may have left its own
failed=()
for name in "${names[@]}"; do
  echo "== $name"
  directory=$(environment "$name")
  "$directory/bin/python" "${pip[@]}" install --no-deps --force-reinstall "$wheel"
  # From another directory, and with nothing of the source tree on the path: the wheel is tested.
  test=$PWD/$here/${name}_test.py
  (cd "$directory" && PYTHONDONTWRITEBYTECODE=1 bin/python -m pytest -q -p no:cacheprovider --rootdir="$directory" \
    --import-mode=importlib "$test") || failed+=("$name")
done
((${#failed[@]} == 0)) || { echo "run.sh: failed: ${failed[*]}" >&2 && exit 1; }
