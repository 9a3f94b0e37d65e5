"""`jit.script` of lists and dictionaries compared with PyTorch: item types, operations, errors, and calls of scripts."""

import collections
import copy
import pickle

import pytest

import ts

torch = pytest.importorskip("torch")

SCRIPTS = '''
def append(x: List[int], v: int):
    x.append(v)
    return x
def optional(x: Optional[List[int]]):
    if x is not None:
        x.append(9)
    return x
def nested(x: List[List[int]]):
    x[0].append(9)
    x.append([4])
    return x
def fields(x: Tuple[List[int], Dict[str, int]]):
    x[0].append(9)
    x[1]["z"] = 3
    return x
def tensor(x):
    return x
def tensors(x: List[Tensor]):
    x.append(x[0] + 1)
    return len(x)
def same(x: List[int], y: List[int]):
    x.append(1)
    return y, x is y
'''  # fmt: skip

ITEMS = (
    "[1, 2, 3]", "[1.5, 2.0]", "[1.5, 2]", "[True, 1]", "['a', \"b'\"]", "[None]", "[None, 1]", "[[1], [2]]", "[[], [1]]", "[{}]",
    "[{'a': 1}]", "[(1, 'a')]", "[(1, 2), (1, 2.5)]", "[t.ones(2)]", "[1j]", "[1, 1j]", "[object]", "[t.device('cpu')]",
    "[t.ones(1), 1]", "[t.ones(1), None]", "[()]", "[len]", "[t.Size([1])]", "[{'a': [1]}, {'b': []}]", "[{1}]", "[int]", "[]", "[[]]",
    "[2**70]", "[0.1, 1e30, float('nan'), 1e16]", "[t.jit.script([1])]", "{}", "{'a': 1}", "{'a': 1, 'b': 2.5}", "{'a': None, 'b': 1}",
    "{1: 'a'}", "{1.5: 1}", "{True: 1}", "{None: 1}", "{(1, 2): 1}", "{t.ones(1): 1}", "{'a': [1]}", "{'a': {}}", "{1: 1, 'a': 2}",
    "{1j: 1}", "{'a': object}", "{'b': 1, 'a': 2}", "(1, 2)",
)  # fmt: skip
INDICES = (
    "0", "-1", "4", "5", "-5", "-6", "1.5", "True", "'a'", "None", "slice(1, 3)", "slice(None, None, -1)", "slice(None, None, 2)",
    "slice(3, 1)", "slice(1, 100)", "slice('a')", "slice(0, 5, 0)", "t.tensor(1)", "2**63", "-2**63",
)  # fmt: skip
AT_INDEX = ("x[{}]", "x.__setitem__({}, 7)", "x.__setitem__({}, [7, 8])", "x.__delitem__({})", "x.pop({})", "x.insert({}, 9)")
VALUES = ("1", "1.0", "True", "'a'", "None", "[1]", "t.tensor(1)", "7", "2**70", "1j", "object()")
WITH_VALUE = ("x.append({})", "x.remove({})", "x.count({})", "{} in x", "x.extend({})", "x.index({})", "x == {}", "x + {}", "x * {}")
ITERABLES = ("[1, 2]", "(1, 2)", "range(2)", "[1, 'a']", "s([5, 6])", "s({1: 2})", "'ab'", "(i for i in [1, 'a'])", "t.tensor([1, 2])")
KEYS = ("'a'", "'z'", "1", "None", "1.5", "[1]", "t.ones(1)")
WITH_KEY = ("x[{}]", "{} in x", "x.__setitem__({}, 5)", "x.__setitem__({}, 'b')", "x.__delitem__({})")
CASES = [
    *[(f"s({items})", "None") for items in ITEMS],
    *[("s([1, 2, 3, 4, 5])", operation.format(index)) for operation in AT_INDEX for index in INDICES],
    *[("s([1, 2, 3, 1])", operation.format(value)) for operation in WITH_VALUE for value in VALUES],
    *[("s([1, 2])", f"x.extend({items})") for items in ITERABLES],
    *[("s({'a': 1, 'b': 2})", operation.format(key)) for operation in WITH_KEY for key in KEYS],
    *[("s([3, 1, 2])", f"{function}(x)") for function in ("len", "bool", "list", "tuple", "sorted", "sum", "str", "repr")],
    *[("s({'b': 1, 'a': 2})", f"{function}(x)") for function in ("len", "bool", "list", "dict", "sorted", "str")],
    *[("s({'b': 1, 'a': 2})", f"x.{name}()") for name in ("get", "values", "pop", "update", "clear", "copy")],
    *[("s([3, 1, 2])", f"x.{name}()") for name in ("copy", "sort", "reverse", "clear", "pop", "append")],
    *[("s([1])", f"(x.clear(), {rest})") for rest in ("bool(x)", "len(x)", "x.pop(0)", "x.append(2)")],
    *[("s({'b': 1, 'a': 2})", f"list(x.{name}())") for name in ("keys", "items")],
    *[("s([1, 2])", f"{function}(x)") for function in ("copy.copy", "copy.deepcopy", "pickle.dumps")],
    *[("s({'a': 1})", f"{function}(x)") for function in ("copy.copy", "copy.deepcopy", "pickle.dumps")],
    ("s([1])", "(x == x, x == s([1]), isinstance(x, list), isinstance(hash(x), int))"),
    ("s([1])", "isinstance(x, collections.abc.Iterable)"),
    ("s([[1], [2]])", "(x[0], x[0].append(5), x.append(s([1])), x.append(['a']))"),
    ("s({'a': [1]})", "(x['a'], x['a'].append(5))"),
    ("s([t.ones(2)])", "(x[0] is x[0], t.ones(2) in x)"),
    ("s([t.zeros(1), t.ones(1)])", "t.ones(1) in x"),
    ("s([1.5])", "(x.append(3), x)"),
    ("s([1, None])", "(x.append(None), x.append(3))"),
    ("s([])", "(x.append(t.ones(1)), x.append(1))"),
    ("s({})", "x.__setitem__('a', t.ones(1))"),
    ("s({})", "x.__setitem__(1, t.ones(1))"),
    ("s({1: 1})", "(x[True], x[1.0])"),
    ("s([1])", "(u.append(x, 5), u.optional(x), u.same(x, x))"),
    ("s([t.ones(1)])", "u.tensors(x)"),
    ("s([t.ones(1)])", "t.ops.aten.len(x)"),
    ("s([])", "u.append(x, 5)"),
    ("s([1])", "(u.nested([x]), x)"),
    ("s([[1], [2]])", "(u.nested(x), x)"),
    ("s([1])", "(u.fields((x, s({'a': 1}))), x)"),
    ("s({'a': 1})", "(u.fields(([1], x)), x)"),
    ("s([1])", "u.tensor(x)"),
    ("t._C.ScriptList([1])", "x"),
    ("t._C.ScriptDict({1: 1})", "x"),
    ("t._C.ScriptList({1: 1})", "x"),
    ("t._C.ScriptDict([1])", "x"),
    ("t._C.ScriptList()", "x"),
    ("type('Sub', (t._C.ScriptList,), {})([1])", "x"),
    ("s(collections.OrderedDict(a=1))", "x"),
]  # fmt: skip
ERROR_NAMES = {"ScriptRuntimeError": "Error", "CompilationError": "RuntimeError"}


def outcome(module, create, operation):
    """Return the texts of the result and of the container, or the class and text of the error."""
    unit = module.jit.CompilationUnit(SCRIPTS)
    names = {"t": module, "s": module.jit.script, "u": unit, "copy": copy, "pickle": pickle, "collections": collections}
    x = None
    try:
        x = names["x"] = eval(create, names)
        result = eval(operation, names)
        text = "" if "pickle" in operation else str(result)
        return type(result).__name__, text, type(x).__name__, str(x)
    except Exception as error:
        name = type(error).__name__
        text = str(error) if "Unable to infer type of" in str(error) else ""
        return ERROR_NAMES.get(name, name), text, str(x)


@pytest.mark.parametrize(("create", "operation"), CASES, ids=lambda text: text[:40])
def test_operations(create, operation):
    """Results, the changed container, and classes of errors are those of PyTorch."""
    assert outcome(ts, create, operation) == outcome(torch, create, operation)
