"""Mutations of the JSON of `.pt2` files: numbers, sizes, ranges, names, kinds of arguments, trees, order and depth.

Input: the JSON of a program, and a generator.  Output: the JSON with one to three mutations:

    numbers      extreme numbers
    sizes        expressions: towers of powers, divisions by zero, products of sums, undefined symbols
    ranges       empty, huge, with expressions as bounds; thousands of symbols
    conditions   malicious strings; values of other types
    names        of other values, operators, trees and Python objects
    kinds        arguments of another kind
    order        entries removed, duplicated, swapped, nested into each other
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from ts.export.pt2_format import schema
from ts.ops import registry

NUMBERS = (
    0, 1, 2, 3, -1, -2, 7, 8, 9, 13, 63, 64, 127, 255, 2**31 - 1, -(2**31), 2**31, 2**32, 2**40, 2**53, 2**61, 2**62 - 1, 2**62, 2**63 - 1,
    -(2**63), 2**63, 2**64 - 1, 2**64, 10**40, 0.5, -1.5, 1e308, 1e-320, True, False, None, "", "NaN", "Infinity", "-Infinity", [], {},
)  # fmt: skip
S0, U0 = "Symbol('s0', positive=True, integer=True)", "Symbol('u0', integer=True)"
SYMBOLS = [f"Symbol('s{n}', positive=True, integer=True)" for n in range(30)]
SUM = f"Add({', '.join(SYMBOLS[:7])})"
SIZES = (
    S0, U0, "Symbol('s0')", "Symbol('s1', integer=True)", "Symbol('zuf0', real=True)", "Symbol('zz1', integer=True)", "Symbol('q99', integer=True)",
    "Symbol('s0', negative=True, positive=True)", "Symbol('s0', integer=False, real=False)", "Symbol('s0', positive=False)", "s0", "oo", "nan", "zoo",
    "Integer(0)", "Integer(-1)", f"Mul(Integer(-1), {S0})", "Float('nan')", "Float('inf')", "Float('1e300')", "Float('0.5')", "Rational(1, 3)", "true",
    f"Eq({S0}, Integer(3))", f"Add({S0}, true)", f"And({S0}, {S0})", f"Not({S0})", f"Not(Eq({S0}, {U0}))", f"Max({S0}, true)",
    f"Mod({S0}, Integer(0))", f"FloorDiv({S0}, Add({S0}, Mul(Integer(-1), {S0})))", f"Mod({S0}, {U0})", f"FloorDiv({U0}, {U0})",
    f"Mod(Mod(Mod({S0}, Integer(7)), Integer(5)), {U0})", f"IntTrueDiv({S0}, {U0})", "FloatTrueDiv(Integer(1), Float('0.0'))",
    f"Pow({S0}, Integer(64))", f"Pow({S0}, {S0})", f"Pow({S0}, Pow({S0}, {S0}))", f"Pow(Integer(2), {S0})", f"Pow({S0}, Integer(-1))", "Pow(Integer(0), Integer(-1))",
    f"Pow({S0}, Rational(1, 2))", "Pow(Integer(-1), Rational(1, 2))", f"PowByNatural({S0}, {S0})", f"PowByNatural(Integer(10), {S0})", f"FloatPow({S0}, Float('1e300'))",
    "FloatPow(Float('1e300'), Float('1e300'))", "FloatPow(Float('-1.0'), Float('0.5'))", "FloatPow(Float('0.0'), Float('-1.0'))", "OpaqueUnaryFn_exp(Integer(100000))",
    f"OpaqueUnaryFn_exp(OpaqueUnaryFn_exp(OpaqueUnaryFn_exp({S0})))", "OpaqueUnaryFn_sqrt(Integer(-1))", "OpaqueUnaryFn_log(Integer(0))", f"OpaqueUnaryFn_log({S0})",
    "TruncToInt(Float('1e300'))", "TruncToInt(Float('nan'))", "TruncToInt(Float('inf'))", f"TruncToInt(FloatPow({S0}, Float('100.0')))", "RoundToInt(Float('1e308'))",
    f"Piecewise(ExprCondPair({S0}, Eq({S0}, Integer(3))), ExprCondPair(Integer(0), true))", f"Piecewise(ExprCondPair({S0}, Eq({S0}, Integer(3))))",
    f"Piecewise(Tuple({S0}, {S0}))", f"FloorDiv(Piecewise(ExprCondPair({S0}, Eq({S0}, {U0})), ExprCondPair({U0}, true)), Integer(2))",
    f"Mod(Pow({S0}, Integer(64)), Add(Pow({U0}, Integer(64)), Integer(-1)))", f"FloorDiv(Add(Pow({S0}, Integer(60)), Integer(-1)), Add({S0}, {U0}))",
    f"BitwiseFn_bitwise_and({S0}, Integer(-1))", f"BitwiseFn_bitwise_xor({S0}, Float('0.5'))", f"Abs({U0})", f"Abs(Abs(Add({U0}, Mul(Integer(-1), {S0}))))",
    f"Identity({S0})", f"CeilDiv({S0}, Integer(3))", f"CeilDiv({S0}, Integer(0))", f"CleanDiv({S0}, Integer(2))", f"Xor({S0}, {S0})", f"ToFloat({S0})", "ToFloat(Float('nan'))",
    f"Add({', '.join(f'FloorDiv({S0}, Integer({n}))' for n in range(2, 30))})", f"Add({', '.join(f'Mod({S0}, Integer({n}))' for n in range(2, 30))})",
    f"Max({', '.join(f'Add(Mul(Integer({n}), {S0}), {U0})' for n in range(2, 30))})", f"Min({', '.join(f'Mod({S0}, Integer({n}))' for n in range(2, 30))})",
    f"Mul({', '.join(f'Symbol({chr(39)}s{n}{chr(39)}, integer=True)' for n in range(30))})", f"Add({', '.join(f'Symbol({chr(39)}s{n}{chr(39)}, integer=True)' for n in range(30))})",
    f"And({', '.join(f'Eq(Mod({S0}, Integer({n})), Mod({U0}, Integer({n})))' for n in range(2, 30))})",
    f"Mul(Pow(Add({S0}, {U0}), Integer(20)), Pow(Add({S0}, Integer(1)), Integer(20)))", f"Pow(Add({S0}, {U0}, Integer(1)), Integer(64))",
    f"FloorDiv(Pow(Add({S0}, {U0}, Integer(1)), Integer(7)), Pow(Add({S0}, {U0}), Integer(7)))",
    f"FloorDiv(Pow({SUM}, Integer(3)), Pow({SUM}, Integer(2)))", f"Mod(Pow({SUM}, Integer(3)), Add({SUM}, {U0}))", f"FloorDiv({SUM}, Integer(3))",
    f"Mul({', '.join(f'Add({x}, Integer(1))' for x in SYMBOLS[:9])})", f"Mul({', '.join(f'FloorDiv({x}, Integer(2))' for x in SYMBOLS)})",
    f"Max({', '.join(SYMBOLS)})", f"Add({', '.join(f'FloorDiv({x}, {U0})' for x in SYMBOLS)})",
    "Add(" * 55 + "1" + ")" * 55, "FloorDiv(" * 50 + S0 + ", Integer(2))" * 50, "Mod(" * 50 + S0 + ", Integer(7))" * 50, "Pow(" * 50 + S0 + ", Integer(2))" * 50,
    "Max(Integer(3), Min(Integer(9), " * 25 + S0 + "))" * 25, "Abs(Add(Integer(-3), " * 25 + S0 + "))" * 25, "OpaqueUnaryFn_sqrt(" * 50 + S0 + ")" * 50,
    "s0" + "+s0*s0" * 60, "s0" + "//2" * 150, "s0" + "%3" * 150, "(s0+1)" + "*(s0+2)" * 9, "(s0+u0)**9", "2**s0**s0", "s0 if s0 else 1", "(s0" * 70, "'", "-" * 900 + "s0", "\0", "é", "()",
)  # fmt: skip
CONDITIONS = (
    "True", "1 // 0 == 1", "L['x'].size()[0] % 0 == 0", "L['x'].size()[99] == 1", "L['x'].size()[-1] == 1", "L['x'].size()[0] ** L['x'].size()[0] ** 99 > 1",
    "L['x']", "not L['x']", "L['x'] + 1", "L['x'] == L['x']", "L['x'] ** 1e300 > 0", "9" * 39 + " ** 99 ** 99 > 1", "1 << 4095 << 4095 == 0", "1 << 10 ** 10 > 0", "1.5 << 2 == 1", "1.5 & 2 == 1",
    "math.exp(1000000.0) > 0", "math.sqrt(-1) > 0", "math.log(0) > 0", "math.floor(1e308 * 10) > 0", "int('a') == 1", "float('nan') == 1", "int('9' * 9999) == 1", "'a' * 999999999 == 'b'",
    "max(1) == 1", "max() == 1", "round(1, 2, 3) == 1", "abs('a') == 1", "'a' < 1", "L['x'][0][1][2].y.z == 1", "L['nowhere'].size()[0] == 1", "L['x'].size()", "L['x'].shape[0] == 1",
    "L['x'].size()['a'] == 1", "L['x'].size()[True] == 1", "1 == 1 == 1", "1" * 5000, "(" * 59 + "1" + ")" * 59, "1" + "+1" * 8000, "1" + " or 1" * 4000, "1" + "**2" * 50, "not " * 4000 + "1",
    "1 if 1 else " * 50 + "1", "", "exit()", "L['x'].size()[0] >= 2" + "0" * 30, "(-1) ** 0.5 > 0", "0.0 ** -1 > 0", "-1 ** 0.5 == 'a'", "1 >> -1 == 1", "1e999 // 1 == 1", "int(1e999) == 1",
    "2 * 'a' == 'aa'", "'a' % 1 == 1", "'%99999999999d' % 1 == 1", "round(1e308, -999999999) == 0", "round(1, -9999999) == 0", "math.sin(1e999) == 0", "'" + "a" * 9000 + "' * 9000 == ''",
    "'abc'", "L[0].size()[0] == 1", "L == 1", "L.x == 1", "max(L['x'], 1) == 1", "torch.sym_max(L['x'].size()[0], 'a') == 1", "float(9" + "9" * 38 + ") ** 99 == 1", "torch.sym_not(L['x'])",
)  # fmt: skip
LINES = ("null", "[]", "{}", "1", '{"a": 1}', '{"a": ["f", 1]}', '{"a": ["f", 1e999, "g", "h"]}', '{"a": [[], 1, "g", "h"]}', "[" * 290, "[" * 9000, "NaN", '{"a":1,"a":2}', "{", '"' + "x" * 9999 + '"')
TREES = (
    "[1, {}]", "[2, null]", "null", "[]", '[1, {"type": null, "context": null, "children_spec": []}]', "[" * 9000,
    '[1, {"type": "builtins.tuple", "context": "null", "children_spec": ' * 60 + "[]" + "}]" * 60,
    '[1, {"type": "builtins.dict", "context": "[[]]", "children_spec": [{"type": null, "context": null, "children_spec": []}]}]',
    '[1, {"type": "collections.deque", "context": "99999999999999999999999", "children_spec": []}]', '[1, {"type": "collections.namedtuple", "context": "[]", "children_spec": []}]',
    '[1, {"type": "collections.defaultdict", "context": {"default_factory_module": "builtins", "default_factory_name": [], "dict_context": []}, "children_spec": []}]',
    '[1, {"type": "builtins.tuple", "context": "[1", "children_spec": []}]', '[1, {"type": "builtins.dict", "context": "[NaN]", "children_spec": []}]',
)  # fmt: skip
TEXTS = (
    "", "x", "self", "lambda", "None", "__class__", "a.b", ".", "..", "é", "\0", "a" * 5000, "a." * 200 + "b", "x\ny", "forward", "training", "getitem", "output", "print", "torch", "inf", "nan", "device",
    "_operator.getitem", "_operator.add", "math.trunc", "torch.sym_max", "torch.sym_not", "torch.ops.higher_order.cond", "torch.ops.higher_order.while_loop", "torch.ops.higher_order.map_impl",
    "torch.ops.higher_order.scan", "torch.ops.higher_order.__class__", "torch.ops.aten.nonzero.default", "torch.ops.aten._assert_scalar.default", "torch.ops.aten.sym_size.int",
    "torch._functorch.predispatch._vmap_increment_nesting", "torch._functorch.predispatch._add_batch_dim", "cuda", "meta", "cpu:9", "L__self__,a,b;c", "a,b,c;" * 99, "x;y", ";" * 9999,
)  # fmt: skip
KINDS = {
    "as_none": True, "as_tensor": {"name": "x"}, "as_tensors": [{"name": "x"}] * 2, "as_int": 3, "as_ints": [1, 2], "as_float": 2.5, "as_floats": [1.5], "as_string": "x",
    "as_strings": ["a"], "as_sym_int": {"as_name": "x"}, "as_sym_ints": [{"as_int": 2}, {"as_name": "x"}], "as_scalar_type": 7, "as_memory_format": 1, "as_layout": 7,
    "as_device": {"type": "cpu", "index": None}, "as_bool": True, "as_bools": [True], "as_sym_bool": {"as_bool": True}, "as_sym_bools": [{"as_name": "x"}],
    "as_optional_tensors": [{"as_none": True}, {"as_tensor": {"name": "x"}}], "as_custom_obj": {"name": "a", "class_fqn": "b"}, "as_operator": "torch.ops.aten.add.Tensor",
    "as_sym_float": {"as_float": 1.5}, "as_sym_floats": [{"as_name": "x"}], "as_optional_tensor": {"as_none": True}, "as_complex": {"real": 1.0, "imag": "NaN"},
    "as_nested_tensors": [[{"name": "x"}], []], "as_int_lists": [[1], []], "as_string_to_argument": {"a": {"as_int": 1}}, "as_float_lists": [[1.0]],
    "as_expr": {"expr_str": S0, "hint": {"as_int": 5}}, "as_name": "x",
}  # fmt: skip
assert KINDS.keys() >= schema.Argument.kinds.keys() - {"as_graph"}
Path = tuple[Any, ...]


def changed(tree: Any, generator: random.Random) -> Any:
    """Return the JSON of a program with one to three mutations."""
    tree = copy.deepcopy(tree)
    for _ in range(generator.choice([1, 1, 1, 2, 3])):
        change = generator.choice(CHANGES)
        try:
            change(tree, generator)
        except (AttributeError, KeyError, TypeError):  # an earlier mutation removed the entry
            continue
    return tree


def _places(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield all entries with their paths."""
    for key in tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield (*path, key), tree[key]
        yield from _places(tree[key], (*path, key))


def _set(tree: Any, path: Path, value: Any) -> None:
    for key in path[:-1]:
        tree = tree[key]
    tree[path[-1]] = value


def _one(tree: Any, generator: random.Random, wanted: Callable[[Path, Any], bool]) -> Path | None:
    found = [path for path, value in _places(tree) if wanted(path, value)]
    return generator.choice(found) if found else None


def _number(tree: Any, generator: random.Random) -> None:
    path = _one(tree, generator, lambda path, value: isinstance(value, int | float))
    if path is not None:
        _set(tree, path, generator.choice(NUMBERS))


def _size(tree: Any, generator: random.Random) -> None:
    path = _one(tree, generator, lambda path, value: path[-1] in ("as_expr", "as_int") and "as_sym_int" not in path)
    if path is not None:
        expression = _expression(generator)
        _set(tree, path[:-1], {"as_expr": {"expr_str": expression, "hint": generator.choice([None, {"as_int": 5}, {"as_int": 2**63}])}})
        if generator.random() < 0.3:  # all equal names
            old = [p for p, v in _places(tree) if p[-1] == "expr_str"]
            for each in old:
                if generator.random() < 0.5:
                    _set(tree, each, expression)


def _expression(generator: random.Random, depth: int = 0) -> str:
    """Return a listed or a random symbolic expression."""
    if depth == 0 and generator.random() < 0.5:
        return generator.choice(SIZES)
    if depth > generator.choice([2, 3, 5]):
        return generator.choice([S0, U0, "Symbol('s1', integer=True)", "Integer(0)", "Integer(2)", "Integer(-3)", "Integer(9)", "Float('1.5')"])
    names = ["Add", "Mul", "FloorDiv", "Mod", "Pow", "Max", "Min", "Abs", "IntTrueDiv", "Piecewise", "TruncToInt", "ToFloat", "PowByNatural", "Eq", "Lt", "And", "OpaqueUnaryFn_sqrt", "FloatPow", "CeilDiv"]
    name = generator.choice(names[:7] if generator.random() < 0.7 else names)
    name = {"Lt": "StrictLessThan"}.get(name, name)
    count = 1 if name in ("Abs", "TruncToInt", "ToFloat", "OpaqueUnaryFn_sqrt") else generator.choice([2, 2, 3, 4]) if name in ("Add", "Mul", "Max", "Min", "And") else 2
    parts = [_expression(generator, depth + 1) for _ in range(count)]
    if name == "Piecewise":
        return f"Piecewise(ExprCondPair({parts[0]}, Eq({parts[1]}, {S0})), ExprCondPair({S0}, true))"
    return f"{name}({', '.join(parts)})"


def _range(tree: Any, generator: random.Random) -> None:
    ranges = tree["range_constraints"]
    name = generator.choice([*ranges, "s0", "u0", "s99", "zuf0", "", generator.choice(SIZES), S0])
    ends = [generator.choice([None, *NUMBERS[:25]]) for _ in range(2)]
    ranges[name] = {"min_val": ends[0], "max_val": ends[1]}
    if generator.random() < 0.1:
        for n in range(3000):
            ranges[f"s{n}"] = {"min_val": 2, "max_val": None}


def _condition(tree: Any, generator: random.Random) -> None:
    if generator.random() < 0.25:
        tree["graph_module"]["metadata"]["ts.lines_of_guards"] = generator.choice(LINES)
    elif generator.random() < 0.1:
        tree["guards_code"] = [f"L['x'].size()[0] != {n}" for n in range(3000)]
    else:
        tree["guards_code"].append(generator.choice(CONDITIONS))


def _name(tree: Any, generator: random.Random) -> None:
    path = _one(tree, generator, lambda path, value: isinstance(value, str) and path[-1] != "expr_str")
    if path is None:
        return
    others = [value for p, value in _places(tree) if isinstance(value, str) and p[-1] == path[-1]]
    if path[-1] in ("in_spec", "out_spec"):
        others += TREES
    if path[-1] == "target":
        others += [f"torch.ops.{r.name.replace('::', '.')}.{r.overload or 'default'}" for r in generator.sample(_records(), 30)]
    _set(tree, path, generator.choice(others if generator.random() < 0.7 else TEXTS))


def _records() -> list[Any]:
    return [record for record in registry.records() if record.name.startswith("aten::")]


def _kind(tree: Any, generator: random.Random) -> None:
    path = _one(tree, generator, lambda path, value: str(path[-1]).startswith("as_"))
    if path is None:
        return
    kind = generator.choice(list(KINDS))
    value = copy.deepcopy(KINDS[kind])
    names = [v for p, v in _places(tree) if p[-1] == "name" and isinstance(v, str)] or ["x"]
    for p, v in list(_places([value])):
        if v == "x":
            holder = [value]
            _set(holder, p, generator.choice(names))
            value = holder[0]
    _set(tree, path[:-1], {kind: value})


def _order(tree: Any, generator: random.Random) -> None:
    path = _one(tree, generator, lambda path, value: isinstance(value, list) and bool(value))
    if path is None:
        return
    holder = tree
    for key in path:
        holder = holder[key]
    a, b = generator.randrange(len(holder)), generator.randrange(len(holder))
    match generator.randrange(5):
        case 0:
            del holder[a]
        case 1:
            holder.insert(b, copy.deepcopy(holder[a]))
        case 2:
            holder[a], holder[b] = holder[b], holder[a]
        case 3:
            holder += [copy.deepcopy(holder[a]) for _ in range(generator.choice([2, 70, 2000]) if len(str(holder[a])) < 400 else 2)]
        case 4:
            holder[a] = copy.deepcopy(holder[b])


def _entry(tree: Any, generator: random.Random) -> None:
    """Remove an entry, or replace it by another entry."""
    path = _one(tree, generator, lambda path, value: True)
    assert path is not None
    if generator.random() < 0.4:
        holder = tree
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
        return
    same = [value for p, value in _places(tree) if p[-1] == path[-1]] if generator.random() < 0.6 else [value for _, value in _places(tree)]
    _set(tree, path, copy.deepcopy(generator.choice(same)))


def _depth(tree: Any, generator: random.Random) -> None:
    """Nest graphs in graphs, or arguments in arguments."""
    nodes = tree["graph_module"]["graph"]["nodes"]
    depth = generator.choice([3, 15, 40, 90])
    if generator.random() < 0.5:
        argument: Any = {"as_int": 1}
        for _ in range(depth):
            argument = {"as_string_to_argument": {"a": argument}}
    else:
        graph = {"inputs": [], "outputs": [{"as_int": 1}], "nodes": [], "tensor_values": {}, "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": False}
        for level in range(depth // 3):
            inner = {"name": "a", "arg": {"as_graph": {"name": "g", "graph": copy.deepcopy(graph)}}, "kind": 1}
            call = {"target": "torch.ops.higher_order.map_impl", "inputs": [inner] * (generator.choice([1, 1, 2]) if level < 5 else 1), "outputs": [], "metadata": {}}
            graph["nodes"] = [call]
        argument = {"as_graph": {"name": "deep", "graph": graph}}
    if nodes:
        generator.choice(nodes)["inputs"].append({"name": "other", "arg": argument, "kind": generator.choice([1, 2])})


CHANGES = (_number, _number, _size, _size, _range, _condition, _name, _name, _kind, _order, _order, _entry, _depth)


def written(tree: Any) -> bytes:
    """Return the JSON as bytes."""
    return json.dumps(tree).encode()
