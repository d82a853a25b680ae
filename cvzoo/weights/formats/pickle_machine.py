"""A pickle reader that builds plain values only and can neither import nor call anything.

Python's own unpickler is a stack machine that a file can make call any function; this one has the same opcodes, but
`GLOBAL` looks names up in a table of the caller's, and `REDUCE` calls entries of that table only.
It is also safe from files made to exhaust memory or time: no declared size is trusted before its bytes are read,
the number of steps is bounded, copies made by calls count against the pickle's size, and keys of dicts are restricted
to types and ranges without crafted hash collisions.
Source: the opcode list of Python's `pickletools`. We differ: extension registries, out-of-band buffers and objects
with code of their own are refused.
"""

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from cvzoo.errors.exceptions import FileFormatError, UnsafeFileError

_Kind = TypeVar("_Kind")
MAX_STEPS = 5_000_000  # a checkpoint of 10,000 tensors takes half a million
FREE_ITEMS = 100_000  # that calls may visit, in addition to one per byte of the pickle
KEYS = (str, int, float, bool, bytes, type(None))  # hashing a deep tuple could exhaust the C stack
# integers from 2^61 - 1 on can have equal hashes, and a dict of such keys takes quadratic time in one call
MAX_INT_KEY = 1 << 60
_SIZED = (str, bytes, list, tuple, dict)
MAX_TEXT_KEY = 4096  # equal keys are compared letter by letter


class Callee:
    """The function that replaces a global of a pickle: `build` is called with the pickled arguments."""

    def __init__(self, name: str, build: Callable):
        self.name = name
        self.build = build


class Inert:
    """A placeholder for a value that is not needed: a learning-rate schedule, a NumPy scalar, a device."""

    __slots__ = ()

    def __init__(self, *args: object):
        pass


def dict_of_pairs(items: Iterable = ()) -> dict:
    """The dict that `OrderedDict(items)` builds. Raises TypeError or ValueError for keys that weights do not need."""
    pairs = [(key, value) for key, value in items]
    check_keys([key for key, _ in pairs])
    return dict(pairs)


def check_keys(keys: Iterable) -> None:
    """Raises ValueError if one of the values must not become a key of a dict."""
    for key in keys:
        if not isinstance(key, KEYS):
            raise ValueError("a dict's key is neither text nor number")
        if isinstance(key, int) and not -MAX_INT_KEY < key < MAX_INT_KEY:
            raise ValueError("a dict's key is a number beyond 2^60")
        if isinstance(key, (str, bytes)) and len(key) > MAX_TEXT_KEY:
            raise ValueError(f"a dict's key has more than {MAX_TEXT_KEY} letters")


class Stateful:
    """A value whose state the pickle sets after creating it; the state of any other value is dropped."""

    def set_state(self, state: object) -> None:
        """Take the content. Raises ValueError or TypeError if it cannot be right."""
        raise TypeError("takes no state")


class PickleMachine:
    """Executes the pickle in `data` that starts at `position`; afterwards `position` is past its end.

    table: (module, name) -> replacement of the global: a Callee, or any inert value
    load_persistent: from a persistent id to its value; None: persistent ids are refused
    where: the file's name, for errors
    """

    def __init__(
        self,
        data: bytes | memoryview,
        *,
        position: int = 0,
        table: Mapping[tuple[str, str], object],
        load_persistent: Callable | None = None,
        where: str,
    ):
        self.data = memoryview(data)
        self.position = position
        self._table = table
        self._load_persistent = load_persistent
        self._where = where
        self._stack: list = []
        self._marks: list[int] = []
        self._memo: dict[int, object] = {}
        self._items_left = len(self.data) + FREE_ITEMS

    def load(self) -> Any:
        """The pickled value. Raises UnsafeFileError for a global outside of the table, FileFormatError otherwise."""
        for _ in range(MAX_STEPS):
            code = self._take(1)[0]
            if code == 0x2E:  # STOP
                return self._pop()
            step = _STEPS.get(code)
            if step is None:
                raise self._error(f"code {code:#04x} is not one that weights need")
            step(self)
        raise self._error(f"more than {MAX_STEPS} steps")

    def _error(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self._where}: the pickle inside is damaged near byte {self.position}: {what}")

    # the bytes

    def _take(self, n: int) -> memoryview:
        end = self.position + n
        if n < 0 or end > len(self.data):
            raise self._error("it ends early")
        part = self.data[self.position : end]
        self.position = end
        return part

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _line(self, encoding: str = "latin-1") -> str:
        for end in range(self.position, min(self.position + 4096, len(self.data))):
            if self.data[end] == 0x0A:
                line = bytes(self.data[self.position : end])
                self.position = end + 1
                try:
                    return line.decode(encoding)
                except UnicodeDecodeError as error:
                    raise self._error("a line with a wrong escape") from error
        raise self._error("a line without end")

    def _text(self, n: int) -> str:
        try:
            return str(self._take(n), "utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise self._error("text that is not UTF-8") from error

    # the stack

    def _push(self, value: object) -> None:
        self._stack.append(value)

    def _pop(self) -> Any:
        floor = self._marks[-1] if self._marks else 0
        if len(self._stack) <= floor:
            raise self._error("it takes from an empty stack")
        return self._stack.pop()

    def _top(self, kind: type[_Kind]) -> _Kind:
        floor = self._marks[-1] if self._marks else 0
        if len(self._stack) <= floor or not isinstance(self._stack[-1], kind):
            raise self._error(f"it needs a {kind.__name__}")
        return self._stack[-1]

    def _pop_mark(self) -> list:
        if not self._marks:
            raise self._error("a mark is missing")
        start = self._marks.pop()
        items = self._stack[start:]
        del self._stack[start:]
        return items

    # the steps

    def _long(self, n: int) -> None:
        self._push(int.from_bytes(self._take(n), "little", signed=True))

    def _decimal(self) -> None:
        text = self._line().removesuffix("L")
        if not text.removeprefix("-").isdecimal() or len(text) > 100:
            raise self._error("a number that is none")
        self._push({"00": False, "01": True}.get(text, int(text)))

    def _decimal_float(self) -> None:
        try:
            self._push(float(self._line()))
        except ValueError as error:
            raise self._error("a number that is none") from error

    def _append(self, items: list) -> None:
        target = self._top(object)
        if isinstance(target, list):
            target.extend(items)
        elif not isinstance(target, Inert):
            raise self._error("it needs a list")

    def _set_items(self, items: list) -> None:
        target = self._top(object)
        if isinstance(target, Inert):
            return
        if not isinstance(target, dict) or len(items) % 2:
            raise self._error("it needs a dict and pairs")
        target.update(self._as_dict(items))

    def _as_dict(self, items: list) -> dict:
        if len(items) % 2:
            raise self._error("a key without a value")
        try:
            check_keys(items[::2])
        except ValueError as error:
            raise self._error(str(error)) from error
        return dict(zip(items[::2], items[1::2]))

    def _global(self, module: object, name: object) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise self._error("a global's name is no text")
        if (module, name) not in self._table:
            raise UnsafeFileError(
                f"{self._where}: refers to {module[:80]}.{name[:80]}, which weights do not need; nothing was executed",
                hint="if you trust the file, save only its state dict (.safetensors) in the original environment",
            )
        self._push(self._table[module, name])

    def _reduce(self) -> None:
        args, function = self._pop(), self._pop()
        if not isinstance(args, tuple):
            raise self._error("arguments that are no tuple")
        if not isinstance(function, Callee):
            raise UnsafeFileError(f"{self._where}: calls something that is no function; nothing was executed")
        # a memoized argument takes two bytes of the file, whatever its length
        self._items_left -= len(args) + sum(len(each) for each in args if isinstance(each, _SIZED))
        if self._items_left < 0:
            raise self._error("its calls visit more items than the file has bytes")
        try:
            self._push(function.build(*args))
        except (TypeError, ValueError) as error:
            raise self._error(f"{function.name} with {len(args)} arguments that do not fit") from error

    def _instance(self, module: str, name: str) -> None:
        args = self._pop_mark()
        self._global(module, name)
        self._push(tuple(args))
        self._reduce()

    def _object(self) -> None:
        function, *args = self._pop_mark() or [None]
        self._push(function)
        self._push(tuple(args))
        self._reduce()

    def _build(self) -> None:
        # most states belong to dropped objects: OrderedDict's _metadata, a Namespace's attributes
        state, target = self._pop(), self._top(object)
        if isinstance(target, Stateful):
            try:
                target.set_state(state)
            except (TypeError, ValueError) as error:
                raise self._error(f"a state that does not fit: {str(error)[:100]}") from error

    def _persistent(self, name: object) -> None:
        if self._load_persistent is None:
            raise self._error("it refers to data outside")
        self._push(self._load_persistent(name))

    def _remember(self, key: int) -> None:
        self._memo[key] = self._top(object)

    def _recall(self, key: int) -> None:
        if key not in self._memo:
            raise self._error(f"it recalls value {key} that it never stored")
        self._push(self._memo[key])

    def _line_number(self) -> int:
        text = self._line()
        if not text.isdecimal() or len(text) > 18:
            raise self._error("an index that is none")
        return int(text)

    def _tuple(self, n: int) -> None:
        items = [self._pop() for _ in range(n)]
        self._push(tuple(reversed(items)))

    def _drop(self) -> None:
        if self._marks and len(self._stack) == self._marks[-1]:
            self._marks.pop()
        else:
            self._pop()

    def _protocol(self) -> None:
        if self._take(1)[0] > 5:
            raise self._error("a protocol newer than 5")


def _steps() -> dict[int, Callable[[PickleMachine], object]]:
    m = PickleMachine
    steps = {
        b"\x80": m._protocol,
        b"\x95": lambda s: s._take(8),  # FRAME: only a hint for buffering
        b"(": lambda s: s._marks.append(len(s._stack)),
        b"0": m._drop,
        b"1": lambda s: s._pop_mark(),
        b"2": lambda s: s._push(s._top(object)),
        # constants
        b"N": lambda s: s._push(None),
        b"\x88": lambda s: s._push(True),
        b"\x89": lambda s: s._push(False),
        b"I": m._decimal,
        b"L": m._decimal,
        b"J": lambda s: s._push(s._number("<i")),
        b"K": lambda s: s._push(s._number("<B")),
        b"M": lambda s: s._push(s._number("<H")),
        b"\x8a": lambda s: s._long(s._number("<B")),
        b"\x8b": lambda s: s._long(s._number("<i")),
        b"F": m._decimal_float,
        b"G": lambda s: s._push(s._number(">d")),
        # text and bytes; Python 2's strings are read as Latin-1, in which every byte is a letter
        b"S": lambda s: s._push(s._line().strip("'\"")),
        b"T": lambda s: s._push(str(s._take(s._number("<i")), "latin-1")),
        b"U": lambda s: s._push(str(s._take(s._number("<B")), "latin-1")),
        b"V": lambda s: s._push(s._line("raw-unicode-escape")),
        b"X": lambda s: s._push(s._text(s._number("<I"))),
        b"\x8c": lambda s: s._push(s._text(s._number("<B"))),
        b"\x8d": lambda s: s._push(s._text(s._number("<Q"))),
        b"B": lambda s: s._push(bytes(s._take(s._number("<I")))),
        b"C": lambda s: s._push(bytes(s._take(s._number("<B")))),
        b"\x8e": lambda s: s._push(bytes(s._take(s._number("<Q")))),
        b"\x96": lambda s: s._push(bytes(s._take(s._number("<Q")))),
        # containers
        b"]": lambda s: s._push([]),
        b"l": lambda s: s._push(s._pop_mark()),
        b"a": lambda s: s._append([s._pop()]),
        b"e": lambda s: s._append(s._pop_mark()),
        b")": lambda s: s._push(()),
        b"t": lambda s: s._push(tuple(s._pop_mark())),
        b"\x85": lambda s: s._tuple(1),
        b"\x86": lambda s: s._tuple(2),
        b"\x87": lambda s: s._tuple(3),
        b"}": lambda s: s._push({}),
        b"d": lambda s: s._push(s._as_dict(s._pop_mark())),
        b"s": lambda s: s._set_items([s._pop(), s._pop()][::-1]),
        b"u": lambda s: s._set_items(s._pop_mark()),
        b"\x8f": lambda s: s._push([]),  # sets become lists, since no membership is tested
        b"\x90": lambda s: s._append(s._pop_mark()),
        b"\x91": lambda s: s._push(s._pop_mark()),
        # memory
        b"g": lambda s: s._recall(s._line_number()),
        b"h": lambda s: s._recall(s._number("<B")),
        b"j": lambda s: s._recall(s._number("<I")),
        b"p": lambda s: s._remember(s._line_number()),
        b"q": lambda s: s._remember(s._number("<B")),
        b"r": lambda s: s._remember(s._number("<I")),
        b"\x94": lambda s: s._remember(len(s._memo)),
        # names and calls
        b"c": lambda s: s._global(s._line(), s._line()),
        b"\x93": lambda s: s._global(*[s._pop(), s._pop()][::-1]),
        b"R": m._reduce,
        b"\x81": m._reduce,
        b"i": lambda s: s._instance(s._line(), s._line()),
        b"o": m._object,
        b"b": m._build,
        b"P": lambda s: s._persistent(s._line()),
        b"Q": lambda s: s._persistent(s._pop()),
    }
    return {code[0]: step for code, step in steps.items()}


_STEPS = _steps()
