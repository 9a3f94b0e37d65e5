"""Operators on lists and fused steps have PyTorch's schemas, values, dtypes and errors, for all overloads."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from ts.ops import registry  # noqa: E402

DTYPES = ("float32", "float64", "bfloat16", "int64", "bool", "complex64")
RECORDS = {r.key: r for r in registry.records() if r.family in ("foreach", "fused_optimizers")}
LISTS = {k: r for k, r in RECORDS.items() if r.family == "foreach"}
# Names and dtypes for which the single-tensor operator differs from PyTorch's.
EXCUSED = {
    "bool": r"_foreach_(clamp_min|clamp_max|maximum|minimum)\.Scalar",  # PyTorch promotes for the number
    "complex64": r"_foreach_abs_$",  # PyTorch rejects it
}
TOLERANCE = {"float32": 1e-6, "complex64": 1e-6, "bfloat16": 1e-2}


@pytest.fixture(scope="module")
def theirs():
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        found[f"{schema.name}.{schema.overload_name}".rstrip(".")] = str(schema)
    return found


def test_schemas(theirs):
    """Schemas of foreach operators equal PyTorch's text, and Python exposes all of them."""
    for key, record in RECORDS.items():
        assert record.schema_text == theirs[key]
    named = {key.removeprefix("aten::").partition(".")[0] for key in RECORDS}
    assert {name for name in dir(torch) if name.startswith("_foreach_")} <= named


def make_arguments(library, record, name):
    """Return arguments for a schema: lists of two tensors, numbers, or a tensor for numbers."""
    dtype = getattr(library, name)
    random = np.random.default_rng(0)

    def random_array(*shape):
        x = random.random(shape) * 0.5 + 0.25
        x = (
            x > 0.5
            if name == "bool"
            else np.round(x * 8)
            if name == "int64"
            else x + 0.5j * x
            if name == "complex64"
            else x
        )
        return library.tensor(x.tolist(), dtype=dtype)

    values = []
    for p in registry.operator(record.key).signature.parameters:
        if p.kind == "Tensor[]":
            values.append([random_array(3, 3), random_array(2, 2)])
        elif p.kind == "Scalar[]":
            values.append([2, 3])
        elif p.kind == "Scalar":
            values.append(2)
        elif p.kind == "Tensor":
            values.append(library.tensor([2.0, 3.0]) if p.name == "scalars" else random_array())
    return values


def outcome(library, record, name):
    values = make_arguments(library, record, name)
    operator = getattr(
        getattr(library.ops.aten, record.name.removeprefix("aten::")), record.overload or "default"
    )
    try:
        result = operator(*values)
    except (RuntimeError, TypeError, NotImplementedError, IndexError) as error:
        return type(error).__name__, None
    return "", [*(result or []), *values[0 if isinstance(values[0], list) else 1]]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("key", LISTS)
def test_values(key, name):
    """Results, written tensors and accepted dtypes equal PyTorch's."""
    if name in EXCUSED and re.search(EXCUSED[name], key):
        pytest.skip("the operator on single tensors is different, too")
    ours, theirs = outcome(ts, LISTS[key], name), outcome(torch, LISTS[key], name)
    assert bool(ours[0]) == bool(theirs[0]), (ours[0], theirs[0])
    for x, y in zip(ours[1] or [], theirs[1] or [], strict=True):
        assert str(x.dtype).rpartition(".")[2] == str(y.dtype).rpartition(".")[2]
        wide = (ts.complex128, torch.complex128) if y.is_complex() else (ts.float64, torch.float64)
        a, b = np.array(x.to(wide[0]).tolist()), np.array(y.to(wide[1]).tolist())
        np.testing.assert_allclose(
            a, b, rtol=TOLERANCE.get(str(y.dtype).rpartition(".")[2], 1e-12), atol=1e-12
        )


@pytest.mark.parametrize("call", [
    "t._foreach_add([x], [x, x])", "t._foreach_add([x], [1.0, 2.0])", "t._foreach_add([], 1.0)", "t._foreach_addcmul([x], [x], [x, x], 1)",
    "t._foreach_addcmul([x], [x], [x], t.ones(2))", "t._foreach_addcmul([x], [x], [x], t.ones(1, 1))", "t._foreach_add([x], t.ones(2))",
    "t._foreach_norm([x.int()], 2.0)", "t._foreach_add_([x.int()], 2.5)", "t._foreach_sub([x.bool()], True)", "t._foreach_max([x[:0]])",
    "t._foreach_zero_([])",
])  # fmt: skip
def test_rejected_calls(call):
    """Errors have PyTorch's class and text."""

    def messages(t):
        with pytest.raises(Exception) as error:
            eval(call, {"t": t, "x": t.ones(3)})
        return error.type.__name__, str(error.value)

    assert messages(ts) == messages(torch)


# Maximum distance in units in the last place from PyTorch's fused step, and from its single operators, whose
# roots are approximate.
FUSED_TOLERANCE_ULPS, SINGLE_TOLERANCE_ULPS = 2, 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("rule", "options"), [
    ("SGD", {}), ("SGD", dict(momentum=0.9)), ("SGD", dict(momentum=0.9, nesterov=True, weight_decay=0.1)), ("SGD", dict(momentum=0.5, dampening=0.3)),
    ("Adam", {}), ("Adam", dict(amsgrad=True, weight_decay=0.1)), ("Adam", dict(betas=(0.3, 0.8), maximize=True)), ("AdamW", {}),
    ("AdamW", dict(amsgrad=True)),
])  # fmt: skip
def test_steps_to_the_last_bits(rule, options, dtype):
    """Six optimizer steps differ from PyTorch's by at most two units in the last place."""
    random = np.random.default_rng(0)
    draw = lambda: random.standard_normal(1003).astype(dtype)
    where = torch.from_numpy(draw())
    fused = getattr(torch.optim, rule)([where], fused=True, **options)
    for _ in range(6):
        grad = draw()
        results = []
        for library, flags in ((ts, {}), (torch, {"fused": True}), (torch, {})):
            x = library.from_numpy(where.numpy().copy())
            optimizer = getattr(library.optim, rule)([x], **options, **flags)
            state = {k: library.from_numpy(v.numpy().copy()) for k, v in fused.state[where].items()}
            if state:
                optimizer.state[x] = state
            x.grad = library.from_numpy(grad.copy())
            optimizer.step()
            results.append([x, *optimizer.state[x].values()])
        ours, by_fused, by_single = ([np.asarray(v) for v in values] for values in results)
        for x, y, z in zip(ours, by_fused, by_single, strict=True):
            size = np.maximum(np.abs(z), np.abs(where.numpy()) if z.shape else 0)  # magnitude of the summands
            assert np.all(np.abs(x - y) <= FUSED_TOLERANCE_ULPS * np.spacing(size))
            assert np.all(np.abs(x - z) <= SINGLE_TOLERANCE_ULPS * np.spacing(size))
        where.grad = torch.from_numpy(grad)
        fused.step()
