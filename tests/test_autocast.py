"""Autocast: operators compute in the dtypes of their records, in eager mode, scripts, traces and archives."""

import threading
import warnings

import pytest

import ts
from ts._core.thread import context
from ts.ops import registry

X = ts.linspace(-1, 1, 9).reshape(3, 3)


@pytest.fixture
def weight():
    return ts.linspace(0.1, 0.9, 9).reshape(3, 3).clone().requires_grad_()


def product(a, b):
    return ts.mm(a, b)


def in_block(a, b):
    with ts.autocast("cpu"):
        c = ts.mm(a, b)
        with ts.autocast("cpu", enabled=False):
            d = ts.mm(a, c.float())
    return c, d, ts.mm(a, b)


def dtypes_of(results):
    return [x.dtype for x in results]


def test_products_run_in_the_lower_dtype():
    with ts.autocast("cpu"):
        assert (X @ X).dtype is ts.bfloat16
    with ts.autocast("cpu", dtype=ts.float16):
        assert (X @ X).dtype is ts.float16
    assert (X @ X).dtype is ts.float32


def test_result_is_that_of_converted_arguments():
    with ts.autocast("cpu"):
        result = ts.nn.functional.linear(X, X, X[0])
    narrow = X.bfloat16()
    assert ts.equal(result, ts.nn.functional.linear(narrow, narrow, narrow[0]))


@pytest.mark.parametrize("call, expected", [
    (lambda x: ts.nn.functional.mse_loss(x, x), ts.float32),
    (lambda x: ts.prod(x), ts.float32),
    (lambda x: ts.prod(x, 0, dtype=ts.bfloat16), ts.bfloat16),
    (lambda x: ts.cat([x, x]), ts.bfloat16),
    (lambda x: ts.cat([x, x.float()]), ts.float32),
    (lambda x: ts.cat([x, x.double()]), ts.float64),
    (lambda x: x + x, ts.bfloat16),
    (lambda x: x @ x.double(), None),
    (lambda x: ts.fft.fft(x).real, ts.float32),
])  # fmt: skip
def test_autocast_rules(call, expected):
    """Autocast runs losses and powers in float32, concatenation in the widest dtype, and other operators in
    their own dtype; float64 is unchanged."""
    with ts.autocast("cpu"):
        if expected is None:
            with pytest.raises(RuntimeError):
                call(X.bfloat16())
        else:
            assert call(X.bfloat16()).dtype is expected


def test_integers_and_out_arguments_are_not_cast():
    integers, out = ts.ones(2, 2, dtype=ts.int64), ts.empty(3, 3)
    with ts.autocast("cpu"):
        assert (integers @ integers).dtype is ts.int64
        assert ts.mm(X, X, out=out).dtype is ts.float32
        assert X.clone().addmm_(X, X).dtype is ts.float32


def test_mixed_dtypes_without_promotion():
    half = X.half()
    with ts.autocast("cpu"), pytest.raises(RuntimeError, match="Unexpected floating ScalarType"):
        ts.cat([half, half])


def test_composite_operators():
    """`einsum` and layers consist of operators that autocast converts."""
    layer = ts.nn.Sequential(ts.nn.Linear(3, 4), ts.nn.ReLU(), ts.nn.Linear(4, 2))
    with ts.autocast("cpu"):
        assert layer(X).dtype is ts.bfloat16
        assert ts.einsum("ij,jk->ik", X, X).dtype is ts.bfloat16
        assert ts.nn.functional.layer_norm(X, [3]).dtype is ts.float32


def test_nesting():
    with ts.autocast("cpu"):
        with ts.autocast("cpu", dtype=ts.float16):
            assert (X @ X).dtype is ts.float16
            with ts.autocast("cpu", enabled=False):
                assert not ts.is_autocast_enabled("cpu")
                assert (X @ X).dtype is ts.float32
        assert ts.get_autocast_dtype("cpu") is ts.bfloat16
        assert (X @ X).dtype is ts.bfloat16
    assert not ts.is_autocast_enabled("cpu")


def test_reentrant_block():
    block = ts.autocast("cpu")
    with block, block:
        pass
    assert not ts.is_autocast_enabled("cpu")


def test_a_failure_ends_the_block():
    with pytest.raises(ZeroDivisionError), ts.autocast("cpu"):
        raise ZeroDivisionError
    assert (X @ X).dtype is ts.float32
    with pytest.raises(RuntimeError), ts.autocast("cpu"):
        ts.mm(X, X[0])
    with ts.autocast("cpu"):
        assert (X @ X).dtype is ts.bfloat16


def test_decorator():
    @ts.autocast("cpu")
    def run(depth):
        """Its own text."""
        return run(depth - 1) if depth else X @ X

    assert run(2).dtype is ts.bfloat16 and run.__doc__ == "Its own text."
    assert not ts.is_autocast_enabled("cpu")
    with pytest.raises(TypeError, match=r"autocast\(\)\(func\) requires a callable, but got int"):
        ts.autocast("cpu")(3)


def test_blocks_are_thread_local():
    seen = []
    with ts.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append((X @ X).dtype))
        thread.start()
        thread.join()
    assert seen == [ts.float32]


# ---- gradients ---------------------------------------------------------------------------------------------------


def test_gradients_equal_an_explicit_conversion(weight):
    with ts.autocast("cpu"):
        y = X @ weight
    y.float().sum().backward()
    expected = X.bfloat16().t() @ ts.ones(3, 3, dtype=ts.bfloat16)
    assert weight.grad.dtype is ts.float32 and ts.equal(weight.grad, expected.float())


def test_leaves_are_converted_once(weight):
    def nodes(y):
        return [node for node, _ in y.grad_fn.next_functions if node is not None]

    with ts.autocast("cpu"):
        with ts.autocast("cpu"):
            first = nodes(X @ weight)
        assert nodes(X @ weight) == first
    with ts.autocast("cpu"):
        assert nodes(X @ weight) != first
    with ts.autocast("cpu", cache_enabled=False):
        assert nodes(X @ weight) != nodes(X @ weight)


def test_cached_conversions_are_current(weight):
    """A cached conversion is not used after a write to the leaf, or if it was recorded without gradients."""
    with ts.autocast("cpu"):
        with ts.no_grad():
            before = X @ weight
            assert not before.requires_grad
        after = X @ weight
        assert after.requires_grad
        with ts.no_grad():
            weight.zero_()
        assert ts.count_nonzero(X @ weight) == 0
        assert ts.count_nonzero(before) > 0
        cached = X @ weight
        ts.clear_autocast_cache()
        assert ts.equal(cached, X @ weight)


def test_second_derivatives(weight):
    with ts.autocast("cpu"):
        y = (X @ weight).float().pow(2).sum()
        (grad,) = ts.autograd.grad(y, weight, create_graph=True)
    grad.sum().backward()
    assert weight.grad.dtype is ts.float32 and bool(weight.grad.isfinite().all())


def test_functions_of_users(weight):
    class Product(ts.autograd.Function):
        @staticmethod
        @ts.amp.custom_fwd(device_type="cpu")
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @ts.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            seen.append((grad @ grad).dtype)
            return grad @ b.t(), a.t() @ grad

    class Full(Product):
        forward = staticmethod(ts.amp.custom_fwd(lambda ctx, x: x @ x, device_type="cpu", cast_inputs=ts.float64))

    seen = []
    with ts.autocast("cpu"):
        y = Product.apply(X, weight)
        assert Full.apply(X).dtype is ts.float64
    y.float().sum().backward()
    assert y.dtype is ts.bfloat16 and seen == [ts.bfloat16]
    assert Full.apply(X).dtype is ts.float32


def test_checkpoint_computes_as_before(weight):
    seen = []

    def run(x):
        seen.append((x @ x).dtype)
        return x @ weight

    with ts.autocast("cpu"):
        y = ts.utils.checkpoint.checkpoint(run, X, use_reentrant=False)
    y.float().sum().backward()
    assert seen == [ts.bfloat16] * 2 and weight.grad.dtype is ts.float32


def test_transforms(weight):
    with ts.autocast("cpu"):
        batched = ts.func.vmap(lambda x: x @ weight)(ts.stack([X, X]))
        gradient = ts.func.grad(lambda w: (X @ w).float().sum())(weight.detach())
        _, tangent = ts.func.jvp(lambda w: X @ w, (weight.detach(),), (ts.ones(3, 3),))
    assert batched.dtype is ts.bfloat16 and batched.shape == (2, 3, 3)
    assert gradient.dtype is ts.float32
    assert tangent.dtype is ts.bfloat16


# ---- scripts -----------------------------------------------------------------------------------------------------


def test_scripts_are_cast_where_they_are_called():
    scripted = ts.jit.script(product)
    assert scripted(X, X).dtype is ts.float32
    with ts.autocast("cpu"):
        assert scripted(X, X).dtype is ts.bfloat16
    assert scripted(X, X).dtype is ts.float32


def test_first_call_inside_of_autocast():
    """Constants folded during a compilation inside of autocast are computed without autocast."""
    def constant(x):
        return x + ts.mm(ts.full((2, 2), 1.01), ts.eye(2))

    scripted = ts.jit.script(constant)
    x = ts.zeros(2, 2)
    with ts.autocast("cpu"):
        inside = scripted(x)
    assert ts.equal(scripted(x), constant(x))
    with ts.autocast("cpu"):
        assert ts.equal(inside, constant(x))


def test_blocks_in_scripts(weight):
    scripted = ts.jit.script(in_block)
    for b in (X, weight):
        for _ in range(3):
            assert dtypes_of(scripted(X, b)) == dtypes_of(in_block(X, b)) == [ts.bfloat16, ts.float32, ts.float32]
            assert all(map(ts.equal, scripted(X, b), in_block(X, b)))
    assert "prim::Enter" in str(scripted.graph) and "EnterAutocast" not in str(scripted.graph)


def test_gradients_of_blocks_in_scripts(weight):
    grads = []
    for function in (in_block, ts.jit.script(in_block), ts.jit.script(in_block)):
        weight.grad = None
        sum(x.float().sum() for x in function(X, weight)).backward()
        grads.append(weight.grad)
    assert ts.equal(grads[0], grads[1]) and ts.equal(grads[0], grads[2])


def test_callers_of_blocks_are_optimised():
    def caller(a, b):
        c, d, e = block(a, b)
        return c, d, e, ts.mm(a, b), ts.mm(a, b)

    block = ts.jit.script(in_block)
    scripted = ts.jit.script(caller)
    assert dtypes_of(scripted(X, X)) == [ts.bfloat16, *[ts.float32] * 4]
    with ts.autocast("cpu"):
        assert dtypes_of(scripted(X, X)) == [ts.bfloat16, ts.float32, *[ts.bfloat16] * 3]


def leaves(a, times: int):
    for i in range(3):
        with ts.autocast("cpu"):
            c = ts.mm(a, a)
            if i == times:
                return c
            if i > times:
                raise ValueError("too far")
    return ts.mm(a, a)


def test_blocks_in_scripts_end():
    """An autocast block in a script ends at a return, an exception and each loop iteration."""
    scripted = ts.jit.script(leaves)
    assert scripted(X, 1).dtype is ts.bfloat16
    assert scripted(X, 5).dtype is ts.float32
    with pytest.raises(Exception, match="too far"):
        scripted(X, -1)
    assert not ts.is_autocast_enabled("cpu") and (X @ X).dtype is ts.float32


def test_older_names_in_scripts():
    def older(a):
        with ts.cpu.amp.autocast():
            c = ts.mm(a, a)
        with ts.cuda.amp.autocast(enabled=False):
            d = ts.mm(a, a)
        return c, d

    assert dtypes_of(ts.jit.script(older)(X)) == [ts.bfloat16, ts.float32]


def test_scripts_query_autocast_state():
    def query_state():
        return ts.is_autocast_enabled(), ts.is_autocast_cpu_enabled(), ts.get_autocast_dtype("cpu")

    scripted = ts.jit.script(query_state)
    assert scripted() == (False, False, ts.bfloat16.code)
    with ts.autocast("cpu", dtype=ts.float16):
        assert scripted() == (False, True, ts.float16.code)
    assert scripted() == (False, False, ts.bfloat16.code)


def test_decorated_functions_cannot_be_scripted():
    with pytest.raises(RuntimeError, match=r"@autocast\(\) decorator is not supported in script mode"):
        ts.jit.script(ts.autocast("cpu")(product))


def test_tasks_are_cast():
    def forks(a):
        with ts.autocast("cpu"):
            task = ts.jit.fork(product, a, a)
        return ts.jit.wait(task), ts.mm(a, a)

    assert dtypes_of(ts.jit.script(forks)(X)) == [ts.bfloat16, ts.float32]


@pytest.mark.parametrize("around", [False, True])
def test_traces_have_the_conversions(around):
    def inside(a):
        with ts.autocast("cpu"):
            return ts.mm(a, a)

    if around:
        with ts.autocast("cpu"):
            traced = ts.jit.trace(ts.mm, (X, X))
        assert traced(X, X).dtype is ts.bfloat16
    else:
        traced = ts.jit.trace(inside, (X,))
        assert traced(X).dtype is ts.bfloat16
    assert str(traced.graph).count("aten::to") == (2 if around else 1) + (not around)


class Block(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = ts.nn.Parameter(ts.full((3, 3), 1.01))

    def forward(self, x):
        with ts.autocast("cpu"):
            y = ts.mm(self.weight, self.weight)
            z = ts.mm(x, y)
        return y, z, ts.mm(self.weight, self.weight)


@pytest.mark.parametrize("how", ["script", "archive", "frozen", "optimized"])
def test_modules(how, tmp_path):
    module = ts.jit.script(Block().eval())
    if how == "archive":
        module.save(tmp_path / "m.pt")
        module = ts.jit.load(tmp_path / "m.pt")
    elif how == "frozen":
        module = ts.jit.freeze(module)
    elif how == "optimized":
        module = ts.jit.optimize_for_inference(module)
    for _ in range(2):
        results = module(X)
        assert dtypes_of(results) == [ts.bfloat16, ts.bfloat16, ts.float32]
        assert all(map(ts.equal, results, Block()(X)))


# ---- flags -------------------------------------------------------------------------------------------------------


def test_flags():
    assert [ts.autocast_increment_nesting(), ts.autocast_decrement_nesting()] == [1, 0]
    ts.set_autocast_enabled("cpu", True)
    try:
        assert ts.is_autocast_enabled("cpu") and not ts.is_autocast_enabled() and (X @ X).dtype is ts.bfloat16
        ts.set_autocast_dtype("cpu", ts.float16)
        assert (X @ X).dtype is ts.get_autocast_dtype("cpu") is ts.float16
    finally:
        ts.set_autocast_enabled("cpu", False)
        ts.set_autocast_dtype("cpu", ts.bfloat16)
    assert ts.is_autocast_cache_enabled()
    ts.set_autocast_cache_enabled(False)
    assert not ts.is_autocast_cache_enabled()
    ts.set_autocast_cache_enabled(True)


def test_invalid_settings():
    with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype is not supported"):
        block = ts.autocast("cpu", dtype=ts.float32)
    with block:
        assert not ts.is_autocast_enabled("cpu")
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        ts.autocast(ts.device("cpu"))
    with pytest.raises(RuntimeError, match="unsupported scalarType"):
        ts.autocast("meta")
    with pytest.warns(FutureWarning, match=r"`torch.cpu.amp.autocast\(args...\)` is deprecated"):
        ts.cpu.amp.autocast()


def test_rejected_on_cuda():
    """The autocast rule of `binary_cross_entropy` for CUDA contains the error text."""
    rule = registry.find("aten::binary_cross_entropy").autocast
    assert rule["cpu"] == "float32" and "unsafe to autocast" in rule["cuda"]


def test_autocast_rules_are_known():
    """Each autocast rule is a known class or an error message, and names known devices."""
    for record in registry.records():
        rules = {"": record.autocast} if isinstance(record.autocast, str) else record.autocast
        assert set(rules) <= {"", "cpu", "cuda"}, record.key
        assert all(rule in ("", "lower", "float32", "widest") or " " in rule for rule in rules.values()), record.key
        assert not (record.variant and record.autocast), record.key


def test_no_dispatch_layer_outside_of_blocks():
    """Outside of autocast blocks, dispatch has no autocast layer."""
    with warnings.catch_warnings(), ts.autocast("cpu"):
        X @ X
    assert context.is_grad_enabled() and not ts.is_autocast_enabled("cpu")
