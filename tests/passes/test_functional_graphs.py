"""Node sequences without writes become functional graphs, including branches and random number operators."""

import ts
from ts.passes.create_functional_graphs import create_functional_graphs, inline_functional_graphs


def test_branches_and_values_that_were_written():
    """A branch without writes becomes part of a functional graph, and so does a read after a write."""

    @ts.jit.script
    def f(x, y, z):
        x = x + 1
        y = y + 1
        z = z + 1
        z.add_(2)
        z = z * z
        y = y * z
        if bool(y.sum() < 2):
            y = y + 5
        return x + y + z

    graph = f.graph.copy()
    assert create_functional_graphs(graph)
    kinds = [node.kind() for node in graph.nodes() if node.kind() != "prim::Constant"]
    assert kinds == ["aten::add", "aten::add_", "prim::FunctionalGraph", "aten::add"]
    inside = graph.find_node("prim::FunctionalGraph")["Subgraph"]
    assert inside.find_node("prim::If") and inside.find_node("aten::mul")
    x = ts.tensor([0.5, -3.0])
    function = ts.jit.create_function_from_graph("again", graph)
    assert function(x, x, x).tolist() == f(x, x, x).tolist()
    assert inline_functional_graphs(graph) and graph.find_node("prim::If")


def test_random_numbers():
    """Random number operators are part of functional graphs."""

    @ts.jit.script
    def f(x, c: bool):
        y = ts.rand_like(x)
        if c:
            y = y + ts.rand([3])
        else:
            y = y * 2
        return y + x

    graph = f.graph.copy()
    assert create_functional_graphs(graph)
    inside = graph.find_node("prim::FunctionalGraph")["Subgraph"]
    assert inside.find_node("aten::rand_like") and inside.find_node("aten::rand")


def test_branches_that_write():
    """A branch that writes, prints or modifies an outer list is not moved."""

    @ts.jit.script
    def f(x, c: bool):
        y = x + 1
        if c:
            y.add_(1)
        z = y * 2
        for _ in range(2):
            print(z)
            z = z + 1
        return z * 2

    graph = f.graph.copy()
    create_functional_graphs(graph)
    for group in graph.find_all_nodes("prim::FunctionalGraph"):
        assert not group["Subgraph"].find_node("aten::add_") and not group["Subgraph"].find_node("prim::Print")


def count_groups(source: str) -> int:
    graph = ts.jit.CompilationUnit(source).f.graph.copy()
    create_functional_graphs(graph)
    return len(graph.find_all_nodes("prim::FunctionalGraph"))


def test_nodes_in_blocks_count_for_the_minimal_size_and_constants_do_not():
    """A group needs six nodes. The numbers of groups are those of PyTorch."""
    chain = "def f(x: Tensor):\n    return ((x * 2 - 1).relu() * 4 + 5).exp()"
    assert count_groups(chain) == 0
    assert count_groups(chain.replace(".exp()", ".exp() + 6")) == 1
    loop = """
def f(x: Tensor, n: int):
    y = (x + 1) * 2
    for i in range(n):
        y = y + i
    return y * 3 - 1
"""
    assert count_groups(loop) == 0
    assert count_groups(loop.replace("y + i", "(y + i) * 2")) == 1


def test_groups_contain_lists_and_branches_without_results():
    """The groups of these programs are those of PyTorch."""
    program = """
def f(x: Tensor, b: bool):
    y = (x * 2).exp()
    if b:
        z = y + 1
    w = (y.view(-1) - 3).relu()
    return w * 2
"""
    graph = ts.jit.CompilationUnit(program).f.graph.copy()
    create_functional_graphs(graph)
    inside = graph.find_node("prim::FunctionalGraph")["Subgraph"]
    assert {"prim::ListConstruct", "aten::view"} <= {node.kind() for node in inside.nodes()}
