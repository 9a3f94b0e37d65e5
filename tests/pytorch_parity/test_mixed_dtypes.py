"""Operators of tensors with different dtypes, and without elements or dimensions, compared with PyTorch."""

import random

import pytest

import ts
from tests import samples
from ts.ops import registry

torch = pytest.importorskip("torch")

CALLS = 12
DTYPES = (ts.float32, ts.float64, ts.int64, ts.int32, ts.bool, ts.complex64, ts.float16, ts.uint8, ts.bfloat16)
# PyTorch checks the dtype of an input that is not used, returns values of another dtype, or has no CPU kernel
EXCUSED = {
    "rrelu_with_noise_backward", "native_batch_norm_backward", "batch_norm_backward", "native_group_norm_backward",
    "convolution_backward", "_softmax_backward_data", "_log_softmax_backward_data", "_masked_softmax_backward",
    "soft_margin_loss_backward", "multilabel_margin_loss_backward", "_ctc_loss_backward", "glu_backward",
    "_grid_sampler_2d_cpu_fallback_backward", "nll_loss2d_backward", "gelu_backward", "avg_pool3d_backward",
}  # fmt: skip


def mixed(record):
    return record.checked_dtype and not record.variant and record.name.partition("::")[2] not in EXCUSED


registry.load()
RECORDS = [record for record in registry.records() if mixed(record)]


def to_torch(x):
    return torch.from_dlpack(x.byte()).bool() if x.dtype is ts.bool else torch.from_dlpack(x)


def outcome(operator, arguments):
    try:
        results = operator(*arguments)
    except (RuntimeError, IndexError) as error:
        return type(error).__name__, str(error)
    return [str(x.dtype) for x in (results if isinstance(results, list | tuple) else [results])]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.key)
def test_one_tensor_of_another_dtype(record):
    """Result dtypes, error classes and error texts are those of PyTorch."""
    choose = random.Random(record.key)
    name, overload = record.name.partition("::")[2], record.overload or "default"
    operator, reference = (getattr(getattr(m.ops.aten, name), overload) for m in (ts, torch))
    for _ in range(CALLS):
        arguments = samples.arguments(record, ts.float32)
        i = choose.choice([i for i, x in enumerate(arguments) if isinstance(x, ts.Tensor)])
        arguments[i] = arguments[i].to(choose.choice(DTYPES))
        expected = outcome(reference, [to_torch(x) if isinstance(x, ts.Tensor) else x for x in arguments])
        assert outcome(operator, arguments) == expected, [getattr(x, "dtype", x) for x in arguments]


CONVOLUTIONS = [
    ("conv1d", (1, 2, 4), (0, 2, 2)), ("conv2d", (1, 2, 4, 4), (0, 2, 2, 2)), ("conv3d", (1, 2, 4, 4, 4), (0, 2, 2, 2, 2)),
    ("conv2d", (2, 4, 4), (0, 2, 2, 2)), ("conv2d", (1, 3, 4, 4), (0, 2, 2, 2)), ("conv2d", (1, 2, 4, 4), (1, 1, 2, 2)),
    ("conv1d", (1, 2, 4), (3, 2, 0)), ("conv2d", (1, 2, 4, 4), (3, 2, 2, 0)), ("conv3d", (1, 2, 4, 4, 4), (3, 2, 2, 0, 2)),
    ("conv_transpose1d", (1, 2, 4), (2, 0, 2)), ("conv_transpose2d", (1, 2, 4, 4), (2, 0, 2, 2)),
    ("conv_transpose3d", (1, 2, 4, 4, 4), (2, 0, 2, 2, 2)), ("conv_transpose1d", (1, 2, 0), (2, 3, 2)),
    ("conv_transpose2d", (1, 2, 0, 4), (2, 3, 2, 2)), ("conv_transpose2d", (1, 2, 4, 4), (2, 3, 0, 2)),
    ("conv_transpose2d", (1, 0, 4, 4), (0, 3, 2, 2)), ("conv2d", (0, 2, 4, 4), (3, 2, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shape", "weight"), CONVOLUTIONS)
@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_without_channels_or_elements(name, shape, weight, groups):
    found = []
    for m in (ts, torch):
        function = getattr(m.nn.functional, name)
        given = (m.ones(shape, dtype=m.float64), m.ones(weight, dtype=m.float64))
        found.append(outcome(lambda *x, function=function: function(*x, groups=groups), given))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"])
@pytest.mark.parametrize("given", [{"dim": ()}, {"s": []}, {}])
def test_fourier_transforms_of_no_dimension(name, given):
    shape = (2, 3) if given else ()
    calls = [lambda x, m=m: getattr(m.fft, name)(x, **given) for m in (ts, torch)]
    assert outcome(calls[0], [ts.ones(shape)]) == outcome(calls[1], [torch.ones(shape)])
