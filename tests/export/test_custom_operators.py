"""Custom operators in exports: data-dependent sizes, and `opcheck`."""

import pytest

import ts
from ts.export import Dim, export, load, save
from ts.library import custom_op, opcheck
from ts.export.opcheck_tests import OpCheckError


def _setup(ctx, inputs, output):
    ctx.by = inputs[1]


@pytest.fixture(scope="module")
def scale():
    """Define an operator with a fake function and a gradient, on call because tests share the registry."""

    @custom_op("checks::scale", mutates_args=())
    def scale(x: ts.Tensor, by: float = 2.0) -> ts.Tensor:
        return x * by

    scale.register_fake(lambda x, by=2.0: ts.empty_like(x))
    scale.register_autograd(lambda ctx, g: (g * ctx.by, None), setup_context=_setup)
    return scale


@pytest.fixture(scope="module")
def positive():
    """Define an operator whose result size depends on its data: indices of positive elements."""

    @custom_op("checks::positive", mutates_args=())
    def positive(x: ts.Tensor) -> ts.Tensor:
        return ts.from_numpy((x.detach().numpy() > 0).nonzero()[0])

    @positive.register_fake
    def _(x):
        count = ts.library.get_ctx().new_dynamic_size()
        return x.new_empty(count, dtype=ts.int64)

    return positive


SUCCESS = dict.fromkeys(
    ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"), "SUCCESS"
)


def test_opcheck_accepts_valid_operators(scale, positive):
    assert opcheck(scale, (ts.randn(3, requires_grad=True), 3.0)) == SUCCESS
    assert opcheck(ts.ops.checks.scale.default, (ts.randn(2, 3),), {"by": 0.5}) == SUCCESS
    assert opcheck(positive, (ts.randn(7),)) == SUCCESS
    assert opcheck(scale, (ts.randn(3),), test_utils="test_schema") == {"test_schema": "SUCCESS"}


@pytest.mark.parametrize(
    ("name", "function", "fake", "check", "message"),
    [
        ("writes", lambda x: x.add_(1).clone(), ts.empty_like, "test_schema", "Argument x is not defined as mutable but"),
        ("gives", lambda x: x, ts.empty_like, "test_schema", "may not alias any inputs"),
        ("no_fake", lambda x: x.sin(), None, "test_faketensor", "There was no fake impl registered"),
        ("other_dtype", lambda x: x.sin(), lambda x: x.new_empty(x.shape, dtype=ts.float64), "test_faketensor",
         r"Dtypes torch.float32 and torch.float64 are not equal!"),
        ("other_shape", lambda x: x.sin(), lambda x: x.new_empty(9), "test_faketensor", "Shapes .* are not equal!"),
    ],
)  # fmt: skip
def test_invalid_operators(name, function, fake, check, message):
    made = custom_op(f"checks::{name}", function, mutates_args=(), schema="(Tensor x) -> Tensor")
    if fake is not None:
        made.register_fake(fake)
    with pytest.raises(OpCheckError, match=f"{check} failed with .*{message}"):
        opcheck(made, (ts.randn(3),))
    found = opcheck(made, (ts.randn(3),), raise_exception=False)
    assert isinstance(found[check], Exception) and found["test_autograd_registration"] == "SUCCESS"


def test_operators_without_gradients():
    library = ts.library.Library("checks", "FRAGMENT")
    library.define("half(Tensor x) -> Tensor")
    library.impl("half", lambda x: x / 2, "CPU")
    library.impl("half", ts.empty_like, "Meta")
    found = opcheck(ts.ops.checks.half.default, (ts.randn(3, requires_grad=True),), raise_exception=False)
    assert found["test_schema"] == found["test_faketensor"] == "SUCCESS"
    assert "does not have an autograd kernel" in str(found["test_autograd_registration"])


def test_opcheck_rejects_other_objects(scale):
    with pytest.raises(ValueError, match="op must be instance of"):
        opcheck(3, ())
    with pytest.raises(ValueError, match="op must be instance of"):
        opcheck(ts.ops.aten.sin.default, (ts.ones(2),))
    with pytest.raises(ValueError, match="expected test_utils to be subset of"):
        opcheck(scale, (ts.ones(2),), test_utils=("test_all",))


def test_data_dependent_sizes(positive, tmp_path):
    """A data-dependent size is an unbacked symbol in the graph and in the file."""

    class Rows(ts.nn.Module):
        def forward(self, x):
            return x[positive(x)] * 2

    program = export(Rows(), (ts.randn(6),), dynamic_shapes=({0: Dim("n")},))
    node = next(n for n in program.graph.nodes if n.name == "positive")
    assert str(node.meta["val"].array.shape[0]) == "u0"
    save(program, tmp_path / "rows.pt2")
    for made in (program, program.run_decompositions(), load(tmp_path / "rows.pt2")):
        module = made.module()
        for x in (ts.tensor([1.0, -1, 2]), -ts.ones(4), ts.ones(9)):
            assert ts.equal(module(x), Rows()(x))


def test_bounds_of_sizes(positive):
    with pytest.raises(ValueError, match="expected min to be greater than or equal to 0"):
        ts.library.get_ctx().new_dynamic_size(min=-1)
    with pytest.raises(ts.errors.DataDependentOutputException):
        positive(ts.ones(3, device="meta"))


def test_defaults_are_dtypes_and_devices():
    given = []

    @ts.library.custom_op("defaults::converted", mutates_args=())
    def converted(
        x: ts.Tensor,
        dtype: ts.dtype = ts.bfloat16,
        device: ts.device = ts.device("cpu"),
        other: ts.dtype | None = None,
    ) -> ts.Tensor:
        given.append((dtype, device, other))
        return x.to(dtype)

    assert str(converted._opoverload._schema).startswith("defaults::converted(Tensor x, ScalarType dtype=15,")
    assert converted._opoverload is ts.ops.defaults.converted.default
    assert converted(ts.ones(2)).dtype is ts.bfloat16
    assert converted(ts.ones(2), ts.int64, other=ts.float64).dtype is ts.int64
    cpu = ts.device("cpu")
    assert given == [(ts.bfloat16, cpu, None), (ts.int64, cpu, ts.float64)]


def test_operators_that_write():
    @ts.library.custom_op("writes::add", mutates_args=("x",))
    def add(x: ts.Tensor, y: ts.Tensor) -> None:
        x.add_(y)

    add.register_fake(lambda x, y: None)
    assert set(ts.library.opcheck(add, (ts.ones(2), ts.ones(2))).values()) == {"SUCCESS"}

    @ts.library.custom_op("writes::wrong", mutates_args=("x",))
    def wrong(x: ts.Tensor, y: ts.Tensor) -> None:
        y.add_(x)

    with pytest.raises(OpCheckError, match="Argument y is not defined as mutable but was mutated"):
        ts.library.opcheck(wrong, (ts.ones(2), ts.ones(2)))


@pytest.mark.parametrize(
    ("name", "function", "exported"),
    [
        ("composed", lambda x: x.sin() + 1, True),
        ("inside", lambda x: x[x > 0].sum(), True),
        ("rows", lambda x: x.nonzero(), False),
        ("elements", lambda x: ts.from_numpy(x.numpy() * 2), False),
        ("number", lambda x: ts.zeros(int(x.sum().item())), False),
    ],
)
def test_functions_without_a_fake(name, function, exported):
    def typed(x: ts.Tensor) -> ts.Tensor:
        return function(x)

    made = ts.library.custom_op(f"without_fake::{name}", typed, mutates_args=())

    class Calls(ts.nn.Module):
        def forward(self, x):
            return made(x)

    if exported:
        x = ts.tensor([1.0, -1.0, 2.0])
        assert ts.equal(ts.export.export(Calls(), (ts.ones(3),)).module()(x), function(x))
        return
    message = rf"no fake impl registered for <CustomOpDef\(without_fake::{name}\)>.*`typed.register_fake`"
    with pytest.raises(RuntimeError, match=message):
        ts.export.export(Calls(), (ts.ones(3),))


def test_mutating_operator_becomes_functional(tmp_path):
    """`run_decompositions` makes an operator that only writes functional, without a fake function."""

    def kernel(x, y):
        x.add_(float(y.sum()))

    library = ts.library.Library("writes_alone", "DEF")
    library.define("put(Tensor(a!) x, Tensor y) -> ()")
    library.impl("put", kernel, "CPU")

    class Puts(ts.nn.Module):
        def forward(self, x):
            y = x * 2
            ts.ops.writes_alone.put(y[1:], x)
            return y

    program = ts.export.export(Puts(), (ts.ones(3),)).run_decompositions()
    (node,) = (n for n in program.graph.nodes if "functionalized" in str(n.target))
    assert node.target is ts.ops.higher_order.auto_functionalized_v2
    assert node.args == (ts.ops.writes_alone.put.default,)
    assert {k: v for k, v in node.kwargs.items() if k[0] == "_" and k != "_all_bases"} == {
        "_x_base_index": 0, "_x_slice_dim": 0, "_x_slice_start": 1, "_x_slice_end": 3,
    }  # fmt: skip
    ts.export.save(program, tmp_path / "puts.pt2")
    for each in (program, ts.export.load(tmp_path / "puts.pt2")):
        run = each.module()
        for _ in range(3):
            assert run(ts.tensor([1.0, 2.0, 3.0])).tolist() == [2.0, 10.0, 12.0]
    with pytest.raises(TypeError, match="not an operator that writes"):
        ts.ops.higher_order.auto_functionalized_v2(ts.ops.aten.add.Tensor, _all_bases=[])


def test_mutating_operator_in_a_branch():
    """A mutating operator without results works in a branch of `cond`, before and after
    `run_decompositions`."""

    def bump(x: ts.Tensor, k: int) -> None:
        x.add_(k)

    bump = ts.library.custom_op("writes_in_a_branch::bump", bump, mutates_args={"x"})

    def yes(x):
        y = x * 2
        bump(y[1:], 3)
        return y

    class Branches(ts.nn.Module):
        def forward(self, x):
            return ts.cond(x.sum() > 0, yes, lambda x: x + 1, (x,))

    program = ts.export.export(Branches(), (ts.ones(3),))
    for each in (program, program.run_decompositions()):
        for x in (ts.ones(3), -ts.ones(3)):
            assert ts.equal(each.module()(x), Branches()(x))
