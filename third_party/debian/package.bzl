"""debian_packages: headers and libraries of Debian's binary packages, unpacked without installing them.

    debian_packages(
        name = "eigen",
        packages = {"libeigen3-dev": "<sha256 of the .deb>"},
        build = _BUILD,                   # the text of the BUILD file; paths begin with root/usr/…
        missing = "set … instead",        # what to do on a machine without Debian's archive
    )

The packages share one tree, `root`, as if they were installed, so that links from one to another work.
"""

load("//third_party/debian:source.bzl", "fetch_debian")
load("//third_party/python:pypi.bzl", "run")

def unpack_debian_package(rctx, package, sha256, suite = "bookworm", directory = "root"):
    """Unpacks one binary package into `directory`. Leaves apt's lists in ./debian for the next one.

    Args:
      rctx: the repository context.
      package: the name of the binary package.
      sha256: checksum of the .deb file.
      suite: Debian release it is taken from.
      directory: where its tree goes, relative to the repository.

    Returns:
      None, or why the package cannot be had from here.
    """
    rctx.report_progress("fetching Debian's " + package)
    archive, reason = fetch_debian(rctx, "binary", package, suite)
    if not archive:
        return reason
    unpack = 'echo "$1  $2" | sha256sum --check --quiet && dpkg-deb -x "$2" "$3"'
    run(rctx, ["bash", "-c", unpack, "unpack", sha256, archive, directory], "unpacking " + package)
    rctx.delete(archive)
    return None

def _debian_packages_impl(rctx):
    for package, sha256 in rctx.attr.packages.items():
        reason = unpack_debian_package(rctx, package, sha256, rctx.attr.suite)
        if reason:
            fail("%s needs Debian's package %s (%s), but %s" % (rctx.name, package, rctx.attr.missing, reason))
    rctx.delete("debian")
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", rctx.attr.build)

debian_packages = repository_rule(
    implementation = _debian_packages_impl,
    attrs = {
        "build": attr.string(mandatory = True),
        "missing": attr.string(default = "only this repository's own tests do"),
        "packages": attr.string_dict(mandatory = True),
        "suite": attr.string(default = "bookworm"),
    },
    environ = ["PATH"],
)
