#!/usr/bin/env bash
# Builds and runs the consumer with this machine's Bazel: tests/consumer/run.sh [Bazel flags].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
exec ../../bazelw run "$@" //:main
