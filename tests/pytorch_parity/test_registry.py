"""Rarely used operators that archives contain: each overload is compared with PyTorch's.

`registry/calls.txt` lists overloads and their calls, with `x(2, 3, k=1)` for a tensor of the tested dtype,
`i(0, 1)` for integers, `m(2)` for a mask, `D` for the dtype and `t` for the library.  Compared are values,
dtypes, shapes, strides, shared memory, written arguments, and classes and texts of errors.
"""

import math
import warnings
from pathlib import Path

import pytest

import ts

torch = pytest.importorskip("torch")

from tests import generate_operator_index  # noqa: E402
from ts._core.builtin_ops import registry as prims  # noqa: E402
from ts.ops import registry  # noqa: E402

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64")
TOLERANCE = {"float16": 5e-3, "bfloat16": 4e-2, "float32": 2e-5, "complex64": 2e-5}
APPROXIMATIONS = {"_standard_gamma_grad": 1e-3, "_dirichlet_grad": 1e-3}  # PyTorch approximates them


def calls():
    """Yield (overload, its calls) from the file."""
    key, listed = "", []
    for line in (Path(__file__).parent / "registry/calls.txt").read_text().splitlines():
        if line.startswith(" "):
            listed.append(line.strip())
            continue
        if key:
            yield key, listed
        key, listed = line, []
    yield key, listed


CALLS = dict(calls())
# Intentional differences and PyTorch's bugs: overload, or overload and dtype.
EXCUSED = {
    ("_conj", "complex64"): "a copy here, a view with a mark there",
    ("mH.a", "complex64"): "a copy here, a view with a mark there",
    ("matrix_H", "complex64"): "a copy here, a view with a mark there",
    ("matrix_H.a", "complex64"): "a copy here, a view with a mark there",
    "_neg_view": "a copy here, a view with a mark there",
    (
        "_compute_linear_combination",
        "complex64",
    ): "PyTorch multiplies real and imaginary parts each by itself",
    ("_convolution", "uint8"): "transposed convolutions of bytes are computed here",
    ("_aminmax.dim", "complex64"): "another error class where there are no dimensions",
    ("_add_relu_.Scalar", "bool"): "another of two reasons to refuse it",
    "get_autocast_dtype": "the number of a dtype in PyTorch, the dtype here",
}
# Messages of PyTorch with source locations or requests for better texts.
UNCOMPARED_MESSAGES = ("INTERNAL ASSERT", "Could this error message be improved?", "unbacked symbols")


def tensors(value, t):
    if isinstance(value, t.Tensor):
        return [value]
    return [x for item in value for x in tensors(item, t)] if isinstance(value, (list, tuple)) else []


def namespace(t, name):
    """Return the names used in call expressions."""
    dtype = getattr(t, name)

    def x(*shape, k=0):
        n = math.prod(shape)
        values = t.tensor([((j * (7 + 2 * k) + 3 * k) % 11) / 4 + 0.25 for j in range(n)], dtype=t.float64)
        if dtype.is_complex:
            values = t.complex(values, values.flip(0) - 1) if n else values
        elif dtype == t.bool:
            values = values > 1
        elif not dtype.is_floating_point:
            values = (values * 4).floor()
        return values.reshape(list(shape)).to(dtype)

    def i(*values):
        return t.tensor(list(values), dtype=t.int64)

    def m(*shape):
        return t.tensor([j % 3 != 1 for j in range(math.prod(shape))]).reshape(list(shape))

    return {"x": x, "i": i, "m": m, "D": dtype, "t": t, "given": lambda *args, **kwargs: (args, kwargs)}


def described(value, given, t):
    """Return comparable facts of a result: values, meaningful strides, and arguments that share its
    memory."""
    if isinstance(value, (list, tuple)):
        return [described(item, given, t) for item in value]
    if not isinstance(value, t.Tensor):
        return str(value).rpartition(".")[2] if isinstance(value, t.dtype) else value
    steps = tuple(step if n > 1 else None for step, n in zip(value.stride(), value.shape, strict=True))
    shared = [k for k, x in enumerate(given) if x is value] or [
        -k - 1
        for k, x in enumerate(given)
        if x.numel()
        and value.numel()
        and x.untyped_storage().data_ptr() == value.untyped_storage().data_ptr()
    ]
    wide = (
        value.to(t.complex128 if value.dtype.is_complex else t.float64)
        if value.dtype.is_floating_point or value.dtype.is_complex
        else value
    )
    return (
        str(value.dtype).rpartition(".")[2],
        tuple(value.shape),
        value.numel() and steps,
        shared,
        wide.tolist(),
    )


def outcome(t, key, call, dtype):
    """Return the result and the arguments afterwards, or the error."""
    try:
        args, kwargs = eval(f"given({call})", namespace(t, dtype))
    except (RuntimeError, NotImplementedError):  # the dtype does not support the arguments
        return "no arguments", ""
    name, _, overload = key.partition(".")
    t.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = getattr(getattr(t.ops.aten, name), overload or "default")(*args, **kwargs)
        except Exception as error:
            return type(error).__name__.lstrip("_"), str(error).splitlines()[0]
    given = tensors(args, t)
    return "", described([result, *given], given, t)


def close(ours, theirs, tolerance):
    if isinstance(theirs, (list, tuple)):
        return (
            isinstance(ours, (list, tuple))
            and len(ours) == len(theirs)
            and all(map(close, ours, theirs, [tolerance] * len(ours)))
        )
    if isinstance(theirs, (float, complex)) and isinstance(ours, (float, complex)):
        return (
            ours == theirs
            or (ours != ours and theirs != theirs)
            or abs(ours - theirs) <= tolerance * (1 + abs(theirs))
        )
    return type(ours) is type(theirs) and ours == theirs


def same_error(ours, theirs):
    """Compare class and text of errors; for missing kernels only the dtype, as PyTorch's kernel name varies."""
    if ours[0] != theirs[0]:
        return False
    if any(text in theirs[1] for text in UNCOMPARED_MESSAGES):
        return True
    if "not implemented for" in theirs[1]:
        return ours[1].rpartition(" for ")[2] == theirs[1].rpartition(" for ")[2]
    return ours[1].rstrip() == theirs[1].rstrip()


@pytest.mark.parametrize("key", CALLS)
def test_overload(key):
    """All calls equal PyTorch's in all dtypes; calls that fail for float32 are tested in that dtype only."""
    for call in CALLS[key]:
        for dtype in DTYPES:
            if key in EXCUSED or (key, dtype) in EXCUSED:
                continue
            ours, theirs = outcome(ts, key, call, dtype), outcome(torch, key, call, dtype)
            tolerance = APPROXIMATIONS.get(key) or TOLERANCE.get(dtype, 1e-9)
            agree = same_error(ours, theirs) if theirs[0] else close(ours, theirs, tolerance)
            assert agree, f"{key}({call}) {dtype}\nPyTorch {theirs}\nts      {ours}"
            if theirs[0] and dtype == "float32":
                break


def test_every_exception_is_needed():
    """Every exception in `EXCUSED` differs in at least one call."""
    for excuse in EXCUSED:
        key, names = (excuse[0], excuse[1:]) if isinstance(excuse, tuple) else (excuse, DTYPES)
        assert any(differ(key, call, dtype) for call in CALLS[key] for dtype in names), excuse


def differ(key, call, dtype):
    try:
        ours, theirs = outcome(ts, key, call, dtype), outcome(torch, key, call, dtype)
    except (RuntimeError, NotImplementedError):  # invalid argument, or access to a view with a conjugate bit
        return True
    return not (same_error(ours, theirs) if theirs[0] else close(ours, theirs, TOLERANCE.get(dtype, 1e-9)))


# ---- operators that PyTorch supports on other devices only --------------------------------------------------------


def make_tensor(t, *shape, k=0):
    return namespace(t, "float32")["x"](*shape, k=k)


def combine_moments(t, x, means, stds, counts):
    """Return the mean and inverse standard deviation of a whole from those of its parts."""
    total = counts.sum()
    mean = (means * counts[:, None]).sum(0) / total
    squares = ((1 / stds**2 - 1e-5 + (means - mean) ** 2) * counts[:, None]).sum(0) / total
    return mean, 1 / (squares + 1e-5).sqrt()


def parts():
    return make_tensor(torch, 2, 3), make_tensor(torch, 2, 3, k=1)


# overload: a call of `ts`, and the equivalent call of other PyTorch operators
ELSEWHERE = {
    "mm.dtype": (
        lambda a: a.mm.dtype(make_tensor(ts, 2, 3).half(), make_tensor(ts, 3, 2).half(), ts.float32),
        lambda: make_tensor(torch, 2, 3) @ make_tensor(torch, 3, 2),
    ),
    "bmm.dtype": (
        lambda a: a.bmm.dtype(make_tensor(ts, 2, 2, 3).half(), make_tensor(ts, 2, 3, 2).half(), ts.float32),
        lambda: make_tensor(torch, 2, 2, 3) @ make_tensor(torch, 2, 3, 2),
    ),
    "addmm.dtype": (
        lambda a: a.addmm.dtype(make_tensor(ts, 2).half(), make_tensor(ts, 2, 3).half(), make_tensor(ts, 3, 2).half(), ts.float32, beta=2),
        lambda: torch.addmm(make_tensor(torch, 2), make_tensor(torch, 2, 3), make_tensor(torch, 3, 2), beta=2),
    ),
    "baddbmm.dtype": (
        lambda a: a.baddbmm.dtype(make_tensor(ts, 2, 2, 2), make_tensor(ts, 2, 2, 3), make_tensor(ts, 2, 3, 2), ts.float32, alpha=3),
        lambda: torch.baddbmm(make_tensor(torch, 2, 2, 2), make_tensor(torch, 2, 2, 3), make_tensor(torch, 2, 3, 2), alpha=3),
    ),
    "_conv_depthwise2d": (
        lambda a: a._conv_depthwise2d(make_tensor(ts, 1, 2, 5, 4), make_tensor(ts, 4, 1, 3, 2), [3, 2], make_tensor(ts, 4), [1, 2], [1, 0], [2, 1]),
        lambda: torch.conv2d(make_tensor(torch, 1, 2, 5, 4), make_tensor(torch, 4, 1, 3, 2), make_tensor(torch, 4), (1, 2), (1, 0), (2, 1), 2),
    ),
    "conv_depthwise3d": (
        lambda a: a.conv_depthwise3d(make_tensor(ts, 1, 2, 4, 4, 4), make_tensor(ts, 2, 1, 3, 3, 3), [3] * 3, None, [1] * 3, [0] * 3, [1] * 3),
        lambda: torch.conv3d(make_tensor(torch, 1, 2, 4, 4, 4), make_tensor(torch, 2, 1, 3, 3, 3), groups=2),
    ),
    "convolution_overrideable": (
        lambda a: a.convolution_overrideable(make_tensor(ts, 1, 2, 5), make_tensor(ts, 3, 2, 3), None, [1], [0], [1], False, [0], 1),
        lambda: torch.conv1d(make_tensor(torch, 1, 2, 5), make_tensor(torch, 3, 2, 3)),
    ),
    "batch_norm_stats": (
        lambda a: a.batch_norm_stats(make_tensor(ts, 2, 3, 4), 1e-5),
        lambda: torch.native_batch_norm(make_tensor(torch, 2, 3, 4), None, None, None, None, True, 0.1, 1e-5)[1:],
    ),
    "batch_norm_elemt": (
        lambda a: a.batch_norm_elemt(make_tensor(ts, 2, 3, 4), make_tensor(ts, 3), make_tensor(ts, 3, k=1), make_tensor(ts, 3), make_tensor(ts, 3, k=2), 1e-5),
        lambda: (make_tensor(torch, 2, 3, 4) - make_tensor(torch, 3, 1)) * make_tensor(torch, 3, 1, k=2) * make_tensor(torch, 3, 1) + make_tensor(torch, 3, 1, k=1),
    ),
    "batch_norm_gather_stats": (
        lambda a: a.batch_norm_gather_stats(make_tensor(ts, 2, 3, 4), make_tensor(ts, 2, 3), make_tensor(ts, 2, 3, k=1), None, None, 0.1, 1e-5, 4),
        lambda: combine_moments(torch, None, *parts(), torch.tensor([4.0, 4.0])),
    ),
    "batch_norm_gather_stats_with_counts": (
        lambda a: a.batch_norm_gather_stats_with_counts(
            make_tensor(ts, 2, 3, 4), make_tensor(ts, 2, 3), make_tensor(ts, 2, 3, k=1), None, None, 0.1, 1e-5, ts.tensor([3.0, 5.0])
        ),
        lambda: combine_moments(torch, None, *parts(), torch.tensor([3.0, 5.0])),
    ),
    "native_norm": (lambda a: a.native_norm(make_tensor(ts, 2, 3), 3), lambda: make_tensor(torch, 2, 3).norm(3)),
    "native_norm.ScalarOpt_dim_dtype": (
        lambda a: a.native_norm(make_tensor(ts, 2, 3), None, [1], True, None),
        lambda: make_tensor(torch, 2, 3).norm(2, 1, True),
    ),
    "_masked_scale": (
        lambda a: a._masked_scale(make_tensor(ts, 2, 3), make_tensor(ts, 2, 3, k=1) > 1, 2.0),
        lambda: make_tensor(torch, 2, 3) * (make_tensor(torch, 2, 3, k=1) > 1) * 2,
    ),
    "_copy_from": (lambda a: a._copy_from(make_tensor(ts, 2, 3), ts.zeros(2, 3)), lambda: make_tensor(torch, 2, 3)),
    "_copy_from_and_resize": (lambda a: a._copy_from_and_resize(make_tensor(ts, 2, 3), ts.zeros(2)), lambda: make_tensor(torch, 2, 3)),
    "_resize_output": (lambda a: a._resize_output(make_tensor(ts, 2, 3), [3, 2], "cpu"), lambda: make_tensor(torch, 2, 3).resize_(3, 2)),
    "_resize_output_": (lambda a: a._resize_output_(make_tensor(ts, 2, 3), [4], "cpu"), lambda: make_tensor(torch, 2, 3).resize_(4)),
}  # fmt: skip


@pytest.mark.parametrize("key", ELSEWHERE)
def test_operators_of_other_devices(key):
    """Operators that PyTorch supports only on other devices equal a reference computation."""
    ours, theirs = ELSEWHERE[key]
    result, wanted = ours(ts.ops.aten), theirs()
    for a, b in zip(tensors([result], ts), tensors([wanted], torch), strict=True):
        assert close(described(a, [], ts), described(b, [], torch), 1e-5), key


# ---- operators in scripts and graphs that eager calls do not cover -------------------------------------------------

GRAPHS = {
    "prim::VarConcat": ("%a : Tensor, %b : Tensor", "Tensor", "%a, %b, %0", lambda t: (make_tensor(t, 2, 3), make_tensor(t, 1, 3))),
    "prim::VarStack": ("%a : Tensor, %b : Tensor", "Tensor", "%a, %b, %0", lambda t: (make_tensor(t, 2, 3), make_tensor(t, 2, 3))),
    "aten::einsum": ("%a : Tensor, %l : int[], %b : Tensor, %m : int[]", "Tensor", "%a, %l, %b, %m",
                     lambda t: (make_tensor(t, 2, 3), [0, 1], make_tensor(t, 3, 2), [1, 2])),
    "prim::BroadcastSizes": ("%a : int[], %b : int[]", "int[]", "%a, %b", lambda t: ([2, 1], [3])),
    "prim::AutogradAnyNonZero": ("%a : Tensor, %b : Tensor", "bool", "%a, %b", lambda t: (make_tensor(t, 2), make_tensor(t, 2))),
    "prim::AutogradAllNonZero": ("%a : Tensor, %b : Tensor", "bool", "%a, %b", lambda t: (make_tensor(t, 2), make_tensor(t, 2))),
    "prim::AutogradAllZero": ("%a : Tensor, %b : Tensor", "bool", "%a, %b", lambda t: (make_tensor(t, 2), make_tensor(t, 2))),
    "prim::AutogradAdd": ("%a : Tensor, %b : Tensor", "Any", "%a, %b", lambda t: (make_tensor(t, 2), make_tensor(t, 2))),
    "aten::has_torch_function": ("%a : Tensor", "bool", "%a", lambda t: (make_tensor(t, 2),)),
    "aten::sym_size": ("%a : Tensor", "int[]", "%a", lambda t: (make_tensor(t, 2, 3),)),
    "aten::_conj_physical": ("%a : Tensor", "Tensor", "%a", lambda t: (make_tensor(t, 2, 3),)),
}  # fmt: skip


@pytest.mark.parametrize("kind", GRAPHS)
def test_operators_in_graphs(kind):
    """Operators with variable arguments, and operators that exist only in graphs, equal PyTorch's."""
    inputs, result, names, arguments = GRAPHS[kind]
    text = f"graph({inputs}):\n  %0 : int = prim::Constant[value=0]()\n  %r : {result} = {kind}({names})\n  return (%r)"
    ours = ts.jit.create_function_from_graph("f", ts.parse_ir(text))(*arguments(ts))
    theirs = torch._C._create_function_from_graph("f", torch._C.parse_ir(text))(*arguments(torch))
    assert close(described(ours, [], ts), described(theirs, [], torch), 1e-6)


@pytest.mark.parametrize("name", ["mT", "mH", "T", "H"])
def test_attributes_in_scripts(name):
    source = f"def f(x: Tensor) -> Tensor:\n    return x.{name}\n"
    ours, theirs = (t.jit.CompilationUnit(source).f(make_tensor(t, 2, 3)) for t in (ts, torch))
    assert close(described(ours, [], ts), described(theirs, [], torch), 0)


def test_storages():
    """`set_` makes a tensor a view of a storage, with PyTorch's results."""
    results = []
    for t in (ts, torch):
        x, y, storage = make_tensor(t, 2, 3), make_tensor(t, 4, k=1), make_tensor(t, 6, k=2).untyped_storage()
        t.ops.aten.set_.source_Storage_storage_offset(x, storage, 1, [2, 2], [2, 1])
        t.ops.aten.set_.source_Storage(y, storage)
        new = t.ops.aten.set.source_Storage_storage_offset(y, storage, 2, [3])
        results.append(described([x, y, new, t.ops.aten.set.source_Storage(new, storage)], [x], t))
    assert close(*results, 0)


# ---- completeness --------------------------------------------------------------------------------------------------


def keys(schemas):
    """Yield the keys of dense CPU operators, without `out=` variants and derivatives."""
    for schema in schemas:
        space, _, name = schema.name.partition("::")
        if space in ("aten", "prim") and not generate_operator_index.OTHER.search(schema.name) and "backward" not in name:
            if not schema.overload_name.endswith("out"):
                yield schema.name + (f".{schema.overload_name}" if schema.overload_name else "")


def test_missing_overloads_are_documented():
    """The overloads without a record are exactly those in `docs/reference/operators/missing-operators.md`."""
    registry.load()
    names = {*registry.names(), *(operator.name for operator in prims.operators())}
    here = {operator.key for name in names for operator in registry.lookup(name)}
    wanted = set(keys(torch._C._jit_get_all_schemas()))
    assert wanted - here == set(generate_operator_index.UNREGISTERED)
