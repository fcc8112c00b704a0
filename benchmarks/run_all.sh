#!/bin/sh
# Runs the given programs, one after the other.
set -e
for benchmark in "$@"; do
  printf '\n== %s ==\n' "$(basename "$benchmark")"
  "./$benchmark"
done
