#!/usr/bin/env bash
# The suite links and includes its own packages, GoogleTest and dlpack.h, and nothing else of Dovetail.
set -euo pipefail
for own in //testing/dlpack:suite testing/dlpack/library.h; do
  grep -q "$own" "$1" || { echo "$own is not in the list:" && cat "$1" && exit 1; }
done
if grep -E '(^|//|/)(core|devices|interop|python)[/:]' "$1"; then
  echo "the suite depends on more of Dovetail than its own packages"
  exit 1
fi
