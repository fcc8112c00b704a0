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

def _dovetail_wheel_impl(ctx):
    # (A load from @dovetail_python would need a Python for all that is in a package with a wheel, its C++ libraries too.)
    names = ctx.attr._names[platform_common.TemplateVariableInfo].variables
    tag = names["WHEEL_TAG"] if ctx.attr.extension else "py3-none-any"
    output = ctx.actions.declare_file("%s-%s-%s.whl" % (ctx.attr.distribution.replace("-", "_"), VERSION, tag))
    arguments = ctx.actions.args()
    arguments.add(ctx.file._tool)
    arguments.add("--distribution=" + ctx.attr.distribution)
    arguments.add(ctx.file.metadata, format = "--metadata=%s")
    arguments.add(output, format = "--output=%s")
    arguments.add("--package=" + ctx.label.package)
    arguments.add("--tag=" + tag)
    arguments.add("--version=" + VERSION)
    if ctx.attr.extension:
        arguments.add(ctx.file.extension, format = "--extension=%s")
        arguments.add("--extension-suffix=" + names["EXT_SUFFIX"])
    if ctx.attr.sbom:
        arguments.add(ctx.file.sbom, format = "--sbom=%s")
    arguments.add_all(ctx.files.license_files, format_each = "--license=%s")
    arguments.add_all(ctx.attr.entry_points, format_each = "--entry-point=%s")
    arguments.add_all(ctx.files.srcs)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = ctx.files.srcs + ctx.files.license_files + [
            file
            for file in [ctx.file._tool, ctx.file.extension, ctx.file.metadata, ctx.file.sbom]
            if file
        ],
        outputs = [output],
        mnemonic = "Wheel",
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

# Makes <distribution>-<version>-<tag>.whl. File names have _ for the - of a distribution's name (PEP 427).
dovetail_wheel = rule(
    implementation = _dovetail_wheel_impl,
    attrs = {
        "distribution": attr.string(mandatory = True, doc = "Name of the distribution, as pip knows it."),
        "entry_points": attr.string_list(doc = "What other programs find in the package, as group:name=object."),
        "extension": attr.label(allow_single_file = True, doc = "The extension module, …/_core.so."),
        "license_files": attr.label_list(allow_files = True, doc = "The licence's text and notices, those of the metadata."),
        "metadata": attr.label(allow_single_file = True, mandatory = True, doc = "A dovetail_metadata()."),
        "sbom": attr.label(allow_single_file = True, doc = "A bill of materials (bazel/sbom.bzl), which goes where PEP 770 says."),
        "srcs": attr.label_list(allow_files = True, doc = "Python files, stubs, headers and data, in this package."),
        "_names": attr.label(default = "@dovetail_python//:names"),
        "_python": attr.label(
            default = "@dovetail_python//:python3.sh",
            allow_single_file = True,
            cfg = "exec",
            executable = True,
        ),
        "_tool": attr.label(default = "//tools:make_wheel.py", allow_single_file = True),
    },
)
