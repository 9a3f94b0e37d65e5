"""`run_decompositions` preserves results and produces functional core operators."""

import re
import warnings

import pytest

import ts
from tests.export.functions import Function
from tests.export.functions import FunctionOfOne as module_of_function
from tests.export.single_op_programs import PROGRAMS, module_of, programs
from ts.export import Dim, export
from ts.export.decompositions import decomposition_table
from ts.ops import registry
from ts.ops.derivatives.formula_registry import derivative_of

pytest.importorskip("sympy")
RANDOM_OPERATORS = re.compile("rand|dropout|rrelu|bernoulli|multinomial|empty")
REJECTED = {"torch.cov(x)"}  # depends on element values

# Operators with a composed expression for autograd and another decomposition for `export`, with reasons
DECOMPOSED_TWICE = {
    "aten::broadcast_tensors": "a comparison of symbolic sizes, which adds no guard",
    "aten::cosine_similarity": "PyTorch writes to the norms without recording gradients",
    "aten::dropout": "PyTorch decomposes it to native_dropout only in exported programs",
    "aten::gru.input": "PyTorch decomposes it to operators in another order only in exported programs",
    "aten::linear": "a decision on strides, which adds no guard",
    "aten::lstm.input": "autograd runs a layer by one operator, as PyTorch does outside of exported programs",
    "aten::matmul": "a decision on strides, which adds no guard",
    "aten::rnn_relu.input": "as gru.input",
    "aten::rnn_tanh.input": "as gru.input",
    "aten::scaled_dot_product_attention": "autograd multiplies by the scale once",
    "aten::special_ndtr": "autograd computes it with more precision",
}


def _targets(program):
    return [node.target for node in program.graph.nodes if node.op == "call_function"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", PROGRAMS)
def test_programs_of_core_operators(family):
    for text, shapes in programs(family):
        if text in REJECTED:
            continue
        module = module_of(text, len(shapes), ts)
        args = tuple(ts.rand(shape) for shape in shapes)
        program = ts.export.export(module, args).run_decompositions()
        for target in _targets(program):
            operator = getattr(target, "operator", None)
            assert operator is None or not any(p.written for p in operator.signature.parameters), (
                text,
                target,
            )
        if RANDOM_OPERATORS.search(text):
            continue
        ours, plain = ([x.clone() for x in args] for _ in range(2))
        found, wanted = program.module()(*ours), module(*plain)
        ts.testing.assert_close(found, wanted, equal_nan=True, msg=lambda m, text=text: f"{text}: {m}")
        ts.testing.assert_close(ours, plain, msg=lambda m, text=text: f"{text}: {m}")


def test_decompositions_are_functions_of_tensors():
    x = ts.rand(3, 4)
    known = decomposition_table.core_aten_decompositions()
    for key, arguments in {
        "aten::t": (x,), "aten::softplus": (x,), "aten::logsumexp": (x, [1]), "aten::var.dim": (x, [0]),
        "aten::roll": (x, [1], [0]), "aten::triu": (x,), "aten::isclose": (x, x), "aten::stack": ([x, x], 1),
    }.items():  # fmt: skip
        operator = getattr(ts.ops.aten, key[6:].partition(".")[0])
        ts.testing.assert_close(
            known[key](*arguments), operator(*arguments), equal_nan=True, rtol=1e-5, atol=1e-6
        )


class Counter(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", ts.zeros(2))
        self.register_buffer("last", ts.zeros(2), persistent=False)
        self.linear = ts.nn.Linear(2, 2)

    def forward(self, x):
        self.count.add_(1)
        self.last = x.sum(0)
        x[0].mul_(2)
        return self.linear(x) + self.count


def test_writes_become_outputs():
    module = Counter()
    program = ts.export.export(module, (ts.ones(3, 2),)).run_decompositions()
    kinds = [(s.kind.name, s.target) for s in program.graph_signature.output_specs]
    assert kinds == [
        ("BUFFER_MUTATION", "count"), ("BUFFER_MUTATION", "last"), ("USER_INPUT_MUTATION", "x"), ("USER_OUTPUT", None),
    ]  # fmt: skip
    x, same = ts.ones(3, 2), ts.ones(3, 2)
    runs = program.module()
    wanted = Counter()
    wanted.load_state_dict(module.state_dict())
    for _ in range(2):
        ts.testing.assert_close(runs(x), wanted(same))
    ts.testing.assert_close(x, same)
    assert program.state_dict["count"].tolist() == [2, 2] == module.count.tolist()
    assert program.constants["last"].tolist() == wanted.last.tolist()


def test_views_written_later_are_seen_by_all():
    class Program(ts.nn.Module):
        def forward(self, x):
            base = x.clone()
            row, column = base[1], base[:, 0]
            row.fill_(7)
            column.add_(row.sum())
            base.t()[1].zero_()
            return base, row, column

    x = ts.rand(3, 3)
    program = ts.export.export(Program(), (x,)).run_decompositions()
    ts.testing.assert_close(program.module()(x), Program()(x))


def test_decomposition_table_of_the_caller():
    class Program(ts.nn.Module):
        def forward(self, x):
            return ts.nn.functional.silu(x).t()

    program = ts.export.export(Program(), (ts.ones(2, 3),))
    aten = ts.ops.aten
    decomposed = program.run_decompositions({aten.silu.default: lambda x: aten.sigmoid(x) * x})
    assert [str(t) for t in _targets(decomposed)] == ["aten.sigmoid.default", "aten.mul.Tensor", "aten.t.default"]


def test_sizes_that_may_change():
    class Program(ts.nn.Module):
        def forward(self, x):
            return x.reshape(x.shape[0] * 2, -1).t().flatten(), x[1:].softmax(-1)

    program = ts.export.export(Program(), (ts.rand(4, 6),), dynamic_shapes=({0: ts.export.Dim("n", min=4)},))
    low = program.run_decompositions().module()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (4, 5, 9):
            x = ts.rand(n, 6)
            ts.testing.assert_close(low(x), Program()(x))


def test_one_definition():
    """Autograd, `vmap` and `run_decompositions` use one definition of an operator's decomposition."""
    twice = set()
    for key, function in decomposition_table.core_aten_decompositions().items():
        record = getattr(registry.operator(key), "record", None)
        derivative = None if record is None or record.same_as else derivative_of(record)
        if isinstance(function, decomposition_table.ComposedDecomposition):
            assert derivative_of(record).decomposition, key
        elif derivative is not None and derivative.decomposition:
            twice.add(key)
    assert twice == set(DECOMPOSED_TWICE)


@pytest.mark.parametrize("function, operators", [
    (lambda x: ts.adjoint(x), ["permute.default"]),
    (lambda x: ts.swapdims(x, 0, 1), ["permute.default"]),
    (lambda x: ts.special.round(x, decimals=1), ["round.decimals"]),
    (lambda x: ts.special.gammainc(x, x), ["igamma.default"]),
    (lambda x: ts.special.polygamma(1, x), ["polygamma.default"]),
    (lambda x: ts.subtract(x, x, alpha=2), ["sub.Tensor"]),
    (lambda x: ts.divide(x, 2, rounding_mode="floor"), ["div.Tensor_mode"]),
    (lambda x: ts.row_stack([x, x]), ["cat.default"]),
])  # fmt: skip
def test_aliases_decompose_to_the_operator(function, operators):
    """An alias decomposes to the operator in `OperatorRecord.same_as`, which may decompose further."""
    module, x = module_of_function(function), ts.rand(2, 3, 4) + 1
    program = ts.export.export(module, (x,)).run_decompositions()
    assert [str(target) for target in _targets(program)] == [f"aten.{name}" for name in operators]
    ts.testing.assert_close(program.module()(x), module(x))


def test_every_alias_has_a_decomposition():
    aliases = {record.key for record in registry.records() if record.same_as and not record.variant}
    assert len(aliases) > 50 and aliases <= decomposition_table.core_aten_decompositions().keys()
    assert not aliases & decomposition_table._decompositions.keys()  # no decomposition of its own


@pytest.mark.parametrize("text, arguments", [
    ("aten::outer", ([2.0, 3.0], [1.0, 4.0])), ("aten::square", ([2.0, 3.0],)), ("aten::kron", ([2.0], [3.0, 1.0])),
    ("aten::trapezoid.dx", ([1.0, 3.0, 5.0],)), ("aten::nanmean", ([1.0, 3.0, float("nan")],)),
    ("aten::repeat_interleave.self_int", ([1.0, 3.0], 2)),
])  # fmt: skip
def test_composed_decompositions_have_default_arguments(text, arguments):
    arguments = [ts.tensor(x) if isinstance(x, list) else x for x in arguments]
    operator = getattr(ts.ops.aten, text[6:].partition(".")[0])
    decomposition = decomposition_table.core_aten_decompositions()[text]
    ts.testing.assert_close(decomposition(*arguments), operator(*arguments))


@pytest.mark.parametrize("function, operators", [
    (lambda x: ts.trapezoid(x, dx=0.5), ["select.int", "select.int", "add.Tensor", "mul.Scalar", "sum.dim_IntList", "sub.Tensor", "mul.Scalar"]),
    (lambda x: ts.float_power(x, 2), ["_to_copy.default", "pow.Tensor_Scalar"]),
    (lambda x: ts.outer(x, x) * 2, ["view.default", "mul.Tensor", "mul.Tensor"]),
])  # fmt: skip
def test_composed_decompositions_call_scalar_overloads(function, operators):
    """Numbers are operands of `Scalar` overloads in decompositions, and of `Tensor` overloads in programs."""
    program = ts.export.export(module_of_function(function), (ts.rand(4),)).run_decompositions()
    assert [str(target) for target in _targets(program)] == [f"aten.{name}" for name in operators]


DIM = Dim("d", min=3, max=50)
SIZE_PROGRAMS = {
    "chunk": (lambda a, b: a.chunk(3), (8, 8), (Dim.AUTO, Dim.AUTO),
              "sym_size add sub floordiv mul sub sub split_with_sizes getitem getitem getitem"),
    "narrow": (lambda a, b: a.narrow(0, 1, b.shape[0]) + b, (5, 4), (DIM + 1, DIM), "sym_size add slice add"),
    "flatten": (lambda a, b: a.flatten() + b, (4, 12), (DIM, 3 * DIM), "sym_size mul view add"),
}  # fmt: skip


@pytest.mark.parametrize("name", SIZE_PROGRAMS)
def test_arithmetic_on_sizes(name):
    """Decompositions compute sizes with PyTorch's operations, also if a size of another argument is equal."""
    function, sizes, dims, operators = SIZE_PROGRAMS[name]
    first = ts.ones(4, 3) if name == "flatten" else ts.ones(sizes[0])
    shapes = tuple({0: dim} for dim in dims)
    program = export(Function(function), (first, ts.ones(sizes[1])), dynamic_shapes=shapes).run_decompositions()
    targets = [n.target for n in program.graph.nodes if n.op == "call_function"]
    assert [str(getattr(t, "overloadpacket", t).__name__) for t in targets] == operators.split()
