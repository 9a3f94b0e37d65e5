"""Code and graphs of saved, scripted, traced and frozen modules, and of text programs, equal PyTorch's."""

import io
import re
import warnings

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
nn, F = torch.nn, torch.nn.functional


class Pools(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.second = nn.Conv2d(2, 2, 3, padding=1), nn.Conv2d(2, 2, 3)
        self.norm = nn.BatchNorm2d(2)

    def forward(self, x):
        x = F.max_pool2d(self.norm(self.conv(x)).relu(), 2)
        x = torch.roll(F.avg_pool2d(self.second(x), 2), 1, -1)
        return F.log_softmax(x.reshape(x.size(0), -1), -1)


class Numbers(nn.Module):
    def forward(self, x):
        y = x.sum(-2) * -2.5 + x.masked_fill(x > 0, -1e9).mean(-1, True) - 3
        return torch.where(y < -1.0, y.transpose(-1, 0), y * -0.0 + 0.0) + y[..., -1:] - 2.5


class Warns(nn.Module):
    def forward(self, x):
        if x.size(-1) > 100:
            warnings.warn("more than {} columns".format(100))
        return F.pad(x, [1, -1], "constant", -2.0), F.conv1d(x, torch.ones(1, 4, 2))


class Upsampled(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(2, 4, 1, stride=1, dilation=1), nn.InstanceNorm2d(1)

    def forward(self, x):
        x = F.pixel_shuffle(self.first(x), 2)
        return self.norm(F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)

    def forward(self, x):
        return self.layer(x)


MODULES = {
    Pools: (1, 2, 16, 16), Numbers: (4, 4), Warns: (1, 4, 5), Upsampled: (1, 2, 4, 4), Encoder: (1, 3, 4),
}  # fmt: skip
FORMS = {
    "script": lambda m, x: torch.jit.script(m),
    "trace": lambda m, x: torch.jit.trace(m, x, check_trace=False),
    "freeze": lambda m, x: torch.jit.freeze(torch.jit.script(m.eval())),
}


def normalized_graph(graph):
    """Return a graph with values numbered by position, without source locations and warning numbers."""
    numbers = {}
    text = re.sub(r"warn_id=\d+", "warn_id=", re.sub(r" +# .*", "", str(graph)))
    return re.sub(r"%[\w.]+", lambda found: f"%{numbers.setdefault(found[0], len(numbers))}", text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.__name__)
def test_loaded_modules(module, form):
    """Archives written by PyTorch have equal code and graphs after loading in both libraries."""
    buffer = io.BytesIO()
    torch.jit.save(FORMS[form](module().eval(), torch.rand(MODULES[module])), buffer)
    ours, theirs = (t.jit.load(io.BytesIO(buffer.getvalue())) for t in (ts, torch))
    assert ours.code == theirs.code
    assert normalized_graph(ours.graph) == normalized_graph(theirs.graph)
    if form != "script" or module not in (Upsampled, Encoder):  # these have `not` of comparisons, and unused values
        assert normalized_graph(ours.inlined_graph) == normalized_graph(theirs.inlined_graph)


CALLS = """
def glu(x, dim=-1):
    # type: (Tensor, int) -> Tensor
    if x.dim() == 0:
        raise RuntimeError("no scalars")
    return torch.cat([x, x], dim)

def either(x, first, scale=None):
    # type: (Tensor, bool, Optional[float]) -> Tensor
    if scale is not None:
        x = x * scale
    return glu(x) if first else glu(x, 0)

def f(x):
    # type: (Tensor) -> Tensor
    return either(x, True) + either(x, False, 2.5) + glu(x, 1)
"""


def test_inlined_calls():
    """Inlined graphs contain the bodies of callees with inlined calls and decided constants."""
    ours, theirs = (t.jit.CompilationUnit(CALLS) for t in (ts, torch))
    assert normalized_graph(ours.f.inlined_graph) == normalized_graph(theirs.f.inlined_graph)
    assert normalized_graph(ours.either.inlined_graph) == normalized_graph(theirs.either.inlined_graph)


TEXTS = {
    "negative numbers": "return x.relu().reshape(x.size(0), -1) + x.sum(-2) * -2.5 - -1",
    "negated": "n = x.size(0)\n    return x * -n + -x + -(x + 1) + -0.0",
    "convolutions": "y = torch.conv2d(x, x)\n    return torch.conv2d(y, x, None, [1, 1], [0, 0]) + torch.conv2d(y, x, None, 1, 1)",
    "pools": "y = torch.max_pool2d(x, [2, 2], [], [0, 0], [1, 1])\n    return torch.max_pool2d(y, [2, 2], [2, 2], 0, 1, False)",
    "lists": "y = [1, 1]\n    z = [1, 1]\n    y.append(2)\n    return torch.max_pool2d(x, z) + torch.sum(x, [0], False) + len(y)",
    "rolls": "return torch.roll(x, [1], []) + torch.roll(x, [1], [0]) + torch.flatten(torch.squeeze(x), 0, -1)",
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_programs_that_are_text(text):
    """Functions compiled from text have PyTorch's code and graph."""
    program = f"\ndef f(x):\n    # type: (Tensor) -> Tensor\n    {text}\n"
    ours, theirs = (t.jit.CompilationUnit(program).f for t in (ts, torch))
    assert ours.code == theirs.code
    assert str(ours.graph) == str(theirs.graph)
