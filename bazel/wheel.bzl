"""dovetail_wheel: packs a Python package, and its extension module if it has one, into a wheel.

    dovetail_metadata(
        name = "METADATA",
        distribution = "dovetail-dlpack",
        extras = {"pytest": ["pytest"]},
        summary = "Zero-copy tensor exchange",
    )
    dovetail_wheel(
        name = "wheel",
        distribution = "dovetail-dlpack",
        extension = ":dovetail/_core.so",
        srcs = glob(["dovetail/**/*.py", "dovetail/**/*.pyi"]) + ["dovetail/py.typed", ":include"],
        entry_points = ["cmake.root:dovetail=dovetail"],
        metadata = ":METADATA",
    )

makes bazel-bin/python/dovetail_dlpack-0.1.0-cp311-cp311-linux_x86_64.whl. Paths in the wheel are relative to the BUILD file's
package. The wheel is for the build's interpreter (third_party/python/interpreter.bzl): its tag and the extension's file
name say which. Without an extension it is for every Python 3: py3-none-any. Making it installs no Python package.
"""

load("@dovetail_python//:defs.bzl", "EXT_SUFFIX", "WHEEL_TAG")
load("//bazel:version.bzl", "VERSION")

def dovetail_metadata(name, distribution, summary, readme = None, licenses = [], classifiers = [], keywords = [], extras = {}, requires_python = ">=3.10", **kwargs):
    """Makes the metadata of a wheel and of an sdist, the file <name>.

    `--define=dovetail_repository=OWNER/NAME` names the project's repository on GitHub; else they name none.

    Args:
      name: name of the target, and of the file.
      distribution: name of the distribution, as pip knows it.
      summary: one line that says what it is.
      readme: label of a Markdown file with the long description.
      licenses: labels of the licence's text and of notices.
      classifiers: those of PyPI that apply.
      keywords: by which PyPI finds it.
      extras: maps the name of an extra to the packages that it requires.
      requires_python: versions of Python that pip may install it for.
      **kwargs: further attributes of the genrule.
    """
    python = "@dovetail_python//:python3.sh"
    tool = "//tools:make_metadata.py"
    options = [
        "--distribution=" + distribution,
        "--output=$@",
        "--repository=$(dovetail_repository)",
        "--requires-python='%s'" % requires_python,
        "--summary='%s'" % summary,
        "--version=" + VERSION,
    ]
    options += ["--classifier='%s'" % classifier for classifier in classifiers]
    options += ["--keyword='%s'" % keyword for keyword in keywords]
    options += ["--extra='%s:%s'" % (extra, package) for extra in extras for package in extras[extra]]
    options += ["--license=$(location %s)" % license for license in licenses]
    if readme:
        options += [
            "--readme=$(location %s)" % readme,
            "--folder=" + Label(readme).package,
        ]
    native.genrule(
        name = name + "_file",
        srcs = licenses + ([readme] if readme else []),
        outs = [name],
        cmd = " ".join(["$(location %s)" % python, "$(location %s)" % tool] + options),
        tools = [python, tool],
        **kwargs
    )

def dovetail_wheel(name, distribution, srcs, metadata, extension = None, licenses = [], entry_points = [], sbom = None, **kwargs):
    """Makes <distribution>-<version>-<tag>.whl. File names have _ for the - of a distribution's name (PEP 427).

    Args:
      name: name of the target.
      distribution: name of the distribution, as pip knows it.
      srcs: Python files, stubs, headers and data, in this package.
      metadata: label of a dovetail_metadata().
      extension: label of the extension module, "…/_core.so".
      licenses: labels of the licence's text and of notices, those of the metadata.
      entry_points: what other programs find in the package, as "group:name=object".
      sbom: label of a software bill of materials (bazel/sbom.bzl), which goes where PEP 770 says.
      **kwargs: further attributes of the genrule.
    """
    python = "@dovetail_python//:python3.sh"
    tool = "//tools:make_wheel.py"
    tag = WHEEL_TAG if extension else "py3-none-any"
    options = {
        "distribution": distribution,
        "metadata": "$(location %s)" % metadata,
        "output": "$@",
        "package": native.package_name(),
        "tag": tag,
        "version": VERSION,
    }
    if extension:
        options["extension"] = "$(location %s)" % extension
        options["extension-suffix"] = EXT_SUFFIX
    if sbom:
        options["sbom"] = "$(location %s)" % sbom
    native.genrule(
        name = name,
        srcs = srcs + [metadata] + licenses + [one for one in (extension, sbom) if one],
        outs = ["%s-%s-%s.whl" % (distribution.replace("-", "_"), VERSION, tag)],
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
