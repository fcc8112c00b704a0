#!/usr/bin/env bash
# Builds and runs the programs with this machine's Bazel: tests/consumer/run.sh [Bazel flags].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
../../bazelw run "$@" //:main
../../bazelw run "$@" --@dovetail//interop/eigen:library=@my_eigen//:eigen //:door
../../bazelw run "$@" //:my_transpose -- --repetitions=2 --benchmark_min_time=0.001
