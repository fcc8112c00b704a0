#!/usr/bin/env bash
# Fills a folder with everything that gpu_check.py needs on a machine without Bazel:
#
#   ./bazelw run --repo_env=DOVETAIL_PYTHON=$(type -P python3.12) //tools/gpu_check:pack -- /some/folder
#   /some/folder/gpu_check.py                         # on the machine with the GPU
#
# The Python package works with the Python version that it was built for. With --config=rocm it includes AMD kernels.
set -euo pipefail

folder=${1:?usage: pack FOLDER}
[[ $folder == /* ]] || folder=${BUILD_WORKING_DIRECTORY:-$PWD}/$folder
mkdir -p "$folder"/{bin,tests,benchmarks,forwarding,site}

# The programs, libraries and tests that the rule in BUILD lists, by their paths in Bazel's folder.
while read -r path; do
  case $path in
    *libamdhip64.so.*) target=forwarding ;;
    *.whl) target=wheel ;;
    */gpu_check.py) target=. ;;
    benchmarks/*.py) target=benchmarks ;;
    *.py | *kernels_by_nvcc.so) target=tests ;;
    *) target=bin ;;
  esac
  if [[ $target == wheel ]]; then
    python3 -m zipfile -e "$path" "$folder/site"
  else
    install -m 755 -D "$path" "$folder/$target/$(basename "$path")"
  fi
done <tools/gpu_check/contents.txt
du -sh "$folder" | sed 's/^/pack: /'
