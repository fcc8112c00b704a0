#!/usr/bin/env bash
# The suite links and includes its own package, GoogleTest and dlpack.h, and nothing of Dovetail.
set -euo pipefail
for own in //conformance/cpp:suite conformance/cpp/library.h; do
  grep -q "$own" "$1" || { echo "$own is not in the list:" && cat "$1" && exit 1; }
done
if grep -E '(^|//|/)(core|devices|interop|python|testing)[/:]' "$1"; then
  echo "the suite depends on Dovetail"
  exit 1
fi
