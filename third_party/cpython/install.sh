#!/usr/bin/env bash
# Builds a CPython from source and prints its path: install.sh 3.13|3.13t|3.14|3.14t
#
# With a "t" it is the free-threaded one. It is built once, without tests and profile, in about five minutes on two
# cores, under ~/.cache/dovetail/cpython or $DOVETAIL_CACHE/cpython. The source is the release of python.org. It comes
# from the Debian mirror that this machine's apt uses, which has the same file, or from python.org itself.
set -euo pipefail
name=${1:?usage: install.sh 3.13|3.13t|3.14|3.14t}

case ${name%t} in
  3.13) version=3.13.5 sha256=93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640 ;;
  3.14) version=3.14.4 sha256=d923c51303e38e249136fc1bdf3568d56ecb03214efdef48516176d3d7faaef8 ;;
  *) echo "install.sh: knows no source of CPython ${name%t}" >&2 && exit 1 ;;
esac
options=(-q --disable-test-modules)
[[ $name != *t ]] || options+=(--disable-gil)

cache=${DOVETAIL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dovetail}/cpython
folder=$cache/$version${name##*[0-9]}
python=$folder/bin/python3
[[ ! -e $folder/ready ]] || { echo "$python" && exit 0; }

say() { echo "cpython: $*" >&2; }

# What the standard library's extension modules need; pip needs ssl.
install_libraries() {
  local packages=(libbz2-dev libffi-dev liblzma-dev libsqlite3-dev libssl-dev pkg-config xz-utils zlib1g-dev) missing
  [[ -e /etc/debian_version ]] || return 0
  missing=$(for p in "${packages[@]}"; do dpkg -s "$p" >/dev/null 2>&1 || echo "$p"; done)
  [[ -n $missing ]] || return 0
  say "installing" $missing "with apt-get"
  apt-get -qq update >&2
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -y $missing >&2
}

urls() {
  local package=python${version%.*}
  if type -P apt-get >/dev/null; then
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | sort -u |
      sed "s|/*$|/pool/main/p/$package/${package}_$version.orig.tar.xz|"
  fi
  echo "https://www.python.org/ftp/python/$version/Python-$version.tar.xz"
}

fetch() { # FILE
  local url
  for url in $(urls); do
    if curl -fsSL --retry 3 --max-time 600 -o "$1" "$url" && echo "$sha256  $1" | sha256sum --check --quiet; then
      return 0
    fi
  done
  say "the source of CPython $version could not be fetched from: $(urls | paste -sd ' ')"
  return 1
}

build() {
  cd "$folder/build"
  tar --strip-components=1 -xf ../source.tar.xz
  ./configure "${options[@]}" --prefix="$folder" OPT='-DNDEBUG -O2'
  make -s -j"$(nproc)"
  make -s install
}

install_libraries
say "building CPython $version${name##*[0-9]} in $folder"
rm -rf "$folder"
mkdir -p "$folder/build"
fetch "$folder/source.tar.xz"
(build) >"$folder/log" 2>&1 || { tail -n 30 "$folder/log" >&2 && say "failed; the log is $folder/log" && exit 1; }
rm -rf "$folder/build" "$folder/source.tar.xz"
touch "$folder/ready"
echo "$python"
