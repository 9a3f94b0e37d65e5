"""RPC calls in scripts: graphs, schemas and errors equal PyTorch's, whose printed code omits all arguments."""

import linecache
from typing import Any, Dict, List, Optional, Tuple

import pytest

import ts
import ts.distributed.rpc as our_rpc
from ts.ops import registry

torch = pytest.importorskip("torch")
their_rpc = pytest.importorskip("torch.distributed.rpc")

CALLEES = """
@torch.jit.script
def none() -> int:
    return 1

@torch.jit.script
def one(x: Tensor) -> Tensor:
    return x

@torch.jit.script
def two(x: Tensor, y: Tensor) -> Tensor:
    return x + y

@torch.jit.script
def more(x: Tensor, n: int = 2, m: int = 3, k: int = 4) -> Tensor:
    return x * n + m - k

@torch.jit.script
def real(x: Tensor, n: float) -> Tensor:
    return x * n

@torch.jit.script
def ints(x: List[int]) -> Tensor:
    return torch.ones(2)

def plain(x: Tensor) -> Tensor:
    return x
"""
ARGUMENTS = [
    ("dst, none", ""), ("dst, none, ()", ""), ("'a', none, ()", ""), ("1, none", ""), ("dst, one, (x,)", ""),
    ("dst, two, (x, x)", ""), ("dst, more, (x,)", ""), ("dst, more, (x, 5)", ""), ("dst, more, (x, 5, 6)", ""),
    ("dst, more, (x,), {'n': 7, 'k': 8}", ""), ("dst, more, args", "args: Tuple[Tensor]"),
    ("dst, more, args, kw", "args: Tuple[Tensor, int], kw: Dict[str, int]"), ("dst, real, (x, 1)", ""),
    ("dst, real, (x, 1.0)", ""), ("dst, ints, ([1, 2],)", ""), ("dst, ints, ([],)", ""),
    ("dst, one, (torch.relu(x),), {}, 3.0", ""), ("dst, one, (x,), {}, 3", ""), ("dst, one, (x,), (3,)", ""),
    ("dst, two, {'x': x}, {'y': x}", ""), ("dst, two, (), {'x': x, 'y': x}", ""), ("dst, one, x", ""),
    ("dst, one, [x]", ""), ("dst", ""), ("dst, one, (x,), {}, 3.0, 4", ""), ("dst, one, (x,), kwargs={}", ""),
    ("dst, plain, (x,)", ""), ("dst, more, (x,), {'n': x}", ""),
]  # fmt: skip
OF_REFERENCES = [
    ("r.is_owner()", "r: RRef[Tensor]"), ("r.owner_name()", "r: RRef[Tensor]"), ("r.owner()", "r: RRef[int]"),
    ("r.local_value()", "r: RRef[Tensor]"), ("r.to_here()", "r: RRef[Tensor]"), ("r.to_here(3.0)", "r: RRef[int]"),
    ("r.to_here() + 1", "r: RRef[Tensor]"), ("r.confirmed_by_owner()", "r: RRef[int]"), ("r", "r: RRef[int]"),
    ("r.to_here(timeout=3)", "r: RRef[int]"), ("r.rpc_sync()", "r: RRef[int]"), ("r.foo", "r: RRef[int]"),
    ("r is None", "r: Optional[RRef[Tensor]]"), ("[r, s][0].to_here()", "r: RRef[int], s: RRef[int]"),
    ("({'a': r}, (r, s))", "r: RRef[int], s: RRef[int]"),
]  # fmt: skip


def namespace(library, rpc):
    given = {"__name__": "__main__", "torch": library, "rpc": rpc, "RRef": rpc.RRef, "Tensor": library.Tensor}
    given |= {"Any": Any, "Dict": Dict, "List": List, "Optional": Optional, "Tuple": Tuple}
    run(CALLEES, "<callees>", given)
    return given


def run(text, name, names):
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names)


OURS, THEIRS = namespace(ts, our_rpc), namespace(torch, their_rpc)


def compiled(text, names):
    """Return the graph and schema, or the error without hints."""
    library = names["torch"]
    names = dict(names)
    try:
        run(text, "<program>", names)
        function = library.jit.script(names["f"])
    except RuntimeError as error:
        return str(error).strip().partition("Hint: ")[0].strip()
    return str(function.graph), str(function.schema)


def check(text):
    ours, theirs = compiled(text, OURS), compiled(text, THEIRS)
    assert ours == theirs


@pytest.mark.parametrize("form", ["rpc_sync", "rpc_async", "remote"])
@pytest.mark.parametrize("given, parameters", ARGUMENTS, ids=[given for given, _ in ARGUMENTS])
def test_calls(form, given, parameters):
    check(f"def f(dst: str, x: Tensor{parameters and ', ' + parameters}):\n    return rpc.{form}({given})")


@pytest.mark.parametrize(
    "expression, parameters", OF_REFERENCES, ids=[" | ".join(each) for each in OF_REFERENCES]
)
def test_references(expression, parameters):
    check(f"def f({parameters}):\n    return {expression}")


@pytest.mark.parametrize("callee, kind", [("torch.add", "builtin"), ("x", "value of type 'Tensor'")])
def test_calls_of_unscripted_functions(callee, kind):
    """A call of an unscripted function has PyTorch's error, with an additional source location."""
    text = f"def f(dst: str, x: Tensor):\n    return rpc.rpc_sync(dst, {callee}, (x, x))"
    theirs = compiled(text, THEIRS)
    assert compiled(text, OURS).startswith(theirs) and theirs.endswith(kind.partition(" ")[2] or kind)


@pytest.mark.parametrize("expression, parameters", [("r.to_here()", "r: RRef"), ("RRef(r)", "r: int")])
def test_untyped_references(expression, parameters):
    text = f"def f({parameters}):\n    return {expression}"
    assert compiled(text, OURS).startswith(compiled(text, THEIRS))


@pytest.mark.parametrize(
    "name", ["to_here", "local_value", "is_owner", "owner_name", "owner", "confirmed_by_owner"]
)
def test_schemas(name):
    (theirs,) = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    (ours,) = registry.lookup(f"aten::{name}")
    assert ours.schema_text == str(theirs)
