"""Doxygen's filter for this repository's headers: makes Doxygen's comments of `//` comments.

    python doxygen_comments.py include/dovetail/core/tensor.h

prints the header. The first comment is the file's, the others belong to the declaration that
follows, and to those without a comment directly below it; one that an empty line follows belongs to
nothing and is dropped. Indented lines are code. Lists (core/internal/dtype_list.inc) are written
out, because Doxygen does not read declarations that macros make.
"""

import pathlib
import re
import sys

SPACE = "\ue000"
COMMENT = re.compile(r"^(\s*)// ?(.*)$")
NO_COMMENT = re.compile(r"^\s*// (NOLINT|clang-format|IWYU)")
AFTER_DECLARATION = re.compile(r"^(\s*[^\s#}/].*[;,])\s+// (?!NOLINT|IWYU)(.*)$")
NEXT_DECLARATION = re.compile(r"^(?!static_assert|friend|extern|public:|private:)[\[A-Za-z]")
# The namespace of the ABI's version is inline: users do not write it.
ABI_NAMESPACE = re.compile(
    r"^(inline namespace DOVETAIL_(ARG_)?ABI \{|\}  // namespace DOVETAIL_(ARG_)?ABI)$"
)
# #define ENTRY(parameters) body, #include of a list of entries, #undef.
LIST = re.compile(
    r'^#define (\w+)\(([^)]*)\) *((?:.*\\\n)*.*)\n#include "(dovetail/[^"]*\.inc)"\n#undef \1\n',
    re.MULTILINE,
)


def entries_of(macro: str, text: str) -> list[list[str]]:
    """The arguments of each entry of a list, also of entries that other macros make of theirs."""
    result = [
        re.split(r",\s+", arguments)
        for arguments in re.findall(rf"^{macro}\(([^()]*)\)$", text, re.MULTILINE)
    ]
    forwards = rf"^#define (\w+)\((.*), \.\.\.\) \\\n +{macro}\((.*)\)$"
    for forward, parameters, passed in re.findall(forwards, text, re.MULTILINE):
        names = parameters.split(", ")
        for values in entries_of(forward, text):
            bound = dict(zip(names, values, strict=False))
            bound["__VA_ARGS__"] = ", ".join(values[len(names) :])
            whole = re.sub(r"##", " ## ", passed)
            whole = re.sub(r"\w+", lambda m, bound=bound: bound.get(m[0], m[0]), whole)
            result.append(whole.replace(" ## ", "").split(", "))
    return result


def with_lists(header: str, include: pathlib.Path) -> str:
    """The header with each entry of the lists that it includes written out."""

    def entries(match: re.Match[str]) -> str:
        macro, parameters, body, name = match.groups()
        if "template" in body:  # a specialisation for each entry says nothing
            return ""
        names = parameters.split(", ")
        body = body.replace("\\\n", "\n")
        result = []
        for arguments in entries_of(macro, (include / name).read_text()):
            values = dict(zip(names, arguments, strict=True))
            word = rf"(?:##)?\b({'|'.join(names)})\b(?:##)?"
            result.append(re.sub(word, lambda m, values=values: values[m[1]], body))
        return "\n".join(result) + "\n"

    return LIST.sub(entries, header)


def escaped(text: str) -> str:
    text = re.sub(r"([@\\<>&])", r"\\\1", text)
    return re.sub(r"`([^`]+)`", r"<tt>\1</tt>", text)


def kept_spaces(code: str) -> str:
    """The line with SPACE for spaces in a row, which Breathe drops; cpp_headers.py reads it."""
    return re.sub(r"^ +| {2,}", lambda spaces: SPACE * len(spaces[0]), code)


def looks_like_code(lines: list[str]) -> bool:
    """Whether the indented lines at the beginning of `lines` are C++ rather than a table."""
    for line in lines:
        if line.strip() and not line.startswith("  "):
            break
        if re.search(r"[;{]\s*(//.*)?$", line):
            return True
    return False


def marked_up(lines: list[str]) -> list[str]:
    """The lines of a comment with Doxygen's marks around code."""
    result, in_code, in_list = [], False, False
    for number, line in enumerate(lines):
        if line.strip():
            indented = line.startswith("  ") and not in_list
            if indented and not in_code:
                result.append("@code{.cpp}" if looks_like_code(lines[number:]) else "@code{.text}")
            elif in_code and not indented:
                result.append("@endcode")
            in_code = indented
        in_list = line.startswith("- ") or (in_list and line.startswith("  "))
        result.append(kept_spaces(line[2:]) if in_code else escaped(line))
    return result + ["@endcode"] * in_code


def starts_declaration(line: str) -> bool:
    """Whether the line starts a declaration that has no comment of its own behind it."""
    return bool(NEXT_DECLARATION.match(line)) and not AFTER_DECLARATION.match(line)


def converted(header: str) -> str:
    result: list[str] = []
    comment: list[str] = []  # of the lines just read
    shared: list[str] = []  # of the group of declarations
    indent, first, complete = "", True, False
    for line in header.splitlines():
        if ABI_NAMESPACE.match(line) or NO_COMMENT.match(line):
            continue
        if match := COMMENT.match(line):
            indent = match[1]
            comment.append(match[2])
            continue
        if comment and (first or line.strip()):
            text = ["@file"] * first + marked_up(comment)
            shared = [f"{indent}/// {t}".rstrip() for t in text]
            result += shared
            first = False
        elif complete and starts_declaration(line.removeprefix(indent)):
            result += shared
        comment = []
        if not line.strip() or "@file" in "".join(shared[:1]):
            shared = []
        complete = line.partition("//")[0].rstrip().endswith(";") or line == indent + "}"
        if match := AFTER_DECLARATION.match(line):
            line = f"{match[1]}  ///< {escaped(match[2])}"
        result.append(line)
    return "\n".join(result) + "\n"


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    include = path.parents[[parent.name for parent in path.parents].index("dovetail") + 1]
    sys.stdout.write(converted(with_lists(path.read_text(encoding="utf-8"), include)))
