"""Results have PyTorch's strides, for all records and all memory layouts of the arguments."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from tests import samples  # noqa: E402
from ts.ops import registry  # noqa: E402

FOURIER = "PyTorch's depend on the library of the transforms; here they are as scipy.fft leaves them"
ITSELF = "PyTorch gives an expanded argument itself back; here a copy"
WORK = "PyTorch gives a part of the larger array that it works in"
# Records, without `aten::`, whose results have other strides, with reasons.
DIFFERENT = {
    "_sparse_mm": "of dense operands: PyTorch's result is column by column",
    **dict.fromkeys(
        ["fft_fft", "fft_ifft", "fft_rfft", "fft_irfft", "fft_hfft", "fft_ihfft", "fft_fft2", "fft_ifft2"]
        + [
            "fft_rfft2",
            "fft_irfft2",
            "fft_hfft2",
            "fft_ihfft2",
            "fft_rfftn",
            "fft_irfftn",
            "fft_hfftn",
            "fft_ihfftn",
        ],
        FOURIER,
    ),
    **dict.fromkeys(
        ["conj_physical", "dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"], ITSELF
    ),
    **dict.fromkeys(["_fft_c2c", "_fft_r2c", "_fft_c2r"], FOURIER),
    **dict.fromkeys(["_neg_view", "_conj"], "a copy here, a view with a mark there"),
    "_new_zeros_with_same_feature_meta": "of an expanded tensor PyTorch's zeros are expanded too",
    "_weight_norm_interface": "PyTorch gives the strides of an expanded vector to its norms",
    "linalg_lstsq": WORK,
    "roll": "PyTorch keeps the order of channels along one dimension, not along several; here always",
    "stack": "of channels_last tensors PyTorch gives an order of five dimensions that is no memory format",
    "conv_transpose1d": "channels innermost in one argument only: PyTorch's library decides",
    "where": "the indices that PyTorch gives are views of one array",
    "nonzero_numpy": "the indices that PyTorch gives are views of one array",
}
LAYOUTS = ("contiguous", "mixed", "transposed", "swapped", "channels_last", "expanded")


def with_strides(x, layout, first):
    """Return the tensor with other strides, or None for an impossible layout."""
    if layout == "transposed" and x.ndim:
        return x.transpose(0, -1).contiguous().transpose(0, -1)
    if (layout == "swapped" or (layout == "mixed" and first)) and x.ndim > 1:
        return x.transpose(-2, -1).contiguous().transpose(-2, -1)
    if layout == "channels_last":
        formats = {4: ts.channels_last, 5: ts.channels_last_3d}
        return x.contiguous(memory_format=formats[x.ndim]) if x.ndim in formats else x
    return x[:1].expand(x.shape) if layout == "expanded" and x.ndim else x


def with_layout(args, layout):
    first = True
    views = []
    for x in args:
        if isinstance(x, list):
            views.append(with_layout(x, layout))
        elif isinstance(x, ts.Tensor):
            views.append(with_strides(x, layout, first))
            first = False
        else:
            views.append(x)
    return views


def to_pytorch(x):
    """Convert a value to PyTorch with equal strides."""
    if isinstance(x, list):
        return [to_pytorch(y) for y in x]
    if isinstance(x, ts.Tensor):
        dense = torch.from_numpy(np.array(x.detach().contiguous().numpy()))
        if 0 in x.stride() and x.numel():
            return dense[:1].expand(dense.shape)
        return torch.empty_strided(tuple(x.shape), x.stride(), dtype=dense.dtype).copy_(dense)
    if isinstance(x, ts.device):
        return torch.device(str(x))
    return torch.Generator() if isinstance(x, ts.Generator) else x


def tensors(x, library):
    """Return the tensors of results as a flat list."""
    if isinstance(x, (list, tuple)):
        return [z for y in x for z in tensors(y, library)]
    return [x] if isinstance(x, library.Tensor) else []


def steps(x):
    return tuple(step for step, n in zip(x.stride(), x.shape, strict=True) if n != 1)


def records():
    found = {}
    for record in registry.records():
        overloads = getattr(torch.ops.aten, record.name.removeprefix("aten::"), None)
        theirs = getattr(overloads, record.overload or "default", None)
        name = record.name.removeprefix("aten::")
        backwards = "_backward" in name  # gradients have the strides of their tensors
        if not record.variant and theirs and name not in DIFFERENT and "empty" not in name and not backwards:
            found.setdefault(record.family, []).append((record, theirs))
    return found


RECORDS = records()


@pytest.fixture(autouse=True)
def always_warn():
    """Enable PyTorch's once-per-process warnings in every test."""
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


def compared(record, theirs):
    """Return the number of compared results and the differences, over all samples and layouts."""
    count, wrong = 0, []
    for layout in LAYOUTS:
        for args in samples.candidates(record, ts.float32, "cpu"):
            given = with_layout(args, layout)
            values = list(zip(map(to_pytorch, given), theirs._schema.arguments, strict=True))
            try:
                want = theirs(
                    *[v for v, a in values if not a.kwarg_only],
                    **{a.name: v for v, a in values if a.kwarg_only and v is not None},
                )
                got = samples.operator(record)(*given)
            except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
                continue
            for w, g in zip(tensors(want, torch), tensors(got, ts), strict=False):
                is_strided = g.layout is ts.strided and w.layout is torch.strided
                if is_strided and w.numel() and tuple(w.shape) == tuple(g.shape):
                    count += 1
                    if steps(w) != steps(g):
                        shapes = [(tuple(x.shape), x.stride()) for x in tensors(given, ts)]
                        wrong.append(f"{record.key} {layout} {shapes}: {w.stride()}, not {g.stride()}")
    return count, wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", sorted(RECORDS))
def test_strides_are_pytorchs(family):
    """All records of the family have PyTorch's strides, for sample arguments in all layouts."""
    count, wrong = 0, []
    for record, theirs in RECORDS[family]:
        n, bad = compared(record, theirs)
        count += n
        wrong += bad
    assert not wrong, "\n".join(wrong[:20])
    # PyTorch rejects these samples, which lack return_complex or a quantized dtype; handles have no samples.
    assert count or family in ("stft", "quantized", "quantized_rnn", "autograd_ops", "rpc_ops")


FLAT = [
    "t.multinomial(t.rand(2, 50), 3)",
    "t.sort(t.rand(4, 3), dim=0).values",
    "t.softmax(t.rand(3, 4).t(), 0)",
    "t.nn.functional.layer_norm(t.rand(4, 3, 2).transpose(0, 1), (2,))",
    "t.rand(3, 4).t().cumsum(0)",
    "t.nn.functional.one_hot(t.tensor([[0, 1], [2, 0]]).t())",
    "t.stack([t.rand(3), t.rand(3)], -1)",
    "t.nn.utils.rnn.pad_sequence([t.rand(3, 2), t.rand(2, 2)], padding_side='left')",
    "t.cumulative_trapezoid(t.rand(3, 4).t())",
    "t.searchsorted(t.arange(4.0), t.rand(3, 4).t())",
]


@pytest.mark.parametrize("line", FLAT)
def test_contiguous_results_can_be_flattened(line):
    want, got = (eval(line, {"t": library}) for library in (torch, ts))
    assert tuple(got.stride()) == tuple(want.stride())
    assert got.view(-1).shape == (want.numel(),)


IMAGES = [
    "F.conv2d(x, w)", "F.conv2d(x, w.contiguous(memory_format=t.channels_last))", "F.conv_transpose2d(x, v)",
    "F.max_pool2d(x, 2)", "F.avg_pool2d(x, 2)", "F.adaptive_avg_pool2d(x, 2)", "F.adaptive_avg_pool2d(x, 1)", "F.hardswish(x)", "F.hardsigmoid(x)",
    "F.adaptive_max_pool2d(x, 2)",
    "F.interpolate(x, scale_factor=2)", "F.interpolate(x, scale_factor=2, mode='bilinear')",
    "F.interpolate(x, scale_factor=2, mode='bicubic')", "F.group_norm(x, 2)", "F.batch_norm(x, None, None, training=True)",
    "F.instance_norm(x)", "F.pad(x, (1, 1))", "F.pad(x, (1, 1, 1, 1), mode='reflect')",
    "F.pad(x, (1, 1, 1, 1), mode='replicate')", "F.pixel_shuffle(x, 2)", "F.pixel_unshuffle(x, 2)", "F.relu(x)", "F.dropout(x)", "x + x", "t.cat([x, x])",
    "F.lp_pool2d(x, 2, 2)", "F.channel_shuffle(x, 2)", "F.softmax(x, 1)", "F.gelu(x)", "x.flip(2)", "x.roll(1, 2)",
    "F.local_response_norm(x, 2)", "F.grid_sample(x, t.zeros(2, 3, 3, 2))", "x.clamp(0, 1)", "F.prelu(x, t.ones(4))",
    "F.embedding(t.arange(4).view(2, 2).t(), t.rand(4, 3))", "F.normalize(x)", "F.glu(x)", "F.hardtanh(x)", "x.half()",
    "t.convolution(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)",
    "t._convolution(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, False, False, True, True)",
    "F.conv2d(x[:, :, ::2], w)", "F.conv2d(x, v[:, :1], groups=4)",
    "F.batch_norm(x, t.zeros(4), t.ones(4))", "F.batch_norm(x[..., :1, :1], t.zeros(4), t.ones(4), training=True)",
    "t.where(x > 0, x, -x)", "x.mean((2, 3), keepdim=True)", "F.unfold(x, 2)", "t.zeros_like(x)", "x.bernoulli()",
]  # fmt: skip


VOLUMES = [
    "F.conv3d(x, w)",
    "F.conv_transpose3d(x, v)",
    "F.conv3d(x, w.contiguous(memory_format=t.channels_last_3d))",
]


@pytest.mark.parametrize("line", VOLUMES)
def test_channels_last_3d_is_preserved(line):
    """Convolutions, including transposed ones, preserve channels-last strides in three dimensions as PyTorch
    does."""
    found = []
    for t in (torch, ts):
        x = t.rand(2, 4, 5, 6, 7).contiguous(memory_format=t.channels_last_3d)
        names = {"t": t, "F": t.nn.functional, "x": x, "w": t.rand(6, 4, 3, 3, 3), "v": t.rand(4, 6, 3, 3, 3)}
        found.append(steps(eval(line, names)))
    assert found[1] == found[0]


@pytest.mark.parametrize("line", IMAGES)
def test_channels_last_is_preserved(line):
    """Operators of convolutional networks preserve channels-last strides as PyTorch does."""
    found = []
    for t in (torch, ts):
        names = {
            "t": t,
            "F": t.nn.functional,
            "x": t.rand(2, 4, 8, 8).contiguous(memory_format=t.channels_last),
        }
        names |= {"w": t.rand(6, 4, 3, 3), "v": t.rand(4, 6, 3, 3)}
        found.append(steps(eval(line, names)))
    assert found[1] == found[0]


def test_angles_and_quantiles():
    """`angle` of complex tensors is contiguous and of real tensors keeps strides; several quantiles are the
    innermost dimension."""

    def results(t):
        numbers = t.ones(3, 4, dtype=t.complex64).t()
        x, q = t.ones(2, 3, 4), t.tensor([0.1, 0.2])
        yield from (t.angle(numbers), t.angle(numbers.real), t.abs(numbers))
        for function in (t.quantile, t.nanquantile):
            yield from (function(x, q, dim=d, keepdim=k) for d in range(3) for k in (False, True))
            yield from (function(x.transpose(0, 2), 0.5, dim=1), function(x, q[0], dim=1))

    assert [steps(x) for x in results(ts)] == [steps(x) for x in results(torch)]


def test_attention_has_the_strides_of_the_query():
    """Attention results have the strides of the query, so that `.transpose(1, 2).view(...)` works; other
    shapes and strides give contiguous results."""

    def results(t):
        attention = t.nn.functional.scaled_dot_product_attention
        x, y, mask = t.rand(2, 5, 3, 4).transpose(1, 2), t.rand(2, 3, 5, 4), t.ones(5, 5).bool()
        yield attention(x, x, x).transpose(1, 2).view(2, 5, 12)
        for q, k in itertools.product(
            (x, y, t.rand(2, 5, 36).view(2, 5, 9, 4).transpose(1, 2)[:, :3]), (x, y)
        ):
            yield from (attention(q, k, k), attention(q, k, k, mask), attention(q, k, k, is_causal=True))
            yield from (attention(q, k, k[..., :2]), attention(q, k[:1], k[:1]), attention(q[0], k[0], k[0]))
            yield attention(q.half(), k.half(), k.half())
        gaps = t.rand(2, 3, 4, 5).transpose(2, 3)
        yield from (attention(gaps, y, y), attention(x, gaps, y), attention(x, y, gaps))

    assert [steps(x) for x in results(ts)] == [steps(x) for x in results(torch)]
