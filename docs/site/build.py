"""Builds the documentation site, and prints where it is: ./bazelw run //docs:site [-- --serve]

The pages are those of docs/, of docs/site, of conformance/ and the repository's own (CHANGELOG.md
and others), put together in a folder of their own. Doxygen reads the public headers, and Sphinx
makes HTML of everything.
"""

import argparse
import functools
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from repository_links import KIT, REPOSITORY_PAGES

SITE = pathlib.Path("docs/site")

TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
OTHERS = re.compile(r"^\{others\} (.*)$", re.MULTILINE)

DOXYFILE = """
PROJECT_NAME = dovetail
INPUT = {headers}
RECURSIVE = YES
OUTPUT_DIRECTORY = {output}
INPUT_FILTER = "{python} {filter}"
INCLUDE_PATH = {headers}
EXCLUDE_PATTERNS = */internal/*.h
EXCLUDE_SYMBOLS = internal_* dovetail::internal_* std::*
FULL_PATH_NAMES = YES
STRIP_FROM_PATH = {headers}
PREDEFINED = ABSL_ATTRIBUTE_LIFETIME_BOUND= DOVETAIL_NOT_SHARED= ABSL_GUARDED_BY(x)=
PREDEFINED += DOVETAIL_INLINED=
PREDEFINED += DOVETAIL_INLINED_ON_DEVICE=
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
MAX_INITIALIZER_LINES = 3
EXTRACT_ALL = YES
MARKDOWN_SUPPORT = NO
AUTOLINK_SUPPORT = NO
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
SHOW_INCLUDE_FILES = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_IF_DOC_ERROR = NO
"""


def copy_tree(source: pathlib.Path, target: pathlib.Path) -> None:
    """Copy files, not the links to them that Bazel makes."""
    shutil.copytree(source, target, dirs_exist_ok=True, copy_function=shutil.copyfile)


def collect_pages(pages: pathlib.Path) -> None:
    copy_tree(pathlib.Path("docs"), pages)
    copy_tree(pages / "site", pages)
    for name in ("site", "headers"):
        shutil.rmtree(pages / name, ignore_errors=True)
    for page in pathlib.Path(KIT).rglob("*.md"):
        (pages / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, pages / page)
    for name in REPOSITORY_PAGES:
        shutil.copyfile(name, pages / name.lower())
    list_others(pages)


def list_others(pages: pathlib.Path) -> None:
    """Replace each line `{others} PATTERN…` of a table of contents by the pages without one."""
    for table in [page for page in pages.rglob("index.md") if OTHERS.search(page.read_text())]:
        text = table.read_text()
        listed = set(re.findall(r"[\w./-]+", "".join(TOCTREE.findall(text))))

        def others(match: re.Match[str], folder: pathlib.Path, listed: set[str]) -> str:
            found = [page for pattern in match[1].split() for page in sorted(folder.glob(pattern))]
            names = [str(page.relative_to(folder).with_suffix("")) for page in found]
            return "\n".join(name for name in names if name not in {*listed, "index"})

        table.write_text(
            OTHERS.sub(functools.partial(others, folder=table.parent, listed=listed), text)
        )


def run_doxygen(python: str, scratch: pathlib.Path) -> pathlib.Path:
    """The folder of Doxygen's XML for the public headers."""
    if not shutil.which("doxygen"):
        sys.exit("docs:site needs Doxygen (Debian and Ubuntu: apt-get install doxygen)")
    headers = scratch / "headers"
    copy_tree(SITE / "headers", headers)
    doxyfile = DOXYFILE.format(
        headers=headers,
        output=scratch,
        python=python,
        filter=(SITE / "doxygen_comments.py").absolute(),
    )
    subprocess.run(["doxygen", "-"], input=doxyfile, text=True, check=True)
    return scratch / "xml"


def build(python: str, output: pathlib.Path, *, strict: bool, source_url: str = "") -> int:
    """Build the site and return Sphinx's exit status.

    python      the interpreter of the environment that has Sphinx
    strict      whether each warning is an error
    source_url  where the repository's files can be read; empty: links to them become plain text
    """
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        pages = scratch / "pages"
        collect_pages(pages)
        environment = dict(
            os.environ,
            PYTHONPATH=os.pathsep.join(
                str(pathlib.Path(folder).absolute())
                for folder in (SITE, "python", "conformance/python")
            ),
            DOVETAIL_DOXYGEN_XML=str(run_doxygen(python, scratch)),
            DOVETAIL_SOURCE_URL=source_url,
        )
        flags = ["--fail-on-warning", "--keep-going", "--nitpicky"] if strict else []
        command = [python, "-m", "sphinx", "--quiet", "--jobs=auto", "--builder=html", *flags]
        command += [f"--doctree-dir={scratch / 'doctrees'}", str(pages), str(output)]
        return subprocess.run(command, env=environment).returncode


def serve(folder: pathlib.Path, port: int) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("localhost", port), handler) as server:
        print(f"http://localhost:{server.server_port}/", flush=True)
        server.serve_forever()


def interpreter_of(path: str) -> str:
    """The program behind Bazel's path of a file in another repository: external/REPOSITORY/…"""
    return str(pathlib.Path("..", path.removeprefix("external/")).absolute())


def main() -> int:
    parser = argparse.ArgumentParser(prog="docs:site", description="Build the documentation site.")
    parser.add_argument("python", help=argparse.SUPPRESS)
    parser.add_argument(
        "--output", type=pathlib.Path, help="the folder; default: a new one in /tmp"
    )
    parser.add_argument("--strict", action="store_true", help="make each warning an error")
    parser.add_argument("--source-url", default="", help="where the repository's files can be read")
    parser.add_argument(
        "--serve", type=int, nargs="?", const=8000, metavar="PORT", help="then serve it"
    )
    arguments = parser.parse_args()
    output = arguments.output or pathlib.Path(tempfile.mkdtemp(prefix="dovetail_site_"))
    output = pathlib.Path(
        os.environ.get("BUILD_WORKING_DIRECTORY", "."), output
    )  # that of `bazel run`
    status = build(
        interpreter_of(arguments.python),
        output,
        strict=arguments.strict,
        source_url=arguments.source_url,
    )
    print(output / "index.html", flush=True)
    if status == 0 and arguments.serve is not None:
        serve(output, arguments.serve)
    return status


if __name__ == "__main__":
    sys.exit(main())
