"""Exceptions of ``ts``.

There are three families:

* `FrontendError` and subclasses: compile-time errors of the user's program, with a source range
* `ScriptRuntimeError` and `LimitExceeded`: run-time errors of the program, with the stack of the script
* `InternalError`: bugs of ``ts``, with the name of the pass and the text of the graph

Most exceptions are subclasses of `RuntimeError`, as in PyTorch. Example of a message with a source range::

    undefined value y:
      File "model.py", line 3
    def f(x):
        return x + y
                   ~ <--- HERE

This module imports no other module of ``ts``, so every module may import it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol


class Located(Protocol):
    """Interface of the source ranges in errors (`ts.ir.source.SourceRange`)."""

    def highlight(self, function: str = "") -> str:
        """Return the source lines with the range marked. `function` is the name of the enclosing function."""

    def origin(self) -> Located | None:
        """Return the range in the original program that this code was generated from, or None if unknown."""


class TsError(RuntimeError):
    """Base class of most exceptions of ``ts``."""


# --- compile-time errors ---------------------------------------------------------------------------


class FrontendError(TsError):
    """Compile-time error of the user's program, with a source location."""

    def __init__(self, message: str, range: Located | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.range = range
        self.hint = hint  # source code that the user can write instead, or "" if there is no suggestion
        self.calls: list[tuple[str, str, Located | None]] = []
        self.others: list[FrontendError] = []
        self.has_caller = False  # True after `add_call` has recorded a caller

    @property
    def msg(self) -> str:
        """Message without the location. PyTorch uses this name for `message`."""
        return self.message

    def add_call(self, callee: str, caller: str, range: Located | None = None) -> FrontendError:
        """Record that `callee` was compiled because `caller` calls it at `range`.

        The message lists the recorded calls, beginning with the innermost one.
        """
        self.has_caller = True
        for error in (self, *self.others):
            error.calls.append((callee, caller, range))
        return self

    def copy(self) -> FrontendError:
        """Return a copy of this error, to which a caller can add its own call."""
        copied = type(self)(self.message, self.range, self.hint)
        copied.calls = list(self.calls)
        copied.others = [other.copy() for other in self.others]
        copied.has_caller = self.has_caller
        return copied

    def __str__(self) -> str:
        message = self._own_text()
        if self.others:
            count = len(self.others)
            message = f"{message.rstrip()}\n\n{count} more error{'s' * (count > 1)}:\n"
            message += "\n".join(str(other) for other in self.others)
        return message

    def _separator(self) -> str:
        """Return the text between the message and the source location."""
        return ":\n"

    def _own_text(self) -> str:
        message = self.message
        if self.range is not None:
            message += self._separator() + self.range.highlight()
        for callee, caller, range in self.calls:
            if not message.endswith("\n"):
                message += "\n"
            message += f"'{callee}' is being compiled since it was called from '{caller}'\n"
            if range is not None:
                message += range.highlight()
        if self.hint:
            message += ("" if message.endswith("\n") else "\n") + f"Hint: {self.hint}\n"
        return message


class NotSupportedError(FrontendError):
    """Raised for an unsupported Python feature. The message suggests an alternative."""


class UnsupportedNodeError(NotSupportedError):
    """Raised for an unsupported kind of statement or expression."""


class CompilationError(FrontendError):
    """Raised for an error in types, names or calls of a program."""


class UnresolvedAnnotationError(CompilationError, AssertionError, ValueError):
    """Raised for an annotation that names no type. PyTorch raises AssertionError or ValueError.

    If the message ends with "at", the error text shows the source location in the same line.
    """

    def _separator(self) -> str:
        return " " if self.message.endswith(" at") else super()._separator()


class NestingError(FrontendError):
    """Raised if a program is nested too deeply for the compiler."""


class SchemaMatchError(CompilationError):
    """Raised for a call whose arguments match no overload of the operator or function."""


class ParseError(TsError):
    """Raised if the text of a schema or graph cannot be parsed. The message shows the line and a caret."""

    def __init__(self, message: str, text: str = "", position: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.position = position

    def __str__(self) -> str:
        if not self.text:
            return self.message
        begin = self.text.rfind("\n", 0, self.position) + 1
        end = self.text.find("\n", self.position)
        line = self.text[begin : end if end >= 0 else len(self.text)]
        return f"{self.message}:\n{line}\n{' ' * (self.position - begin)}~ <--- HERE\n"


# --- run-time errors -------------------------------------------------------------------------------


_FAILED = "The following operation failed in the TorchScript interpreter."


class ScriptRuntimeError(TsError):
    """Run-time error of a script, by ``raise``, ``assert`` or an operator. It is public as ``ts.jit.Error``.

    `stack` holds (function name, source range) pairs, outermost first. `class_name` is the exception's class
    as the program would name it (``builtins.ValueError``, ``RuntimeError``).
    """

    def __init__(
        self,
        message: str,
        stack: Sequence[tuple[str, Located | None]] = (),
        class_name: str = "RuntimeError",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.stack = list(stack)
        self.class_name = class_name

    def __str__(self) -> str:
        if not self.stack:
            return self.message
        origins = _original_stack(self.stack)
        if origins == self.stack:
            traceback = _traceback("", self.stack)
        else:
            traceback = (
                f"{_traceback(', serialized code', self.stack)}\n{_traceback(', original code', origins)}"
            )
        return f"{_FAILED}\n{traceback}{self.class_name}: {self.message}\n"


def _original_stack(stack: Sequence[tuple[str, Located | None]]) -> list[tuple[str, Located | None]]:
    """Return the stack with ranges in generated code replaced by known ranges in the original source."""
    return [(function, None if range is None else range.origin() or range) for function, range in stack]


def without_stack(report: str) -> str:
    """Return the message of a failure without source locations and paths.

    `report` is the text of a script error.
    """
    prefix, _, message = report.rpartition("\nRuntimeError: ")
    return message.rstrip("\n") if prefix.startswith(_FAILED) else report


def _traceback(which: str, stack: Sequence[tuple[str, Located | None]]) -> str:
    return f"Traceback of TorchScript{which} (most recent call last):\n{_lines(stack)}"


def _lines(stack: Sequence[tuple[str, Located | None]]) -> str:
    return "".join(
        f"  <no source>, in {function}\n" if range is None else range.highlight(function)
        for function, range in stack
    )


class LimitExceeded(TsError):
    """Raised if a program exceeds a limit of `ts.limits`. `message` contains the limit and the usage.

    `stack` is a list of pairs (function name, source range), outermost call first. For programs from
    archives, the error text shows the original source if the archive contains it.
    """

    # If a stack has too many calls, this number of calls is shown at its start and at its end.
    _MAX_SHOWN_CALLS = 10

    def __init__(self, message: str, stack: Sequence[tuple[str, Located | None]] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.stack = list(stack)

    def __str__(self) -> str:
        if not self.stack:
            return self.message
        stack = _original_stack(self.stack)
        hidden_count = len(stack) - 2 * self._MAX_SHOWN_CALLS
        if hidden_count <= 0:
            return f"{self.message}\n{_traceback('', stack)}"
        first, last = stack[: self._MAX_SHOWN_CALLS], stack[-self._MAX_SHOWN_CALLS :]
        return f"{self.message}\n{_traceback('', first)}  ... {hidden_count} more calls ...\n{_lines(last)}"


class FuelExceeded(LimitExceeded):
    """Raised if a program executes more instructions than ``ts.limits(fuel=...)``."""


class TimeExceeded(LimitExceeded):
    """Raised if a program runs longer than ``ts.limits(seconds=...)``."""


class MemoryExceeded(LimitExceeded):
    """Raised if a program allocates more memory than ``ts.limits(bytes=...)``."""


class StackExceeded(LimitExceeded):
    """Raised if a program exceeds the maximum call depth."""


class MissingSympyError(ImportError):
    """Raised if an operation on exported programs needs SymPy, and SymPy is not installed."""


class LinAlgError(TsError):
    """Raised if a matrix in `ts.linalg` is singular or not positive definite."""


class DebuggerQuit(TsError):
    """Raised if the user ends the program by a command of the debugger."""


class _Suggestion(str):
    """Error text that searches for similar names only when it is formatted."""

    __slots__ = ("list_names", "name")

    name: str
    list_names: Callable[[], Iterable[str]]

    def __str__(self) -> str:
        message = str.__str__(self)
        # If a property raised the AttributeError, `list_names()` contains the name of the property, `name`.
        others = [name for name in self.list_names() if name != self.name]
        suggestion = closest(self.name, others, 0.6 if len(self.name) < 5 else 0.7)
        return f"{message}. Did you mean: '{suggestion}'?" if suggestion else message

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def missing_attribute(owner: str, name: str, list_names: Callable[[], Iterable[str]]) -> AttributeError:
    """Return an AttributeError with lazily computed suggestions of similar names.

    `list_names` returns the existing names. It is called only when the error text is formatted, so that
    `hasattr` stays fast.
    """
    message = _Suggestion(f"{owner} has no attribute '{name}'")
    message.name, message.list_names = name, list_names
    return AttributeError(message, name=name)


def closest(name: str, list_names: Iterable[str], cutoff: float = 0.7) -> str:
    """Return the name in `list_names` that is most similar to `name`, or "" if none is similar enough.

    A private name is returned only if `name` is private, too.
    """
    import difflib

    names = [other for other in list_names if other.startswith("_") <= name.startswith("_")]
    normalized = name.lower().replace("_", "")
    for other in names:
        if other.lower().replace("_", "") == normalized:  # such as Relu for ReLU
            return other
    matches = difflib.get_close_matches(name, names, 1, cutoff)
    if not matches:
        matches = difflib.get_close_matches(name.lower(), {n.lower(): n for n in names}, 1, cutoff)
        matches = [next(n for n in names if n.lower() == lower) for lower in matches]
    return matches[0] if matches else ""


def no_such_argument(name: str, list_names: Iterable[str]) -> str:
    """Return the error message for an unknown keyword argument `name`, with the most similar name."""
    meant = closest(name, list_names)
    return f"unknown argument '{name}'" + (f": did you mean '{meant}'?" if meant else "")


class MissingCudaError(AssertionError, RuntimeError):
    """Raised for a CUDA call without CuPy. PyTorch raises AssertionError."""


class ArchiveError(TsError):
    """Raised if an archive is damaged or contains forbidden data."""


# --- bugs of ts ------------------------------------------------------------------------------------


class InternalError(TsError):
    """Raised for a violated invariant, which is a bug in ``ts``.

    Contains the pass name and the graph text.
    """

    def __init__(self, message: str, pass_name: str = "", graph_text: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.pass_name = pass_name
        self.graph_text = graph_text

    def __str__(self) -> str:
        message = "internal error of ts"
        if self.pass_name:
            message += f" after pass {self.pass_name}"
        message += f": {self.message}"
        if self.graph_text:
            message += f"\n{self.graph_text}"
        return message


class PassError(TsError):
    """Raised by a pass that cannot establish its postcondition for a program."""


class GradcheckError(RuntimeError):
    """Raised by `ts.autograd.gradcheck` if a gradient differs from finite differences or is malformed."""


# --- export errors ---------------------------------------------------------------------------------


class GuardOnDataDependentSymNode(TsError):
    """Raised if the control flow of an exported program depends on tensor elements."""


class ConstraintViolationError(TsError):
    """Raised if example sizes violate declared constraints."""


class UserErrorType(enum.Enum):
    """Category of a UserError."""

    DYNAMIC_CONTROL_FLOW = enum.auto()
    ANTI_PATTERN = enum.auto()
    STANDARD_LIBRARY = enum.auto()
    CONSTRAINT_VIOLATION = enum.auto()
    DYNAMIC_DIM = enum.auto()
    INVALID_INPUT = enum.auto()
    INVALID_OUTPUT = enum.auto()
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = enum.auto()


class UserError(TsError):
    """Raised for a program or specification that cannot be exported.

    error_type  category of the error
    msg         message
    case_name   always None (in PyTorch, the name of a documented example)
    """

    def __init__(self, msg: str, error_type: UserErrorType = UserErrorType.INVALID_INPUT) -> None:
        super().__init__(msg)
        self.error_type = error_type
        self.msg = self.message = msg
        self.case_name: str | None = None


class UncapturedHigherOrderOpError(TsError):
    """Raised for a function that a control flow operator cannot capture."""


class TorchRuntimeError(TsError):
    """Raised if the functions or operands of a control flow operator do not fit together."""


class DataDependentOutputException(TsError):
    """Raised by an operator that would convert unknown tensor elements to a Python value."""


class DynamicOutputShapeException(TsError):
    """Raised by an operator whose output shape depends on elements of a fake tensor."""


class FakeTensorDeviceMismatchError(RuntimeError):
    """Raised for an operator call with fake tensors on different devices."""
