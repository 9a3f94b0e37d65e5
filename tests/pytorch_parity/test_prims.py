"""Builtin operators on numbers, strings, lists and dicts equal PyTorch's operator with the same schema.

Each schema becomes a one-node graph that PyTorch runs; values are drawn from small pools by type.  Calls that
crash or hang PyTorch are excluded, and so are the differences named in the modules.
"""

from __future__ import annotations

import cmath
import itertools
import math
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from ts._core.value.ivalue import from_core, to_core  # noqa: E402
from ts._core.builtin_ops.registry import operators  # noqa: E402
from ts._core.value.spec import KINDS, SPECS, TypeSpec  # noqa: E402

OPERATORS = operators()
INF, NAN, MIN_INT = math.inf, math.nan, -(2**63)
POOLS: dict[str, list[Any]] = {
    "int": [0, 1, -1, 2, 3, -7, 5, 12, 63, 64, 2**40 + 1, 2**62, 2**63 - 1, MIN_INT],
    "float": [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e20, 1e-7, -3.0, 7.25, INF, -INF, NAN],
    "bool": [False, True],
    "complex": [0j, 1j, 1 + 2j, -2.5 + 0.5j],
    "str": ["a", "b", "abc", "Hello World", " x ", "a,b,,c", "aXbXa", "12", "", "-3.5"],
}
POOLS["Scalar"] = (
    POOLS["int"][:6] + POOLS["float"][:6]
)  # PyTorch's Scalar operators reject complex numbers
POOLS["int?"] = [None, 0, 1, -1, 5, -9]
POOLS["str?"] = [None, ",", "X"]
POOLS["t"] = POOLS["int"][:4]
SMALL_INTS = [0, 1, 2, -1, -2, 3, 7]

CRASHES = {  # calls for which PyTorch crashes, hangs, or has processor-dependent results
    "aten::remainder.int": lambda a, b: b == 0 or abs(a) > 2**61 or abs(b) > 2**61,
    "aten::remainder": lambda a, b: b == 0,
    "aten::floordiv.int": lambda a, b: a == MIN_INT and b == -1,
    "aten::__round_to_zero_floordiv.int": lambda a, b: b == 0 or (a == MIN_INT and b == -1),
    "aten::divmod.int": lambda a, b: a == MIN_INT and b == -1,
    "aten::divmod.float_int": lambda a, b: (
        not (abs(a) < 2**40 and abs(b) < 2**40) or 1e-07 in (a, b)
    ),  # PyTorch computes in single precision
    "aten::divmod.int_float": lambda a, b: (
        not (abs(a) < 2**40 and abs(b) < 2**40) or 1e-07 in (a, b)
    ),  # PyTorch computes in single precision
    "aten::gcd.int": lambda a, b: MIN_INT in (a, b),
    "aten::floor.int": lambda a: abs(a) > 2**52,  # PyTorch converts to double
    "aten::Complex.int_int": lambda a, b: max(abs(a), abs(b)) > 2**30,
    "aten::Complex.int_float": lambda a, b: abs(a) > 2**30,
    "aten::Complex.int_bool": lambda a, b: abs(a) > 2**30,
    "aten::Complex.float_int": lambda a, b: abs(b) > 2**30,
    "aten::Complex.bool_int": lambda a, b: abs(b) > 2**30,
    "aten::factorial.int": lambda a: abs(a) > 20,
    **{
        f"aten::pow.{kinds}": lambda a, b: not cmath.isfinite(a) or not cmath.isfinite(b) or a == 0
        for kinds in ("complex_float", "float_complex")
    },
    **{
        f"aten::log.{kinds}": lambda a, b: (
            not cmath.isfinite(a)
            or not cmath.isfinite(b)
            or a == 0
            or b in (0, 1)
            or a.real <= 0
            or b.real <= 0
        )
        for kinds in ("complex_int", "complex_float", "int_complex", "float_complex", "complex_complex")
    },
    "aten::pow.Scalar_Scalar": lambda a, b: a == 0 and b < 0,
    "aten::polar.float": lambda a, b: math.isinf(a) or math.isinf(b),
    "aten::polar.float_int": lambda a, b: math.isinf(a),
    "aten::polar.Scalar_Scalar": lambda a, b: math.isinf(a) or math.isinf(b),
    "aten::pow.int_to_int": lambda a, b: b < 0 or abs(float(a)) ** min(b, 4096) > 2**62,
    "aten::count": lambda text, part, start, end: part == "" or end not in (-1, 7),
    "aten::replace": lambda text, old, *_: old == "",
    "aten::rsplit": lambda text, separator, *_: separator == "",
    "aten::center": lambda text, width, *_: width < len(text),
    "aten::chr": lambda i: i > 127,
    "aten::mul.left_t": lambda values, n: not 0 <= n < 100,
    "aten::mul.right_": lambda n, values: not 0 <= n < 100,
    "aten::mul_.t": lambda values, n: not 0 <= n < 100,
    "prim::rangelist": lambda n: not 0 <= n < 100,
    "aten::__derive_index": lambda *a: max(map(abs, a)) > 2**20,
    "aten::__range_length": lambda *a: max(map(abs, a)) > 2**40,
}
KNOWN_DIFFERENCES = {  # differences named in the modules' docstrings
    **{
        f"aten::{name}": lambda text, part, start, end: (
            part == "" or not (0 <= start <= len(text) and abs(end) > start)
        )
        for name in ("find", "rfind", "index.str", "rindex", "startswith", "endswith")
    },
    "aten::split.str": lambda text, separator, n: separator is None and n >= 0,
    "aten::zfill": lambda text, width: text[:1] in ("-", "+"),
    "aten::partition": lambda text, separator: separator == "",
    "aten::rpartition": lambda text, separator: separator == "",
}
NOT_COMPARED = re.compile(
    r"aten::(hash|warn|_print|is_|_nnpack|_use_cudnn|_get_tracing|__is__|__isnot__|_unwrap|_assert_scalar|format|percentFormat"
    r"|_size_if_not_equal|_infer_size|str\(|Size|save)"  # `save` writes files: test_save_operator.py
    r"|aten::pow.int_to_int|prim::(AutogradAdd|id|TimePoint|Tuple|AddStat|Enum|unchecked|IfThenElse|Reduction|Uninitialized|Print|RaiseException)|.*(Tensor|Device|tolist|Enum|Any\[\]|Future|sort\.any|sorted\.any)"
)


def split_arguments(schema: str) -> tuple[str, list[str]]:
    """Return the key of a schema and its argument types, without alias annotations and defaults."""
    name, _, rest = schema.partition("(")
    arguments = re.sub(r"\((?:[a-z]!?|[a-z] -> \*)\)", "", rest.rpartition(") -> ")[0])
    found = re.findall(
        r"((?:Dict\([a-zA-Z]+, \w+\)|\([a-z]+, \w+\)|[A-Za-z]\w*)(?:\[\])?\??) \w+(?:=(?:\"[^\"]*\"|[^,]*))?",
        arguments,
    )
    return name, [re.sub(r"\btVal\b|\bt\b", "int", kind) for kind in found]


def spec_of(kind: str) -> TypeSpec:
    if kind.endswith("?"):
        return TypeSpec(KINDS["OptionalType"], (spec_of(kind[:-1]),), kind)
    if kind.endswith("[]"):
        return TypeSpec(KINDS["ListType"], (spec_of(kind[:-2]),), f"List[{kind[:-2]}]")
    if kind.startswith("Dict("):
        key, value = kind[5:-1].split(", ")
        return TypeSpec(KINDS["DictType"], (spec_of(key), spec_of(value)), f"Dict[{key}, {value}]")
    if kind.startswith("("):
        return TypeSpec(KINDS["TupleType"], tuple(spec_of(k) for k in kind[1:-1].split(", ")), kind)
    return SPECS["number" if kind == "Scalar" else kind]


def pool(kind: str, name: str) -> list[Any]:
    if kind.endswith("[]") and not kind.startswith("("):
        values = POOLS[kind[:-2]]
        if kind == "float[]":
            values = [1.5, -2.0, 0.0, 3.25, 1.5]
        if kind == "int[]":
            values = [3, -1, 0, 3, 7]
        return [[], values[:1], values[1:4], values[:5]]
    if kind.endswith("[]"):
        key = POOLS[kind[1:-3].split(", ")[0]]
        return [[], [(key[0], 1), (key[1], 2), (key[0], 3)]]
    if kind.startswith("Dict("):
        key = POOLS[kind[5:-1].split(", ")[0]]
        return [{}, {key[0]: 4}, {key[1]: 1, key[0]: 2}]
    if kind == "int" and "math" not in name and name.partition(".")[0][6:] in SHORT_RANGE:
        return SMALL_INTS
    return POOLS[kind]


SHORT_RANGE = set(
    "center ljust rjust zfill expandtabs split rsplit find rfind index rindex count startswith endswith replace "
    "__getitem__ select _set_item Delete insert pop slice mul mul_ rangelist ldexp __derive_index __range_length".split()
) | {"StringIndex"}


def torch_function(key: str, kinds: list[str], results: str, count: int) -> Any:
    """Return PyTorch's operator as a function of a one-node graph; without a result it returns its first
    argument."""
    inputs = ", ".join(f"%x{i} : {kind}" for i, kind in enumerate(kinds))
    call = f"{key.partition('.')[0]}({', '.join(f'%x{i}' for i in range(len(kinds)))})"
    results = re.sub(r"\btVal\b|\bt\b", "int", re.sub(r"\((?:[a-z]!?|\*)\)", "", results))
    if count == 0:
        body, returned = f"  {call}", "%x0"
    elif count == 1:
        kind = results[1:-1] if results.startswith("((") else results
        body, returned = f"  %r : {kind} = {call}", "%r"
    else:
        outs = results[1:-1].split(", ")
        body = "  " + ", ".join(f"%r{i} : {kind}" for i, kind in enumerate(outs)) + f" = {call}\n"
        body += f"  %t : {results} = prim::TupleConstruct({', '.join(f'%r{i}' for i in range(count))})"
        returned = "%t"
    graph = torch._C.parse_ir(f"graph({inputs}):\n{body}\n  return ({returned})")
    return torch._C._create_function_from_graph("f", graph)


def are_equal(a: Any, b: Any, tolerance: float = 1e-15) -> bool:
    """Return whether two values are equal, including NaN, up to rounding of complex functions."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (
            (math.isnan(a) and math.isnan(b))
            or (a == b and math.copysign(1, a) == math.copysign(1, b))
            or math.isclose(a, b, rel_tol=tolerance)
        )
    if isinstance(a, complex):
        parts = zip((a.real, a.imag), (b.real, b.imag), strict=True)
        return all(
            x == y or math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-15) or (math.isnan(x) and math.isnan(y))
            for x, y in parts
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(are_equal, a, b))
    if isinstance(a, dict):
        return len(a) == len(b) and are_equal(list(a.items()), list(b.items()))
    return bool(a == b)


def argument_lists(key: str, kinds: list[str], limit: int) -> Iterator[tuple[Any, ...]]:
    pools = [pool(kind, key) for kind in kinds]
    combinations = list(itertools.product(*pools))
    if len(combinations) > limit:
        combinations = random.Random(key).sample(combinations, limit)
    for arguments in combinations:
        if any(table.get(key, lambda *_: False)(*arguments) for table in (CRASHES, KNOWN_DIFFERENCES)):
            continue
        yield arguments


@pytest.mark.parametrize(
    "op",
    [op for op in OPERATORS if not NOT_COMPARED.match(op.schema_text)],
    ids=lambda op: op.schema_text.partition("(")[0],
)
def test_operator(op: Any) -> None:
    key, kinds = split_arguments(op.schema_text)
    theirs = torch_function(key, kinds, op.schema_text.rpartition(") -> ")[2], op.nrets)
    differences = []
    for arguments in argument_lists(key, kinds, 60):
        ours = [to_core(x, spec_of(kind)) for x, kind in zip(arguments, kinds, strict=True)]
        copies = [
            list(x) if isinstance(x, list) else dict(x) if isinstance(x, dict) else x for x in arguments
        ]
        try:
            expected: Any = theirs(*copies)
        except RuntimeError as error:
            expected = error
        try:
            result = op(*ours)
            result = from_core(ours[0] if op.nrets == 0 else result)
            if isinstance(result, tuple):
                result = tuple(from_core(x) for x in result)
        except (RuntimeError, IndexError) as error:
            result = error
        if isinstance(expected, Exception) and isinstance(result, Exception):
            continue
        if not are_equal(
            result, expected, 1e-6 if ".Scalar" in key else 1e-15
        ):  # PyTorch computes these in single precision
            differences.append(f"{arguments}: {result!r}, PyTorch {expected!r}")
    assert not differences, "\n".join(differences[:8])
