"""An export does not change the module, including state that `forward` writes."""

from collections import deque

import pytest

import ts
from ts import nn
from ts.export import export


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append(x * 2)
        return x


class Keeps(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = []
        self.table = {"a": [1], "b": ({},)}
        self.names = {"one"}
        self.last = deque([1], maxlen=1)
        self.layer = Layer()
        self.itself = [1]
        self.itself.append(self.itself)

    def forward(self, x):
        self.rows.append(x)
        self.table["a"].append(x)
        self.table["b"][0]["c"] = x
        self.table["new"] = self.names
        self.names.add(x)
        self.last.append(x)
        self.itself.clear()
        return self.layer(x) * len(self.rows)


def test_containers_are_restored():
    module = Keeps()
    before = [module.rows, module.table, module.names, module.last, module.layer.seen, module.itself]
    with pytest.warns(UserWarning, match=r"self\.last\[0\], self\.layer\.seen\[0\], self\.rows\[0\]"):
        program = export(module, (ts.ones(2),))
    assert before[:5] == [[], {"a": [1], "b": ({},)}, {"one"}, deque([1]), []]
    assert len(module.itself) == 2 and module.itself[1] is module.itself
    after = [module.rows, module.table, module.names, module.last, module.layer.seen, module.itself]
    assert all(x is y for x, y in zip(before, after, strict=True))
    assert program.module()(ts.ones(2)).tolist() == [1, 1]


class Fails(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = [1]

    def forward(self, x):
        self.rows.insert(0, 3)
        raise ValueError("no")


def test_containers_after_an_error():
    module = Fails()
    with pytest.raises(ValueError, match="no"):
        export(module, (ts.ones(2),))
    assert module.rows == [1]


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", ts.zeros(()))

    def forward(self, x):
        self.calls += 1
        return x * self.calls


def test_replaced_buffer_is_written():
    program = export(Counts(), (ts.ones(2),))
    buffer = next(iter(program.graph.nodes))
    module = program.module()
    [copied] = [n for n in program.graph.nodes if n.target is ts.ops.aten.copy_.default]
    assert copied.args[0] is buffer
    for node in module.graph.nodes:  # as in passes that remove in-place writes
        if node.target is ts.ops.aten.add_.Tensor:
            node.target = ts.ops.aten.add.Tensor
    module.recompile()
    assert [module(ts.ones(2)).tolist() for _ in range(3)] == [[1, 1], [2, 2], [3, 3]]
