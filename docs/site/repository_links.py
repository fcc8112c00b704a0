"""A Sphinx extension for links that lead out of docs/, such as ../examples/vendor.

Pages of the repository that the site has (CHANGELOG.md) are linked as its own. Other files are
linked where source_url says that they can be read; without one, the link becomes its text. A remark
`<!-- contents: Title <page>, … -->` lists the pages below this one.
"""

import posixpath
import re

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((\.{1,2}/[^)\s]*|docs/[^)\s]*|interop)\)")
# The pages below a page in the site's contents, as a remark that GitHub does not show.
CONTENTS = re.compile(r"<!-- contents: (.*?) -->", re.DOTALL)
# The page of the site that lists the pages of a folder.
FOLDERS = {"docs/interop": "docs/reference/doors.md"}
# A link whose text is the name of the page's file. On the site the text is the page's title.
FILE_NAME = re.compile(r"\[(?:[\w./-]+/)?[\w-]+\.md\]\(([\w./-]+\.md(?:#[\w-]*)?)\)")
# Of the root; build.py copies them.
REPOSITORY_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
# A folder of the root whose pages the site has by the same paths.
KIT = "conformance/"


def path_in_repository(docname: str, target: str) -> str:
    """The path of the target of a link on docs/<docname>.md, or a page of the root or the kit."""
    at_root = f"{docname.upper()}.md" in REPOSITORY_PAGES or docname.startswith(KIT)
    folder = posixpath.dirname(docname)
    folder = folder if at_root else posixpath.join("docs", folder)
    return posixpath.normpath(posixpath.join(folder, target))


def rewrite(text: str, docname: str, source_url: str) -> str:
    """The page with its links as the site has them."""

    def link(match: re.Match[str]) -> str:
        words, target = match.groups()
        file, hash_sign, fragment = target.partition("#")
        path = path_in_repository(docname, file)
        up = posixpath.relpath(".", posixpath.dirname(docname) or ".")
        path = FOLDERS.get(path, path)
        if path.startswith("docs/"):
            page = posixpath.join(up, path.removeprefix("docs/"))
            return f"[{words}]({posixpath.normpath(page)}{hash_sign}{fragment})"
        if path.startswith(KIT) and path.endswith(".md"):
            page = posixpath.normpath(posixpath.join(up, path))
            return f"[{words}]({page}{hash_sign}{fragment})"
        if path in REPOSITORY_PAGES:
            page = posixpath.normpath(posixpath.join(up, path.lower()))
            return f"[{words}]({page}{hash_sign}{fragment})"
        if source_url:
            return f"[{words}]({posixpath.join(source_url, '' if path == '.' else path)})"
        if path == ".":  # the repository itself
            return words
        plain = words.strip("`")
        return f"`{path}`" if plain in path else f"{words} (`{path}`)"

    def contents(match: re.Match[str]) -> str:
        pages = "\n".join(page.strip() for page in " ".join(match[1].split()).split(","))
        return f"```{{toctree}}\n:hidden:\n\n{pages}\n```"

    return CONTENTS.sub(contents, FILE_NAME.sub(r"[](\1)", LINK.sub(link, text)))


def setup(app):
    app.add_config_value("source_url", "", "env")
    app.connect(
        "source-read",
        lambda app, docname, source: source.__setitem__(
            0, rewrite(source[0], docname, app.config.source_url)
        ),
    )
    return {"parallel_read_safe": True}
