"""Programs for the language's rules have equal values, errors, highlighted text and graphs in PyTorch and `ts`.

Input: the files of `tests/pytorch_parity/language`.  A program starts with a line `=== title`; its lines that
start with `>>> ` are expressions, which are evaluated after the rest.  Expressions script the plain functions
that they name; `S` is `torch.jit.script`, `renumbered` returns a graph without value numbers, and `x` is a float
matrix.  A comment `# differs: reason` marks a known difference, `# graph differs: reason` one of graphs only.

    === `not` of an int
    def f(n: int):
        return not n
    >>> f(3)

Output: value, printed text and error (class, first line, highlighted text) of each expression, and graphs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import enum
import linecache
import math
import os
import re
import sys
import tempfile
import types
import typing
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "language"
COMMENT = "  # "
KNOWN = re.compile(r"  # differs: .")
KNOWN_GRAPH = re.compile(r"  # (?:graph )?differs: .")
CLOSING = ")]} \"'"  # PyTorch omits some of these at the end of underlined text
BETTER_PLACES = ("Expected a default value", "Mutable default")  # PyTorch underlines the function's body
TYPING_NAMES = "Any Callable Dict Final Generic Iterable Iterator List Literal NamedTuple NewType NoReturn Optional Sequence Set Tuple TypeVar Union".split()


@dataclasses.dataclass
class Rule:
    """A language rule: a program, with expressions to evaluate in its namespace."""

    name: str
    title: str
    text: str
    expressions: list[str]


def read_rules(path: Path) -> Iterator[Rule]:
    """Yield the programs of a file."""
    lines = path.read_text().split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("=== ")]
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        body = lines[start + 1 : end]
        yield Rule(
            f"{path.stem}_{start + 1}",
            lines[start][4:],
            "\n".join(line for line in body if not line.startswith(">>> ")),
            [line[4:] for line in body if line.startswith(">>> ")],
        )


def all_rules() -> list[Rule]:
    """Return the programs of all files."""
    return [rule for path in sorted(FOLDER.glob("*.txt")) for rule in read_rules(path)]


class ScriptedOnUse:
    """Plain function scripted at its first use; records the graph."""

    def __init__(self, function: Any, package: Any, graphs: dict[str, str]):
        self._function, self._package, self._graphs = function, package, graphs
        self._scripted: Any = None

    def _get(self) -> Any:
        if self._scripted is None:
            self._scripted = self._package.jit.script(self._function)
            self._graphs[self._function.__name__] = str(self._scripted.graph)
        return self._scripted

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._get()(*arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._get(), name)


def is_same(ours: Any, theirs: Any) -> bool:
    """Return whether two outcomes are equal.

    An error may be of a subclass of PyTorch's, may say more after a semicolon or colon, and may underline something where
    PyTorch's underlines nothing.
    """
    if not (isinstance(theirs, tuple) and isinstance(ours, tuple) and theirs[0] == ours[0] == "error"):
        return bool(ours == theirs)
    is_class_known = theirs[1][0] in ours[1]
    is_message_equal = ours[2] == theirs[2] or ours[2].startswith((f"{theirs[2]};", f"{theirs[2]}: "))
    is_place_equal = theirs[3] in ([], ours[3]) or theirs[2].startswith(BETTER_PLACES)
    return bool(is_class_known and is_message_equal and is_place_equal and ours[4:] == theirs[4:])


def differences(rule: Rule, ours: list[Any], theirs: list[Any]) -> list[str]:
    """Return the differences as text; a known difference that does not occur is one, too."""
    found = []
    skipped = ""
    for text, own, expected in zip(["the program itself", *rule.expressions], ours, theirs, strict=False):
        known = KNOWN.search(text)
        skipped += f" {text.partition(COMMENT)[0]}" if KNOWN_GRAPH.search(text) else ""
        if is_same(own, expected) == bool(known):
            state = "does not differ any more" if known else f"\n    PyTorch {simplify_outcome(expected)}\n    ts      {simplify_outcome(own)}"
            found.append(f"{text}: {state}")
    for name in {**theirs[-1], **ours[-1]}:
        own, expected = (graphs[-1].get(name, "") for graphs in (ours, theirs))
        if own and expected and own != expected and not re.search(rf"\b{name}\b", skipped):
            lines = difflib.unified_diff(expected.split("\n"), own.split("\n"), "PyTorch", "ts", lineterm="", n=1)
            found.append(f"graph of {name}:\n    " + "\n    ".join(list(lines)[2:]))
    return found


def simplify_outcome(outcome: Any) -> Any:
    """Return an outcome, reduced to the first class of an error's class list."""
    return ("error", outcome[1][0], *outcome[2:]) if outcome[0] == "error" else outcome


def outcomes(rule: Rule, package: Any) -> list[Any]:
    """Return the outcome of each expression of a rule with `package` as `torch`, and then the graphs."""
    filename = f"<language>/{rule.name}.py"
    text = rule.text
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = types.ModuleType(f"language_{rule.name}")
    module.__file__ = filename
    sys.modules[module.__name__] = module  # a class finds its source through its module
    names = vars(module)
    names.update({name: getattr(typing, name) for name in TYPING_NAMES})
    names.update(
        torch=package, nn=package.nn, F=package.nn.functional, Tensor=package.Tensor, math=math, enum=enum, Enum=enum.Enum
    )
    names.update(dataclass=dataclasses.dataclass, dataclasses=dataclasses, warnings=warnings, typing=typing, M=package.nn.Module)
    names.update(renumbered=renumbered)
    package.manual_seed(0)
    results: list[Any] = []
    graphs: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results.append(outcome(lambda: exec(compile(text, filename, "exec", dont_inherit=True), names), package))
        evaluated = dict(names)
        for name, value in names.items():
            if isinstance(value, types.FunctionType) and value.__code__.co_filename == filename and name[0] != "_":
                evaluated[name] = ScriptedOnUse(value, package, graphs)
        for expression in rule.expressions:
            evaluated.update(S=package.jit.script, x=package.arange(6.0).reshape(2, 3))
            results.append(outcome(lambda e=expression: eval(e, evaluated), package))
    results.append({name: plain_text(graph, package) for name, graph in graphs.items()})
    return results


def outcome(action: Any, package: Any) -> Any:
    """Return the value or error of an action with its printed output."""
    with tempfile.TemporaryFile("w+") as stream:
        sys.stdout.flush()
        saved = os.dup(1)
        os.dup2(stream.fileno(), 1)
        try:
            try:
                with contextlib.redirect_stdout(stream):  # a test runner may have replaced it
                    result = ("value", plain_text(describe(action()), package))
            except Exception as error:
                result = ("error", class_names(error), *message_and_highlights(plain_text(str(error), package)))
        finally:
            stream.flush()
            sys.stdout.flush()
            os.dup2(saved, 1)
            os.close(saved)
        stream.seek(0)
        printed = stream.read()
    return (*result, plain_text(printed, package)) if printed else result


def class_names(error: Exception) -> list[str]:
    """Return the class names of an error, the most derived first."""
    return ["Error" if cls.__name__ == "ScriptRuntimeError" else cls.__name__ for cls in type(error).__mro__]


def message_and_highlights(text: str) -> tuple[str, list[str]]:
    """Return the message line of an error and the source text that it underlines."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    while_running = "Traceback of TorchScript" in text  # run-time errors have their message last
    message = (lines or [""])[-1 if while_running else 0]
    return message.rstrip(":"), highlighted(text)


def describe(value: Any) -> str:
    """Return the text of a value, with the classes of containers."""
    if type(value) is list:
        return f"[{', '.join(map(describe, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(describe, value))})"
    if isinstance(value, dict):
        return f"{type(value).__name__}{{{', '.join(f'{describe(k)}: {describe(v)}' for k, v in value.items())}}}"
    if type(value).__name__ in ("RecursiveScriptModule", "RecursiveScriptClass", "ScriptFunction", "ScriptObject", "ScriptMethod"):
        return f"<{type(value).__name__}>"
    return value if type(value) is str and "\n" in value else repr(value)


def highlighted(message: str) -> list[str]:
    """Return the first source text that an error underlines."""
    lines = message.split("\n")
    texts = []
    for number, line in enumerate(lines):
        if line.endswith("<--- HERE") and number:
            marks = line[: -len("<--- HERE")].rstrip()
            start = len(marks) - len(marks.lstrip())
            texts.append(f"{lines[number - 1].strip()} | {lines[number - 1][start : len(marks)].rstrip(CLOSING)}")
    return texts[:1]


def renumbered(graph: Any) -> str:
    """Return the text of a graph without source locations, with unnamed values numbered by first appearance."""
    numbers: dict[str, str] = {}
    text = re.sub(r" # \S*:\d+:\d+", "", str(graph))
    return re.sub(r"%(\d+)\b", lambda found: numbers.setdefault(found[1], f"%{len(numbers)}"), text)


def plain_text(text: str, package: Any) -> str:
    """Return a text without addresses, without the package's name and without the numbers in the names of equal classes."""
    text = re.sub(r"___torch_mangle_\d+\.", "", text)
    text = re.sub(r"0x[0-9a-f]+", "0x0", text).replace(" (of Python compilation unit at: 0x0)", "")
    return re.sub(rf"\b{package.__name__}\.", "torch.", text)
