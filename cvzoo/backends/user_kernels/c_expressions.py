"""Evaluates C assignments and expressions on NumPy arrays, for all elements at once."""

import re
from collections.abc import Callable, Mapping
from typing import NoReturn, TypeVar

import numpy as np

from cvzoo.backends.user_kernels.c_arithmetic import C_TYPES, binary, call, convert, in_common, unary
from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.typing.aliases import Array

T = TypeVar("T")
_TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/"
    rf"|((?:{'|'.join(sorted((re.escape(t) for t in C_TYPES if ' ' in t), key=len, reverse=True))})\b"
    r"|0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?|\d+[eE][+-]?\d+[fF]?|\d+[uUlL]*|[A-Za-z_]\w*"
    r"|<<=|>>=|\+\+|--|[-+*/%&|^]=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>=?:;,(){}\[\]])",
    re.DOTALL,
)
_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
_PRECEDENCE = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators.split()}
_ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
_GPU_ONLY = {"if", "for", "while", "do", "switch", "return", "break", "continue", "goto", "{", "[", "++", "--"}


class CExpressions:
    """The statements of a text, evaluated while they are read.

    variables: one array per name; assignments convert to the variable's type
    types: what type names such as the T of "T x" stand for

    Understood: declarations, assignments, all operators but the comma, ?:, casts and mathematical functions.
    Raises UnsupportedError for loops, branches and indexing, ValueRangeError for what is not C.
    """

    def __init__(self, text: str, variables: Mapping[str, Array], types: Mapping[str, np.dtype]):
        self.variables = dict(variables)
        self._types = {**C_TYPES, **types}
        self._tokens: list[str] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise ValueRangeError("kernel source has a character that is not valid in C", got=text[position:][:20])
            if match[1] and match[1] != "const":
                self._tokens.append(match[1])
            position = match.end()
        self._next = 0

    def run(self) -> dict[str, Array]:
        """Evaluates all statements; the variables after them."""
        while self._next < len(self._tokens):
            if not self._take(";"):
                self._evaluate(self._statement)
                if self._next < len(self._tokens):
                    self._expect(";")
        return self.variables

    def value(self) -> Array:
        """The value of the text as a single expression."""
        value = self._evaluate(self._expression)
        if self._next < len(self._tokens):
            self._refuse("the end")
        return value

    def _evaluate(self, part: Callable[[], T]) -> T:
        try:
            with np.errstate(all="ignore"):  # as in C
                return part()
        except RecursionError:
            raise UnsupportedError("kernel source is nested too deep for the CPU") from None

    def _statement(self) -> None:
        dtype = self._type()
        while dtype is not None:
            name = self._name()
            self.variables[name] = convert(self._expression() if self._take("=") else np.zeros((), dtype), dtype)
            if not self._take(","):
                return
        name = self._name()
        operator = self._peek()
        if operator not in _ASSIGNMENTS:
            self._refuse("an assignment")
        self._next += 1
        before, value = self._variable(name), self._expression()
        self.variables[name] = convert(value if operator == "=" else binary(operator[:-1], before, value), before.dtype)

    def _expression(self, level: int = 0) -> Array:
        left = self._operand()
        while _PRECEDENCE.get(self._peek(), -1) >= level:
            operator = self._peek()
            self._next += 1
            left = binary(operator, left, self._expression(_PRECEDENCE[operator] + 1))
        if level or not self._take("?"):
            return left
        yes = self._expression()
        self._expect(":")
        no = self._expression()
        if yes.dtype != no.dtype:
            yes, no = in_common(yes, no)
        return np.where(left != 0, yes, no)

    def _operand(self) -> Array:
        for operator in "-+!~":
            if self._take(operator):
                return unary(operator, self._operand())
        if self._take("("):
            dtype = self._type()
            if dtype is not None:  # (T)x
                self._expect(")")
                return convert(self._operand(), dtype)
            return self._rest_of_parentheses()
        templated = self._take("static_cast")
        if templated:
            self._expect("<")
        dtype = self._type()
        if templated:
            self._expect(">")
        if dtype is not None:  # T(x)
            self._expect("(")
            return convert(self._rest_of_parentheses(), dtype)
        if re.match(r"[\d.]", self._peek()):
            self._next += 1
            return _number(self._tokens[self._next - 1].lower())
        name = self._name()
        if not self._take("("):
            return self._variable(name)
        arguments = [self._expression()]
        while self._take(","):
            arguments.append(self._expression())
        self._expect(")")
        return call(name, arguments)

    def _rest_of_parentheses(self) -> Array:
        value = self._expression()
        self._expect(")")
        return value

    def _variable(self, name: str) -> Array:
        if self._peek() == "[":
            self._refuse("an operator")
        if name not in self.variables:
            raise ValueRangeError(f"undefined variable {name!r} in a kernel", expected=", ".join(self.variables))
        return self.variables[name]

    def _type(self) -> np.dtype | None:
        dtype = self._types.get(self._peek())
        self._next += dtype is not None
        return dtype

    def _name(self) -> str:
        if not self._peek().isidentifier() or self._peek() in _GPU_ONLY:
            self._refuse("a name")
        self._next += 1
        return self._tokens[self._next - 1]

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self, token: str) -> bool:
        matches = self._peek() == token
        self._next += matches
        return matches

    def _expect(self, token: str) -> None:
        if not self._take(token):
            self._refuse(repr(token))

    def _refuse(self, expected: str) -> NoReturn:
        got = " ".join(self._tokens[self._next :][:8]) or "the end"
        if self._peek() not in _GPU_ONLY:
            raise ValueRangeError("kernel source is not valid C", expected=expected, got=got)
        raise UnsupportedError(
            f"kernels on the CPU are assignments and expressions, without {self._peek()!r}",
            got=got,
            hint="?: in place of if, or on_cpu=, a NumPy function that computes the same",
        )


def _number(text: str) -> Array:
    """A literal, in the type that its suffix and its size give it. Raises ValueRangeError if C has none for it."""
    if not text.startswith("0x") and re.search("[.e]", text):
        return np.asarray(float(text.rstrip("f")), "float32" if text.endswith("f") else "float64")
    digits = text.rstrip("ul")
    suffix = text[len(digits) :]
    octal = digits.startswith("0") and digits.isdigit() and len(digits) > 1
    if len(digits) > 24 or (octal and not set(digits) <= set("01234567")):  # 2**64 - 1 has 23 digits at most
        raise ValueRangeError("kernel source has a malformed number", got=text[:40])
    value = int(digits, 8 if octal else 16 if digits.startswith("0x") else 10)
    if value >= 2**64:
        raise ValueRangeError("kernel source has a number of more than 64 bits", got=text[:40])
    for bits in (64,) if "l" in suffix else (32, 64):
        if "u" not in suffix and value < 2 ** (bits - 1):
            return np.asarray(value, f"int{bits}")
        if ("u" in suffix or octal or digits.startswith("0x")) and value < 2**bits:
            return np.asarray(value, f"uint{bits}")
    return np.asarray(value, "uint64")
