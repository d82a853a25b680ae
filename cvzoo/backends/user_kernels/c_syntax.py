"""Reads statements of C, the subset that kernels are written in."""

import re
from typing import NamedTuple

from cvzoo.backends.user_kernels.c_types import C_TYPES, TYPE_WORDS
from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError


class Number(NamedTuple):
    text: str


class Name(NamedTuple):
    name: str


class Unary(NamedTuple):
    operator: str
    operand: "Expression"


class Binary(NamedTuple):
    operator: str
    left: "Expression"
    right: "Expression"


class Choice(NamedTuple):
    condition: "Expression"
    yes: "Expression"
    no: "Expression"


class Conversion(NamedTuple):
    type_name: str
    operand: "Expression"


class Call(NamedTuple):
    function: str
    arguments: tuple["Expression", ...]


class Element(NamedTuple):
    array: str
    index: "Expression"


Expression = Number | Name | Unary | Binary | Choice | Conversion | Call | Element


class Declaration(NamedTuple):
    type_name: str
    name: str
    value: Expression | None


class Assignment(NamedTuple):
    target: Name | Element
    operator: str  # "" for a plain one, "+" for +=
    value: Expression


class If(NamedTuple):
    condition: Expression
    yes: tuple["Statement", ...]
    no: tuple["Statement", ...]


class Loop(NamedTuple):
    condition: Expression
    body: tuple["Statement", ...]
    step: tuple["Statement", ...]


class Block(NamedTuple):
    body: tuple["Statement", ...]


Statement = Declaration | Assignment | If | Loop | Block

_TOKEN = re.compile(
    r"\s*(?:(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fFlL]?|\d+[uUlL]*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><<=|>>=|\+\+|--|[-+*/%&|^]=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>=?:;,(){}\[\]]))",
    re.DOTALL,
)
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
_REFUSED = {"break", "continue", "return", "goto", "switch", "do", "struct", "auto", "using", "asm"}


class CReader:
    """The statements of a text.

    types: names that mean types besides C's own, such as the T of 'T x'

    Understood: declarations, assignments, ++ and --, if, for, while, blocks, all operators but the comma, casts in both
    spellings, calls, elements of arrays. Raises UnsupportedError for what C has besides, ValueRangeError for what is
    no C.
    """

    def __init__(self, text: str, types: frozenset[str] = frozenset()):
        self._text = text
        self._types = types
        self._tokens: list[tuple[str, str, int]] = []
        position = 0
        end = len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise ValueRangeError("a kernel has a sign that C does not know", got=text[position:].strip()[:20])
            if match.lastgroup != "comment":
                self._tokens.append((match.lastgroup or "", match[match.lastgroup or 0], match.start()))
            position = match.end()
        self._at = 0

    def statements(self) -> tuple[Statement, ...]:
        """All statements of the text."""
        found: list[Statement] = []
        while self._at < len(self._tokens):
            found += self._statement()
        return tuple(found)

    def expression_alone(self) -> Expression:
        """The text as one expression."""
        found = self._expression()
        if self._at < len(self._tokens):
            self._refuse("the end")
        return found

    # --- statements -------------------------------------------------------------------------------------------------
    def _statement(self) -> list[Statement]:
        if self._take(";"):
            return []
        if self._take("{"):
            body: list[Statement] = []
            while not self._take("}"):
                body += self._statement()
            return [Block(tuple(body))]
        word = self._peek()
        if word in _REFUSED:
            raise UnsupportedError(f"kernels on the CPU do not know C's {word!r}", hint="write it with if, for or ?:")
        if self._take("if"):
            self._need("(")
            condition = self._expression()
            self._need(")")
            yes = tuple(self._statement())
            return [If(condition, yes, tuple(self._statement()) if self._take("else") else ())]
        if self._take("while"):
            self._need("(")
            condition = self._expression()
            self._need(")")
            return [Loop(condition, tuple(self._statement()), ())]
        if self._take("for"):
            return [self._for()]
        found = self._simple()
        # the last statement of a kernel needs no semicolon
        if self._at < len(self._tokens):
            self._need(";")
        return found

    def _for(self) -> Statement:
        self._need("(")
        start = [] if self._peek() == ";" else self._simple()
        self._need(";")
        condition = Number("1") if self._peek() == ";" else self._expression()
        self._need(";")
        step: list[Statement] = []
        while self._peek() != ")":
            step += self._simple()
            if not self._take(","):
                break
        self._need(")")
        return Block((*start, Loop(condition, tuple(self._statement()), tuple(step))))

    def _simple(self) -> list[Statement]:
        type_name = self._type()
        if type_name is not None:
            return self._declarations(type_name)
        for sign in ("++", "--"):
            if self._take(sign):
                return [Assignment(self._place(), sign[0], Number("1"))]
        place = self._place()
        sign = self._next("an assignment")
        if sign in ("++", "--"):
            return [Assignment(place, sign[0], Number("1"))]
        if sign not in _ASSIGNMENTS:
            self._at -= 1
            self._refuse("an assignment")
        return [Assignment(place, sign[:-1], self._expression())]

    def _declarations(self, type_name: str) -> list[Statement]:
        found: list[Statement] = []
        while True:
            name = self._next("a name")
            found.append(Declaration(type_name, name, self._expression() if self._take("=") else None))
            if self._peek() != ",":
                return found
            self._at += 1

    def _place(self) -> Name | Element:
        place = self._primary()
        if not isinstance(place, Name | Element):
            self._refuse("a variable to assign to")
        return place

    # --- expressions ------------------------------------------------------------------------------------------------
    def _expression(self) -> Expression:
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        yes = self._expression()
        self._need(":")
        return Choice(condition, yes, self._expression())

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._peek() in _LEVELS[level]:
            operator = self._next("an operator")
            left = Binary(operator, left, self._binary(level + 1))
        return left

    def _unary(self) -> Expression:
        for sign in ("-", "+", "!", "~"):
            if self._take(sign):
                return Unary(sign, self._unary())
        if self._peek() == "(":
            before = self._at
            self._at += 1
            type_name = self._type()
            if type_name is not None and self._take(")"):
                return Conversion(type_name, self._unary())
            self._at = before
        return self._primary()

    def _primary(self) -> Expression:
        if self._take("("):
            inner = self._expression()
            self._need(")")
            return inner
        kind, text, _ = self._tokens[self._at] if self._at < len(self._tokens) else ("", "", 0)
        if kind == "number":
            self._at += 1
            return Number(text)
        if kind != "name":
            self._refuse("a value")
        if self._take("static_cast"):
            self._need("<")
            type_name = self._type()
            self._need(">")
            return self._converted(type_name)
        type_name = self._type()
        if type_name is not None:
            return self._converted(type_name)
        self._at += 1
        if self._take("("):
            arguments = []
            while not self._take(")"):
                arguments.append(self._expression())
                if self._peek() != ")":
                    self._need(",")
            return Call(text, tuple(arguments))
        if self._take("["):
            index = self._expression()
            self._need("]")
            return Element(text, index)
        return Name(text)

    def _converted(self, type_name: str | None) -> Expression:
        self._need("(")
        operand = self._expression()
        self._need(")")
        if type_name is None:
            self._refuse("a type")
        return Conversion(type_name, operand)

    # --- tokens -----------------------------------------------------------------------------------------------------
    def _type(self) -> str | None:
        """The type that stands here, read; None if none does."""
        before = self._at
        while self._take("const"):
            pass
        if self._peek() in self._types:
            return self._next("a type")
        words = []
        while self._peek() in TYPE_WORDS:
            words.append(self._next("a type"))
        name = " ".join(words)
        if name in C_TYPES:
            return name
        if words:
            self._refuse("a type")
        self._at = before
        return None

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _next(self, wanted: str) -> str:
        if self._at >= len(self._tokens):
            self._refuse(wanted)
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _take(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self._at += 1
        return True

    def _need(self, text: str) -> None:
        if not self._take(text):
            self._refuse(repr(text))

    def _refuse(self, wanted: str) -> None:
        place = self._tokens[self._at][2] if self._at < len(self._tokens) else len(self._text)
        got = self._text[place:].strip()[:30] or "the end"
        raise ValueRangeError("a kernel's C cannot be read", expected=wanted, got=got)
