"""debian_source: an upstream source tree, from Debian's archive or from its URL.

    debian_source(
        name = "com_google_absl",
        package = "abseil",
        sha256 = "...",                   # of Debian's *.orig.tar.*
        urls = ["https://..."],           # tried if apt cannot serve the package
        url_sha256 = "...",
        strip_prefix = "abseil-cpp-1.0",  # of the archive behind the URLs
        build = "...",                    # the text of the BUILD file, if the tree has none
    )

It reaches Debian's archive through the mirror that this machine's apt uses, with a private state directory: that needs
no root and changes nothing on the machine. Both ways check the bytes against a checksum in the rule.
"""

def fetch_debian(rctx, kind, package, suite):
    """Fetches a Debian source archive (kind = "source") or package ("binary") into ./debian.

    Args:
      rctx: the repository context.
      kind: "source" or "binary".
      package: name of the source or binary package.
      suite: Debian release it is taken from.

    Returns:
      (path of the file, None), or (None, why it cannot be had from here).
    """
    script = rctx.path(Label("//third_party/debian:fetch.sh"))
    if not rctx.which("apt-get"):
        return None, "there is no apt-get on this machine"
    result = rctx.execute(["bash", str(script), kind, package, suite, str(rctx.path("debian"))], timeout = 600)
    if result.return_code != 0:
        return None, result.stderr
    return result.stdout.strip(), None

def _debian_source_impl(rctx):
    rctx.report_progress("looking for %s in Debian's archive" % rctx.attr.package)
    archive, reason = fetch_debian(rctx, "source", rctx.attr.package, rctx.attr.suite)
    if archive:
        unpack = 'echo "$1  $2" | sha256sum --check --quiet && tar --strip-components=1 -xf "$2"'
        result = rctx.execute(["bash", "-c", unpack, "unpack", rctx.attr.sha256, archive])
        if result.return_code != 0:
            fail("%s from Debian %s does not match the pinned checksum:\n%s" %
                 (rctx.attr.package, rctx.attr.suite, result.stdout + result.stderr))
        rctx.delete("debian")
    else:
        # buildifier: disable=print
        print("%s: downloaded from %s, because %s" % (rctx.name, rctx.attr.urls[0], reason))
        rctx.delete("debian")
        rctx.download_and_extract(rctx.attr.urls, sha256 = rctx.attr.url_sha256, stripPrefix = rctx.attr.strip_prefix)
    if rctx.attr.build:
        rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
        rctx.file("BUILD", rctx.attr.build)

debian_source = repository_rule(
    implementation = _debian_source_impl,
    attrs = {
        "build": attr.string(),
        "package": attr.string(mandatory = True),
        "sha256": attr.string(mandatory = True),
        "strip_prefix": attr.string(mandatory = True),
        "suite": attr.string(default = "bookworm"),
        "url_sha256": attr.string(mandatory = True),
        "urls": attr.string_list(mandatory = True),
    },
)
