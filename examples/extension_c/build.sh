#!/bin/sh
# Compiles extension_c.c for a Python that has dovetail: ./build.sh [python3]
set -eu
cd "$(dirname "$0")"
python=${1:-python3}
includes=$("$python" -m dovetail --includes)
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
eval "${CC:-cc} -std=c11 -O2 -Wall -Wextra -shared -fPIC $includes extension_c.c -lm -o extension_c$suffix"
