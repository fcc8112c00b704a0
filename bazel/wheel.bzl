"""dovetail_wheel: packs a Python package and its extension module into a wheel.

    dovetail_wheel(
        name = "wheel",
        distribution = "dovetail",
        extension = ":dovetail/_core.so",
        srcs = glob(["dovetail/**/*.py", "dovetail/**/*.pyi"]) + ["dovetail/py.typed", ":include"],
        entry_points = ["cmake.root:dovetail=dovetail"],
        summary = "Zero-copy tensor exchange",
    )

makes bazel-bin/python/dovetail-0.1.0-cp311-cp311-linux_x86_64.whl. Paths in the wheel are relative to the BUILD file's
package. The wheel is for the build's interpreter (third_party/python/interpreter.bzl): its tag and the extension's file
name say which. Making it installs no Python package.
"""

load("@dovetail_python//:defs.bzl", "EXT_SUFFIX", "WHEEL_TAG")
load("//bazel:version.bzl", "VERSION")

def dovetail_wheel(name, distribution, extension, srcs, summary, readme = None, licenses = [], entry_points = [], sbom = None, requires_python = ">=3.10", **kwargs):
    """Makes <distribution>-<version>-<tag>.whl.

    Args:
      name: name of the target.
      distribution: name of the distribution, as pip knows it.
      extension: label of the extension module, "…/_core.so".
      srcs: Python files, stubs, headers and data, in this package.
      summary: one line that says what it is.
      readme: label of a Markdown file with the long description.
      licenses: labels of the licence's text and of notices.
      entry_points: what other programs find in the package, as "group:name=object".
      sbom: label of a software bill of materials (bazel/sbom.bzl), which goes where PEP 770 says.
      requires_python: versions of Python that pip may install it for.
      **kwargs: further attributes of the genrule.
    """
    python = "@dovetail_python//:python3.sh"
    tool = "//tools:make_wheel.py"
    options = {
        "distribution": distribution,
        "extension": "$(location %s)" % extension,
        "extension-suffix": EXT_SUFFIX,
        "output": "$@",
        "package": native.package_name(),
        "requires-python": requires_python,
        "summary": "'%s'" % summary,
        "tag": WHEEL_TAG,
        "version": VERSION,
    }
    if readme:
        options["readme"] = "$(location %s)" % readme
    if sbom:
        options["sbom"] = "$(location %s)" % sbom
    native.genrule(
        name = name,
        srcs = srcs + [extension] + licenses + [label for label in [readme, sbom] if label],
        outs = ["%s-%s-%s.whl" % (distribution, VERSION, WHEEL_TAG)],
        cmd = " ".join(
            ["$(location %s)" % python, "$(location %s)" % tool] +
            ["--%s=%s" % option for option in options.items()] +
            ["--license=$(location %s)" % license for license in licenses] +
            ["--entry-point=" + entry_point for entry_point in entry_points] +
            ["$(locations %s)" % src for src in srcs],
        ),
        tools = [python, tool],
        **kwargs
    )
