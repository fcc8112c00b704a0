#!/usr/bin/env bash
# Builds and runs the consumer with the Bazel of this machine: tests/consumer/run.sh [flags of Bazel].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
exec ../../bazelw run "$@" //:main
