"""Scripted modules in exports, and conversion of archives to `.pt2` files."""

import io

import pytest

import ts
from tests.test_cli import output
from ts import nn
from ts.errors import UserError
from ts.export import Dim, export, load


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.sizes = [1, 2]

    def forward(self, x, n: int = 2, names: dict[str, float] | None = None):
        y = self.linear(x)
        if x.shape[0] > 3:
            y = y + 1
        for i in range(n):
            y = y * self.sizes[i % 2]
        rows: list[ts.Tensor] = []
        for k in range(3):
            rows.append(y[k] * float(k))
        if names is not None:
            y = y * names["by"]
        return self.norm(y), ts.stack(rows), {"half": y[: x.size(0) // 2]}


@pytest.fixture(scope="module")
def archive():
    file = io.BytesIO()
    ts.jit.save(ts.jit.script(Net().eval()), file)
    return file.getvalue()


def loaded(archive):
    return ts.jit.load(io.BytesIO(archive))


def leaves_are_equal(found, expected):
    pairs = zip(ts.utils._pytree.tree_leaves(found), ts.utils._pytree.tree_leaves(expected), strict=True)
    return all(ts.equal(x, y) for x, y in pairs)


@pytest.mark.parametrize("kwargs", [{}, {"n": 3}, {"names": {"by": 0.5}}])
def test_archives_are_exported(archive, kwargs):
    model = loaded(archive)
    shapes = {"x": {0: Dim.AUTO}, **{k: None if k == "n" else {"by": None} for k in kwargs}}
    program = export(model, (ts.ones(6, 3),), kwargs, dynamic_shapes=shapes)
    for variant in (program, program.run_decompositions()):
        for rows in (6, 4, 9):
            x = ts.randn(rows, 3)
            found, expected = variant.module()(x, **kwargs), model(x, **kwargs)
            assert all(
                ts.allclose(a, b, rtol=1e-5)
                for a, b in zip(*map(ts.utils._pytree.tree_leaves, (found, expected)), strict=True)
            )
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[0\] >= 4"):
        program.module()(ts.ones(3, 3), **kwargs)
    node = next(n for n in program.graph.nodes if n.name == "linear")
    assert "return " in node.meta["stack_trace"] or "linear" in node.meta["stack_trace"]


def test_functions_without_source():
    """Traced functions and scripted submodules, which have no source, can be exported."""
    traced = ts.jit.trace(lambda x: x.sin() * 2, ts.ones(3))

    class Calls(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = ts.jit.script(nn.Linear(3, 3))

        def forward(self, x):
            return traced(self.net(x))

    module, x = Calls(), ts.randn(3)
    assert leaves_are_equal(export(module, (x,)).module()(x), module(x))


def test_buffers_that_are_replaced():
    class Averages(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", ts.zeros(2))

        def forward(self, x):
            self.mean = 0.5 * self.mean + x
            return self.mean * 2

    model, own = ts.jit.script(Averages()), Averages()
    program = export(model, (ts.ones(2),)).module()
    for _ in range(3):
        x = ts.randn(2)
        assert leaves_are_equal(program(x), own(x))
    assert leaves_are_equal(model.mean, own.mean)


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x


class Endless(nn.Module):
    def forward(self, x):
        n = 0
        while n < 1_000_000:
            n += 1
        return x + n


class Raises(nn.Module):
    def forward(self, x):
        if x.dim() == 1:
            raise ValueError("one dimension")
        return x


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Counts, "it sets the attribute calls, which is not a buffer"),
        (Endless, "a loop has too many iterations"),
        (Raises, "the script raises: one dimension"),
    ],
)
def test_rejected_with_the_line(module, message):
    with pytest.raises(UserError, match=message) as error:
        export(ts.jit.script(module()), (ts.ones(2),))
    assert "<--- HERE" in str(error.value) and __file__ in str(error.value)


def test_data_decides():
    class Decides(nn.Module):
        def forward(self, x):
            return x + 1 if bool(x.sum() > 0) else x

    with pytest.raises(ts.errors.GuardOnDataDependentSymNode):
        export(ts.jit.script(Decides()), (ts.ones(2),))


class DecidesByFloat(nn.Module):
    def forward(self, x):
        if float(x.sum()) > 0:
            x = x + 1
        return x


def test_convert_where_data_decides(tmp_path, capsys):
    source = tmp_path / "decides.pt"
    ts.jit.save(ts.jit.script(DecidesByFloat()), source)
    code, _, message = output(capsys, "convert", source, tmp_path / "x.pt2", "--input", "x=float32[2]")
    assert code == 1 and "Could not guard on data-dependent expression zuf0 > 0.0" in message
    assert "Caused by: if float(x.sum()) > 0:" in message and f"{__file__}:" in message


def test_convert(archive, tmp_path, capsys):
    source, out = tmp_path / "net.pt", tmp_path / "net.pt2"
    source.write_bytes(archive)
    words = ("convert", source, out, "--input", "x=float32[6,3]", "--input", "n=3")
    code, _, message = output(capsys, *words, "--vary", "x:0")
    assert code == 0 and "net.pt2" in message
    program, x = load(out).module(), ts.randn(5, 3)
    assert leaves_are_equal(program(x, 3), loaded(archive)(x, 3))
    code, _, message = output(capsys, "convert", source, out)
    assert code == 2 and "missing --input x=" in message
    code, _, message = output(capsys, "convert", out, tmp_path / "back.pt")
    assert code == 2 and "net.pt2 is an exported program, which cannot be converted" in message
    code, _, message = output(capsys, "diff", source, out)
    assert code == 2 and "net.pt2 is an exported program; `ts diff` compares archives" in message
    for more, message in (
        (("--input", "z=3"), "the parameters of forward are x, n, names"),
        (("--vary", "n:0"), "--vary: expected NAME:DIM of a tensor passed by --input"),
        (("--freeze",), "output to .pt2 requires an archive, without --freeze"),
    ):
        code, _, message = output(capsys, *words, *more)
        assert code == 2 and message in message
    ts.jit.save(ts.jit.script(Counts()), source)
    code, _, message = output(capsys, "convert", source, out, "--input", "x=float32[2]")
    assert code == 1 and "it sets the attribute calls, which is not a buffer" in message
    assert output(capsys, "convert", source, tmp_path / "x.pt", "--input", "x=float32[2]")[0] == 2


def test_pytorch_loads_programs_of_archives(archive, tmp_path, capsys):
    torch = pytest.importorskip("torch")
    source, out = tmp_path / "net.pt", tmp_path / "net.pt2"
    source.write_bytes(archive)
    assert output(capsys, "convert", source, out, "--input", "x=float32[6,3]")[0] == 0
    x = ts.randn(6, 3)
    found, expected = torch.export.load(out).module()(torch.from_numpy(x.numpy())), loaded(archive)(x)
    assert ts.allclose(ts.tensor(found[0].detach().numpy()), expected[0], rtol=1e-5)
    program, model = export(loaded(archive), (x,)), loaded(archive)
    assert {n: type(p) for n, p in program.named_parameters()} == dict.fromkeys(
        dict(model.named_parameters()), nn.Parameter
    )


def test_names_that_are_python_keywords():
    """The overload `aten::random_.from`, whose name is a Python keyword, is printed with `getattr`."""

    class Draws(nn.Module):
        def forward(self, x):
            return ts.zeros_like(x).random_(0, 10)

    program = export(Draws(), (ts.ones(3),))
    assert 'getattr(torch.ops.aten.random_, "from")' in program.graph_module.code
    assert program.module()(ts.ones(3)).shape == (3,)


class Masked(nn.Module):
    """Transformer with a padding mask, whose archive code tests `mask is not None`."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x, lengths):
        padding = ts.arange(x.size(1))[None] >= lengths[:, None]
        return self.encoder(x, src_key_padding_mask=padding)


class Identity(nn.Module):
    """Module that compares tensors by identity and with None."""

    def forward(self, x, y: ts.Tensor | None):
        z = x
        if y is None:
            return x
        return x + 1 if z is x and y is not x else x + 2


def test_tensors_are_compared_by_identity():
    """Comparisons by identity select a branch at export."""
    model = nn.Module.eval(Masked())
    x, lengths = ts.randn(2, 3, 8), ts.tensor([3, 2])
    program = export(ts.jit.script(model), (x, lengths)).module()
    assert ts.allclose(program(x, lengths), model(x, lengths), atol=1e-6)
    for y in (ts.ones(2), None):
        scripted = ts.jit.script(Identity())
        assert ts.equal(export(scripted, (ts.ones(2), y)).module()(ts.ones(2), y), scripted(ts.ones(2), y))
