"""Graphs of compiled programs equal PyTorch's, and so do the results of passes on the same graph text."""

import pytest

torch = pytest.importorskip("torch")

from ts.frontend import compile as frontend  # noqa: E402
from ts.frontend import parse  # noqa: E402
from ts.ir.graph_parser import parse_ir  # noqa: E402
from ts.passes import constant_pooling, constant_propagation, cse, dce  # noqa: E402
from ts.passes.canonicalize import canonicalize  # noqa: E402
from ts.runtime.function import compile_function  # noqa: E402


def continue_and_break(n: int):
    total = 0
    for i in range(n):
        if i == 3:
            continue
        if i == 7:
            break
        total += i
    return total


def return_from_nested_loops(x: int):
    r = 0
    for i in range(x):
        for j in range(i):
            if j == 7:
                return r
            if j == 4:
                break
            r += j
    return r


def early_returns(x: int):
    if x > 1:
        return 5
    for i in range(x):
        if i == 4:
            return i
    return 2


def return_pair_from_while(x: int):
    r = 0
    while x < 10:
        x = x + 1
        if x == 4:
            r = 3
            return r, x
    return r, 3


def decided_at_compile_time(y: bool):
    if 2 > 1:
        z = 3 * 4
    else:
        z = 5
    if y:
        a = 1
        b = 2
    else:
        b = 3
        a = 1
    return z, a, b


def loop_that_feeds_itself(x: int):
    y = 0
    z = 0
    for i in range(x):
        z = z + 1
    return y


def endless(x: int, b: bool):
    while True:
        x += 1
        if x > 7:
            break
    for i in range(0):
        x = i
    if b:
        u = x
    else:
        u = x
    return x, u


PROGRAMS = [
    continue_and_break,
    return_from_nested_loops,
    early_returns,
    return_pair_from_while,
    decided_at_compile_time,
    loop_that_feeds_itself,
    endless,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.__name__ for p in PROGRAMS])
def test_frontend_graph(program):
    """After the frontend's passes, graphs have PyTorch's text, including names and numbers."""
    assert str(frontend.compile_function(parse.function_def(program), compile_function).graph) == str(
        torch.jit.script(program).graph
    )


PASSES = {
    "dce": (dce.eliminate_dead_code, torch._C._jit_pass_dce_graph),
    "cse": (cse.eliminate_common_subexpressions, torch._C._jit_pass_cse),
    "constant_pooling": (constant_pooling.constant_pooling, torch._C._jit_pass_constant_pooling),
    "constant_propagation_immutable_types": (
        constant_propagation.constant_propagation_immutable_types,
        torch._C._jit_pass_constant_propagation_immutable_types,
    ),
}
GRAPH = """graph(%n.1 : int, %x.1 : Tensor):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %t : bool = prim::Constant[value=1]()
  %2 : int = aten::mul(%n.1, %n.1)
  %3 : int = aten::mul(%n.1, %n.1)
  %4 : int = aten::add(%1, %1)
  %l : int[] = prim::ListConstruct(%2)
  %m : int[] = prim::ListConstruct(%2)
  %5 : int[] = aten::append(%l, %3)
  %6 : int[] = aten::append(%m, %3)
  %7 : Tensor = aten::neg(%x.1)
  %8 : Tensor = aten::neg(%x.1)
  %9 : Tensor = aten::add_(%8, %7, %1)
  %y.1 : int, %z.1 : int = prim::Loop(%2, %t, %0, %0)
    block0(%i : int, %y.2 : int, %z.2 : int):
      %10 : int = prim::Constant[value=1]()
      %y.3 : int = aten::add(%y.2, %10)
      %z.3 : int = aten::add(%z.2, %4)
      -> (%t, %y.3, %z.3)
  %11 : (int, int[], Tensor) = prim::TupleConstruct(%z.1, %l, %8)
  return (%11)
"""


@pytest.mark.parametrize("name", PASSES)
def test_pass(name):
    """A pass has PyTorch's result, up to numbering."""
    ours, theirs = PASSES[name]
    graph, expected = parse_ir(GRAPH), torch._C.parse_ir(GRAPH)
    ours(graph)
    theirs(expected)
    assert str(canonicalize(graph, False)) == str(torch._C._jit_pass_canonicalize(expected, False))
