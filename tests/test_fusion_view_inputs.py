"""View inputs of fused groups have the bits, layouts and errors of the separate view operators."""

import pytest

import ts
from tests.test_fusion import groups, run_unfused, runs, assert_bit_equal, script
from ts.fusion.program import ViewInput, FusedProgram, FusedOp, deserialize_program
from ts.ops import registry

HEADS = {
    "chunk": "p, q = x.chunk(2, 1)",
    "chunk from behind": "p, q = x.chunk(2, -1)",
    "chunk of rows": "p, q = x.chunk(2)",
    "split": "p, q = x.split(x.size(0) // 2)",
    "select": "p, q = x[0], x[-1]",
    "select by a number": "p, q = x[n], x[n - 1]",
    "slice": "p, q = x[:, :4], x[:, 4:8]",
    "slice by steps": "p, q = x[:, ::2], x[:, 1::2]",
    "narrow": "p, q = x.narrow(1, 0, 3), x.narrow(1, 2, 3)",
    "transpose": "p, q = x.transpose(0, 1), x.t()",
    "unsqueeze": "p, q = x.unsqueeze(0), x.unsqueeze(1)",
    "beside the tensor itself": "p, q = x[0], x",
}


def headed(statement):
    text = f"""
def f(x: Tensor, y: Tensor, n: int) -> Tensor:
    {statement}
    return torch.tanh(p) * torch.sigmoid(q) + y
"""
    return script(text)


@pytest.mark.parametrize("statement", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16, ts.int32], ids=str)
def test_the_bits_of_tensors(statement, dtype):
    f = headed(statement)
    for x in (ts.randn(4, 8) * 4, ts.randn(8, 4).t() * 4, ts.randn(400, 800), ts.randn(4, 16)[:, ::2]):
        x = x.to(dtype)
        assert_bit_equal(f(x, ts.ones(1), 1), run_unfused(f, x, ts.ones(1), 1))
    assert runs(f) == (0 if dtype == ts.int32 else 4)  # the sigmoid of integers is computed by NumPy, unfused
    assert not {"aten::chunk", "aten::select", "aten::slice"} & {operator.kind for operator in heads_outside(f)}


def heads_outside(f):
    """Return the view nodes of the executed graph outside of groups."""
    f(ts.ones(4, 8), ts.ones(1), 1)
    return [node for node in ts.jit.last_executed_optimized_graph().nodes() if head_record(node)]


def head_record(node):
    operator = node.operator()
    return operator is not None and operator.record is not None and operator.record.view_input


LSTM = """
def f(gates: Tensor, c: Tensor):
    i, f, g, o = gates.chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
"""


def test_recurrent_cell_creates_no_views():
    f = script(LSTM)
    for batch in (1, 3, 64):
        gates, c = ts.randn(batch, 512), ts.randn(batch, 128)
        for a, b in zip(f(gates, c), run_unfused(f, gates, c), strict=True):
            assert_bit_equal(a, b)
    assert runs(f) == 3 and len(groups(f)) == 1
    assert str(f.plan).splitlines()[1].split()[1].startswith("chunk_")


@pytest.mark.parametrize("threads", [1, 2])
def test_threads(threads):
    before = ts.get_num_threads()
    ts.set_num_threads(threads)
    try:
        f = script(LSTM)
        gates, c = ts.randn(1000, 4096), ts.randn(1000, 1024)
        for a, b in zip(f(gates, c), run_unfused(f, gates, c), strict=True):
            assert_bit_equal(a, b)
        assert runs(f) == 1
    finally:
        ts.set_num_threads(before)


@pytest.mark.parametrize(
    "statement, shape, error",
    [
        ("p, q = x.chunk(2, 1)", (4, 1), "Expected 2 elements"),
        ("p, q = x.chunk(2, 2)", (4, 8), "Dimension out of range"),
        ("p, q = x[n + 3], x", (4, 8), "out of range"),
        ("p, q = x.narrow(1, 0, 9), x", (4, 8), "narrow"),
        ("p, q = x.t(), x", (2, 2, 2), "t()"),
    ],
)
def test_errors_of_views_have_locations(statement, shape, error):
    f = headed(statement)
    with pytest.raises((RuntimeError, IndexError), match=error.replace("(", r"\(").replace(")", r"\)")) as caught:
        f(ts.ones(shape), ts.ones(1), 1)
    assert statement in str(caught.value)


def test_zero_dimensional_views_are_not_fused():
    """Zero-dimensional views are not fused, because type promotion treats them as scalars."""
    f = headed("p, q = x[0], x[1]")
    x = ts.randn(3, dtype=ts.float64)
    assert_bit_equal(f(x, ts.ones(2), 1), run_unfused(f, x, ts.ones(2), 1))
    assert f(x, ts.ones(2), 1).dtype == ts.float32 and runs(f) == 0


def test_a_write_between_a_view_and_its_reader():
    """A view that is read after a write to its base has the written values, and remains a view."""
    written = script("""
def f(x: Tensor):
    x = x + 0
    p, q = x.chunk(2, 0)
    x.mul_(2.0)
    return torch.tanh(p) * q
""")
    transposed = script("""
def f(x: Tensor):
    x = x + 0
    p = x[0]
    x.t_()
    return torch.tanh(p) * p
""")
    for f in (written, transposed):
        x = ts.randn(4, 6)
        assert_bit_equal(f(x), run_unfused(f, x))


def test_views_with_other_users_stay():
    f = script("""
def f(x: Tensor):
    p, q = x.chunk(2, 1)
    return torch.tanh(p) * torch.sigmoid(q), q
""")
    x = ts.randn(4, 6)
    y, q = f(x)
    assert_bit_equal(y, run_unfused(f, x)[0])
    assert q.data_ptr() == x[:, 3:].data_ptr() and runs(f) == 1


def test_more_views_than_the_limit_of_a_group():
    count = 20
    names = [f"p{i}" for i in range(count)]
    text = f"def f(x: Tensor):\n    {', '.join(names)} = x.chunk({count}, 1)\n    return {' * '.join(f'torch.tanh({p})' for p in names)}\n"
    f, x = script(text), ts.randn(3, 2 * count)
    assert_bit_equal(f(x), run_unfused(f, x))


@pytest.mark.parametrize("call", ["type_as(a)", "sum_to_size(a.size())", "dequantize()"])
def test_view_of_a_view_is_computed_each_time(call):
    f = script(f"""
def f(a: Tensor):
    l: List[Tensor] = []
    for i in range(2):
        l.append(a.transpose(0, 0).{call})
    l[0].unsqueeze_(0)
    return l[0].dim(), l[1].dim()
""")
    assert f(ts.ones(2, 3)) == (3, 2)


def operator(key):
    name, _, overload = key.partition(".")
    return next(op for op in registry.lookup(name) if op.overload == overload)


def test_serialization_of_view_inputs():
    tanh, add, select = operator("aten::tanh"), operator("aten::add.Tensor"), operator("aten::select.int")
    rows = (FusedOp(tanh, (0,)), FusedOp(add, (4, 1)))
    program = FusedProgram("tt--", rows, (5,), (), (ViewInput(select, 0, (2, 3)),))
    assert deserialize_program(program.data(lambda op: op.key), operator) == program


@pytest.mark.parametrize(
    "key, input, operands, part, parts",
    [
        ("aten::tanh", 0, (), 0, 0),
        ("aten::select.int", 1, (2, 3), 0, 0),
        ("aten::select.int", 0, (2,), 0, 0),
        ("aten::select.int", 0, (1, 2), 0, 0),
        ("aten::chunk", 0, (2, 3), 2, 2),
        ("aten::chunk", 9, (2, 3), 0, 2),
    ],
)
def test_invalid_view_inputs_are_rejected(key, input, operands, part, parts):
    head = ViewInput(operator(key), input, operands, part, parts)
    with pytest.raises(ValueError, match=r"view|arguments"):
        FusedProgram("tn--", (FusedOp(operator("aten::neg"), (0,)),), (4,), (), (head,))


@pytest.mark.parametrize(
    "norm", ["batch_norm(x, None, None, m, v, True, 0.5, 1e-5, False)", "native_batch_norm(x, None, None, m, v, True, 0.5, 1e-5)[0]",
             "instance_norm(x, None, None, m, v, True, 0.5, 1e-5, False)"],
    ids=lambda text: text.partition("(")[0],
)  # fmt: skip
def test_norms_in_training_write_running_statistics(norm):
    text = f"""
def f(x: Tensor, m: Tensor, v: Tensor):
    before = torch.tanh(m[:2] * 2)
    y = torch.{norm}
    after = torch.tanh(m[:2] * 2)
    torch.{norm}
    return before, after, m * 1, y
def g(x: Tensor):
    m, v = torch.zeros(4), torch.ones(4)
    before = m * 2
    torch.{norm}
    return before, m * 2
"""
    f, g = script(text), ts.jit.CompilationUnit(text).g
    for _ in range(2):
        m = ts.zeros(4)
        before, after, last, _ = f(ts.ones(2, 4, 3), m, ts.ones(4))
        assert before.tolist() == [0, 0]
        assert_bit_equal(after, ts.tanh(ts.ones(2)))
        assert last.tolist() == m.tolist() == [0.75] * 4
        before, after = g(ts.ones(2, 4, 3))
        assert (before.tolist(), after.tolist()) == ([0] * 4, [1] * 4)


def test_loop_that_reshapes_a_tensor():
    text = """
def f(a: Tensor, w: Tensor, n: int) -> int:
    total = 0
    for i in range(n):
        total += w.unsqueeze(0).numel()
        torch.add(a, a, out=w)
    return total
"""
    assert script(text)(ts.ones(3, 2), ts.empty(0), 3) == 12
