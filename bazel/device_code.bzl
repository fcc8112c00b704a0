"""Genrule commands that the rules for device code share (third_party/cuda/defs.bzl, third_party/hip/defs.bzl)."""

_DATA = "alignas(16) static const unsigned char %s[] = {"

def include_root_commands(src):
    """Sets $source to the path of `src`, and $include to a folder in which this repository is named dovetail.

    Args:
      src: label of a source of this repository, as //package:file.

    Returns:
      Shell commands for a genrule.
    """
    return [
        "source=$(location %s)" % src,
        "include=$$(mktemp -d)",
        "trap 'rm -r $$include' EXIT",
        "ln -s $$PWD/$${source%%%s} $$include/dovetail" % src.replace("//", "").replace(":", "/"),
    ]

def embed_command(path, inc, symbol):
    """Writes the include file `inc` from the file at `path`.

    It defines `static const unsigned char <symbol>[]`, aligned to 16 bytes, and its size, `<symbol>Bytes`. Without a file
    the size is 0, so programs compile the same source with and without one.

    Args:
      path: the file's path in the shell, or None for no file.
      inc: the path of the include file.
      symbol: the C++ name of the data.

    Returns:
      A shell command for a genrule.
    """
    if path:
        data = "od -An -v -tx1 %s | sed 's/ \\(..\\)/0x\\1,/g'" % path
        size = "$$(stat -L -c %%s %s)" % path
    else:
        data = "echo 0"
        size = "0"
    return "{ echo '%s'; %s; echo '};'; echo \"static const unsigned long %sBytes = %s;\"; } >%s" % (
        _DATA % symbol,
        data,
        symbol,
        size,
        inc,
    )
