#!/usr/bin/env bash
# Fetches one file from Debian's archive and prints its path: fetch.sh (source|binary) PACKAGE SUITE DIRECTORY
#
#   fetch.sh source abseil bookworm /tmp/out        # /tmp/out/files/abseil_….orig.tar.gz
#   fetch.sh binary libamdhip64-dev bookworm /tmp/out
#
# Uses the mirrors that this machine's apt is configured with, and keeps its own apt state in DIRECTORY.
set -euo pipefail
kind=$1 package=$2 suite=$3 directory=$4

mkdir -p "$directory"/{lists/partial,cache/archives/partial,files}
touch "$directory/status"
options=(
  -qq
  -o "Dir::Etc::SourceList=$directory/sources.list"
  -o "Dir::Etc::SourceParts=/dev/null"
  -o "Dir::State::Lists=$directory/lists"
  -o "Dir::State::status=$directory/status"
  -o "Dir::Cache=$directory/cache"
  -o "APT::Sandbox::User=$(id -un)"
  -o "Debug::NoLocking=1"
  -o "Acquire::Retries=3"
  -o "Acquire::Languages=none"
)
cd "$directory/files"

mirrors=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | sort -u)
for mirror in $mirrors; do
  # Trusted, because the caller checks the file against a pinned sum.
  if [[ $kind == source ]]; then
    echo "deb-src [trusted=yes] $mirror $suite main" >"$directory/sources.list"
    command=(source --download-only "$package")
  else
    echo "deb [trusted=yes] $mirror $suite main" >"$directory/sources.list"
    command=(download "$package")
  fi
  if apt-get "${options[@]}" update >&2 && apt-get "${options[@]}" "${command[@]}" >&2; then
    find "$PWD" -name '*.orig.tar.*' ! -name '*.asc' -o -name '*.deb' | head -n 1
    exit 0
  fi
done
echo "no mirror of this machine's apt serves the $kind package $package of Debian $suite" >&2
exit 1
