#!/usr/bin/env bash
# Builds the example extensions that are Bazel projects of their own, and calls them with every library:
#
#   tests/extension_examples/run.sh [Bazel flags]
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
shared=$(mktemp -d) # Dovetail is compiled once for both projects
trap 'rm -rf "$shared"' EXIT

for name in extension_nanobind extension_pybind11; do
  cd "$repository/examples/$name"
  "$repository/bazelw" build "$@" --disk_cache="$shared" "//:$name.so"
  modules=$(readlink -f bazel-bin)
  cd "$repository"
  ./bazelw run "$@" //tests/extension_examples:check -- "$modules" "$name"
done
