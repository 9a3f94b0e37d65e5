"""What `fx.md` shows."""

# --8<-- [start:trace]
import ts


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(3, 4)
        self.scale = ts.nn.Parameter(ts.ones(4))

    def forward(self, x):
        return ts.relu(self.linear(x)) * self.scale + 1


net = Net()
module = ts.fx.symbolic_trace(net)
# --8<-- [end:trace]
x = ts.randn(2, 3)
assert ts.equal(module(x), net(x))

# --8<-- [start:change]
for node in module.graph.nodes:
    if node.op == "call_function" and node.target is ts.relu:
        with module.graph.inserting_after(node):
            new = module.graph.call_function(ts.nn.functional.gelu, node.args)
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
module.graph.lint()
module.recompile()
# --8<-- [end:change]
assert ts.equal(module(x), ts.nn.functional.gelu(net.linear(x)) * net.scale + 1)


# --8<-- [start:patterns]
def pattern(x, scale):
    return x * scale + 1


def replacement(x, scale):
    return ts.mul(x, scale).add(1)


matches = ts.fx.replace_pattern(module, pattern, replacement)
# --8<-- [end:patterns]
assert len(matches) == 1


# --8<-- [start:interpreter]
class Counting(ts.fx.Interpreter):
    calls = 0

    def call_function(self, target, args, kwargs):
        self.calls += 1
        return super().call_function(target, args, kwargs)


counting = Counting(module)
counting.run(x)
# --8<-- [end:interpreter]
assert counting.calls == 2

# --8<-- [start:script]
scripted = ts.jit.script(module)
# --8<-- [end:script]
assert ts.allclose(scripted(x), module(x))
