"""Tests of `ts.profiler`: events, nesting, tables, traces and schedules, and no recording without a
profiler."""

import gzip
import io
import json
import threading

import pytest

import ts
from ts.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule


def names(prof):
    return [event.name for event in prof.events()]


def event_of(prof, name):
    results = [event for event in prof.events() if event.name == name]
    assert len(results) == 1, (name, names(prof))
    return results[0]


def fused(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
    z = ts.tanh(x * y + x) * ts.sigmoid(y)
    return ts.mm(z, y)


def labelled(x: ts.Tensor) -> ts.Tensor:
    with ts.profiler.record_function("outer", "why"):
        with ts.autograd.profiler.record_function("inner"):
            y = ts.exp(x)
        z = ts.cos(y)
    return z


def failing(x: ts.Tensor, n: int) -> ts.Tensor:
    with ts.profiler.record_function("fails"):
        y = x.reshape(n)
    return y


def test_operators_of_python():
    """Calls by function, method and Python operator are recorded inside of the block only."""
    x = ts.ones(3)
    with profile() as prof:
        ts.exp(x)
        x.add(1)
        x * x
        ts.cat([x, x])
    ts.sin(x)
    assert names(prof) == ["aten::exp", "aten::add", "aten::mul", "aten::cat"]
    assert all(event.cpu_time_total > 0 and event.cpu_parent is None for event in prof.events())


def test_functions_and_their_operators():
    """A scripted function is an event around its operators; a fusion group is one event named after its
    operators."""
    f = ts.jit.script(fused)
    x = ts.rand(8, 8)
    expected = f(x, x)
    with profile() as prof:
        result = f(x, x)
    assert ts.equal(result, expected)
    assert names(prof) == ["fused", "fused mul_add_tanh_sigmoid_mul", "aten::mm"]
    outer, group, product = prof.events()
    assert group.cpu_parent is outer and product in outer.cpu_children
    assert 0 <= outer.self_cpu_time_total <= outer.cpu_time_total
    assert group.time_range.end <= product.time_range.start


def test_group_without_fusion():
    """An unfused group is an event with its operators."""
    f = ts.jit.script(fused)
    x = ts.rand(8, 8)
    f(x, x)
    with ts.limits(seconds=100), profile() as prof:
        f(x, x)
    assert [name for name in names(prof) if name.startswith("aten::")][:3] == ["aten::mul", "aten::add", "aten::tanh"]
    assert any(name.startswith("not fused") for name in names(prof))


def test_lines_of_scripts():
    """Events of operators in scripts contain the script line."""
    f = ts.jit.script(fused)
    x = ts.rand(4, 4)
    f(x, x)
    with profile() as prof:
        f(x, x)
    first = fused.__code__.co_firstlineno
    assert event_of(prof, "aten::mm").source == f"{__file__}({first + 2}): fused"


def calling(x: ts.Tensor) -> ts.Tensor:
    return ts.neg(fused(x, x))


def test_lines_of_called_scripts():
    """A stack lists the line of the operator first, then the lines of the calling functions."""
    f = ts.jit.script(calling)
    x = ts.rand(4, 4)
    f(x)
    with profile(with_stack=True) as prof:
        f(x)
    first, caller = fused.__code__.co_firstlineno, calling.__code__.co_firstlineno
    product = event_of(prof, "aten::mm")
    assert product.source == f"{__file__}({first + 2}): fused"
    assert product.stack[:2] == [product.source, f"{__file__}({caller + 1}): calling"]
    assert "test_lines_of_called_scripts" in product.stack[2]


def test_kernels():
    """Events name the kernel that computed an operator, also if the backend kernel falls back to the record;
    tables and traces contain it."""
    f = ts.jit.script(fused)
    x = ts.rand(4, 4)
    f(x, x)
    with profile() as prof:
        f(x, x)
        ts.cov(x)
        ts.ones(2, device="meta").exp()
        ts.sum(x, 0)
        ts.sum(x.to(ts.complex64), 0)
    kernels = {event.name: event.kernel for event in prof.events()}
    assert kernels["fused mul_add_tanh_sigmoid_mul"] == "kernels.fused_executor" and kernels["aten::mm"] == "kernels.gemm_ops"
    assert kernels["aten::cov"] == "numpy" and kernels["aten::exp"] == "meta" and kernels["fused"] == ""
    assert [event.kernel for event in prof.events() if event.name == "aten::sum"] == ["kernels.reduce", "numpy"]
    assert {row.key: row.kernel for row in prof.key_averages()}["aten::sum"] == "kernels.reduce, numpy"
    assert "Kernel" in prof.key_averages().table() and "kernels.fused_executor" in prof.key_averages().table()


def test_stages_of_the_compiler():
    """The compiler's stages of a first call are recorded."""
    unit = ts.jit.CompilationUnit("def first(x):\n    return x.exp() + 1\n")
    with profile() as prof:
        unit.first(ts.ones(2))
    result = names(prof)
    assert {"compile: optimise", "compile: lower", "pass: inline"} <= set(result)
    stage = event_of(prof, "compile: optimise")
    assert stage.cpu_parent.name == "first" and stage.detail == "first"
    assert stage in event_of(prof, "pass: inline").cpu_parent.cpu_parent.cpu_children


def test_labels():
    """`record_function` is a context manager and a decorator in Python, and a context manager in scripts."""

    @record_function("decorated")
    def square(x):
        return x * x

    f = ts.jit.script(labelled)
    x = ts.ones(2)
    f(x)
    with profile() as prof:
        with record_function("python", "detail"):
            square(x)
        f(x)
    assert event_of(prof, "aten::mul").cpu_parent.name == "decorated"
    assert event_of(prof, "decorated").cpu_parent.name == "python"
    assert event_of(prof, "python").detail == "detail" and event_of(prof, "python").is_user_annotation
    assert event_of(prof, "aten::exp").cpu_parent.name == "inner"
    assert event_of(prof, "aten::cos").cpu_parent.name == "outer"
    assert event_of(prof, "inner").cpu_parent.name == "outer"
    assert event_of(prof, "outer").cpu_parent.name == "labelled"


def test_labels_in_traces():
    """`record_function` labels are part of a trace, are saved and loaded, and last until a forked task is
    awaited; they add no operator events."""

    def inside(x):
        with record_function("inside"):
            return x * 2

    traced = ts.jit.trace(inside, ts.ones(2))

    def around(x):
        with record_function("around"):
            result = ts.jit.wait(ts.jit.fork(traced, x))
            with record_function("after"):
                return result.exp()

    f = ts.jit.trace(around, ts.ones(2))
    assert [node.kind() for node in f.graph.nodes() if node.kind().startswith("profiler")] == [
        "profiler::_record_function_enter_new", "profiler::_record_function_enter_new",
        "profiler::_record_function_exit", "profiler::_record_function_exit",
    ]  # fmt: skip
    buffer = io.BytesIO()
    ts.jit.save(f, buffer)
    buffer.seek(0)
    loaded = ts.jit.load(buffer)
    with profile() as prof:
        loaded(ts.ones(2))
    assert event_of(prof, "aten::exp").cpu_parent.name == "after"
    assert event_of(prof, "after").cpu_parent.name == "around"
    assert event_of(prof, "inside")
    assert not any(name.startswith("profiler::") for name in names(prof))


def test_labels_end_with_errors():
    """The event of a label ends if an exception leaves the block, also in scripts."""
    f = ts.jit.script(failing)
    with profile() as prof:
        with pytest.raises(RuntimeError):
            f(ts.ones(4), 3)
        ts.exp(ts.ones(2))
    assert event_of(prof, "aten::exp").cpu_parent is None
    assert event_of(prof, "fails").cpu_time_total > 0


def test_shapes():
    """`record_shapes` records sizes and dtypes of arguments, and tables can be grouped by shape."""
    with profile(record_shapes=True) as prof:
        ts.mm(ts.ones(2, 3), ts.ones(3, 4))
        ts.mm(ts.ones(1, 3), ts.ones(3, 4))
        ts.cat([ts.ones(2), ts.ones(3)])
    products = [event for event in prof.events() if event.name == "aten::mm"]
    assert products[0].input_shapes == [[2, 3], [3, 4]] and products[0].input_types == ["float32", "float32"]
    assert event_of(prof, "aten::cat").input_shapes == [[[2], [3]], []]
    rows = {(row.key, row.input_shapes): row.count for row in prof.key_averages(group_by_input_shape=True)}
    assert rows["aten::mm", "[[2, 3], [3, 4]]"] == rows["aten::mm", "[[1, 3], [3, 4]]"] == 1
    assert "Input Shapes" in prof.key_averages(group_by_input_shape=True).table()


def test_memory():
    """Memory columns show allocated and retained bytes, the peak, and the part of callees."""
    tensor = ts.ones(1000)
    with profile(profile_memory=True) as prof:
        with record_function("part"):
            x = tensor + 1
            del x
            y = tensor + 2
    assert [event.cpu_memory_usage for event in prof.events() if event.name == "aten::add"] == [4000, 4000]
    part = event_of(prof, "part")
    assert part.cpu_memory_usage == 4000 and part.self_cpu_memory_usage == -4000
    assert 4000 <= prof.peak_memory < 8000
    assert y.numel() == 1000
    assert "Self CPU Mem" in prof.key_averages().table()


def test_memory_inside_of_limits():
    """Limits inside of the block count separately, and the profiler continues to count."""
    x = ts.ones(1000)
    with profile(profile_memory=True) as prof:
        with ts.limits(bytes=1 << 20):
            x + 1
        with ts.limits(seconds=100):
            y = x + 2
        z = x + 3
    assert [event.cpu_memory_usage for event in prof.events()] == [4000, 4000, 4000]
    with ts.limits(bytes=1 << 20):
        assert y.numel() + z.numel() == 2000
    with pytest.raises(ts.errors.MemoryExceeded), ts.limits(bytes=1000):
        x + 1


def test_stacks():
    """`with_stack` records the calling Python frames, and stacks for flame graphs."""
    with profile(with_stack=True) as prof:
        ts.exp(ts.ones(2))
    assert any("test_stacks" in frame for frame in event_of(prof, "aten::exp").stack)
    assert prof.key_averages(group_by_stack_n=3)[0].stack


def test_flame_graph(tmp_path):
    x = ts.ones(300, 300)
    with profile(with_stack=True) as prof:
        ts.mm(x, x)
    prof.export_stacks(tmp_path / "stacks")
    line = (tmp_path / "stacks").read_text().splitlines()[-1]
    assert "test_flame_graph" in line and int(line.rpartition(" ")[2]) > 0
    with pytest.raises(ValueError, match="metric"):
        prof.export_stacks(tmp_path / "stacks", "self_cuda")


def test_table():
    """`table` sorts rows, limits their number and prints the total time."""
    x = ts.ones(200, 200)
    with profile() as prof:
        for _ in range(3):
            ts.exp(x[0])
        ts.mm(x, x)
    averages = prof.key_averages()
    lines = averages.table(sort_by="count", row_limit=1).splitlines()
    assert lines[1].lstrip().startswith("Name") and "Self CPU %" in lines[1]
    assert lines[3].split()[0] == "aten::exp" and lines[3].split()[-1] == "3" and lines[4].startswith("---")
    assert "Self CPU time total: " in lines[5]
    assert averages.total_average().count == 4
    assert averages.self_cpu_time_total == pytest.approx(prof.events().self_cpu_time_total)
    assert "aten::mm" in averages.table(row_limit=-1, header="all", time_unit="ms")
    with pytest.raises(ValueError, match="cannot sort by 'size'"):
        averages.table(sort_by="size")
    assert ts.profiler.averages.EventList().table() == ""


def test_recursion_counts_once():
    """The total time of a name excludes nested events of the same name."""
    with profile() as prof:
        with record_function("same"), record_function("same"):
            ts.exp(ts.ones(10))
    row = next(row for row in prof.key_averages() if row.key == "same")
    outer = next(event for event in prof.events() if event.name == "same")
    assert row.count == 2 and row.cpu_time_total == pytest.approx(outer.cpu_time_total)


def test_chrome_trace(tmp_path):
    """The Chrome trace is valid JSON with complete events, also if compressed."""
    f = ts.jit.script(labelled)
    with profile(record_shapes=True) as prof:
        f(ts.ones(2))
    prof.add_metadata("who", 'me "quoted"')
    prof.add_metadata_json("numbers", "[1, 2]")
    prof.export_chrome_trace(tmp_path / "trace.json")
    prof.export_chrome_trace(tmp_path / "trace.json.gz")
    document = json.loads((tmp_path / "trace.json").read_text())
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        assert json.load(file)["traceEvents"] == document["traceEvents"]
    assert document["who"] == 'me "quoted"' and document["numbers"] == [1, 2]
    complete = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert {"aten::exp", "outer", "labelled"} <= {event["name"] for event in complete}
    assert all(event["dur"] >= 0 and event["ts"] >= 0 and event["pid"] and event["tid"] for event in complete)
    by_name = {event["name"]: event for event in complete}
    assert by_name["aten::exp"]["args"]["Kernel"] == "kernels.pointwise"
    assert by_name["aten::exp"]["args"]["Input Dims"] == [[2]] and by_name["outer"]["cat"] == "user_annotation"


def test_schedule():
    """`schedule` maps a step number to an action, in cycles of wait, warmup and active steps."""
    action = schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    assert [action(i).value for i in range(10)] == [0, 0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert schedule(wait=0, warmup=0, active=1)(7) is ProfilerAction.RECORD_AND_SAVE
    assert schedule(wait=2, warmup=0, active=1, skip_first_wait=1)(0) is ProfilerAction.RECORD_AND_SAVE
    with pytest.raises(ValueError, match="active"):
        schedule(wait=0, warmup=0, active=0)


def test_steps():
    """Only active steps are in the trace given to `on_trace_ready`, each as a label."""
    ready = []
    x = ts.ones(2)
    with profile(
        schedule=schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=lambda prof: ready.append(names(prof)),
    ) as prof:
        for name in ("exp", "sin", "cos", "tan", "neg", "abs"):
            getattr(ts, name)(x)
            prof.step()
    assert ready == [["ProfilerStep#2", "aten::cos", "ProfilerStep#3", "aten::tan"]]


def test_steps_without_a_schedule():
    ready = []
    with profile(on_trace_ready=ready.append) as prof:
        ts.exp(ts.ones(2))
        prof.step()
        ts.sin(ts.ones(2))
    assert ready == [prof] and event_of(prof, "aten::sin").cpu_parent.name == "ProfilerStep#1"


def test_files_for_tensorboard(tmp_path):
    with profile(on_trace_ready=ts.profiler.tensorboard_trace_handler(str(tmp_path / "logs"), "worker")):
        ts.exp(ts.ones(2))
    (path,) = (tmp_path / "logs").iterdir()
    assert path.name.startswith("worker.") and path.name.endswith(".pt.trace.json")
    json.loads(path.read_text())


def forking(x: ts.Tensor) -> ts.Tensor:
    future = ts.jit.fork(fused, x, x)
    return ts.jit.wait(future) + 1


def test_threads():
    """Forked tasks are recorded on their own thread; operators of unrelated threads are not recorded."""
    f = ts.jit.script(forking)
    x = ts.ones(4, 4)
    f(x)

    def run_on_thread():
        ts.cos(x)

    with profile() as prof:
        f(x)
        thread = threading.Thread(target=run_on_thread)
        thread.start()
        thread.join()
    assert "aten::cos" not in names(prof)
    assert event_of(prof, "aten::mm").name == "aten::mm"


def test_profilers_do_not_nest():
    """A nested profiler raises an error, and the outer profiler continues."""
    with profile() as prof:
        with pytest.raises(RuntimeError, match="cannot be nested"), profile():
            pass
        ts.exp(ts.ones(2))
        with pytest.raises(RuntimeError, match="is still recording"):
            prof.events()
    assert "aten::exp" in names(prof)
    with pytest.raises(AssertionError, match="initialized"):
        profile().events()


def test_the_block_ends_with_errors():
    with pytest.raises(ZeroDivisionError), profile() as prof:
        ts.exp(ts.ones(2))
        1 / 0
    assert "aten::exp" in names(prof)
    with profile() as again:
        ts.sin(ts.ones(2))
    assert "aten::sin" in names(again)


def test_results_are_the_same():
    """A profiled program has the results, errors and random numbers of an unprofiled program."""
    f = ts.jit.script(fused)
    ts.manual_seed(3)
    x = ts.rand(17, 17)
    ts.manual_seed(3)
    with profile(record_shapes=True, profile_memory=True, with_stack=True):
        assert ts.equal(ts.rand(17, 17), x)
        profiled = f(x, x)
        with pytest.raises(RuntimeError, match="must be a matrix"):
            ts.mm(ts.ones(2), x)
    assert ts.equal(profiled, f(x, x))


def test_activities():
    assert ts.profiler.supported_activities() == {ProfilerActivity.CPU}
    with pytest.warns(UserWarning, match="only CPU activities"), profile(activities=[ProfilerActivity.CUDA]):
        pass
    with pytest.raises(NotImplementedError, match="with_flops"):
        profile(with_flops=True)
    with pytest.raises(AssertionError, match="activities"):
        profile(activities=[])


def test_the_older_name():
    """The former name `ts.autograd.profiler.profile` works."""
    with ts.autograd.profiler.profile(record_shapes=True) as prof:
        ts.exp(ts.ones(2))
    assert "aten::exp" in prof.table() and "aten::exp" in prof.key_averages().table(sort_by="cpu_time")
    assert prof.total_average().count == len(prof.function_events) and prof.self_cpu_time_total > 0
    with ts.autograd.profiler.profile(enabled=False) as off, pytest.raises(RuntimeError, match="didn't finish"):
        print(off.function_events)
    with pytest.raises(NotImplementedError, match="with_flops"):
        ts.autograd.profiler.profile(with_flops=True)
    with pytest.raises(RuntimeError, match="not reentrant"), prof:
        pass


def test_a_label_until_a_future_is_finished():
    future = ts.futures.Future()
    with profile() as recorded:
        with record_function("waits") as label:
            following = label._call_end_callbacks_on_future(future)
        with record_function("meanwhile"):
            ts.ones(2)
        future.set_result(3)
        assert following.wait() == 3
    results = {event.name: event.time_range for event in recorded.events()}
    assert results["waits"].end >= results["meanwhile"].end
    with pytest.raises(RuntimeError, match="can only be called once"):
        label._call_end_callbacks_on_future(future)


def multiply_in_block(x):
    label = ts.ops.profiler._record_function_enter_new("block", "arguments")
    y = x * 2
    ts.ops.profiler._record_function_exit(label)
    return y


def test_labels_that_are_objects():
    """Label objects, as in PyTorch's traces, can be used in scripts, archives and Python."""
    scripted = ts.jit.script(multiply_in_block)
    assert "_RecordFunction = profiler::_record_function_enter_new" in str(scripted.graph)
    buffer = io.BytesIO()
    ts.jit.save(scripted, buffer)
    buffer.seek(0)
    for function in (multiply_in_block, scripted, ts.jit.load(buffer)):
        with profile() as prof:
            assert ts.equal(function(ts.ones(2)), ts.full((2,), 2.0))
        assert "block" in [event.name for event in prof.events()]


def test_exit_of_other_objects_raises():
    with pytest.raises((TypeError, RuntimeError)):
        ts.ops.profiler._record_function_exit("block")
    with pytest.raises((TypeError, RuntimeError)):
        ts.ops.profiler._record_function_exit._RecordFunction(3)
