"""Fused optimizer steps and foreach operators equal the reference rules, for all strides, and count
writes."""

import numpy as np
import pytest

import ts
from ts.ops import fused_optimizers

ADAM = dict(lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.1, eps=1e-3, amsgrad=True, maximize=True)
STEPS = {
    "sgd": (3, dict(weight_decay=0.1, momentum=0.9, lr=0.1, dampening=0.2, nesterov=False, maximize=True, is_first_step=False)),
    "adam": (5, ADAM),
    "adamw": (5, ADAM),
    "adagrad": (3, dict(lr=0.1, lr_decay=0.2, weight_decay=0.1, eps=1e-3, maximize=False)),
}  # fmt: skip
RULES = {"sgd": fused_optimizers.sgd, "adam": fused_optimizers.adam, "adagrad": fused_optimizers.adagrad}


def lists(count, dtype=ts.float64, sizes=((3, 5), (300,), ())):
    """Return `count` lists of tensors with positive, distinct elements."""
    random = np.random.default_rng(0)
    return [[ts.tensor(random.random(size), dtype=dtype) for size in sizes] for _ in range(count)]


def with_steps(name, lists):
    return lists if name == "sgd" else [*lists, [ts.tensor(3.0) for _ in lists[0]]]


def apply_reference_rule(name, lists, options):
    if name == "adamw":
        fused_optimizers.adam(*lists, **options, decoupled=True)
    else:
        RULES[name](*lists, **options)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("name", STEPS)
def test_kernel_equals_the_reference_rule(name, dtype):
    """The fused kernel changes all lists except the gradients to the values of the reference rule, up to the
    last digit."""
    count, options = STEPS[name]
    actual, expected = (with_steps(name, lists(count, dtype)) for _ in range(2))
    getattr(ts, f"_fused_{name}_")(*actual, **options)
    apply_reference_rule(name, expected, options)
    for actual_tensors, expected_tensors in zip(actual, expected, strict=True):
        for x, y in zip(actual_tensors, expected_tensors, strict=True):
            ts.testing.assert_close(x, y, rtol=0, atol=3e-7 if dtype == ts.float32 else 1e-15)
    for k, tensors in enumerate(actual[:count]):
        assert {x._version for x in tensors} == {0 if k == 1 else 1}


@pytest.mark.parametrize("name", STEPS)
def test_gradients_with_other_strides(name):
    """Gradients with other strides are read correctly; other dtypes and strided parameters use the reference
    rule."""
    count, options = STEPS[name]
    flat, transposed, spread = (with_steps(name, lists(count, sizes=((4, 6), (2, 3)))) for _ in range(3))
    transposed[1] = [g.t().contiguous().t() for g in transposed[1]]
    spread[0] = [ts.stack([p, p], -1)[..., 0] for p in spread[0]]
    for arguments in (flat, transposed, spread):
        getattr(ts, f"_fused_{name}_")(*arguments, **options)
    for x, y, z in zip(flat[0], transposed[0], spread[0], strict=True):
        assert x.equal(y)
        ts.testing.assert_close(x, z, rtol=1e-14, atol=0)
    short = with_steps(name, lists(count, ts.bfloat16))
    expected = with_steps(name, lists(count, ts.bfloat16))
    getattr(ts, f"_fused_{name}_")(*short, **options)
    apply_reference_rule(name, expected, options)
    assert all(x.equal(y) for x, y in zip(short[0], expected[0], strict=True))


@pytest.mark.parametrize("name", STEPS)
def test_scalers(name):
    """`grad_scale` divides the gradients in place; `found_inf` skips the step."""
    count, options = STEPS[name]
    arguments, plain, skipped = (with_steps(name, lists(count)) for _ in range(3))
    arguments[1] = [g * 4 for g in arguments[1]]
    getattr(ts, f"_fused_{name}_")(*arguments, **options, grad_scale=ts.tensor(4.0), found_inf=ts.tensor(0.0))
    getattr(ts, f"_fused_{name}_")(*plain, **options)
    assert all(x.equal(y) for a, b in zip(arguments, plain, strict=True) for x, y in zip(a, b, strict=True))
    assert {g._version for g in arguments[1]} == {1}
    getattr(ts, f"_fused_{name}_")(*skipped, **options, found_inf=ts.tensor(1.0))
    assert all(x.equal(y) for a, b in zip(skipped, with_steps(name, lists(count)), strict=True) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("name", STEPS)
def test_out_of_place_variants_keep_their_lists(name):
    """The functional variant returns updated copies; the learning rate may be a tensor."""
    count, options = STEPS[name]
    arguments, changed = (with_steps(name, lists(count)) for _ in range(2))
    options = {**options, "lr": ts.tensor(options["lr"], dtype=ts.float64)}
    results = getattr(ts, f"_fused_{name}")(*arguments, **options)
    getattr(ts, f"_fused_{name}_")(*changed, **options)
    assert all(x._version == 0 for tensors in arguments for x in tensors)
    for actual, expected in zip(results[:count], changed[:count], strict=True):
        for x, y in zip(actual, expected, strict=True):
            assert x.equal(y)


@pytest.mark.parametrize("invalidate", [
    lambda arguments: arguments[1].pop(), lambda arguments: arguments[1].__setitem__(0, ts.ones(2)), lambda arguments: arguments[2].clear(),
])  # fmt: skip
def test_mismatched_lists(invalidate):
    """Lists of different lengths and tensors of different shapes are rejected."""
    count, options = STEPS["adam"]
    arguments = with_steps("adam", lists(count, sizes=((3, 5), (7,))))
    invalidate(arguments)
    with pytest.raises(RuntimeError):
        ts._fused_adam_(*arguments, **options)


@pytest.mark.parametrize("special_index", [float("nan"), float("inf"), -1.0])
def test_special_values(special_index):
    """NaN values and roots of negative values produce the result of the reference rule and do not affect
    other elements."""
    actual, expected = (with_steps("adam", lists(5, ts.float32, ((37,),))) for _ in range(2))
    for tensors in (actual, expected):
        tensors[3][0][5] = special_index
        tensors[1][0][20] = special_index
    ts._fused_adam_(*actual, **{**ADAM, "amsgrad": False})
    fused_optimizers.adam(*expected, **{**ADAM, "amsgrad": False})
    ts.testing.assert_close(actual[0][0], expected[0][0], rtol=1e-6, atol=0, equal_nan=True)


def test_operators_on_lists_by_element():
    """Foreach operators accept a scalar or one scalar per element; they return a list, or None in place."""
    xs, ys = [ts.ones(2), ts.ones(3)], [ts.full((2,), 2.0), ts.full((3,), 3.0)]
    assert [x.tolist() for x in ts._foreach_add(xs, ys, alpha=2)] == [[5.0] * 2, [7.0] * 3]
    assert [x.tolist() for x in ts._foreach_mul(xs, [4, 5.5])] == [[4.0] * 2, [5.5] * 3]
    assert ts._foreach_addcmul_(xs, ys, ys, ts.tensor([1.0, 2.0])) is None
    assert [x.tolist() for x in xs] == [[5.0] * 2, [19.0] * 3] and [x._version for x in xs] == [1, 1]
    assert [x.item() for x in ts._foreach_norm(ys, 1)] == [4.0, 9.0]
    assert [x.tolist() for x in ts._foreach_pow(2.0, ys)] == [[4.0] * 2, [8.0] * 3]


def test_operators_on_lists_have_gradients():
    """Foreach operators record the gradient of each element as the single operator does."""
    x, y = ts.ones(2, requires_grad=True), ts.ones(3)
    a, b = ts._foreach_mul([x * 3, y], 2.0)
    assert a.requires_grad and not b.requires_grad
    a.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    with pytest.raises(RuntimeError, match="leaf Variable"):
        ts._foreach_add_([x], 1)


def test_operators_on_lists_in_scripts():
    """In-place foreach operators in scripts are neither removed nor reordered before reads of the
    elements."""

    @ts.jit.script
    def changed(x: ts.Tensor, y: ts.Tensor):
        a, b = x + 1, y + 1
        before = a.sum()
        ts._foreach_mul_([a, b], 2.0)
        after = a.sum()
        return before, after, ts._foreach_add([a, b], 1.0)[1]

    before, after, last = changed(ts.ones(2), ts.ones(1))
    assert (before.item(), after.item(), last.item()) == (4.0, 8.0, 5.0)


@pytest.mark.parametrize("call", [
    lambda: ts._foreach_add([], 1.0), lambda: ts._foreach_add([ts.ones(1)], [ts.ones(1), ts.ones(1)]),
    lambda: ts._foreach_add([ts.ones(1)], [1.0, 2.0]), lambda: ts._foreach_max([ts.ones(0)]),
    lambda: ts._foreach_mul([ts.ones(1)], ts.ones(2)), lambda: ts._foreach_addcdiv([ts.ones(1)], [ts.ones(1)], [ts.ones(1)], ts.ones(2)),
])  # fmt: skip
def test_lists_that_operators_reject(call):
    with pytest.raises(RuntimeError):
        call()
