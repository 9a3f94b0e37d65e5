"""What docs/export.md shows of exports themselves."""

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
            x = x[: x.shape[0] // 2]
        return self.linear(x).relu()


batch = ts.export.Dim("batch", min=9, max=64)
program = ts.export.export(Scale(), (ts.rand(12, 4),), dynamic_shapes={"x": {0: batch}})
print(program)
y = program.module()(ts.rand(20, 4))  # any size from 9 to 64; others raise AssertionError
# --8<-- [end:export]
assert y.shape == (10, 2)

# --8<-- [start:core]
core = program.run_decompositions()
print([str(node.target) for node in core.graph.nodes if node.op == "call_function"])
print(core.graph_signature.buffers_to_mutate)  # what is written is among the results
# --8<-- [end:core]
assert list(core.graph_signature.buffers_to_mutate.values()) == ["calls"]
