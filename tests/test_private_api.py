"""Private names that programs use: counters, `create_script_module`, record files and safe globals."""

import io
import pickle

import pytest

import ts
from ts import nn, serialization
from ts.jit import logging


def test_counters():
    """Counters return sums and means of values added by scripts and Python; without a logger nothing is
    stored."""

    def count(x):
        for i in range(5):
            logging.add_stat_value("steps", i)
        return x

    logger = logging.LockingLogger()
    logger.set_aggregation_type("mean", logging.AggregationType.AVG)
    before = logging.set_logger(logger)
    try:
        ts.jit.script(count)(ts.ones(1))
        count(ts.ones(1))
        logging.add_stat_value("mean", 3)
        logging.add_stat_value("mean", 6)
    finally:
        assert logging.set_logger(before) is logger
    logging.add_stat_value("steps", 1)
    assert [logger.get_counter_val(key) for key in ("steps", "mean", "other")] == [20, 4, 0]
    assert ts.jit._logging is logging and logging.time_point() > 0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 3
        self.first = nn.Linear(2, 2)
        self.again = self.first

    def forward(self, x):
        return x * self.scale

    @ts.jit.export
    def other(self, x):
        return self.first(x)


def test_create_script_module():
    """`create_script_module` compiles the methods that its function names, or those that scripting infers."""
    without_methods = ts.jit.create_script_module(Net(), lambda module: [])
    assert without_methods.scale == 3 and not hasattr(without_methods, "forward") and not hasattr(without_methods, "other")
    one = ts.jit.create_script_module(Net(), lambda module: ["other"])
    assert one.other(ts.ones(1, 2)).shape == (1, 2)
    inferred = ts.jit.create_script_module(Net(), ts.jit.infer_methods_to_compile)
    assert inferred(ts.ones(1)) == 3 and ts.jit.infer_methods_to_compile(Net()) == ["forward", "other"]
    unshared = [ts.jit.create_script_module(Net(), ts.jit.infer_methods_to_compile, share_types=False) for _ in "ab"]
    assert ts.jit.module_type(unshared[0]) != ts.jit.module_type(unshared[1])


def test_each_tensor_once():
    net = Net()
    assert list(net.state_dict()) == ["first.weight", "first.bias", "again.weight", "again.bias"]
    assert list(ts.jit.unique_state_dict(net)) == ["first.weight", "first.bias"]
    assert ts.jit.unique_state_dict(net, keep_vars=True)["first.bias"] is net.first.bias


def test_files_of_records(tmp_path):
    """Records written by `PyTorchFileWriter` are read by name, from a path and from memory."""
    for file in (str(tmp_path / "notes.pt"), io.BytesIO()):
        writer = ts.jit.PyTorchFileWriter(file)
        writer.write_record("a", b"hello", 5)
        writer.write_record("b/c", "two", 2)
        with pytest.raises(RuntimeError, match="serialize file twice: a"):
            writer.write_record("a", b"", 0)
        assert writer.get_all_written_records() == {"a", "b/c"}
        writer.write_end_of_file()
        with pytest.raises(RuntimeError, match="already closed"):
            writer.write_record("d", b"", 0)
        reader = ts.jit.PyTorchFileReader(file)
        assert reader.get_record("a") == b"hello" and reader.get_record("b/c") == b"tw"
        assert reader.get_all_records() == ["a", "b/c", "version", "byteorder"]
        assert reader.has_record("a") and not reader.has_record("z") and reader.get_record_size("a") == 5
        with pytest.raises(RuntimeError, match="failed locating file z"):
            reader.get_record("z")
    with pytest.raises(RuntimeError, match="errno 2"):
        ts.jit.PyTorchFileReader(tmp_path / "none.pt")


class Plain:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("x",)


class Given(tuple):
    def __new__(cls, a, b):
        return tuple.__new__(cls, (a, b))

    def __getnewargs__(self):
        return tuple(self)


class Renamed(Plain):
    """Class registered under another class's name in a file."""


class Stateful(Plain):
    def __getstate__(self):
        return self.x

    def __setstate__(self, state):
        self.x = state + 1


def saved_bytes(value):
    file = io.BytesIO()
    ts.save(value, file)
    file.seek(0)
    assert serialization.is_zipfile(file)
    return ts.load(file)


def test_safe_globals():
    """Classes named in a pickle are created only if they are registered as safe globals."""
    slotted = Slotted()
    slotted.x = 5
    with pytest.raises(pickle.UnpicklingError, match=r"Unsupported global: GLOBAL .*Plain.*add_safe_globals"):
        saved_bytes(Plain(1))
    with serialization.safe_globals([Plain, Slotted, Given, Stateful]):
        assert saved_bytes({"a": [Plain(ts.ones(2))]})["a"][0].x.tolist() == [1, 1]
        assert saved_bytes(slotted).x == 5 and saved_bytes(Given(1, 2)) == Given(1, 2) and saved_bytes(Stateful(3)).x == 4
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([(Renamed, f"{__name__}.Plain")])
    try:
        assert type(saved_bytes(Plain(1))) is Renamed
    finally:
        serialization.clear_safe_globals()
    with pytest.raises(ValueError, match="Expected tuple"):
        serialization.add_safe_globals([(Plain, 3)])


def test_parts_of_graphs():
    """Graph functions return types from tensors, iterate over blocks, and query aliases."""
    graph = ts.jit.CompilationUnit("def f(x, n: int):\n    y = x.add_(n)\n    if n > 1:\n        y = y + 1\n    return y\n").f.graph
    node = graph.find_node("prim::If")
    blocks = node.blocks()
    assert [next(blocks), next(blocks)] == list(node.blocks())
    written = graph.find_node("aten::add_").output()
    aliases = graph.alias_db()
    assert f"%{written.debug_name()} points to: WILDCARD for type Tensor" in str(aliases)
    assert aliases.to_graphviz_str().startswith("digraph alias_db {")
    written.infer_type_from(ts.ones(2, 3))
    assert written.type().str() == "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)"


def test_scripted_modules_reject_new_parts():
    """A scripted module rejects new attributes, but existing ones can be replaced."""
    net = ts.jit.script(Net())
    for add in (
        lambda: net.register_buffer("new", ts.ones(1)),
        lambda: net.register_parameter("new", nn.Parameter(ts.ones(1))),
        lambda: setattr(net, "new", nn.Parameter(ts.ones(1))),
    ):
        with pytest.raises(RuntimeError, match="Can't add a new parameter after ScriptModule construction"):
            add()
    for place in ("first", "new"):
        for add in (lambda: net.add_module(place, nn.ReLU()), lambda: setattr(net, place, nn.ReLU())):
            with pytest.raises(RuntimeError, match=f"Cannot re-assign modules .*'{place}': ReLU"):
                add()
    with pytest.raises(RuntimeError, match="does not have an attribute with name 'new'"):
        net.new = ts.jit.script(nn.ReLU())
    for name in ("first", "again"):
        with pytest.raises(RuntimeError, match="cannot delete methods or parameters of a script module"):
            delattr(net, name)
    with pytest.raises(RuntimeError, match="Could not cast attribute 'scale' to type int: Unable to cast"):
        net.scale = "a"
    net.add_module("first", ts.jit.script(nn.Linear(2, 2, bias=True)))
    net.scale = 4
    assert net(ts.ones(1)) == 4 and repr(ts.jit.ScriptModule()) == "ScriptModule()"
    with pytest.raises(ValueError, match=r"map_location should be either None, string or torch\.device"):
        ts.jit.load(io.BytesIO(net.save_to_buffer()), map_location=3)
