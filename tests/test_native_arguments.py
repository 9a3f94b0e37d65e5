"""Native operators validate Python arguments: wrong types raise TypeError."""

import enum
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ts
from tests import samples
from ts._core.builtin_ops.registry import operators
from ts._core.dispatch.operator import Operator
from ts._core.dispatch.signature import signature

from ts.ops import registry

registry.load()


class Color(enum.Enum):
    RED = 1


# One value of each type that scripts support, and values that scripts do not support.
VALUES = [
    None, True, 3, 2**70, 1.5, 2 + 1j, "ab", b"ab", (), (1, "a"), [], [1, 2], [1.5], [True], ["a", "b"], [2j],
    [1, "a"], [None, 1], [[1], [2]], [("a", 1)], [(1, 2)], {}, {"a": 1}, {1: "a"}, {1.5: 2}, {True: 1}, {1j: 1},
    ts.ones(2), ts.ones(()), [ts.ones(2)], {ts.ones(1): 1}, ts.device("cpu"), ts.float32, Color.RED, [Color.RED],
    object(), [object()], object, len,
]  # fmt: skip


def by_key(key):
    (result,) = [op for op in operators() if op.key == key]
    return result


def call_all(operator):
    """Call an operator with every value at every position and return the number of accepted calls."""
    parameters = signature(operator.schema_text).parameters
    fitting = [
        [value for value in VALUES if has_type(parameter, value)][:2] or [None] for parameter in parameters
    ]
    accepted_count = 0
    for position in range(len(parameters)):
        for others in itertools.islice(itertools.product(*fitting), 8):
            for value in VALUES:
                arguments = [*others[:position], value, *others[position + 1 :]]
                try:
                    operator(*arguments)
                    accepted_count += 1
                except Exception:  # only a crash fails the test
                    pass
    return accepted_count


def has_type(parameter, value):
    """Return True if a value has exactly a parameter's type."""
    plain = {
        "int": int, "float": float, "str": str, "bool": bool, "complex": complex, "Scalar": (int, float),
        "Tensor": ts.Tensor, "AnyEnumType": enum.Enum, "Device": ts.device,
    }  # fmt: skip
    kind = parameter.kind
    if kind in plain:
        return isinstance(value, plain[kind])
    if kind.endswith("[]") and isinstance(value, list):
        elem = plain.get(kind[:-2], object)
        return bool(value) and all(isinstance(item, elem) for item in value)
    return (kind.startswith("Dict") and isinstance(value, dict) and bool(value)) or kind in (
        "t",
        "t1",
        "t2",
        "Any",
    )


def run_all():
    """Call every operator with all values; runs in a separate process, because it may crash."""
    skipped = {"prim::RaiseException"}
    return sum(call_all(operator) for operator in operators() if operator.name not in skipped)


def test_every_operator_with_every_type(tmp_path):
    """No combination of operator and argument types crashes the process."""
    program = "from tests.test_native_arguments import run_all; print('taken', run_all())"
    # `aten::save` writes files to the working directory
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout.split()[-1]) > 1000


@pytest.mark.parametrize(
    ("key", "arguments"),
    [
        ("aten::append.t", ([1], "a")),
        ("aten::append.t", ("a", "a")),
        ("aten::len.Dict_str", ({1: 2},)),
        ("aten::len.Dict_str", ([1],)),
        ("aten::len.Tensor", (3,)),
        ("aten::len.str", (None,)),
        ("aten::join", (3, ["a"])),
        ("aten::join", (",", [1])),
        ("prim::EnumName", (3,)),
        ("aten::sort.int", (["a"],)),
        ("aten::add.int", (1.5, 2)),
        ("aten::wait", (3,)),
    ],
)
def test_invalid_types_are_reported(key, arguments):
    """The error names operator, argument and types."""
    with pytest.raises(TypeError, match=r"\(\) Expected a value of type '.+' for argument '\w+'"):
        by_key(key)(*arguments)


def test_valid_types_are_accepted():
    """Type variables are bound by the first argument; an empty container may be of any type."""
    assert by_key("aten::len.Dict_str")({"a": 1}) == 1
    assert by_key("aten::len.Dict_str")({}) == 0
    assert by_key("aten::len.t")([]) == 0
    assert by_key("aten::add.t")([1], [2]) == [1, 2]
    assert by_key("aten::__getitem__.t")([None, 1], 1) == 1
    assert by_key("aten::format")("{} {}", 1, "a") == "1 a"
    assert by_key("aten::sort.int")([2, 1], reverse=True) is None


def test_lists_of_another_length():
    """`call_list` requires one value per parameter."""
    for operator in [*operators(), *map(samples.operator, registry.records())]:
        count = operator.nargs
        for given in ([], [ts.ones(2)] * (count - 1), [ts.ones(2)] * (count + 1)):
            if len(given) != count:
                with pytest.raises(TypeError, match=rf"takes {count} arguments, not {len(given)}"):
                    operator.call_list(given)


def test_methods_check_their_object():
    """Methods of core classes raise TypeError for objects of other classes."""
    for method in (ts.Tensor.dim, ts.Tensor.numel, ts.Tensor.size, Operator.call_list, Operator.bind_python):
        for other in (3, "text", None, object(), [ts.ones(2)]):
            with pytest.raises(TypeError):
                method(other)
