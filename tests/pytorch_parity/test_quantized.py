"""Quantized models: PyTorch's archives run dequantized, and are saved again for PyTorch.

Quantized results differ from PyTorch's by at most a quantization step.  For layers that quantize their input
at run time ("dynamic"), results differ from PyTorch's by the rounding to 7 or 8 bits.
"""

import io
import zipfile

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.ao import quantization  # noqa: E402
from torch.ao.nn import quantized as nnq  # noqa: E402

import ts  # noqa: E402
from ts.ops import quantizer  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
STATIC = [e for e in ("fbgemm", "qnnpack", "onednn") if e in torch.backends.quantized.supported_engines]


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()
        self.second, self.sum = nn.Conv2d(8, 8, 3, padding=1, groups=2), nnq.FloatFunctional()
        self.pool, self.linear = nn.AdaptiveAvgPool2d(1), nn.Linear(8, 5)

    def forward(self, x):
        x = self.relu(self.bn(self.conv(self.quant(x))))
        x = self.sum.add(x, self.second(x))
        return self.dequant(self.linear(self.pool(x).flatten(1)))


class Sequences(nn.Module):
    """Model with one layer of each kind that changes the quantization parameters."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.conv, self.norm, self.up = nn.Conv1d(4, 6, 3), nn.LayerNorm(6), nn.ConvTranspose1d(6, 4, 3)
        self.leaky, self.hard, self.elu = nn.LeakyReLU(0.1), nn.Hardswish(), nn.ELU()
        self.mul, self.cat, self.add = nnq.FloatFunctional(), nnq.FloatFunctional(), nnq.FloatFunctional()
        self.pool, self.sigmoid = nn.MaxPool1d(2), nn.Sigmoid()

    def forward(self, x):
        y = self.elu(self.hard(self.leaky(self.norm(self.conv(self.quant(x)).relu()))))
        y = self.cat.cat([self.mul.mul(y, y), y], 2)
        y = self.add.add_scalar(self.mul.mul_scalar(self.add.add_relu(y, y), 0.5), 1.0)
        return self.dequant(self.sigmoid(self.up(self.pool(y))))


class Recurrent(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


def static(model, engine, *shape):
    torch.manual_seed(0)
    torch.backends.quantized.engine = engine
    model = model().eval()
    model.qconfig = quantization.get_default_qconfig(engine)
    if isinstance(model, Convolutions):
        model = quantization.fuse_modules(model, [["conv", "bn", "relu"]])
    else:
        model.up.qconfig = quantization.QConfig(
            quantization.default_observer, quantization.default_weight_observer
        )
    prepared = quantization.prepare(model)
    x = torch.randn(*shape)
    prepared(x)
    return quantization.convert(prepared), x


def dynamic(model, layer, engine, *shape, dtype=torch.qint8):
    torch.manual_seed(0)
    torch.backends.quantized.engine = engine
    return quantization.quantize_dynamic(model.eval(), {layer}, dtype=dtype), torch.randn(*shape)


def table(dtype, qconfig):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(10, 12))
    model[0].qconfig = qconfig
    return quantization.convert(quantization.prepare(model)), torch.tensor([[1, 2], [3, 9]])


MLP = lambda: nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3))
MODELS = {
    **{f"convolutions-{e}": (lambda e=e: static(Convolutions, e, 2, 3, 8, 8), 0.02) for e in STATIC},
    "sequences": (lambda: static(Sequences, "fbgemm", 2, 4, 8), 0.01),
    **{f"linear-{e}": (lambda e=e: dynamic(MLP(), nn.Linear, e, 4, 6), 0.02) for e in STATIC},
    "linear-16": (lambda: dynamic(MLP(), nn.Linear, "fbgemm", 4, 6, dtype=torch.float16), 1e-5),
    "lstm": (
        lambda: dynamic(Recurrent(nn.LSTM(6, 8, 2, bidirectional=True)), nn.LSTM, "fbgemm", 5, 2, 6),
        0.02,
    ),
    "lstm-16": (
        lambda: dynamic(Recurrent(nn.LSTM(6, 8)), nn.LSTM, "fbgemm", 5, 2, 6, dtype=torch.float16),
        1e-5,
    ),
    "gru": (lambda: dynamic(Recurrent(nn.GRU(6, 8, batch_first=True)), nn.GRU, "fbgemm", 5, 2, 6), 0.02),
    **{
        f"cell-{name}": (lambda cell=cell: dynamic(nn.Sequential(cell(6, 8)), cell, "fbgemm", 2, 6), 0.02)
        for name, cell in (("gru", nn.GRUCell), ("rnn", nn.RNNCell))
    },
    "table": (lambda: table(torch.quint8, quantization.float_qparams_weight_only_qconfig), 1e-5),
}


@pytest.fixture(autouse=True)
def engine_is_put_back():
    before = torch.backends.quantized.engine
    yield
    torch.backends.quantized.engine = before


def archive(module, t=torch):
    buffer = io.BytesIO()
    t.jit.save(module, buffer)
    return buffer.getvalue()


def load(data, t=ts):
    return t.jit.load(io.BytesIO(data))


def ours(x):
    return ts.from_numpy(x.numpy())


def leaves(x):
    return [x] if hasattr(x, "numpy") else list(x)


def distance(a, b):
    return max(
        float((torch.from_numpy(p.detach().numpy()) - q.detach()).abs().max())
        for p, q in zip(leaves(a), leaves(b), strict=True)
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("how", ["script", "trace", "freeze"])
def test_loaded_models_equal_pytorch(name, how):
    """Scripted, traced and frozen models have PyTorch's results and code."""
    make, decimals = MODELS[name]
    model, x = make()
    expected = model(x)
    compiled = torch.jit.trace(model, x) if how == "trace" else torch.jit.script(model)
    data = archive(torch.jit.freeze(compiled.eval()) if how == "freeze" else compiled)
    loaded = load(data)
    assert ts.jit.missing(io.BytesIO(data)) == []
    assert loaded.code == load(data, torch).code
    assert distance(loaded(ours(x)), expected) < decimals


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("frozen", [False, True])
def test_rewritten_archives_load_in_pytorch(name, frozen):
    """A quantized archive rewritten by `ts` has the original results in PyTorch, bit for bit."""
    model, x = MODELS[name][0]()
    data = archive(torch.jit.script(model))
    loaded = load(data).eval()
    back = load(archive(ts.jit.freeze(loaded) if frozen else loaded, ts), torch)
    for a, b in zip(leaves(back(x)), leaves(load(data, torch)(x)), strict=True):
        assert torch.equal(a, b)


def test_frozen_graph_is_pytorchs():
    """In a frozen graph, the parameters of layers are constants, and the operators are unchanged."""
    model, _ = MODELS["convolutions-fbgemm"][0]()
    data = archive(torch.jit.script(model.eval()))
    kinds = [[n.kind() for n in t.jit.freeze(load(data, t).eval()).graph.nodes()] for t in (ts, torch)]
    assert kinds[0] == kinds[1]


# Functions of tensors quantized as q and r (its first half); with the allowed difference in steps of
# 0.05.
SOURCES = """
q.dequantize()
torch.relu(q).dequantize()
torch.ops.quantized.add(q, r, 0.07, 100).dequantize()
torch.ops.quantized.add_relu(q, r, 0.07, 10).dequantize()
torch.ops.quantized.mul(q, r, 0.07, 100).dequantize()
torch.ops.quantized.mul_relu(q, r, 0.07, 100).dequantize()
torch.ops.quantized.add(q, 1.3).dequantize()
torch.ops.quantized.add(q, -40.).dequantize()
torch.ops.quantized.add(q, 40.).dequantize()
torch.ops.quantized.add_relu(q, -1.3).dequantize()
torch.ops.quantized.mul(q, 1.3).dequantize()
torch.ops.quantized.mul(q, -1.3).dequantize()
torch.ops.quantized.mul_relu(q, -1.3).dequantize()
torch.ops.quantized.cat([q, r], 1, 0.06, 90).dequantize()
torch.ops.quantized.cat([q, r], 1, None, None).dequantize()
torch.ops.quantized.cat_relu([q, r], 0, 0.06, 90).dequantize()
torch.ops.quantized.matmul(q, r, 0.2, 100).dequantize()
torch.ops.quantized.sigmoid(q, 1. / 256., 0).dequantize()
torch.ops.quantized.softmax(q, 1, 1. / 256., 0).dequantize()
torch.ops.quantized.hardswish(q, 0.04, 20).dequantize()
torch.ops.quantized.leaky_relu(q, 0.1, False, 0.04, 20).dequantize()
torch.ops.quantized.elu(q, 0.04, 30).dequantize()
torch.ops.quantized.celu(q, 0.04, 30).dequantize()
torch.ops.quantized.relu6(q).dequantize()
torch.ops.quantized.clamp(q, -1., 1.).dequantize()
torch.ops.quantized.threshold(q, 0.5, -1.).dequantize()
torch.ops.quantized.layer_norm(q, [6], None, None, 1e-5, 0.03, 128).dequantize()
torch.ops.quantized.group_norm(q.view(6, 2, 3), 2, None, None, 1e-5, 0.03, 128).dequantize()
torch.ops.quantized.batch_norm1d(q, w, w, w, w, 1e-5, 0.05, 128).dequantize()
torch.ops.quantized.max_pool1d(q, [2], [2], [0], [1], False).dequantize()
torch.ops.quantized.dropout(q, 0.05, 100).dequantize()
torch.quantize_per_channel(x, w, torch.zeros(6), 1, torch.qint8).dequantize()
torch.fake_quantize_per_tensor_affine(x, 0.3, 5, 0, 15)
torch.fake_quantize_per_channel_affine(x, w, torch.zeros(6), 1, -8, 7)
torch.int_repr(q)
torch.int_repr(torch.ops.quantized.add(q, 1.3))
torch.tensor([q.q_scale()])
torch.tensor([torch.ops.quantized.add(q, 40.).q_scale()])
torch.tensor([q.q_zero_point(), torch.ops.quantized.mul(q, -2.).q_zero_point()])
torch.tensor([int(q.is_quantized), int(q.dequantize().is_quantized)])
""".strip().splitlines()


@pytest.fixture(scope="module")
def functions():
    """Return a PyTorch module with a method for each source, and the module loaded by `ts`."""
    module = torch.jit.ScriptModule()
    for i, source in enumerate(SOURCES):
        module.define(f"""
def f{i}(self, x, w):
    q = torch.quantize_per_tensor(x, 0.05, 100, torch.quint8)
    r = torch.quantize_per_tensor(x.flip(0), 0.05, 100, torch.quint8)
    return {source}
""")
    return module, load(archive(module))


@pytest.mark.parametrize("source", SOURCES)
def test_operator(functions, source):
    """A quantized operator in a script equals PyTorch's."""
    torch.backends.quantized.engine = "fbgemm"
    torch.manual_seed(0)
    x, w = torch.randn(6, 6) * 2, torch.rand(6) + 0.1
    theirs, own = (getattr(module, f"f{SOURCES.index(source)}") for module in functions)
    expected, got = theirs(x, w), own(ours(x), ours(w))
    assert tuple(got.shape) == tuple(expected.shape)
    assert str(got.dtype).rpartition(".")[2] == str(expected.dtype).rpartition(".")[2]
    assert distance(got, expected) < (1.5 if expected.dtype == torch.uint8 else 0.0701)
    same = (torch.from_numpy(got.numpy()) - expected).abs() < 1e-5
    assert same.float().mean() > 0.9, "most of them are the same"


@pytest.mark.parametrize("bits", [8, 4])
def test_packed_tables(bits):
    """Embedding bags of packed rows equal PyTorch's, up to its 16-bit scales for 4-bit rows."""
    dtype, kind = {8: (torch.quint8, "byte"), 4: (torch.quint4x2, "4bit")}[bits]
    torch.manual_seed(0)
    weight = torch.randn(10, 12)
    low = weight.min(1).values
    scales = (weight.max(1).values - low) / (2**bits - 1)
    grid = torch.quantize_per_channel(weight, scales, -low / scales, 0, dtype)
    packed = torch.ops.quantized.embedding_bag_prepack(grid)

    i, o = torch.tensor([1, 2, 3, 9, 9]), torch.tensor([0, 2, 2])
    name = getattr(torch.ops.quantized, f"embedding_bag_{kind}")
    expected = name(packed, i, o)
    module = torch.jit.trace(Traced(packed, name), (i, o))
    assert distance(load(archive(module))(ours(i), ours(o)), expected) < {8: 1e-5, 4: 0.01}[bits]


class Traced(nn.Module):
    def __init__(self, packed, operator):
        super().__init__()
        self.packed, self.operator = packed, operator

    def forward(self, i, o):
        return self.operator(self.packed, i, o)


def test_state_of_convolutions_is_pytorchs():
    """Packed parameters written by `ts` equal PyTorch's records byte for byte."""
    model, _ = MODELS["convolutions-fbgemm"][0]()
    frozen = torch.jit.freeze(torch.jit.script(model.eval()))
    data = archive(frozen)
    back = archive(load(data), ts)
    records = [
        {n.partition("/")[2]: z.read(n) for n in z.namelist() if "constants/" in n}
        for z in (zipfile.ZipFile(io.BytesIO(d)) for d in (data, back))
    ]
    assert records[0] == records[1] and len(records[0]) > 10


def test_numbers_of_dtypes():
    """Scripts represent quantized dtypes by PyTorch's numbers."""
    for name in ("qint8", "quint8", "qint32", "quint4x2", "quint2x4"):
        unit = torch.jit.CompilationUnit(f"def number() -> int:\n  return torch.{name}\n")
        assert unit.number() == getattr(quantizer, name.upper())
