#!/usr/bin/env bash
# Builds and tests the examples that are Bazel projects of their own:
#
#   tests/example_projects/run.sh [Bazel flags]
#
# The backend has tests itself. The extensions are called with every library.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
shared=$(mktemp -d) # Dovetail is compiled once for all projects
trap 'rm -rf "$shared"' EXIT

cd "$repository/examples/vendor"
"$repository/bazelw" test "$@" --disk_cache="$shared" //...

for name in extension_nanobind extension_pybind11; do
  cd "$repository/examples/$name"
  "$repository/bazelw" build "$@" --disk_cache="$shared" "//:$name.so"
  modules=$(readlink -f bazel-bin)
  cd "$repository"
  ./bazelw run "$@" //tests/example_projects:check -- "$modules" "$name"
done
