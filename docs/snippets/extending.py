"""What `extending.md` shows."""

# --8<-- [start:operator]
import ts
from ts import Tensor


@ts.library.custom_op("mine::scale", mutates_args=())
def scale(x: Tensor, by: float = 2.0) -> Tensor:
    return x * by


@scale.register_fake
def _(x, by=2.0):
    return ts.empty_like(x)  # shape and dtype, without elements


def setup(ctx, inputs, output):
    ctx.by = inputs[1]


def backward(ctx, grad):
    return grad * ctx.by, None


scale.register_autograd(backward, setup_context=setup)


@ts.jit.script
def twice(x: Tensor):
    return ts.ops.mine.scale(x, 3.0) + x


x = ts.ones(2, requires_grad=True)
y = twice(x)
y.sum().backward()
print(y.tolist(), x.grad)  # [4.0, 4.0] tensor([4., 4.])
# --8<-- [end:operator]
assert y.tolist() == x.grad.tolist() == [4, 4]

# --8<-- [start:pass]
from ts.ir.graph import Graph


def double_by_adding(graph: Graph) -> bool:
    """Replace ``x * 2`` of an int by ``x + x``; return True if the graph changed."""
    changed = False
    for node in graph.find_all_nodes("aten::mul"):
        x, factor = node.inputs()
        is_two = factor.node().kind() == "prim::Constant" and factor.node().get("value") == 2
        if str(x.type()) == "int" and is_two:
            with graph.inserting_before(node):
                total = graph.insert("aten::add", [x, x])
            node.output().replace_all_uses_with(total)
            node.destroy()
            changed = True
    return changed


@ts.jit.script
def doubled(n: int) -> int:
    return n * 2


graph = doubled.graph.copy()
assert double_by_adding(graph)
graph.lint()  # raises an error if the graph is invalid
print(graph)
# --8<-- [end:pass]
assert "aten::add" in str(graph) and "aten::mul" not in str(graph)

# --8<-- [start:pattern]
from ts.passes.subgraph_rewrite import SubgraphRewriter


@ts.jit.script
def twice_negated(x: Tensor):
    return x.neg().neg()


rewriter = SubgraphRewriter()
rewriter.register_rewrite_pattern(
    """
graph(%x : Tensor):
  %a : Tensor = aten::neg(%x)
  %b : Tensor = aten::neg(%a)
  return (%b)""",
    """
graph(%x : Tensor):
  return (%x)""",
)
graph = twice_negated.graph.copy()
rewriter.run_on_graph(graph)
print(graph)
# --8<-- [end:pattern]
assert "aten::neg" not in str(graph)

# --8<-- [start:alias]
from ts.analysis.alias import AliasDb


@ts.jit.script
def writes(x: Tensor):
    y = x.view(-1)
    y.add_(1)
    return x + 1


graph = writes.graph
aliases = AliasDb(graph)
view, add = graph.find_node("aten::view"), graph.find_node("aten::add_")
print(aliases.may_alias(view.output(), next(iter(graph.inputs()))))  # True
print(aliases.writes_to_alias(add, [next(iter(graph.inputs()))]))  # True
# --8<-- [end:alias]
assert aliases.may_alias(view.output(), next(iter(graph.inputs())))

# --8<-- [start:by_name]
graph = writes.graph.copy()
ts._C._jit_pass_cse(graph)  # returns True if the graph changed
ts._C._jit_pass_dce(graph)
# --8<-- [end:by_name]
