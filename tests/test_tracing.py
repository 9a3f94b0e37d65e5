"""Features of traces beyond PyTorch's: guards on values that leave the trace, warnings and errors."""

import io
import threading
import warnings

import pytest

import ts
from ts.jit import TracerWarning, TracingCheckError
from ts.tracing import source_location


def traced(function, *inputs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracerWarning)
        return ts.jit.trace(function, inputs, **options)


def by_sign(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


def by_length(x):
    for _ in range(x.size(0)):
        x = -x
    return x


def by_len(x):
    return x * len(x)


def by_int(x):
    return x * int(x[0])


def by_item(x):
    return x * x[0].item()


def by_list(x):
    return x * sum(x.tolist())


def by_array(x):
    return x * float(x.numpy().sum())


def by_index(x):
    return x * [2.0, 3.0, 4.0][x.argmax()]


def by_script_result(x):
    return x * count(x)


@ts.jit.script
def count(x) -> int:
    return x.size(0)


GUARDED = [by_sign, by_length, by_len, by_int, by_item, by_list, by_array, by_index, by_script_result]
OTHER = {by_length: [1.0], by_len: [1.0], by_sign: [-1.0, -2.0], by_script_result: [1.0]}


@pytest.mark.parametrize("function", GUARDED)
def test_trace_raises_for_other_conditions(function):
    example = ts.tensor([1.0, 0.5])
    trace = traced(function, example)
    assert trace(example).tolist() == function(example).tolist()
    with pytest.raises(RuntimeError, match="The trace does not hold for these inputs") as failure:
        trace(ts.tensor(OTHER.get(function, [5.0, 7.5])))
    assert "test_tracing.py" in str(failure.value) and "was traced" in str(failure.value)


def test_the_guard_survives_inlining_and_the_same_answer_passes():
    trace = traced(by_sign, ts.ones(2))

    @ts.jit.script
    def caller(x):
        return trace(x) * 2

    assert caller(ts.full((3,), 4.0)).tolist() == [10.0, 10.0, 10.0]
    with pytest.raises(RuntimeError, match="The trace does not hold"):
        caller(-ts.ones(2))


SAID = [
    (by_sign, "`x.sum() > 0` was True when it was traced", "and is False now"),
    (by_length, "`range(x.size(0))` was 2 when it was traced", "and is 1 now"),
    (by_len, "`len(x)` was 2 when it was traced", "and is 1 now"),
    (by_item, "`x[0].item()` was 1.0 when it was traced", "and is 5. now"),
    (by_list, "`x.tolist()` was a tensor when it was traced", "and is another one now"),
    (by_script_result, "`count(x)` was 2 when it was traced", "and is 1 now"),
]


@pytest.mark.parametrize(("function", "then", "now"), SAID)
def test_guard_error_names_value_location_and_fix(function, then, now):
    trace = traced(function, ts.tensor([1.0, 0.5]))
    with pytest.raises(RuntimeError) as failure:
        trace(ts.tensor(OTHER.get(function, [5.0, 7.5])))
    text = str(failure.value)
    line = function.__code__.co_firstlineno
    locations = [f"({__file__}:{line + i}:" for i in range(3)]
    assert then in text and now in text and any(location in text for location in locations)
    assert "script the function" in text and 'guards="off"' in text


def test_guard_error_with_several_source_lines():
    def function(x):
        return x * int(
            x[0] + x[1]
        )  # fmt: skip

    trace = traced(function, ts.tensor([1.0, 2.0]))
    with pytest.raises(RuntimeError, match=r"`int\( x\[0\] \+ x\[1\] \)` was 3 when .* and is 5 now"):
        trace(ts.tensor([2.0, 3.0]))


def test_a_guard_without_source():
    trace = traced(eval("lambda x: x * int(x)"), ts.tensor(2.0))
    with pytest.raises(RuntimeError, match="these inputs: a value of Python was 2 when it was traced"):
        trace(ts.tensor(3.0))


def test_guards_that_warn():
    trace = traced(by_int, ts.tensor([2.0, 1.0]), guards="warn", check_trace=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trace(ts.tensor([2.0, 5.0])).tolist() == [4.0, 10.0]
    with pytest.warns(UserWarning, match=r"`int\(x\[0\]\)` was 2 when it was traced .* and is 3 now"):
        assert trace(ts.tensor([3.0, 5.0])).tolist() == [6.0, 10.0]


def test_no_guards():
    for function in GUARDED:
        example = ts.tensor([1.0, 0.5])
        trace = traced(function, example, guards="off")
        assert "prim::If" not in str(trace.graph) and trace(example).tolist() == function(example).tolist()
    assert traced(by_int, ts.tensor([2.0, 1.0]), guards="off")(ts.tensor([3.0, 5.0])).tolist() == [6.0, 10.0]


def test_guards_of_modules():
    class Net(ts.nn.Module):
        def forward(self, x):
            return by_int(x)

    x = ts.tensor([3.0, 5.0])
    for guards, expected in (("raise", None), ("off", [6.0, 10.0])):
        trace = traced(Net(), ts.tensor([2.0, 1.0]), guards=guards)
        if expected is None:
            with pytest.raises(RuntimeError, match="The trace does not hold"):
                trace(x)
        else:
            assert trace(x).tolist() == expected
    with pytest.raises(ValueError, match="guards: expected one of 'raise', 'warn', 'off', but got 'no'"):
        ts.jit.trace(by_int, x, guards="no")
    with pytest.raises(ValueError, match="guards: expected one of"):
        ts.jit.trace_module(Net(), {"forward": x}, guards="no")


def test_user_exceptions_are_guarded():
    """An exception raised by user code is guarded; errors inside of `ts` are not, see
    `tests/pytorch_parity/test_trace_generalization.py`."""

    def function(x):
        if x.size(0) != 2:
            raise ValueError("two rows")
        return x + 1

    with pytest.raises(RuntimeError, match=r"`x.size\(0\) != 2` was False"):
        traced(function, ts.ones(2))(ts.ones(3))


CHOOSES = """
def function(x):
    if x > 1 and (
        x > 2
    ):
        raise ValueError(x)
    if x > 3:
        warnings.warn("x", stacklevel=2)
    if x > 4:
        _warn_of(x)
    else:
        x = x + 1
    if x > 5:
        x = x + 1
    else:
        raise ValueError(x)
    assert x > 6
    if x > 7:
        x = x + 1
    if x > 8:
        if x > 9:
            warnings.warn("x", stacklevel=2)
    elif x > 10:
        raise ValueError(x)
    return x
"""


def test_conditions_without_guards(tmp_path):
    """Conditions that only raise an error, and select no other operators, need no guard."""
    file = tmp_path / "library.py"
    file.write_text(CHOOSES)
    lines = [number for number, line in enumerate(CHOOSES.splitlines(), 1) if "> " in line]
    results = {int(CHOOSES.splitlines()[n - 1].split("> ")[1].split()[0].rstrip(":")) for n in source_location._error_check_lines(str(file)) if n in lines}
    assert results == {1, 2, 3, 5, 6, 8, 9, 10}


def test_checks_of_the_library_add_no_guards():
    def function(x):
        return ts.nn.functional.batch_norm(x, None, None, training=True)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = ts.jit.trace(function, ts.rand(2, 3, 4))
    assert "prim::If" not in str(trace.graph) and trace(ts.rand(1, 3, 5)).shape == (1, 3, 5)


def test_scalar_window_lengths_are_recorded():
    """A scalar window length is recorded as a dynamic size, while PyTorch's trace keeps the example's
    length."""
    pooled = traced(lambda x: ts.nn.functional.max_pool2d(x, x.size(2)), ts.rand(2, 3, 4, 4))
    x = ts.rand(1, 3, 6, 6)
    assert pooled(x).tolist() == x.amax((2, 3), True).tolist()


def test_coordinates_in_a_traced_shape():
    trace = traced(lambda i, x: ts.unravel_index(i, x.shape), ts.tensor([5]), ts.zeros(2, 3))
    i, x = ts.tensor([7, 4]), ts.zeros(3, 4)
    assert [t.tolist() for t in trace(i, x)] == [t.tolist() for t in ts.unravel_index(i, x.shape)]


def test_unpooling_traces_for_other_images():
    """Traces with unpooling accept other image sizes, unlike PyTorch's."""

    def function(x):
        return ts.nn.functional.max_unpool2d(*ts.nn.functional.max_pool2d(x, 2, return_indices=True), 2, output_size=x.size())

    trace = traced(function, ts.rand(2, 1, 4, 4))
    x = ts.rand(1, 1, 7, 8)
    assert trace(x).tolist() == function(x).tolist()


def test_number_of_rows_is_fixed_by_the_example():
    """Iteration over a tensor's rows fixes their number, with and without guards."""
    for guards in ("raise", "off"):
        trace = traced(lambda x: sum(row for row in x), ts.ones(2), guards=guards)
        assert trace(ts.ones(2)).item() == 2.0
        with pytest.raises(RuntimeError, match="Expected 2 elements in a list but found 3"):
            trace(ts.ones(3))


def test_a_trace_of_an_encoder_takes_another_mask():
    """A traced encoder with a causal mask accepts any mask."""
    encoder = ts.nn.TransformerEncoder(ts.nn.TransformerEncoderLayer(4, 2, 8), 1).eval()
    x, causal = ts.rand(3, 1, 4), ts.nn.Transformer.generate_square_subsequent_mask(3)
    trace = ts.jit.trace(encoder, (x, causal))
    mask = ts.zeros(3, 3)
    assert trace(x, mask).tolist() == encoder(x, mask).tolist() != trace(x, causal).tolist()


def test_targets_of_the_first_words_trace_for_all():
    layer = ts.nn.AdaptiveLogSoftmaxWithLoss(4, 12, [3, 6])
    for parameter in layer.parameters():
        parameter.requires_grad_(False)
    x = ts.rand(2, 4)
    trace = traced(layer, x, ts.tensor([0, 1]))
    target = ts.tensor([2, 11])
    assert trace(x, target)[0].tolist() == pytest.approx(layer(x, target).output.tolist())


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (by_sign, "Converting a tensor to a Python boolean"),
        (by_int, "Converting a tensor to a Python integer"),
        (by_item, "Converting a tensor to a Python number"),
        (by_list, "Converting a tensor to a Python list"),
        (by_array, "Converting a tensor to a NumPy array"),
        (by_len, "Using len to get tensor shape"),
        (lambda x: sum(x), "Iterating over a tensor"),
        (lambda x: x + ts.tensor(1.0), "torch.tensor results are registered as constants"),
        (lambda x: [x, x], "Encountering a list at the output"),
    ],
)
def test_warnings(function, message):
    with pytest.warns(TracerWarning, match=message) as caught:
        ts.jit.trace(function, ts.tensor([1.0, 2.0]), check_trace=False)
    assert caught[0].filename == __file__


def test_factories_run_at_each_call():
    def function(x):
        total = ts.tensor([0.0])
        total += x
        return total

    trace = traced(function, ts.ones(1))
    assert [trace(ts.ones(1)).item() for _ in range(3)] == [1.0, 1.0, 1.0]


def test_legacy_constructors_run_at_each_call():
    def function(x):
        tensors = ts.FloatTensor([0.0]), ts.LongTensor([3]), x.new([1.0, 2.0])
        tensors[0].add_(x)
        return tensors

    trace = traced(function, ts.ones(1))
    for _ in range(2):
        total, number, pair = trace(ts.ones(1))
        assert (total.tolist(), number.tolist(), pair.tolist()) == ([1.0], [3], [1.0, 2.0])
    assert all(node.range is None or "test_tracing.py" in node.range.source.filename for node in trace.graph.nodes())


def test_check_finds_programs_that_differ():
    def remembers(x):
        if not hasattr(remembers, "cache"):
            remembers.cache = -x
        return x + remembers.cache

    with pytest.raises(TracingCheckError, match="Graphs differed across invocations!"):
        traced(remembers, ts.rand(3), check_inputs=[(ts.rand(3),)])
    with pytest.raises(TracingCheckError, match="Tensor-valued Constant nodes differed in value"):
        traced(lambda x: x + x.data, ts.rand(3), check_inputs=[(ts.rand(3),)])


def test_check_finds_random_programs():
    with pytest.warns(TracerWarning) as caught:
        ts.jit.trace(lambda x: x + ts.rand(1), ts.ones(2))
    messages = [str(each.message) for each in caught]
    assert any(m.startswith("Trace had nondeterministic nodes.") for m in messages)
    assert any(m.startswith("Output nr 1. of the traced function does not match") for m in messages)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((1,), r"Type 'Tuple\[int\]' cannot be traced"),
        ((ts.ones(1), "a"), r"Type 'Tuple\[Tensor, str\]' cannot be traced"),
        (([ts.ones(1), (ts.ones(1),)],), r"consistent element type. Found Tensor and Tuple\[Tensor\]"),
        (([],), "List trace inputs must have elements"),
    ],
)
def test_inputs_that_cannot_be_traced(inputs, message):
    with pytest.raises(RuntimeError, match=message):
        ts.jit.trace(lambda *xs: xs[0], inputs)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: None, "didn't return any values"),
        (lambda x: (x, 5), "Only tensors, lists, tuples of tensors"),
        (lambda x: {"a": x}, "Encountering a dict at the output"),
        (
            lambda x: (x, ts.ones(1).data),
            r"output 2 \( 1\n\[ torch.FloatTensor\{1\} \]\) of traced region did not have observable",
        ),
    ],
)
def test_outputs_that_cannot_be_traced(function, message):
    with pytest.raises(RuntimeError, match=message):
        ts.jit.trace(function, ts.ones(1))
    assert not ts.jit.is_tracing()


def test_a_value_of_a_fork_needs_a_wait():
    futures = []

    def body(x):
        futures.append(x + 1)
        return x + 1

    def function(x):
        ts.jit.wait(ts.jit.fork(body, x))
        return futures[0]

    with pytest.raises(RuntimeError, match="did not have observable data dependence with trace inputs"):
        ts.jit.trace(function, ts.ones(1), check_trace=False)


def test_other_threads_are_not_recorded():
    results = []

    def function(x):
        other = threading.Thread(target=lambda: results.append((ts.ones(2).size(0), ts.jit.is_tracing())))
        other.start()
        other.join()
        return x + 1

    graph = traced(function, ts.ones(1), check_trace=False).graph
    assert results == [(2, False)]
    assert [node.kind() for node in graph.nodes()] == ["prim::Constant", "prim::Constant", "aten::add"]


def test_scripted_modules_must_be_submodules():
    scripted = ts.jit.script(ts.nn.ReLU())
    with pytest.raises(RuntimeError, match="it is not part of the active trace"):
        ts.jit.trace(lambda x: scripted(x), ts.ones(1))


def test_methods_need_trace_module():
    net = ts.nn.Linear(2, 2)
    with pytest.raises(AttributeError, match="trace doesn't support compiling individual module's functions"):
        ts.jit.trace(net.extra_repr, ts.ones(1))
    assert isinstance(ts.jit.trace(net.forward, ts.ones(1, 2)), ts.jit.TopLevelTracedModule)
    with pytest.warns(UserWarning, match="tracing it is a no-op"):
        scripted = ts.jit.script(net)
        assert ts.jit.trace(scripted, ts.ones(1, 2)) is scripted


def test_get_trace_graph_has_parameters_as_inputs():
    net = ts.nn.Linear(2, 3)
    x = ts.ones(1, 2)
    graph, result, inputs = ts.jit.get_trace_graph(net, (x,), return_inputs=True)
    function = ts.jit.create_function_from_graph("net", graph)
    assert len(graph.inputs()) == 3
    assert function(*inputs).tolist() == result.tolist() == net(x).tolist()


def test_force_outplace_records_new_tensors_and_warns_of_views():
    def function(x):
        y = x + 1
        y.add_(x)
        return y.mul_(2)

    trace = traced(function, ts.ones(2), _force_outplace=True)
    assert [n.kind() for n in trace.graph.nodes() if n.kind() != "prim::Constant"] == [
        "aten::add",
        "aten::add",
        "aten::mul",
    ]
    assert trace(ts.full((2,), 3.0)).tolist() == [14.0, 14.0]

    def through_view(x):
        x.view(-1).add_(1)
        return x

    with pytest.warns(TracerWarning) as caught:
        ts.jit.trace(through_view, ts.ones(2, 2), _force_outplace=True)
    messages = [str(each.message) for each in caught]
    assert any(m.startswith("There are 2 live references to the data region") for m in messages)
    assert any(m.startswith("Output nr 1. of the traced function does not match") for m in messages)


def test_inline_everything_mode():
    @ts.jit.script
    def callee(x):
        return -x

    def function(x):
        return callee(x) + 1

    try:
        ts.jit.set_inline_everything_mode(True)
        assert ts.jit.get_inline_everything_mode()
        kinds = [
            [n.kind() for n in f.graph.nodes()]
            for f in (ts.jit.script(function), traced(function, ts.ones(1)))
        ]
    finally:
        ts.jit.set_inline_everything_mode(False)
    for node_kinds in kinds:
        assert "aten::neg" in node_kinds and "prim::CallFunction" not in node_kinds


def test_inline_everything_mode_in_forked_tasks():
    @ts.jit.script
    def callee(x):
        return -x

    def function(x):
        return ts.jit.wait(ts.jit.fork(callee, x))

    try:
        ts.jit.set_inline_everything_mode(True)
        forked = ts.jit.script(function).graph.find_node("prim::fork").get("Subgraph")
    finally:
        ts.jit.set_inline_everything_mode(False)
    assert forked.find_node("aten::neg") and not forked.find_node("prim::CallFunction")


def test_archives_keep_numbers_and_guards(tmp_path):
    def function(x):
        return x * 2 if x.sum() > 0 else x

    ts.jit.save(traced(function, ts.tensor(1, dtype=ts.int32)), tmp_path / "trace.pt")
    loaded = ts.jit.load(tmp_path / "trace.pt")
    result = loaded(ts.tensor(4, dtype=ts.int32))
    assert (result.dtype, result.item()) == (ts.int32, 8)
    with pytest.raises(RuntimeError, match="The trace does not hold"):
        loaded(ts.tensor(-4, dtype=ts.int32))


def test_masks_in_brackets():
    """An index mask covers its number of dimensions and is recomputed when the trace runs."""

    def parts(x):
        total = x.sum()
        total[total > 0] = 5.0
        wide = x.reshape(2, 3, 1).expand(2, 3, 4)
        return total, x[x.sum() > 0], x[None, x.sum() > 0, 1:], wide[x > 0, 1:], wide.permute(2, 0, 1)[1:, x > 0]

    x = ts.linspace(-1, 2, 6).reshape(2, 3)
    traced = ts.jit.trace(parts, (x,), check_trace=False)
    for given in (x, -x):
        for actual, expected in zip(traced(given), parts(given), strict=True):
            assert actual.shape == expected.shape and actual.tolist() == expected.tolist()


def test_inputs_are_named_by_parameters():
    """A trace of a scripted function names inputs by its parameters, not by variables of the caller."""

    @ts.jit.script
    def doubled(t: ts.Tensor, times: int = 2) -> ts.Tensor:
        return t * times

    x = ts.ones(2, 3)
    # including the trace check, which calls the function from another frame
    graph = str(ts.jit.trace(doubled, (x,)).graph)
    assert "graph(%t" in graph and "%x" not in graph
    assert "graph(%0" in str(ts.jit.trace(lambda *given: ts.neg(given[0]), (x,)).graph)


class Scaled(ts.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, label):
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return 100 * grad, None, None


class Incremented(ts.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad


def test_function_with_its_own_gradient():
    """A traced `autograd.Function` is one node, which calls the function and its `backward`."""
    traced = ts.jit.trace(lambda x: Scaled.apply(x, 3, "a") + 1, ts.ones(2))
    node = traced.graph.find_node("prim::PythonOp")
    assert (node.pyname(), node.scalar_args(), node.cconv()) == ("Scaled", [3, "a"], "dcc")
    assert node.attribute_names() == ["inplace", "module", "Subgraph"] and node.get("inplace") == 0
    assert [inner.kind() for inner in node["Subgraph"].nodes()] == ["prim::Constant", "aten::mul"]
    assert '^Scaled[inplace=0, module="tests.test_tracing", Subgraph=<Graph>](3, a)(%x)' in str(traced.graph)
    x = ts.ones(2, requires_grad=True)
    traced(x).sum().backward()
    assert traced(x).tolist() == [4, 4] and x.grad.tolist() == [100, 100]
    with pytest.raises(RuntimeError, match="Could not export Python function call 'Scaled'"):
        ts.jit.save(traced, io.BytesIO())


@pytest.mark.parametrize("out_of_place", [False, True])
def test_traced_writes_to_an_argument(out_of_place):
    """A function with `mark_dirty` can be traced, as in PyTorch; unlike in PyTorch, the trace runs."""
    traced = ts.jit.trace(Incremented.apply, ts.ones(2), check_trace=False, _force_outplace=out_of_place)
    assert traced.graph.find_node("prim::PythonOp")["inplace"] == 1
    assert (traced.graph.find_node("aten::add_") is None) == out_of_place
    with pytest.raises(RuntimeError, match="inplace Incremented not supported in the JIT"):
        traced(ts.ones(2))


@pytest.mark.parametrize("sizes", [[1, 2], (1, 2)])
def test_split_into_sizes(sizes):
    """PyTorch's `split` calls `split_with_sizes` for a list of sizes."""
    x = ts.ones(2, 3)
    for into_sizes, into_equal_parts in (
        (lambda x: ts.split(x, sizes, 1), lambda x: ts.split(x, 2, 1)),
        (lambda x: x.split(sizes, 1), lambda x: x.split(2, 1)),
    ):
        assert ts.jit.trace(into_sizes, x).graph.find_node("aten::split_with_sizes")
        assert ts.jit.trace(into_equal_parts, x).graph.find_node("aten::split")


def test_types_of_nested_tuples():
    """Tensors in tuples have shapes in the graph; tensors in lists and dicts have none."""
    x = ts.ones(2)
    graph = ts.jit.trace(lambda t: t[0] + t[1][0], ((x, (x, [x])),)).graph
    shaped = "Float(2, strides=[1], requires_grad=0, device=cpu)"
    assert graph.inputs()[0].type().str() == f"({shaped}, ({shaped}, Tensor[]))"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda x: {}, "Tracer cannot infer type of {}\n:Dictionary inputs must have entries"),
        (lambda x: [[]], "Could not infer type of list element: List trace inputs must have elements"),
        (lambda x: {"a": x, "b": [x]}, r"Found Tensor and List\[Tensor\]"),
        (lambda x: {"a": "b"}, r"output 1 \({a: b}\) of traced region cannot be understood"),
        (lambda x: {1: x}, r"output 1 \({1:  1\n\[ torch.FloatTensor\{1\} \]}\) of traced region"),
        (lambda x: {"a": {"b": x}}, "only outputs matching dict"),
        (lambda x: [(x, x)], "Only tensors, lists, tuples of tensors"),
        (lambda x: {x}, "instead got value of type set"),
    ],
)
def test_containers_that_cannot_be_results(result, message):
    with pytest.raises(RuntimeError, match=message):
        ts.jit.trace(result, ts.ones(1), strict=False)


def test_name_of_a_traced_lambda():
    traced = ts.jit.trace(lambda x: x + 1, ts.ones(1))
    assert traced.name == "_lambda" and "def _lambda(" in traced.code


def test_values_of_random_numbers_are_kept_without_a_guard():
    """Decisions that depend only on random numbers (layer drop, seed) are not guarded; other decisions are."""

    def drop_layer(x):
        return x + 1 if ts.rand(1).item() < 2 and ts.rand(()) < ts.rand(()) + 2 else x

    def seed(x):
        return x * int(ts.empty((), dtype=ts.int64).random_(7, 8).item()) + float(ts.randperm(5).tolist()[0] * 0)

    def sampled(x):
        return x * 0 + int(ts.multinomial(x.softmax(0), 1))

    def without_dropout(x):
        y = ts.nn.functional.dropout(x, 0.0, True) + ts.nn.functional.dropout(x, 0.5, False)
        return x + 1 if y.sum() > 0 else x

    x = ts.arange(4.0)
    for function in (drop_layer, seed, sampled):
        ts.manual_seed(0)
        traced = ts.jit.trace(function, x, check_trace=False)
        assert not traced.graph.findAllNodes("prim::If")
        first = traced(x)
        assert all(ts.equal(traced(x), first) for _ in range(8))
    traced = ts.jit.trace(without_dropout, x, check_trace=False)
    with pytest.raises(RuntimeError, match="The trace does not hold"):
        traced(-x)


def test_dropout_outside_of_training_is_deterministic():
    def dropouts(x):
        return ts.nn.functional.dropout(x, 0.5, False) + ts.nn.functional.dropout(x, 0.5, True)

    graph = ts.jit.trace(dropouts, ts.ones(3), check_trace=False).graph
    assert [node.isNondeterministic() for node in graph.findAllNodes("aten::dropout")] == [False, True]
