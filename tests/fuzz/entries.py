"""Every function, type and method of the extensions that Python can reach, called with what nobody should give it.

In: a seed and names of modules; out: a line for each call that ended the process, which goes on behind that call.

    python -m tests.fuzz.entries 0 ts._core.dispatch          what ends the process, in one module
    python -m tests.fuzz.entries 0                            in all of them

A docstring says what the arguments should be (`embedsignature`): three in four are such, the others are anything, and
now and then there is one too few or too many.  A call may compute or refuse, as it likes; memory is limited, so that
sizes too large are refused, and what takes longer than SECONDS is ended with the place where it was.
"""

from __future__ import annotations

import enum
import faulthandler
import gc
import importlib
import os
import random
import re
import subprocess
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ts
from tests import samples
from tests.fuzz.hostile import limit_memory
from ts.ops import registry

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20 * int(os.environ.get("TS_PATIENCE", "1"))
CALLS = 60  # of each callable
# What is set for the whole process, by its own package alone, cannot be taken back by the next call.
FOR_THE_PROCESS = re.compile(
    r"^(set_|register_|install_|define_|_install|_fill_tables|_forget|push_limits|pop_limits)"
)


class Color(enum.Enum):
    RED = 1


@ts.jit.script
def doubled(x: ts.Tensor, n: int) -> ts.Tensor:
    return x * n


def modules() -> list[str]:
    """The names of the extensions of this tree."""
    found = []
    for top, package in (("ts/_core", "ts._core"), ("backends", "ts.backends")):
        for path in sorted((ROOT / top).rglob("*.pyx")):
            found.append(".".join([package, *path.relative_to(ROOT / top).with_suffix("").parts]))
    return found


def tensors() -> list[ts.Tensor]:
    """Tensors of strange shapes, strides and dtypes."""
    deep = ts.ones([1] * 63 + [2])
    return [
        ts.ones(3), ts.ones(2, 3), ts.ones(()), ts.ones(0), ts.ones(2, 0, 3), ts.ones(1, 3, 4, 4), deep, deep.transpose(0, 63),
        ts.ones(3, 2).t(), ts.ones(1).expand(1 << 40), ts.ones(3, 1).expand(3, 4), ts.ones(8)[::3], ts.ones(8).as_strided([4, 4], [1, 1]),
        ts.from_numpy(np.ones((3, 4), np.float32)), ts.arange(5), ts.tensor([1 << 62, -1 << 63]), ts.ones(3, dtype=ts.bool),
        ts.ones(2, dtype=ts.complex64), ts.ones(2, dtype=ts.bfloat16), ts.ones(2, dtype=ts.float64), ts.ones(2, device="meta"),
        ts.ones(1, 2, 3, dtype=ts.uint8), ts.tensor([float("nan"), float("inf")]),
    ]  # fmt: skip


def arrays() -> list[np.ndarray[Any, Any]]:
    """Arrays as tensors seldom have them: reversed, not aligned, read only, of foreign byte order and of objects."""
    unaligned = np.frombuffer(bytes(25), np.uint8)[1:].view(np.float32)
    fixed = np.ones(3, np.float32)
    fixed.flags.writeable = False
    repeated = np.lib.stride_tricks.as_strided(np.ones(4, np.float32), (3, 3), (4, 4))
    return [
        np.ones(3, np.float32), np.ones((2, 3), np.float32), np.ones((1, 3, 4, 4), np.float32), np.float32(1).reshape(()),
        np.ones(6, np.float32)[::-1], np.ones((4, 4), np.float32)[::-2, ::-1], np.ones((4, 3), np.float32).T, unaligned, fixed, repeated,
        np.ones(2, ">f4"), np.array([None, 1]), np.array(["a", "bc"]), np.ones(0, np.float32), np.ones((0, 4), np.int64),
        np.arange(4), np.array([1 << 62, -1]), np.ones(2, np.complex64), np.ones([1] * 63 + [2], np.float32), np.ones(2, bool),
        np.broadcast_to(np.float32(1), (1 << 20, 1 << 20)), np.ones((1, 1, 2, 2)), np.arange(6, dtype=np.uint8),
    ]  # fmt: skip


def values() -> dict[str, list[Any]]:
    """What to give, by the names that signatures have for types."""
    ints = [0, 1, 2, 3, -1, 64, 1 << 31, (1 << 63) - 1, -(1 << 63)]
    floats = [0.0, 1.5, -1.0, float("nan"), float("inf"), 1e308]
    lists = [
        [],
        [1],
        [1, 2],
        [2, 3],
        [-1, 0],
        [1 << 62, 1 << 62],
        [1.5],
        ["a"],
        [None],
        [ts.ones(2)],
        [ts.ones(2), 1],
        [[1]],
        list(range(70)),
    ]
    tuples = [(), (1,), (2, 3), ("a",), (ts.ones(2), 2), (0,) * 65, (1 << 62,) * 3]
    texts = ["", "a", "aten::add", "cpu", "é\0b", "x" * 300, "f(Tensor x) -> Tensor"]
    from ts._core.prims.registry import operators

    registry.load()

    own = [*operators()[::40], *map(samples.operator, registry.records()[::60])]
    return {
        "int": ints, "float": floats, "bool": [True, False], "str": texts, "list": lists, "tuple": tuples, "Tensor": tensors(), "ndarray": arrays(),
        "dict": [{}, {"a": 1}, {1: ts.ones(1)}, {None: []}], "Operator": own, "type": [int, ts.Tensor, Color, type(own[0])],
        "dtype": [ts.float32, np.dtype("f4"), np.dtype("O"), np.dtype(">i2")],
        "any": [None, b"bytes", 2j, 1 << 70, Color.RED, object(), len, iter([1]), {1, 2}, ts.device("cpu"), range(3), doubled, ts, ...],
    }  # fmt: skip


def as_typed(name: str) -> str:
    """The key of `values` for a type in a signature."""
    if re.fullmatch(
        r"(int|long|Py_ssize_t|int64_t|int32_t|uint\w*|size_t|unsigned.*|long long|Py_hash_t|NPY_\w+)", name
    ):
        return "int"
    return {"double": "float", "object": "any", "bint": "bool", "": "any", "const char *": "str"}.get(
        name, name
    )


def wanted(function: Any) -> list[str]:
    """The types that a docstring's first line gives the parameters, `any` for none."""
    first = (getattr(function, "__doc__", None) or "").partition("\n")[0]
    inside = re.match(r"[\w.]+\((.*)\)", first)
    if inside is None:
        return ["any"] * 2
    parts = [part.strip() for part in re.split(r",(?![^\[(]*[\])])", inside[1])]
    parts = [part for part in parts if part and part not in ("self", "*", "/", "cls")]
    return [as_typed(typed(part.partition("=")[0].strip())) for part in parts]


def typed(parameter: str) -> str:
    """`ndarray x` and `x: ndarray` have the type ndarray."""
    name, colon, annotation = parameter.partition(":")
    return annotation.strip().strip("'\"") if colon else name.rpartition(" ")[0].strip()


def arguments(function: Any, known: dict[str, list[Any]], generator: random.Random) -> list[Any]:
    """Arguments for one call."""
    everything = [value for of_type in known.values() for value in of_type]
    kinds = wanted(function)
    if generator.random() < 0.2:
        kinds = [*kinds, "any"] if generator.random() < 0.5 else kinds[:-1]
    return [
        generator.choice(known[kind] if kind in known and generator.random() < 0.75 else everything)
        for kind in kinds
    ]


def callables(module: types.ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions, types and methods of one module, by their names; methods take the object first."""
    native = type(len), type(str.join), type(str.__add__), type(dict.fromkeys)
    for name, value in sorted(vars(module).items()):
        if FOR_THE_PROCESS.match(name) or name.startswith("__"):
            continue
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield name, value
            for method, body in sorted(vars(value).items()):
                if method == "__new__":
                    continue
                if callable(body) or isinstance(body, types.GetSetDescriptorType):
                    yield f"{name}.{method}", body if callable(body) else body.__get__
        elif isinstance(value, native) or type(value).__name__ == "cython_function_or_method":
            yield name, value


def entries(names: list[str]) -> Iterator[tuple[str, Any, Callable[..., Any]]]:
    """(name, owner, callable) of all that these modules have; the owner of a method is its type."""
    for name in names:
        module = importlib.import_module(name)
        for called, function in callables(module):
            owner, dot, method = called.partition(".")
            yield (
                f"{name}.{called}",
                getattr(module, owner) if dot and method != "__new__" else None,
                function,
            )


def main(seed: str, after: int, place: str, names: list[str]) -> None:
    """Call what the modules have, but for the first `after` entries; the number of the entry is kept in a file."""
    ts.nn
    known = values()
    faulthandler.enable()
    number = os.open(place, os.O_WRONLY)
    todo = list(entries(names))
    limit_memory()
    for count, (name, owner, function) in enumerate(todo[after:], after + 1):
        generator = random.Random(f"{seed} {name}")
        objects = selves(owner, known) if owner else []
        for _ in range(CALLS):
            given = arguments(function, known, generator)
            if objects:
                given.insert(0, generator.choice(objects))
            os.pwrite(number, f"{count} {name}({', '.join(map(shown, given))})".ljust(600).encode()[:600], 0)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function(*given)
            except Exception:  # an error of any kind is no crash
                pass
            faulthandler.cancel_dump_traceback_later()


def selves(owner: Any, known: dict[str, list[Any]]) -> list[Any]:
    """Objects of a type that exist; one that `__new__` made and nothing has filled is not among them."""
    found = [value for of_type in known.values() for value in of_type if type(value) is owner]
    return found + [held for held in gc.get_objects() if type(held) is owner][:5]


def shown(value: Any) -> str:
    """An argument, shortly."""
    if isinstance(value, (ts.Tensor, np.ndarray)):
        return f"<{type(value).__name__} {value.dtype} {str(tuple(value.shape))[:40]}>"
    return (
        f"<{type(value).__name__}>"
        if callable(value) or isinstance(value, types.ModuleType)
        else repr(value)[:60]
    )


def problems(seed: int, names: list[str]) -> list[str]:
    """The first call of each entry that ended a process, with how."""
    found = []
    after = 0
    with tempfile.NamedTemporaryFile() as number:
        while True:
            command = [sys.executable, "-m", "tests.fuzz.entries", str(seed), str(after), number.name, *names]
            environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
            if done.returncode == 0:
                return found
            count, _, text = Path(number.name).read_text(errors="replace").strip().partition(" ")
            if not count or (
                done.returncode == 1 and "Timeout" not in done.stderr
            ):  # an accident of the caller's
                raise RuntimeError(done.stderr)
            found.append(f"{text}: ended with {done.returncode}\n{done.stderr[:3000]}")
            after = int(count)


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[2].isdigit():
        main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:])
    else:
        print("\n".join(problems(int(sys.argv[1]), sys.argv[2:] or modules())))
