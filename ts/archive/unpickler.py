"""Restricted unpickler (safe deserialization, stack machine) of archives, with an allowlist of types.

Input: the bytes of a pickle, a function that resolves global names, and a function that returns storages.
Output: an object that contains only allowed types. Example:

    Unpickler(data, names, storages).load()

The call `names(module, name)` returns a `Global`, or raises an error for a name that is not allowed. A
`Global` implements three opcodes. REDUCE calls it, NEWOBJ creates an object with it, and BUILD sets the state
of this object.

Memory use is proportional to the number of bytes read. The unpickler supports the opcodes of protocol 2 that
PyTorch writes, and the short forms of protocol 4.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final, NoReturn

from ts._core.thread import deadline
from ts._core.value.type_of import is_small
from ts.errors import ArchiveError

_MARK: Final = object()
_STEPS_PER_CHECK: Final = 256  # number of opcodes after which the limits on time and memory are checked


class Global:
    """Class or function that a pickle names, with its implementation of REDUCE, NEWOBJ and BUILD.

    `call`, `new` and `build` implement these opcodes. Opcodes without a function raise ArchiveError.
    """

    def __init__(
        self,
        name: str,
        call: Callable[..., Any] | None = None,
        new: Callable[..., Any] | None = None,
        build: Callable[[Any, Any], None] | None = None,
        takes_arguments: bool = False,
    ) -> None:
        self.name = name
        self.call = call
        self.new = new
        self.build = build
        self.takes_arguments = takes_arguments  # True if NEWOBJ may pass arguments to `new`

    def __call__(self, *arguments: Any) -> Any:
        """Run REDUCE: call the global with the given arguments.

        Raise ArchiveError if files must not call this global.
        """
        if self.call is None:
            raise ArchiveError(f"{self.name} cannot be called")
        return self.call(*arguments)


class PlaceholderValue(dict[Any, Any]):
    """Placeholder for objects of a pickle that is only scanned for names."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def placeholder_global(module: str, name: str) -> Global:
    """Return a `Global` that returns placeholders for calls and instances, to find the names in a pickle."""
    return Global(f"{module}.{name}", call=_blank, new=PlaceholderValue, build=_ignore)


def _blank(*arguments: Any) -> PlaceholderValue:
    return PlaceholderValue()


def _ignore(created: Any, state: Any) -> None:
    """Ignore the state of an object, which a scan for names does not need."""


class Unpickler:
    """Restricted interpreter of a pickle, which resolves globals and storages by callbacks."""

    def __init__(
        self,
        data: bytes,
        names: Callable[[str, str], Global],
        storages: Callable[[Any], Any],
        encoding: str = "latin-1",
    ) -> None:
        self.data = data
        self.encoding = encoding  # encoding of Python 2 strings, or "bytes" to keep them as bytes
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        # id of an object that NEWOBJ or REDUCE created -> (the object, the global that created it)
        self.created: dict[int, tuple[Any, Global]] = {}
        self.names = names
        self.storages = storages

    def load(self) -> Any:
        """Run the pickle and return the value."""
        actions = _ACTIONS
        try:
            while True:
                for _ in range(_STEPS_PER_CHECK):
                    code = self.read_byte()
                    if code == _STOP:
                        return self.pop()
                    action = actions.get(code)
                    if action is None:
                        self.fail(f"opcode {bytes([code])!r} is not allowed")
                    action(self)
                deadline.charge(_STEPS_PER_CHECK * 200, bytes=_STEPS_PER_CHECK * 50)
        except RecursionError:
            self.fail("a value is nested too deeply or contains itself")
        except (struct.error, ValueError, TypeError, OverflowError) as error:
            raise ArchiveError(f"the pickle is damaged at byte {self.at}: {error}") from error

    def fail(self, reason: str) -> NoReturn:
        """Raise ArchiveError with the byte offset of the current opcode."""
        raise ArchiveError(f"the pickle is damaged at byte {self.at}: {reason}")

    def read_bytes(self, count: int) -> bytes:
        """Consume `count` bytes and return them. Raise ArchiveError if the pickle ends earlier."""
        end = self.at + count
        if end > len(self.data):
            self.fail("unexpected end of data")
        chunk = self.data[self.at : end]
        self.at = end
        return chunk

    def read_byte(self) -> int:
        """Consume a byte, and return it as a number."""
        if self.at >= len(self.data):
            self.fail("unexpected end of data")
        byte = self.data[self.at]
        self.at += 1
        return byte

    def read_int(self, size: int, signed: bool = False) -> int:
        """Consume a little-endian integer of `size` bytes, and return it."""
        return int.from_bytes(self.read_bytes(size), "little", signed=signed)

    def read_float(self) -> float:
        """Consume a big-endian number of 64 bits, and return it."""
        number: float = struct.unpack(">d", self.read_bytes(8))[0]
        return number

    def line(self) -> str:
        """Consume a UTF-8 line and return it without the newline."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            self.fail("unexpected end of data")
        line = self.data[self.at : end].decode("utf-8")
        self.at = end + 1
        return line

    def pop(self) -> Any:
        """Remove the top of the stack and return it.

        Raise ArchiveError if the stack is empty, or if its top is a mark.
        """
        if not self.stack or self.stack[-1] is _MARK:
            self.fail("the stack is empty")
        return self.stack.pop()

    def top(self, kind: type) -> Any:
        """Return the top of the stack without removing it. Raise ArchiveError unless it is a `kind`."""
        if not self.stack or not isinstance(self.stack[-1], kind):
            self.fail(f"expected a {kind.__name__} on the stack")
        return self.stack[-1]

    def pop_mark(self) -> list[Any]:
        """Remove the topmost mark and all values above it, and return the values."""
        stack = self.stack
        for i in range(len(stack) - 1, -1, -1):
            if stack[i] is _MARK:
                values = stack[i + 1 :]
                del stack[i:]
                return values
        self.fail("the stack has no mark")

    def push_tuple(self, size: int) -> None:
        """Replace the topmost `size` values by a tuple of them."""
        values = [self.pop() for _ in range(size)]
        self.stack.append(tuple(reversed(values)))

    def get(self, index: int) -> None:
        """Push the memoized value with index `index`. Raise ArchiveError if there is no such value."""
        if index not in self.memo:
            self.fail(f"memo has no entry {index}")
        self.stack.append(self.memo[index])

    def put(self, index: int) -> None:
        """Memoize the top of the stack as `index`, and leave it on the stack."""
        if not self.stack or self.stack[-1] is _MARK:
            self.fail("the stack is empty")
        self.memo[index] = self.stack[-1]

    def require_global(self, value: Any) -> Global:
        """Return `value` if it is a Global. Raise ArchiveError for any other object."""
        if not isinstance(value, Global):
            self.fail("expected a class or function on the stack")
        return value

    def reduce(self) -> None:
        """Run REDUCE: call an allowed global with the arguments on the stack."""
        arguments = self.pop()
        callee = self.require_global(self.pop())
        if callee.call is None:
            self.fail(f"{callee.name} cannot be called")
        # For an enum member, PyTorch writes the only argument without a tuple.
        created = callee.call(*(arguments if isinstance(arguments, tuple) else (arguments,)))
        if callee.build is not None:
            self.created[id(created)] = created, callee
        self.stack.append(created)

    def new(self) -> None:
        """Run NEWOBJ: create an object of an allowed class.

        Raise ArchiveError if there are arguments but the class does not have `takes_arguments`.
        """
        arguments = self.pop()
        cls = self.require_global(self.pop())
        if cls.new is None or not isinstance(arguments, tuple) or (arguments and not cls.takes_arguments):
            self.fail(f"cannot create an object of {cls.name} with these arguments")
        created = cls.new(*arguments)
        self.created[id(created)] = created, cls
        self.stack.append(created)

    def build(self) -> None:
        """Run BUILD: set the state of an object that this pickle created."""
        state = self.pop()
        created = self.pop()
        _, cls = self.created.get(id(created), (None, None))
        if cls is None or cls.build is None:
            self.fail("cannot set the state of this object")
        cls.build(created, state)
        self.stack.append(created)

    def push_global(self, module: Any, name: Any) -> None:
        """Resolve a module and a name to an allowed global, and push it."""
        if not isinstance(module, str) or not isinstance(name, str):
            self.fail("expected a string as the name of a class")
        self.stack.append(self.names(module, name))

    def stack_global(self) -> None:
        """Run STACK_GLOBAL: resolve the module and the name on the stack, and push the global."""
        name, module = self.pop(), self.pop()
        self.push_global(module, name)

    def append_all(self) -> None:
        """Run APPENDS: append the values above the mark to the list below it."""
        values = self.pop_mark()
        self.top(list).extend(values)

    def append_one(self) -> None:
        """Run APPEND: append the top of the stack to the list below it."""
        value = self.pop()
        self.top(list).append(value)

    def set_items(self) -> None:
        """Run SETITEMS: add the keys and values above the mark to the dict below it."""
        values = self.pop_mark()
        self.top(dict).update(_pairs(values))

    def set_item(self) -> None:
        """Run SETITEM: add the topmost key and value to the dict below them on the stack."""
        value, key = self.pop(), self.pop()
        self.top(dict)[checked_key(key)] = value

    def long(self, size: int) -> None:
        """Push a little-endian signed integer of `size` bytes."""
        if size < 0:
            self.fail("negative size of an int")
        self.stack.append(self.read_int(size, signed=True))

    def push_string(self, length: int) -> None:
        """Push a UTF-8 string of `length` bytes."""
        self.stack.append(self.read_bytes(length).decode("utf-8", "surrogatepass"))

    def push_byte_string(self, length: int) -> None:
        """Push a Python 2 string of `length` bytes, decoded with `encoding` or kept as bytes."""
        if length < 0:
            self.fail("negative size of a string")
        data = self.read_bytes(length)
        self.stack.append(data if self.encoding == "bytes" else data.decode(self.encoding))


def _pairs(values: list[Any]) -> dict[Any, Any]:
    if len(values) % 2:
        raise ValueError("a dictionary key has no value")
    return dict(zip(map(checked_key, values[::2]), values[1::2], strict=True))


def checked_key(key: Any) -> Any:
    """Return `key`. Raise ValueError for a large nested tuple, because its hash takes too much time."""
    if isinstance(key, tuple) and not is_small(key):
        raise ValueError("a dictionary key is too large")
    return key


def ordered_dict(pairs: Any = ()) -> OrderedDict[Any, Any]:
    """Build an `OrderedDict` from (key, value) pairs. Raise ValueError if a key is too large."""
    return OrderedDict((checked_key(key), value) for key, value in pairs)


_Action = Callable[[Unpickler], Any]
_STOP: Final = ord(".")
_ACTIONS: Final[dict[int, _Action]] = {
    0x80: lambda m: m.read_bytes(1),  # PROTO
    0x95: lambda m: m.read_bytes(8),  # FRAME
    ord("B"): lambda m: m.stack.append(m.read_bytes(m.read_int(4))),
    ord("C"): lambda m: m.stack.append(m.read_bytes(m.read_byte())),
    ord("c"): lambda m: m.push_global(m.line(), m.line()),  # GLOBAL
    0x93: Unpickler.stack_global,
    ord("("): lambda m: m.stack.append(_MARK),
    ord("1"): lambda m: m.pop_mark(),  # POP_MARK
    ord("0"): lambda m: m.pop(),
    ord("N"): lambda m: m.stack.append(None),
    0x88: lambda m: m.stack.append(True),
    0x89: lambda m: m.stack.append(False),
    ord("J"): lambda m: m.stack.append(m.read_int(4, signed=True)),
    ord("K"): lambda m: m.stack.append(m.read_byte()),
    ord("M"): lambda m: m.stack.append(m.read_int(2)),
    0x8A: lambda m: m.long(m.read_byte()),
    0x8B: lambda m: m.long(m.read_int(4, signed=True)),
    ord("G"): lambda m: m.stack.append(m.read_float()),
    ord("X"): lambda m: m.push_string(m.read_int(4)),
    0x8C: lambda m: m.push_string(m.read_byte()),
    0x8D: lambda m: m.push_string(m.read_int(8)),
    ord("T"): lambda m: m.push_byte_string(m.read_int(4, signed=True)),
    ord("U"): lambda m: m.push_byte_string(m.read_byte()),
    ord(")"): lambda m: m.stack.append(()),
    0x85: lambda m: m.push_tuple(1),
    0x86: lambda m: m.push_tuple(2),
    0x87: lambda m: m.push_tuple(3),
    ord("t"): lambda m: m.stack.append(tuple(m.pop_mark())),
    ord("]"): lambda m: m.stack.append([]),
    ord("l"): lambda m: m.stack.append(m.pop_mark()),
    ord("a"): Unpickler.append_one,
    ord("e"): Unpickler.append_all,
    ord("}"): lambda m: m.stack.append({}),
    ord("d"): lambda m: m.stack.append(_pairs(m.pop_mark())),
    ord("s"): Unpickler.set_item,
    ord("u"): Unpickler.set_items,
    ord("q"): lambda m: m.put(m.read_byte()),
    ord("r"): lambda m: m.put(m.read_int(4)),
    0x94: lambda m: m.put(len(m.memo)),  # MEMOIZE
    ord("h"): lambda m: m.get(m.read_byte()),
    ord("j"): lambda m: m.get(m.read_int(4)),
    ord("Q"): lambda m: m.stack.append(m.storages(m.pop())),
    0x81: Unpickler.new,
    ord("R"): Unpickler.reduce,
    ord("b"): Unpickler.build,
}
