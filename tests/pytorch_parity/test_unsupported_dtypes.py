"""Operators accept PyTorch's dtypes and reject other dtypes with its error class."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import ts  # noqa: E402
from tests import samples  # noqa: E402
from ts.ops import registry  # noqa: E402

DTYPES = "bool uint8 int64 float16 bfloat16 float32 complex64".split()

# PyTorch rejects the samples, or raises another one of several errors.
OTHERS = {
    *"randint_like nll_loss2d binary_cross_entropy_with_logits histogramdd histogram orgqr ormqr".split(),
    *"linalg_householder_product _nested_tensor_from_mask_left_aligned _native_multi_head_attention".split(),
    *"upsample_nearest2d upsample_nearest3d _upsample_nearest_exact2d _upsample_nearest_exact3d".split(),
    *"upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d _upsample_bilinear2d_aa".split(),
    *"_upsample_bicubic2d_aa _upsample_lanczos2d_aa FloatImplicit Int Float IntImplicit".split(),
    *"lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell".split(),
    *"scaled_dot_product_attention scatter_reduce einsum vander linalg_matrix_rank".split(),
    *"to_padded_tensor norm linalg_pinv softmax log_softmax linalg_matrix_norm".split(),
    "mkldnn_rnn_layer",  # 16-bit floats depend on the processor in PyTorch
    *"conv_transpose1d conv_transpose2d conv_transpose3d".split(),  # int64 only in PyTorch
    *"_lazy_clone _fw_primal_copy convolution_overrideable _grouped_mm _histogramdd_from_bin_tensors".split(),
    *"_fft_c2r glu_jvp _neg_view _trilinear".split(),
    *"view_as_complex view_as_complex_copy".split(),  # there is no 32-bit complex dtype
    "_rows_as_sparse",  # an operator of `ts` for sparse gradients of embeddings
}


def theirs(x):
    """Convert an argument to PyTorch."""
    if isinstance(x, ts.Tensor):
        wide = x.to(ts.float32) if x.dtype == ts.bfloat16 else x
        return torch.from_numpy(np.array(wide.numpy())).to(getattr(torch, x.dtype.name))
    if isinstance(x, (list, tuple)):
        return type(x)(map(theirs, x))
    return torch.device(str(x)) if isinstance(x, ts.device) else x


def error_of(function, *args, **kwargs):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*args, **kwargs)
    except Exception as error:
        return error
    return None


def has(args, dtype):
    return any(
        isinstance(x, ts.Tensor) and x.dtype == dtype
        for y in args
        for x in (y if isinstance(y, list) else [y])
    )


def differences(record, dtype):
    """Return both errors if only one library rejects a call or the classes differ, else None."""
    args = samples.arguments(record, dtype)
    if not has(args, dtype) or any(isinstance(x, ts.Generator) for x in args):
        return None
    name = record.name.removeprefix("aten::")
    overload = getattr(getattr(torch.ops.aten, name), record.overload or "default")
    named = {a.name: theirs(x) for a, x in zip(overload._schema.arguments, args, strict=True) if a.kwarg_only}
    want = error_of(overload, *map(theirs, args[: len(args) - len(named)]), **named)
    if "Could not run" in str(want):  # PyTorch supports it on other devices only
        return None
    got = error_of(samples.operator(record), *args)
    return None if type(want) is type(got) else (want, got)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    registry.load()
    found = {}
    for record in registry.records():
        plain = (
            record.base is None
            and not record.variant
            and not record.tensor_kernel
            and record.name.startswith("aten::")
            and "_backward" not in record.name  # other dtypes are rejected by the forward operator
        )
        if plain and record.name.removeprefix("aten::") not in OTHERS and samples.profile(record)[0] >= 0:
            differs = differences(record, getattr(ts, dtype))
            if differs:
                found[record.key] = differs
    assert not found, "\n".join(f"{key}: {want!r} became {got!r}" for key, (want, got) in found.items())


def outcome(lib, run):
    """Return the elements, or the error's class and first line."""
    try:
        return [str(v) for v in run(lib).tolist()]
    except (RuntimeError, ValueError, OverflowError, TypeError) as error:
        return type(error).__name__, str(error).splitlines()[0]


LARGE = [
    1e300,
    -1e300,
    1e39,
    70000,
    70000.5,
    float("inf"),
    float("nan"),
    1 << 63,
    -(1 << 63) - 1,
    1 << 70,
    300,
    -3,
]
LARGE += [complex(1e300, 0), complex(70000, 1)]


@pytest.mark.parametrize(
    "dtype", "bool uint8 int8 int32 int64 float16 bfloat16 float32 float64 complex64".split()
)
def test_numbers_out_of_the_range_of_a_dtype(dtype):
    """Values out of a dtype's range raise PyTorch's errors in element and mask assignment and in
    `linspace`."""

    def element(lib, number):
        x = lib.zeros(2, dtype=getattr(lib, dtype))
        x[0] = number
        return x

    def masked(lib, number):
        x = lib.zeros(2, dtype=getattr(lib, dtype))
        x[lib.tensor([True, False])] = number
        return x

    for number in LARGE:
        for assign in (element, masked):
            results = [outcome(lib, lambda lib: assign(lib, number)) for lib in (ts, torch)]
            assert results[0] == results[1], (assign.__name__, number)
    if dtype in ("bool", "complex64"):
        return
    for start, end, steps in [
        (1e30, 2, 5),
        (0, 1e30, 3),
        (0, 1e30, 1),
        (0, 1e30, 0),
        (0, 300, 4),
        (float("nan"), 2, 3),
    ]:
        results = [
            outcome(lib, lambda lib: lib.linspace(start, end, steps, dtype=getattr(lib, dtype)))
            for lib in (ts, torch)
        ]
        if any(isinstance(r, tuple) for r in results):
            assert results[0] == results[1], (start, end, steps)
