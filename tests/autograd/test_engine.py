"""The autograd engine: nested passes, callbacks, hooks without gradients, buffers, batched gradients, threads."""

import threading

import pytest

import ts
from ts.autograd import Function, Variable, gradcheck, gradgradcheck
from ts.testing import assert_close


class NestedBackward(Function):
    """Runs nested backward passes, one for each unit of its input value."""

    @staticmethod
    def forward(ctx, x):
        with ts.enable_grad():
            ctx.x = x.detach().requires_grad_() - 1
        return ctx.x.detach()

    @staticmethod
    def backward(ctx, gradient):
        if ctx.x >= 0:
            with ts.enable_grad():
                NestedBackward.apply(ctx.x).sum().backward()
        return gradient


def test_deeply_nested_backward():
    x = ts.tensor(1500.0, requires_grad=True)
    for _ in range(2):
        NestedBackward.apply(x).sum().backward()
    assert x.grad.item() == 2
    assert ts.is_grad_enabled()


def test_error_in_nested_backward():
    class Failing(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.n = float(x)
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            if ctx.n == 0:
                raise ValueError("at the bottom")
            with ts.enable_grad():
                Failing.apply(ts.tensor(ctx.n - 1, requires_grad=True)).backward()
            return gradient

    with pytest.raises(ValueError, match="at the bottom"):
        Failing.apply(ts.tensor(200.0, requires_grad=True)).backward()


def test_callbacks_run_after_backward():
    seen = []
    x = ts.ones(2, requires_grad=True)

    def hook(gradient):
        Variable._execution_engine.queue_callback(lambda: seen.append(x.grad.tolist()))

    y = x * 3
    y.register_hook(hook)
    y.sum().backward()
    assert seen == [[3.0, 3.0]]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        Variable._execution_engine.queue_callback(print)


def test_hooks_receive_none_for_missing_gradients():
    x = ts.ones(3, requires_grad=True)
    first, second, _ = x.unbind()
    seen = []
    first.register_hook(seen.append)
    second.backward()
    assert seen == [None]
    first.backward()
    assert seen[1] == 1
    assert x.grad.tolist() == [1, 1, 0]


def test_number_of_gradients_returned_by_hooks():
    x = ts.ones(2, requires_grad=True)

    def more(inputs, outputs):
        return (*inputs, None)

    y = x * 2
    y.grad_fn.register_hook(more)
    text = r"hook 'more' has returned an incorrect number of values \(got 2, but expected 1\)"
    with pytest.raises(RuntimeError, match=text):
        y.sum().backward()


def test_shared_gradient_is_copied_for_one_of_two_leaves():
    class Twice(Function):
        where = 0

        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, gradient):
            Twice.where = gradient.data_ptr()
            return gradient, gradient

    a, b = ts.randn(5, 6, requires_grad=True), ts.randn(5, 6, requires_grad=True)
    Twice.apply(a, b)[1][0].backward()
    pointers = [a.grad.data_ptr(), b.grad.data_ptr()]
    assert pointers[0] != pointers[1]
    assert Twice.where in pointers
    a.grad.add_(1)
    assert b.grad.sum() == 1


def test_deprecated_tensor_attributes():
    x = ts.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert x.volatile is False
    assert x._grad_fn is None
    assert (x * 2)._grad_fn.name() == "MulBackward0"
    for name in ("_grad_fn", "_backward_hooks"):
        with pytest.raises(RuntimeError):
            delattr(x, name)
    assert x._backward_hooks is None
    x.register_hook(lambda gradient: gradient * 2)
    assert len(x._backward_hooks) == 1
    x._backward_hooks = {}
    x.sum().backward()
    assert x.grad.tolist() == [1, 1]
    assert_close(x.__rdiv__(2), 2 / x)


# ---------------------------------------------------------------- batched gradients


def batched_and_single(y, inputs, n=3):
    gradients = ts.randn([n, *y.shape], dtype=y.dtype)
    batched = ts.autograd.grad(y, inputs, gradients, is_grads_batched=True, retain_graph=True)
    single = [ts.autograd.grad(y, inputs, g, retain_graph=True) for g in gradients]
    return batched, [ts.stack(list(found)) for found in zip(*single, strict=True)]


def written(root, a, b):
    x = root.clone()
    x.narrow(1, 2, 2).narrow(0, 1, 2).mul_(a)
    x.narrow(1, 0, 2).narrow(0, 1, 2).mul_(b)
    return x


def double(*shape):
    return ts.randn(*shape, dtype=ts.float64).requires_grad_()


def test_batched_backward_through_written_views():
    inputs = [double(4, 4), double(2, 2), double(2, 2)]
    assert_close(*batched_and_single(written(*inputs), inputs))
    assert gradcheck(written, inputs, check_batched_grad=True)
    assert gradgradcheck(written, inputs, check_batched_grad=True)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda x: ts.nn.functional.lp_pool2d(x, 2.0, 3, 2), [(1, 3, 7, 7)]),
        (lambda x: ts.nn.functional.local_response_norm(x, 2), [(1, 5, 7)]),
        (lambda x: ts.nn.functional.unfold(x, 2), [(2, 3, 4, 5)]),
        (lambda x: ts.nn.functional.fold(x, (3, 4), 2), [(2, 8, 6)]),
        (lambda x: x.logcumsumexp(0), [(4, 3)]),
        (lambda x, w: ts.nn.functional.conv1d(x, w), [(0, 2, 6), (3, 2, 3)]),
        (lambda a, b: ts.cat([a, b.exp()], 1) * ts.stack([a, a]), [(2, 3), (2, 0)]),
    ],
)
def test_batched_backward(function, shapes):
    inputs = [double(*shape) for shape in shapes]
    assert_close(*batched_and_single(function(*inputs), inputs))
    assert gradcheck(function, inputs, check_batched_grad=True)


# ---------------------------------------------------------------- saved tensors


@pytest.mark.parametrize(
    "join",
    [
        lambda a, b: ts.cat([a, b]),
        lambda a, b: ts.cat([a, b], -1),
        lambda a, b: ts.stack([a, b]),
        lambda a, b: ts.hstack([a, b]),
        lambda a, b: ts.dstack([a, b]),
        lambda a, b: ts.block_diag(a, b),
        lambda a, b: ts.column_stack([a, b]),
        lambda a, b: ts.atleast_3d(a, b)[0] * 1,
    ],
)
def test_joined_tensors_may_be_written_afterwards(join):
    x = ts.ones(2, 2, requires_grad=True)
    a, b = x * 2, x * 3
    y = join(a, b)
    a.mul_(7)
    y.sum().backward()
    assert x.grad.sum() in (20, 8)  # if both inputs are recorded, or `a` alone


def test_in_place_write_to_a_real_view_of_complex():
    x = ts.ones(2, dtype=ts.complex128, requires_grad=True)

    def parts(x):
        base = x * 1
        ts.view_as_real(base)[..., 0].mul_(3)
        return base * base.conj()

    def pairs(x):
        base = ts.view_as_real(x) * 1
        ts.view_as_complex(base).mul_(3j)
        return base * base

    def read(x):
        base = x * 1
        view = ts.view_as_real(base)
        base.mul_(2 + 1j)
        return view * view

    for function in (parts, pairs, read):
        assert gradcheck(function, [x * (1 + 2j)])
        assert gradgradcheck(function, [(x * (1 + 2j)).detach().requires_grad_()])


def test_logarithms_of_sums_of_complex_numbers():
    x = ts.randn(4, 3, dtype=ts.complex128, requires_grad=True)
    assert gradcheck(lambda x: x.logcumsumexp(0), [x])
    assert gradgradcheck(lambda x: x.logcumsumexp(0), [x])


# ---------------------------------------------------------------- threads


def test_eight_threads_train_eight_models():
    def train(seed):
        generator = ts.Generator().manual_seed(seed)
        w = ts.randn(8, 3, generator=generator).requires_grad_()
        x = ts.randn(16, 8, generator=generator)
        losses = []
        for _ in range(30):
            loss = ((x @ w).tanh() - 0.5).square().mean()
            loss.backward()
            with ts.no_grad():
                w -= 0.3 * w.grad
                w.grad.zero_()
            losses.append(loss.item())
        return losses

    sequential_losses = [train(seed) for seed in range(8)]
    concurrent_losses = [None] * 8

    def run(seed):
        concurrent_losses[seed] = train(seed)

    threads = [threading.Thread(target=run, args=[seed]) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert concurrent_losses == sequential_losses
    assert all(losses[-1] < losses[0] for losses in sequential_losses)


class Transpose(ts.autograd.Function):
    """Computes `x.t()`; if `kept` is a list, backward appends its gradient's base to it."""

    kept = None

    @staticmethod
    def forward(ctx, x):
        return x.t().clone()

    @staticmethod
    def backward(ctx, grad):
        whole = grad * 2
        if Transpose.kept is not None:
            Transpose.kept.append(whole)
        return whole.t()


@pytest.mark.parametrize("kept", [None, []])
def test_unreferenced_gradient_becomes_grad_without_a_copy(kept):
    """A gradient that owns its memory becomes the leaf's `grad` without a copy, unless it has other
    references."""
    x = ts.ones(2, 3).t().requires_grad_()
    Transpose.kept = kept
    for _ in range(2):
        Transpose.apply(x).sum().backward()
    assert x.grad._base is None and not x.grad._is_view()
    assert x.grad.tolist() == [[4, 4]] * 3
    assert x.grad.stride() == x.stride()
    if kept is not None:
        assert [k.tolist() for k in kept] == [[[2, 2, 2], [2, 2, 2]]] * 2


def test_gradients_have_the_strides_of_weights():
    layer = ts.nn.Linear(3, 5)
    for model in (layer, ts.jit.script(layer)):
        layer.zero_grad()
        for n in (1, 2):
            model(ts.ones(4, 3)).sum().backward()
            assert layer.weight.grad.is_contiguous() and layer.weight.grad._base is None
            assert layer.weight.grad.tolist() == [[4 * n] * 3] * 5 and layer.bias.grad.tolist() == [4 * n] * 5
