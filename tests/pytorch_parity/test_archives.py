"""Archives are exchanged with PyTorch in both directions with equal behaviour."""

import io
import re
import zipfile
from enum import Enum
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from ts.ops import registry  # noqa: E402

# PyTorch's reader warns that TorchScript archives are deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


Tensor = torch.Tensor  # scripts of `ts` accept this class as their Tensor


class Mode(Enum):
    FAST = 1
    EXACT = 2


def written(t, source_module, **extra):
    buffer = io.BytesIO()
    t.jit.save(source_module, buffer, **extra)
    return buffer.getvalue()


def transfer(reader, writer, source_module):
    """Load with `reader` a module saved by `writer`."""
    return reader.jit.load(io.BytesIO(written(writer, source_module)))


PAIRS = [
    pytest.param(ts, torch, id="ours"),
    pytest.param(torch, ts, id="theirs"),
    pytest.param(ts, ts, id="own"),
]


def comparable(value):
    """Return tensors as lists, enums as their names, and containers of them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, list | tuple):
        return [comparable(v) for v in value]
    return {comparable(k): comparable(v) for k, v in value.items()} if isinstance(value, dict) else value


def attributes(t):
    class Holder(t.nn.Module):
        numbers: List[int]
        nested: Dict[str, List[Tuple[int, str]]]
        nothing: Optional[Tensor]
        maybe: Optional[float]

        def __init__(self):
            super().__init__()
            self.weight = t.nn.Parameter(t.tensor([1.0, 2.0]))
            self.register_buffer("count", t.tensor([3, 4]))
            self.register_buffer("flags", t.tensor([[True], [False]]))
            self.half = t.ones(2, dtype=t.bfloat16)
            self.numbers = [1, -2, 70000, 2**40]
            self.reals = [1.5]
            self.truths = [True, False]
            self.tensors = [t.tensor([5.0])]
            self.nested = {"a": [(1, "x")], "b": []}
            self.nothing = None
            self.maybe = 2.5
            self.several = (1, "é", 2j, (None, 3.0))
            self.place = t.device("cpu")
            self.mode = Mode.EXACT

        def forward(self, x):
            return x * self.weight

        @t.jit.export
        def everything(self):
            return (
                self.count, self.flags, self.half.float(), self.numbers, self.reals, self.truths, self.tensors,
                self.nested, self.nothing, self.maybe, self.several, str(self.place), self.mode, self.training,
            )  # fmt: skip

    return Holder()


@pytest.mark.parametrize("reader, writer", PAIRS)
def test_attributes(reader, writer):
    """Attributes of every type are restored."""
    source_module = writer.jit.script(attributes(writer).eval())
    read = transfer(reader, writer, source_module)
    assert comparable(read.everything()) == comparable(source_module.everything())
    assert read.training is False
    assert [name for name, _ in read.named_parameters()] == ["weight"]
    assert [name for name, _ in read.named_buffers()] == ["count", "flags"]
    assert read.weight.requires_grad and not read.count.requires_grad
    assert read.original_name == "Holder"


def tree(t):
    class Layer(t.nn.Module):
        def __init__(self, scale: int):
            super().__init__()
            self.linear = t.nn.Linear(2, 2)
            self.scale = scale

        def forward(self, x):
            return self.linear(x) * self.scale

    class Tree(t.nn.Module):
        __constants__ = ["steps"]

        def __init__(self):
            super().__init__()
            self.steps = 3
            self.first = Layer(1)
            self.second = Layer(2)
            self.again = self.first
            self.register_buffer("whole", t.arange(6).float())
            self.part = self.whole[2:4]
            self.rows = self.whole.view(2, 3).t()
            self.layers = t.nn.ModuleList([Layer(3), t.nn.ReLU()])
            self.named = t.nn.ModuleDict({"a": t.nn.Sequential(t.nn.Tanh(), Layer(1))})
            self.calls = 0

        def forward(self, x: Tensor, times: int = 2) -> Tensor:
            for _ in range(times):
                x = self.first(x) + self.second(x) + self.again(x)
            for layer in self.layers:
                x = layer(x)
            for _, layer in self.named.items():
                x = layer(x)
            self.calls += self.steps
            return x + self.whole.sum() + self.rows.sum() + self.calls + self.part

    return Tree()


@pytest.mark.parametrize("reader, writer", PAIRS)
def test_tree(reader, writer):
    """Submodules of one class, shared submodules and views of tensors are restored."""
    source_module = writer.jit.script(tree(writer))
    read = transfer(reader, writer, source_module)
    x = [[1.0, -2.0]]
    for _ in range(2):
        found, expected = comparable(read(reader.tensor(x))), comparable(source_module(writer.tensor(x)))
        assert found[0] == pytest.approx(expected[0], abs=1e-4)
    assert read.calls == 6
    assert (comparable(read.part), comparable(read.rows)) == (comparable(source_module.part), comparable(source_module.rows))
    assert list(read.state_dict()) == list(source_module.state_dict())
    names = [name for name, _ in read.named_modules()]
    assert names == [name for name, _ in source_module.named_modules()]


@pytest.mark.parametrize("reader, writer", PAIRS)
def test_shared_memory(reader, writer):
    """Tensors that share memory share memory after loading."""
    read = transfer(reader, writer, writer.jit.script(tree(writer)))
    read.part.add_(10)
    assert comparable(read.whole) == [0.0, 1.0, 12.0, 13.0, 4.0, 5.0]
    assert comparable(read.rows) == [[0.0, 13.0], [1.0, 4.0], [12.0, 5.0]]


def programs(t):
    class Pair(NamedTuple):
        left: Tensor
        count: int

    class Counter:
        def __init__(self, start: int):
            self.value = start
            self.names: List[str] = []

        def next(self, name: str) -> int:
            self.value += 1
            self.names.append(name)
            return self.value

    @t.jit.interface
    class Shape(t.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            pass

    class Square(t.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * x

    def task(x: Tensor, n: int) -> Tensor:
        return x * n

    class Program(t.nn.Module):
        shape: Shape
        counter: Counter

        def __init__(self):
            super().__init__()
            self.shape = Square()
            self.counter = Counter(5)

        def pair(self, x: Tensor) -> Pair:
            return Pair(x, self.counter.next("pair"))

        def forward(self, x: Tensor, words: List[str], mode: Mode) -> Tuple[Tensor, Dict[str, int], Mode]:
            total: Dict[str, int] = {}
            fresh = Counter(10)
            for i, word in enumerate(words):
                if word == "":
                    continue
                total[word] = i + fresh.next(word)
            future = t.jit.fork(task, x, 3)
            pair = self.pair(x)
            y = self.shape(x) + pair.left + t.jit.wait(future)
            if mode == Mode.FAST:
                mode = Mode.EXACT
            while pair.count > 100 and x.sum() > 0:
                y = y + 1
                break
            best: Optional[int] = None
            if len(words) > 1:
                best = len(words[0])
            assert best is not None, f"too few: {words}"
            return y / 2 + best + t.tensor([1.5, 2.5]), total, mode

    return Program()


@pytest.mark.parametrize("reader, writer", PAIRS)
def test_program(reader, writer):
    """A module with classes, named tuples, interfaces, enums, tasks and control flow is exchanged."""
    source_module = writer.jit.script(programs(writer))
    read = transfer(reader, writer, source_module)
    words = ["a", "", "b"]
    for _ in range(2):
        expected = comparable(source_module(writer.tensor([1.0, 2.0]), words, Mode.FAST))
        assert comparable(read(reader.tensor([1.0, 2.0]), words, Mode.FAST)) == expected
    with pytest.raises(
        (RuntimeError, torch.jit.Error), match="too few"
    ):  # PyTorch raises either
        read(reader.tensor([1.0, 2.0]), ["a"], Mode.FAST)


@pytest.mark.parametrize("reader, writer", PAIRS)
def test_function(reader, writer):
    """A function is saved as the `forward` of a module."""

    def scaled(x, n: int = 2):
        return x.relu() * n

    read = transfer(reader, writer, writer.jit.script(scaled))
    assert comparable(read(reader.tensor([-1.0, 2.0]), 2)) == [0.0, 4.0]
    assert read.original_name == "PlaceholderModule"


@pytest.mark.parametrize("reader, writer", PAIRS)
def test_extra_files(reader, writer):
    """Extra files are returned as bytes; missing ones are empty."""

    def same(x):
        return x

    data = written(writer, writer.jit.script(same), _extra_files={"a": "text", "b": b"\xff"})
    extra = {"a": "", "b": None, "missing": 3}
    reader.jit.load(io.BytesIO(data), _extra_files=extra)
    assert extra == {"a": b"text", "b": b"\xff", "missing": b""}


def test_code_is_the_same():
    """The source files of a saved module equal PyTorch's, except for attributes that PyTorch adds to
    modules."""

    def code(t):
        source_module = t.jit.script(tree(t))
        with zipfile.ZipFile(io.BytesIO(written(t, source_module))) as archive:
            files = [
                archive.read(name).decode("latin-1") for name in archive.namelist() if name.endswith(".py")
            ]
            (text,) = [re.sub(r"___torch_mangle_\d+\.", "", file) for file in files if "class Tree" in file]
        return [
            line
            for line in text.split("\n")
            if line.startswith("  def") or " = torch." in line or "return" in line
        ]

    assert code(ts) == code(torch)


def test_python_functions_are_rejected():
    """A module that calls Python cannot be saved; the message is PyTorch's."""

    def message(t):
        class Calls(t.nn.Module):
            @t.jit.ignore
            def python(self, x: int) -> int:
                return x

            @t.jit.unused
            def unused(self, x: int) -> int:
                return x

            def forward(self, x: int) -> Any:
                if x > 1:
                    return self.unused(x)
                return self.python(x)

        with pytest.raises(RuntimeError) as error:
            written(t, t.jit.script(Calls()))
        return str(error.value).strip().split("\n")[0]

    assert message(ts) == message(torch)


def of_version(data, version):
    """Return the archive with another format version."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(out, "w") as after:
        for name in before.namelist():
            if name.endswith("debug_pkl"):
                continue
            contents = f"{version}\n".encode() if name.endswith("version") else before.read(name)
            after.writestr(name, contents)
    return out.getvalue()


def former_operators(t):
    def divisions(x, y, n: int, z: float):
        in_place = x.clone()
        in_place.div_(y)
        out = t.zeros_like(x)
        t.div(x, y, out=out)
        return x / y, x / n, x / z, in_place, out, t.div(x, y, rounding_mode="floor"), n / 2

    def fills(n: int, z: float):
        return t.full([2], n), t.full([2], z), t.full([2], n, dtype=t.int32)

    return divisions, fills


@pytest.mark.parametrize("version", [3, 4, 5, 10])
def test_former_operators(version):
    """Archives of older versions use the division and fill semantics of their version."""

    def results(t):
        divisions, fills = (torch.jit.script(function) for function in former_operators(torch))
        found = []
        for values, others in (([7, -7], [2, 2]), ([7.0, -7.5], [2, 2]), ([7, -7], [2.0, 2.5])):
            read = t.jit.load(io.BytesIO(of_version(written(torch, divisions), version)))
            try:
                found.append(comparable(read(t.tensor(values), t.tensor(others), 2, 2.5)))
            except RuntimeError as error:
                found.append("can't be cast" in str(error))
        read = t.jit.load(io.BytesIO(of_version(written(torch, fills), version)))
        return [*found, comparable(read(3, 1.5)), [str(value.dtype) for value in read(3, 1.5)]]

    assert results(ts) == results(torch)


def hooked(t):
    class Hooked(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_forward_pre_hook(Hooked.double)
            self.register_forward_hook(Hooked.increment)

        def double(self, inputs: Tuple[Tensor]) -> Tuple[Tensor]:
            return (inputs[0] * 2,)

        def increment(self, inputs: Tuple[Tensor], result: Tensor) -> Tensor:
            return result + 1

        def forward(self, x: Tensor) -> Tensor:
            return -x

    class Outer(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Hooked()

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x) * 10

    return Hooked(), Outer()


@pytest.mark.parametrize("reader, writer", PAIRS)
def test_hooks(reader, writer):
    """Hooks run in calls from Python and in calls by the code."""
    for module, expected in zip(hooked(writer), ([-1.0, -5.0], [-10.0, -50.0]), strict=True):
        read = transfer(reader, writer, writer.jit.script(module))
        assert comparable(read(reader.tensor([1.0, 3.0]))) == expected


def with_state(t):
    class State(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = ["a"]
            self.size = 2

        @t.jit.export
        def __getstate__(self) -> Tuple[List[str], int, bool]:
            return self.words + ["saved"], self.size * 10, self.training

        @t.jit.export
        def __setstate__(self, state: Tuple[List[str], int, bool]) -> None:
            self.words = state[0] + ["loaded"]
            self.size = state[1] + 1
            self.training = state[2]

        def forward(self) -> Tuple[List[str], int]:
            return self.words, self.size

    return State()


@pytest.mark.parametrize("reader, writer", PAIRS)
def test_state(reader, writer):
    """A module with `__getstate__` and `__setstate__` defines what is saved and restored."""
    read = transfer(reader, writer, writer.jit.script(with_state(writer)))
    assert comparable(read()) == [["a", "saved", "loaded"], 21]


def test_objects_of_the_program():
    """An object of an archive is an instance of the program's class of that name, if it exists."""
    source_module = ts.jit.script(programs(ts))
    data = written(ts, source_module)
    own = type(source_module.counter)
    assert type(ts.jit.load(io.BytesIO(data)).counter) is own
    ts.jit.clear_class_registry()
    other = ts.jit.load(io.BytesIO(data)).counter
    assert type(other) is not own
    assert other.next("x") == 6


LAYERS = {
    "Linear(3, 4)": (2, 3),
    "Conv2d(3, 4, 2, padding='same')": (2, 3, 5, 5),
    "ConvTranspose2d(3, 4, 2)": (2, 3, 5, 5),
    "BatchNorm2d(3)": (2, 3, 4, 4),
    "Sequential(nn.LSTM(3, 4, 2, bidirectional=True))": (5, 2, 3),
    "GRUCell(3, 4)": (2, 3),
    "MaxPool2d(2)": (2, 3, 4, 4),
    "PReLU()": (2, 3),
    "LayerNorm(3)": (2, 3),
}


@pytest.mark.parametrize("text", LAYERS)
def test_layers(text):
    """Layers of `ts.nn` run in PyTorch, and PyTorch's run in `ts`."""
    nn = ts.nn
    source_module = ts.jit.script(eval(f"nn.{text}", {"nn": nn}).eval())
    theirs, own = transfer(torch, ts, source_module), transfer(ts, ts, source_module)
    back = transfer(ts, torch, theirs)
    x = torch.rand(*LAYERS[text])
    our_x = ts.from_numpy(x.numpy())
    results = [source_module(our_x), own(our_x), back(our_x), theirs(x)]
    first = [r[0] if isinstance(r, tuple) else r for r in results]
    expected = first[-1].detach()
    for found in first[:-1]:
        assert torch.allclose(torch.from_numpy(found.detach().numpy()), expected, atol=1e-5)
    assert list(theirs.state_dict()) == list(source_module.state_dict()) == list(back.state_dict())


def test_operators_of_a_module():
    """The operators of a module are listed with their overloads."""

    def names(t):
        class Inner(t.nn.Module):
            def forward(self, x):
                return x.relu() * 2 + x

        class Outer(t.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()

            def forward(self, x: Tensor):
                for i in range(3):
                    x = self.inner(x) + i
                return x.view(-1), [len(x.size()), 3 if x.sum() > 0 else 4]

            @t.jit.export
            def other(self, x):
                return t.sigmoid(x)

        return t.jit.export_opnames(t.jit.script(Outer()))

    assert names(ts) == names(torch)


def test_operator_versions_equal_pytorch():
    """The version at which each operator changed its meaning equals PyTorch's table, for all variants."""
    registry.load()
    table = torch._C._get_operator_version_map()
    ours = {record.key: record.since for record in registry.records() if record.since}
    assert ours == {
        name: max(entry.bumped_at_version for entry in entries) for name, entries in table.items()
    }


@pytest.mark.parametrize("layer", ["Avg", "Max"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("size", [1, "halves", "given"])
def test_traced_adaptive_pools(layer, dims, size):
    """A scalar output size is expanded in a trace of an adaptive pool; None sizes are the input's."""

    def traced(t):
        wanted = {1: 1, "halves": (2,) * dims, "given": (2,) + (None,) * (dims - 1)}[size]
        module = getattr(t.nn, f"Adaptive{layer}Pool{dims}d")(wanted)
        return t.jit.trace(module, t.arange(float(2 * 4**dims)).reshape(1, 2, *[4] * dims))

    x = torch.arange(float(2 * 4**dims)).reshape(1, 2, *[4] * dims)
    assert comparable(transfer(torch, ts, traced(ts))(x)) == comparable(traced(torch)(x))


def test_conjugate_and_negative_views():
    """Views with conjugate or negative bits in archives are resolved, as buffers and as constants."""

    class Marked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("c", torch.tensor([1 + 2j, 3 - 1j]).conj())
            self.register_buffer("n", torch._neg_view(torch.tensor([1.0, 2.0])))

        def forward(self, y):
            return y * self.c, y * self.n

    module = Marked().eval()
    scripted = torch.jit.script(module)
    for source_module in (scripted, torch.jit.freeze(scripted), torch.jit.trace(module, torch.ones(2))):
        got = ts.jit.load(io.BytesIO(written(torch, source_module)))(ts.ones(2))
        assert [x.tolist() for x in got] == [x.tolist() for x in module(torch.ones(2))]
