"""Samples of docs/how-to/write-control-flow-for-export.md."""

import ts

# --8<-- [start:cond]
class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.yes, self.no = ts.nn.Linear(4, 3), ts.nn.Linear(4, 3)

    def forward(self, x):
        return ts.cond(x.sum() > 0, lambda x: self.yes(x), lambda x: self.no(x) * 2, (x,))


program = ts.export.export(Net(), (ts.rand(2, 4),))
print(program.graph_module.true_graph_0.graph)
program.module()(ts.rand(2, 4) - 1)  # the other branch
# --8<-- [end:cond]

# --8<-- [start:loops]
from ts._higher_order_ops import associative_scan, map, scan, while_loop

xs = ts.rand(5, 3)
map(lambda row: row / row.sum(), xs)
scan(lambda carry, row: (carry + row, carry * row), ts.zeros(3), xs)  # the last carry, and all products
while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (ts.tensor(0), xs))
associative_scan(lambda a, b: a * b, xs, dim=0, combine_mode="generic")  # xs.cumprod(0)
# --8<-- [end:loops]
