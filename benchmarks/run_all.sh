#!/bin/sh
# Runs the programs that it is given, one after the other.
set -e
for benchmark in "$@"; do
  printf '\n== %s ==\n' "$(basename "$benchmark")"
  "./$benchmark"
done
