"""What docs/how-to/export-to-pt2.md shows."""

import ts


# --8<-- [start:export]
class Scale(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(4, 2)
        self.register_buffer("calls", ts.zeros(1))

    def forward(self, x):
        self.calls.add_(1)
        if x.shape[0] > 2 * x.shape[1]:
            x = x[: x.shape[1]]
        return self.linear(x).relu()


batch = ts.export.Dim("batch", min=9, max=64)
program = ts.export.export(Scale(), (ts.rand(12, 4),), dynamic_shapes={"x": {0: batch}})
print(program)
y = program.module()(ts.rand(20, 4))  # any size from 9 to 64; others raise AssertionError
# --8<-- [end:export]
assert y.shape == (4, 2)

# --8<-- [start:core]
core = program.run_decompositions()
print([str(node.target) for node in core.graph.nodes if node.op == "call_function"])
print(core.graph_signature.buffers_to_mutate)  # new values of buffers are results
# --8<-- [end:core]
assert list(core.graph_signature.buffers_to_mutate.values()) == ["calls"]

# --8<-- [start:fake]
with ts.fake():
    large = ts.nn.Sequential(*(ts.nn.Linear(20_000, 20_000) for _ in range(50))).to("cuda")
    result = large(ts.empty(8, 20_000, device="cuda"))
print(sum(p.nbytes for p in large.parameters()) / 1e9, "GB", result)
# --8<-- [end:fake]
assert result.shape == (8, 20_000) and str(result.device) == "cuda:0"


# --8<-- [start:forces]
class Forces(ts.nn.Module):
    def forward(self, x):
        x = x.detach().requires_grad_()
        energy = (x.square().sum(1) + 1).log().sum()
        return energy, -ts.autograd.grad(energy, x)[0]


print([str(n.target) for n in ts.export.export(Forces(), (ts.rand(5, 3),)).graph.nodes])
# --8<-- [end:forces]
forces = ts.export.export(Forces(), (ts.ones(2, 3),)).module()
ts.testing.assert_close(forces(ts.ones(2, 3))[1], ts.full((2, 3), -0.5))
