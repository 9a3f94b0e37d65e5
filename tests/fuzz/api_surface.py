"""Call every Python-accessible function, type and method of the extensions with invalid arguments.

Input: a seed and module names; output: a line for each call that ended its process.

    python -m tests.fuzz.api_surface 0 ts._core.dispatch          calls that end the process, in one module
    python -m tests.fuzz.api_surface 0                            in all modules

Three of four arguments have the parameter's type according to the docstring (`embedsignature`), others any
type; some calls have one argument too few or too many.  A call may return or raise; memory is limited, so
that huge allocations fail, and a call that exceeds SECONDS is ended with its traceback.
"""

from __future__ import annotations

import contextlib
import copy
import copyreg
import gc
import importlib
import pickle
import random
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ts
from tests import samples
from tests.fuzz import odd_values, subprocess_watchdog
from ts._core.dispatch.overloads import OverloadSet
from ts._core.builtin_ops.registry import operators
from ts.ops import registry

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20  # time limit of a call
CALLS = 60  # number of calls of each callable
# Process-wide settings of a package cannot be undone by the next call.
PROCESS_SETTINGS = re.compile(
    r"^(set_|register_|install_|define_|_install|_fill_tables|_forget)"
)
# Calls of unbounded duration: futures of these tests are never finished, and a value may have 2**63 elements.
UNBOUNDED = {
    "ts._core.vm.future.Future.wait",
    "ts._core.vm.execution.ScriptCoroutine.run",
    "ts._core.value.type_of.is_small",
}
# Operators are shared by the process: an operator without its record would break printing of the next tensor.
SHARED = {"ts._core.dispatch.operator.Operator.record ="}


def modules() -> list[str]:
    """Return the names of the extension modules of this tree."""
    found = []
    for top, package in (("ts/_core", "ts._core"), ("backends", "ts.backends")):
        for path in sorted((ROOT / top).rglob("*.pyx")):
            found.append(".".join([package, *path.relative_to(ROOT / top).with_suffix("").parts]))
    return found


def values() -> dict[str, list[Any]]:
    """Return argument values by the type names of signatures."""
    ints = [0, 1, 2, 3, -1, 64, 1 << 31, (1 << 63) - 1, -(1 << 63)]
    floats = [0.0, 1.5, -1.0, float("nan"), float("inf"), 1e308]
    tuples = [(), (1,), (2, 3), (-1, 0), (1.5,), ("a",), (None,), (ts.ones(2),), (ts.ones(2), 2), ((1,),), (0,) * 70, (1 << 62,) * 3]
    texts = ["", "a", "aten::add", "cpu", "é\0b", "\ud800", "x" * 300, "f(Tensor x) -> Tensor"]
    registry.load()
    own = [*operators()[::40], *map(samples.operator, registry.records()[::60])]
    return {
        "int": ints, "float": floats, "bool": [True, False], "str": texts, "list": [list(x) for x in tuples], "tuple": tuples, "Tensor": odd_values.mixed(), "ndarray": odd_values.arrays(),
        "dict": [{}, {"a": 1}, {1: ts.ones(1)}, {None: []}], "Operator": own, "type": [int, ts.Tensor, odd_values.Color, type(own[0])],
        "dtype": [ts.float32, np.dtype("f4"), np.dtype("O"), np.dtype(">i2")],
        "any": odd_values.values(),
    }  # fmt: skip


def type_key(name: str) -> str:
    """Return the key of `values` for a type in a signature."""
    if re.fullmatch(
        r"(int|long|Py_ssize_t|int64_t|int32_t|uint\w*|size_t|unsigned.*|long long|Py_hash_t|NPY_\w+)", name
    ):
        return "int"
    return {"double": "float", "object": "any", "bint": "bool", "": "any", "const char *": "str"}.get(
        name, name
    )


def parameter_types(function: Any) -> list[str]:
    """Return the parameter types from the first line of a docstring, with `any` for unknown types."""
    first = (getattr(function, "__doc__", None) or "").partition("\n")[0]
    inside = re.match(r"[\w.]+\((.*)\)", first)
    if inside is None:
        return ["any"] * 2
    parts = [part.strip() for part in re.split(r",(?![^\[(]*[\])])", inside[1])]
    parts = [part for part in parts if part and part not in ("self", "*", "/", "cls")]
    return [type_key(type_of_parameter(part.partition("=")[0].strip())) for part in parts]


def type_of_parameter(parameter: str) -> str:
    """Return the type of a parameter `ndarray x` or `x: ndarray`."""
    name, colon, annotation = parameter.partition(":")
    return annotation.strip().strip("'\"") if colon else name.rpartition(" ")[0].strip()


def arguments(function: Any, known: dict[str, list[Any]], generator: random.Random) -> list[Any]:
    """Return arguments for one call."""
    everything = [value for of_type in known.values() for value in of_type]
    kinds = parameter_types(function)
    if generator.random() < 0.2:
        kinds = [*kinds, "any"] if generator.random() < 0.5 else kinds[:-1]
    return [
        generator.choice(known[kind] if kind in known and generator.random() < 0.75 else everything)
        for kind in kinds
    ]


def callables(module: types.ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions, types and methods of a module by name; methods have the object as first
    argument."""
    native = type(len), type(str.join), type(str.__add__), type(dict.fromkeys)
    for name, value in sorted(vars(module).items()):
        if PROCESS_SETTINGS.match(name) or name.startswith("__"):
            continue
        if is_class(value, module.__name__):
            yield name, value
            for method, body in sorted(vars(value).items()):
                if method == "__new__" or isinstance(body, OverloadSet):  # operators: `extreme_arguments`
                    continue
                if callable(body):
                    yield f"{name}.{method}", body
                elif isinstance(body, (types.GetSetDescriptorType, types.MemberDescriptorType)):
                    yield f"{name}.{method}", body.__get__
                    yield f"{name}.{method} =", body.__set__
        elif isinstance(value, native) or type(value).__name__ == "cython_function_or_method":
            yield name, value


def is_class(value: Any, module: str) -> bool:
    """Return True if a value is a class defined by the given extension module."""
    module_name = "ts._core.tensor.tensor" if value is ts.Tensor else getattr(value, "__module__", None)
    return isinstance(value, type) and module_name == module


def entries(names: list[str]) -> Iterator[tuple[str, Any, Callable[..., Any]]]:
    """Yield (name, owner, callable) for all callables of the modules; the owner of a method is its type."""
    for name in names:
        module = importlib.import_module(name)
        for called, function in callables(module):
            owner, dot, _ = called.partition(".")
            if f"{name}.{called}" not in UNBOUNDED | SHARED:
                yield f"{name}.{called}", getattr(module, owner) if dot else None, function


def main(seed: str, names: str, *place: str) -> None:
    """Call all entry points of the modules."""
    ts.nn
    known = values()
    calls = subprocess_watchdog.Calls(*place, seconds=SECONDS)
    for name, owner, function in entries(names.split(",")):
        generator = random.Random(f"{seed} {name}")
        objects = instances(owner, known) if owner else []
        for _ in range(CALLS):
            given = arguments(function, known, generator)
            if objects:
                given.insert(0, generator.choice(objects))
            calls.run(f"{name}({', '.join(map(describe_argument, given))})", (Exception,), call, function, given)


def call(function: Callable[..., Any], given: list[Any]) -> None:
    """Make a call without warnings; any exception is accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(*given)


def instances(owner: Any, known: dict[str, list[Any]]) -> list[Any]:
    """Return existing objects of a type, and objects created without initialization."""
    found = [value for of_type in known.values() for value in of_type if type(value) is owner]
    return found + [instance for instance in gc.get_objects() if type(instance) is owner][:5] + uninitialized(owner)


def uninitialized(owner: Any) -> list[Any]:
    """Return uninitialized objects of a type, created in all ways that bypass its `__init__`."""

    def subclass() -> Any:
        return type("Subclass", (owner,), {"__init__": lambda self: None})()

    def moved() -> Any:
        made = type("Plain", (), {})()
        made.__class__ = owner
        return made

    constructors = [
        owner, lambda: owner.__new__(owner), lambda: object.__new__(owner), lambda: copyreg.__newobj__(owner), subclass, moved,
        lambda: copyreg._reconstructor(owner, object, None), lambda: pickle.loads(pickle_of(owner)),
    ]  # fmt: skip
    found = []
    for constructor in constructors:
        with contextlib.suppress(Exception):
            found.append(constructor())
    for made in [*found]:
        for again in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
            with contextlib.suppress(Exception):
                found.append(again(made))
    return [made for made in found if isinstance(made, owner)]


def pickle_of(owner: Any) -> bytes:
    """Return a pickle that creates an object without state."""
    return f"c{owner.__module__}\n{owner.__qualname__}\n".encode() + b")\x81."


def describe_argument(value: Any) -> str:
    """Return a short description of an argument."""
    if isinstance(value, (ts.Tensor, np.ndarray)):
        return f"<{type(value).__name__} {value.dtype} {str(tuple(value.shape))[:40]}>"
    return (
        f"<{type(value).__name__}>"
        if callable(value) or isinstance(value, types.ModuleType)
        else repr(value)[:60]
    )


def problems(seed: int, names: list[str]) -> list[str]:
    """Return the calls that ended a process, with the signal or exit status."""
    return subprocess_watchdog.problems(__spec__.name, seed, ",".join(names))


if __name__ == "__main__":
    if len(sys.argv) < 5:
        print("\n".join(problems(int(sys.argv[1]), sys.argv[2].split(",") if sys.argv[2:] else modules())))
    else:
        main(*sys.argv[1:])
