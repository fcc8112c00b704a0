"""Finds where a small fault can be planted in a C++ source, by libclang's syntax tree."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from clang import cindex
from clang.cindex import CursorKind as Kind

# Debian's libclang1-19.
cindex.Config.set_library_file("/usr/lib/llvm-19/lib/libclang-19.so.1")


class Place(NamedTuple):
    """A part of a source, in bytes, and what becomes of it.

    `fault` names the function of faults.inc that replaces it: True, False, an operation on two
    operands, whose operator is at `operator`; or "Skip" for a statement that is left out.
    """

    start: int
    end: int
    fault: str
    text: str  # for reports
    line: int
    operator: tuple[int, int] | None = None


RELATIONS = {"<": "Less", "<=": "LessEqual", ">": "Greater", ">=": "GreaterEqual"}
ARITHMETIC = {"+": "Add", "-": "Subtract", "*": "Multiply", "/": "Divide", "%": "Remainder"}
SIGNED = {"CHAR_S", "SCHAR", "SHORT", "INT", "LONG", "LONGLONG"}
UNSIGNED = {"UCHAR", "USHORT", "UINT", "ULONG", "ULONGLONG"}
INTEGERS = {getattr(cindex.TypeKind, name) for name in SIGNED | UNSIGNED}


def parse(path: str, arguments: list[str]) -> cindex.TranslationUnit:
    options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    unit = cindex.Index.create().parse(path, args=arguments, options=options)
    errors = [str(found) for found in unit.diagnostics if found.severity >= cindex.Diagnostic.Error]
    if errors:
        raise SystemExit(f"mutate: {path} is not understood: {errors[0]}")
    return unit


class Finder:
    """The places of one source."""

    def __init__(self, path: str, arguments: list[str]):
        self.path = path
        with open(path, "rb") as file:
            self.source = file.read()
        self.unit = parse(path, arguments)
        self.macros = [
            (cursor.extent.start.offset, cursor.extent.end.offset)
            for cursor in self.unit.cursor.get_children()
            if cursor.kind == Kind.MACRO_INSTANTIATION and self.is_here(cursor)
        ]

    def places(self) -> list[Place]:
        found = [
            place
            for cursor in self.unit.cursor.get_children()
            if self.is_here(cursor)
            for place in self.below(cursor)
        ]
        # Of faults in one place, operations are the innermost.
        return sorted(set(found), key=lambda place: (place.operator is not None, place))

    def is_here(self, cursor) -> bool:
        file = cursor.location.file
        return file is not None and file.name == self.path

    def range(self, cursor) -> tuple[int, int]:
        return cursor.extent.start.offset, cursor.extent.end.offset

    def is_whole(self, cursor) -> bool:
        """Whether the cursor is text of this file, none of it made by a macro."""
        start, end = self.range(cursor)
        file = cursor.extent.start.file
        if not file or file.name != self.path or start >= end:
            return False
        return not any(a < end and start < b for a, b in self.macros)

    def below(self, cursor) -> Iterator[Place]:
        children = list(cursor.get_children())
        yield from self.statements(cursor, children)
        yield from self.conditions(cursor, children)
        if cursor.kind == Kind.BINARY_OPERATOR and len(children) == 2:
            yield from self.operation(cursor, *children)
        for child in children:
            if child.kind != Kind.STATIC_ASSERT:
                yield from self.below(child)

    def place(self, cursor, fault: str, operator=None) -> Iterator[Place]:
        if self.is_whole(cursor):
            start, end = self.range(cursor)
            text = " ".join(self.source[start:end].decode().split())
            if text == fault.lower():
                return  # a literal, forced to itself
            yield Place(start, end, fault, text, cursor.extent.start.line, operator)

    def statements(self, cursor, children) -> Iterator[Place]:
        """Each expression that is a statement: it is skipped."""
        if cursor.kind == Kind.COMPOUND_STMT:
            for child in children:
                if child.kind.is_expression():
                    yield from self.place(child, "Skip")

    def conditions(self, cursor, children) -> Iterator[Place]:
        """What decides: a condition is forced to a value, and a term of && or || is dropped."""
        if cursor.kind in (Kind.IF_STMT, Kind.CONDITIONAL_OPERATOR):
            # A declaration may stand before the condition.
            first = children[1 if children[0].kind == Kind.DECL_STMT else 0]
            if first.kind.is_expression() and not self.token(cursor, "constexpr", 2):
                yield from self.condition(first, ["True", "False"])
        elif cursor.kind == Kind.WHILE_STMT and children[0].kind.is_expression():
            yield from self.condition(children[0], ["False"])
        elif cursor.kind == Kind.RETURN_STMT and children and self.is_bool(children[0]):
            yield from self.condition(children[0], ["True", "False"])
        elif (
            cursor.kind == Kind.VAR_DECL
            and self.is_bool(cursor)
            and children
            and children[-1].kind.is_expression()
            and not self.token(cursor, "constexpr")
        ):
            yield from self.condition(children[-1], ["True", "False"])

    def condition(self, cursor, forced: list[str]) -> Iterator[Place]:
        joined = self.operator(cursor)
        if joined and joined[0] in ("&&", "||"):
            unit = "True" if joined[0] == "&&" else "False"
            yield from self.terms(cursor, joined[0], unit)
            forced = [value for value in forced if value != unit]
        for value in forced:
            yield from self.place(cursor, value)

    def terms(self, cursor, joint: str, unit: str) -> Iterator[Place]:
        found = self.operator(cursor)
        if found and found[0] == joint:
            for child in found[2]:
                yield from self.terms(child, joint, unit)
        else:
            yield from self.condition(cursor, [unit])

    def operation(self, cursor, left, right) -> Iterator[Place]:
        found = self.operator(cursor)
        types = {operand.type.get_canonical().kind for operand in (left, right)}
        if not found or not types <= INTEGERS:
            return
        fault = RELATIONS.get(found[0]) or ARITHMETIC.get(found[0])
        if fault:
            yield from self.place(cursor, fault, found[1])

    def operator(self, cursor):
        """(operator, its place, operands) of a binary operation, perhaps in parentheses."""
        while cursor.kind in (Kind.UNEXPOSED_EXPR, Kind.PAREN_EXPR):
            children = list(cursor.get_children())
            if len(children) != 1:
                return None
            (cursor,) = children
        operands = list(cursor.get_children())
        if cursor.kind != Kind.BINARY_OPERATOR or len(operands) != 2 or not self.is_whole(cursor):
            return None
        begin, end = self.range(operands[0])[1], self.range(operands[1])[0]
        between = self.source[begin:end]
        text = between.strip()
        at = begin + between.index(text) if text else begin
        return text.decode(), (at, at + len(text)), operands

    def is_bool(self, cursor) -> bool:
        return cursor.type.get_canonical().kind == cindex.TypeKind.BOOL

    def token(self, cursor, word: str, first: int | None = None) -> bool:
        """Whether the word is among the first tokens of the cursor."""
        return word in (token.spelling for token in itertools.islice(cursor.get_tokens(), first))
