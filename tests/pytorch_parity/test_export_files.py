"""`.pt2` files in both directions: files of PyTorch run in `ts`, files of `ts` in PyTorch, and round trips
preserve them."""

import dataclasses
import io
import json
import zipfile

import numpy as np
import pytest

import ts
import ts.export
from tests.export.functions import FunctionOfOne
from tests.export.test_pt2_subgraph_constants import PROGRAMS

torch = pytest.importorskip("torch")
nn = torch.nn
while_loop = pytest.importorskip("torch._higher_order_ops.while_loop").while_loop


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.tied = self.fc.weight
        self.register_buffer("scale", torch.tensor([2.0, 3.0, 4.0, 5.0]))
        self.register_buffer("hidden", torch.ones(4), persistent=False)
        self.part = nn.Parameter(torch.arange(16.0).reshape(4, 4)[1:3, 1:3])
        self.low = nn.Parameter(torch.ones(3).bfloat16())
        self.none = nn.Parameter(torch.empty(0))
        self.table = torch.arange(6)[1:5]

    def forward(self, x, n=2, *, flag=True):
        y = self.fc(x) * self.scale + self.hidden + self.table * n + self.part.sum() + self.low.sum()
        return {"y": y + self.tied.sum() + self.none.sum(), "more": [None, 3, (x,)]}


class Shapes(nn.Module):
    def forward(self, x, y):
        a, b = torch.split(x, [1, 2], 1)
        values, indices = torch.max(x, 1)
        parts = torch.chunk(torch.ones(4, 2), 2)
        n = x.shape[0] * 2 + 1
        if x.shape[0] > y.shape[0]:
            x = x + 1
        rows = x[:, torch.tensor([0, 2])]
        zeros = torch.zeros(n, 2, dtype=torch.float64)
        return a, b, values, indices, parts[1], rows, zeros, torch.full((2,), float("-inf")), x.view(-1, 3), n


class Data(nn.Module):
    def forward(self, x):
        n = x.sum().to(torch.int64).item()
        torch._check(n >= 2)
        torch._check(n <= 100)
        return torch.nonzero(x), torch.ones(n) * 2


class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1, stride=2)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        x = nn.functional.relu(self.norm(self.conv(x)))
        return nn.functional.adaptive_avg_pool2d(x, 1).flatten(1).softmax(-1).to(torch.float16)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(8, 24)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        q, k, v = self.project(self.norm(x)).reshape(x.shape[0], x.shape[1], 3, 2, 4).permute(2, 0, 3, 1, 4)
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


class Trees(nn.Module):
    def forward(self, batch, *rest, **more):
        total = batch["a"] + batch["b"][0]
        for x in rest:
            total = total + x
        return [total - more["q"], {"z": total}]


class Names(nn.Module):
    def forward(self, input, id, max):
        return input + id * max


DIM = torch.export.Dim
ROWS = DIM("rows", min=2, max=64)


def ones(*sizes):
    return torch.arange(1.0, 1 + np.prod(sizes)).reshape(sizes) / 10


# Name: (module, arguments, options, dynamic shapes, other arguments, rejected arguments)
CASES = {
    "linear": (Linear, (ones(4, 3), 2), {"flag": True}, {"x": {0: ROWS}, "n": None, "flag": None},
               [(ones(9, 3), 2)], [(ones(65, 3), 2), (ones(4, 3), 5)]),
    "static": (Linear, (ones(4, 3), 2), {"flag": True}, None, [], [(ones(5, 3), 2)]),
    "shapes": (Shapes, (ones(6, 3), ones(4)), {}, ({0: DIM.AUTO}, {0: DIM.AUTO}),
               [(ones(9, 3), ones(7))], [(ones(4, 3), ones(7)), (ones(6, 4), ones(4))]),
    "data": (Data, (ones(4) * 10,), {}, None, [(ones(4) * 30,)], []),
    "convolution": (Convolution, (ones(2, 3, 8, 8),), {}, {"x": {0: DIM.AUTO, 2: DIM.AUTO}}, [(ones(3, 3, 11, 8),)], []),
    "attention": (Attention, (ones(2, 5, 8),), {}, {"x": {0: DIM.AUTO, 1: DIM.AUTO}}, [(ones(3, 7, 8),)], []),
    "trees": (Trees, ({"b": [ones(3)], "a": ones(3)}, ones(3), ones(3)), {"q": ones(3)}, None, [], []),
    "names": (Names, (ones(2), ones(2), ones(2)), {}, None, [], []),
    "derived": (lambda: Sum(), (ones(4), ones(8)), {}, ({0: DIM("n", max=20)}, {0: 2 * DIM("n", max=20)}),
                [(ones(5), ones(10))], [(ones(5), ones(8))]),
}  # fmt: skip


class Sum(nn.Module):
    def forward(self, x, y):
        return x.sum() + y


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """Return PyTorch's file of a program, the program, and the case."""
    make, args, kwargs, shapes, more, bad = CASES[request.param]
    torch.manual_seed(0)
    program = torch.export.export(make().eval(), args, kwargs, dynamic_shapes=shapes)
    file = io.BytesIO()
    torch.export.save(program, file)
    return (
        file.getvalue(),
        program,
        [(args, kwargs), *((m, kwargs) for m in more)],
        [(b, kwargs) for b in bad],
    )


def ours(x):
    """Convert a tree of PyTorch tensors to tensors of `ts`."""
    return torch.utils._pytree.tree_map(
        lambda v: ts.from_numpy(v.numpy()) if isinstance(v, torch.Tensor) else v, x
    )


def arrays(tree, pytree):
    return [np.asarray(x.detach().numpy()) if hasattr(x, "detach") else x for x in pytree.tree_leaves(tree)]


def assert_equal_arrays(got, want):
    got, want = arrays(got, ts.utils._pytree), arrays(want, torch.utils._pytree)
    assert len(got) == len(want)
    for x, y in zip(got, want, strict=True):
        if isinstance(y, np.ndarray):
            assert x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=2e-3 if y.dtype == np.float16 else 1e-4, atol=1e-5)
        else:
            assert x == y


def test_files_of_pytorch_run_in_ts(case):
    """A PyTorch file has its operators, signature, ranges and results, for the example and other sizes; both
    libraries reject other calls."""
    data, program, calls, refused = case
    found = ts.export.load(io.BytesIO(data))
    assert [str(n.target) for n in found.graph.nodes] == [
        str(n.target) for n in torch.export.load(io.BytesIO(data)).graph.nodes
    ]
    assert str(found.graph_signature) == str(program.graph_signature)
    assert str(found.range_constraints) == str(program.range_constraints)
    for args, kwargs in calls:
        args, kwargs = ours((args, kwargs))
        assert_equal_arrays(found.module()(*args, **kwargs), program.module()(*_to_pytorch(args), **_to_pytorch(kwargs)))
    for args, kwargs in refused:
        with pytest.raises(AssertionError) as theirs:
            program.module()(*args, **kwargs)
        args, kwargs = ours((args, kwargs))
        with pytest.raises(AssertionError) as own_error:
            found.module()(*args, **kwargs)
        assert str(own_error.value).startswith("Guard failed") == str(theirs.value).startswith("Guard failed")


def _to_pytorch(x):
    return ts.utils._pytree.tree_map(
        lambda v: torch.from_numpy(v.numpy()) if isinstance(v, ts.Tensor) else v, x
    )


def test_files_survive_a_round_trip(case):
    """PyTorch loads a file resaved by `ts` with the original graph, ranges, guards and results."""
    data, _, calls, refused = case
    file = io.BytesIO()
    ts.export.save(ts.export.load(io.BytesIO(data)), file, extra_files={"notes.txt": "hello"})
    extra = {"notes.txt": ""}
    before = torch.export.load(io.BytesIO(data))
    after = torch.export.load(io.BytesIO(file.getvalue()), extra_files=extra)
    assert extra["notes.txt"] == "hello"
    assert str(after.graph) == str(before.graph)
    assert str(after.graph_signature) == str(before.graph_signature)
    assert str(after.range_constraints) == str(before.range_constraints)
    assert guards(file.getvalue()) == guards(data)
    for args, kwargs in calls:
        assert_equal_arrays(after.module()(*args, **kwargs), before.module()(*args, **kwargs))
    for args, kwargs in refused:
        with pytest.raises(AssertionError):
            after.module()(*args, **kwargs)


def guards(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        (name,) = [n for n in file.namelist() if n.endswith("models/model.json")]
        return json.loads(file.read(name))["guards_code"]


class Ours(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = ts.nn.Linear(3, 4)
        self.register_buffer("scale", ts.tensor([2.0, 3.0, 4.0, 5.0]))
        self.low = ts.nn.Parameter(ts.ones(3, dtype=ts.bfloat16))
        self.table = ts.arange(6)[1:5]

    def forward(self, x, y, n, *, flag):
        if x.shape[0] > 2 * y.shape[0]:
            x = x + 1
        a, b = ts.split(x, [1, 2], 1)
        z = self.fc(x) * self.scale + self.table * n + self.low.sum()
        return {"z": z, "more": [a, b, None, 3, x[:, ts.tensor([0, 2])], ts.zeros(x.shape[0] * 2, 2), y]}


def test_files_of_ts_run_in_pytorch():
    """PyTorch loads a file exported by `ts` with equal results for other sizes, and rejects the same
    calls."""
    ts.manual_seed(0)
    x, y = ts.arange(27.0).reshape(9, 3), ts.ones(4)
    shapes = {
        "x": {0: ts.export.Dim.AUTO},
        "y": {0: ts.export.Dim("k", min=2, max=30)},
        "n": None,
        "flag": None,
    }
    program = ts.export.export(Ours(), (x, y, 2), {"flag": True}, dynamic_shapes=shapes)
    file = io.BytesIO()
    ts.export.save(program, file)
    found = torch.export.load(io.BytesIO(file.getvalue()))
    assert str(found.graph_signature) == str(program.graph_signature)
    assert str(found.range_constraints) == str(program.range_constraints)
    for rows, k in ((9, 4), (15, 6)):
        args = ts.arange(3.0 * rows).reshape(rows, 3), ts.ones(k), 2
        assert_equal_arrays(program.module()(*args, flag=True), found.module()(*_to_pytorch(args), flag=True))
    for rows, k in ((9, 5), (99, 31)):
        with pytest.raises(AssertionError, match="Guard failed"):
            found.module()(torch.ones(rows, 3), torch.ones(k), 2, flag=True)


@pytest.mark.parametrize("function", PROGRAMS)
def test_functions_of_ts_run_in_pytorch(function):
    """PyTorch runs files of `ts` with constants in branches and loops over numbers, which it cannot save."""
    x = ts.tensor([1.0, 2.0, 3.0])
    file = io.BytesIO()
    ts.export.save(ts.export.export(FunctionOfOne(function), (x,)), file)
    found = torch.export.load(io.BytesIO(file.getvalue())).module()
    for given in (x, -x):
        assert_equal_arrays(function(given), found(*_to_pytorch((given,))))


class Numbers(nn.Module):
    def forward(self, x):
        n = x.shape[0]
        return while_loop(lambda i, y: i < n, lambda i, y: (i + 2, y + i), (n - 2, x))


def test_pytorch_loops_over_numbers_run():
    """A PyTorch loop that carries symbolic numbers loads, runs and saves in `ts`."""
    shapes = ({0: torch.export.Dim.DYNAMIC},)
    file = io.BytesIO()
    torch.export.save(torch.export.export(Numbers(), (torch.ones(3),), dynamic_shapes=shapes), file)
    found = ts.export.load(io.BytesIO(file.getvalue()))
    again = io.BytesIO()
    ts.export.save(found, again)
    theirs = torch.export.load(io.BytesIO(again.getvalue())).module()
    for n in (3, 6):
        assert_equal_arrays(found.module()(ts.ones(n)), Numbers()(torch.ones(n)))
        assert_equal_arrays(found.module()(ts.ones(n)), theirs(torch.ones(n)))


@dataclasses.dataclass
class Theirs:
    a: torch.Tensor
    b: torch.Tensor | None = None


@dataclasses.dataclass
class Mine:
    a: ts.Tensor
    b: ts.Tensor | None = None


def test_trees_of_registered_classes():
    """Dataclasses registered under one name in both libraries are exchanged."""

    name = "tests.pytorch_parity.Pair"
    torch.export.register_dataclass(Theirs, serialized_type_name=name)
    ts.export.register_dataclass(Mine, serialized_type_name=name)

    class M(nn.Module):
        def forward(self, x):
            return Theirs(x.a + 1)

    file = io.BytesIO()
    torch.export.save(torch.export.export(M(), (Theirs(torch.ones(2)),)), file)
    found = ts.export.load(io.BytesIO(file.getvalue()))
    result = found.module()(Mine(ts.ones(2)))
    assert isinstance(result, Mine)
    assert result.a.tolist() == [2.0, 2.0]
    again = io.BytesIO()
    ts.export.save(found, again)
    assert torch.export.load(io.BytesIO(again.getvalue())).module()(Theirs(torch.ones(2))).a.tolist() == [
        2.0,
        2.0,
    ]
