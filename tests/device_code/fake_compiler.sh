#!/bin/sh
# Writes what it was called with: its flags, then a word of a header of this repository, then the source.
include='' source='' output='' flags=''
while [ $# != 0 ]; do
  case $1 in
    -I*) include=${1#-I} ;;
    -o) output=$2 && shift ;;
    -*) flags="$flags $1" ;;
    *) source=$1 ;;
  esac
  shift
done
{
  echo "$GREETING$flags"
  grep -o 'DOVETAIL_CORE_CONFIG_H_$' "$include/dovetail/core/config.h" | head -n 1
  cat "$source"
} >"$output"
