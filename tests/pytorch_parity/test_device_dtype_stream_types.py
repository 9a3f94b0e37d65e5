"""Devices, dtypes, generators and streams as types, compared with PyTorch: annotations, containers, defaults."""

from typing import Any, Dict, List, Optional, Tuple, Union

import pytest

import ts

torch = pytest.importorskip("torch")


def programs(m):
    """Return functions that use the module `m`, with arguments."""
    cpu = m.device("cpu")

    def device(d: m.device) -> m.device:
        return d

    def devices(ds: List[m.device]) -> List[m.device]:
        ds.append(m.device("cpu:1"))
        return ds

    def table(ds: Dict[str, m.device]):
        return ds["a"], ds

    def default_device(d: m.device = cpu):
        return d

    def optional_device(d: Optional[m.device] = None):
        return m.zeros(1, device=d)

    def keys(d: m.device):
        return {d: 1}

    def parts(d: m.device):
        return d.type, d.index, str(d), d == m.device("cpu")

    def union(d: Union[m.device, str]) -> str:
        return d if isinstance(d, str) else d.type

    def anything(x: Any) -> bool:
        return isinstance(x, m.device)

    def of_tensor(x: m.Tensor):
        found: List[Optional[m.device]] = [x.device, None]
        return [x.device, x.device], {"a": x.dtype}, (x.layout, x.device), found

    def default_dtype(t: m.dtype = m.float64):
        return m.zeros(1, dtype=t), t == m.float64, t in [m.int8], {t: 1}

    def dtypes(ts: Dict[str, m.dtype]) -> m.dtype:
        return ts["a"]

    def pair(x: Tuple[m.device, m.dtype]):
        return x

    def optional_generator(g: Optional[m.Generator] = None):
        return m.rand(2, generator=g) if g is not None else m.ones(1)

    def generators(gs: List[m.Generator]):
        return len(gs)

    def generator_table(gs: Dict[str, m.Generator]):
        return m.rand(2, generator=gs["a"])

    def stream(s: m.Stream) -> m.Stream:
        return s

    def optional_stream(s: Optional[m.Stream] = None):
        return s is None

    def streams(s: List[m.Stream]):
        return s

    seeded = m.Generator()
    seeded.manual_seed(3)
    a_stream = m.Stream(device="cpu")
    yield from [
        (device, [(cpu,), ("cpu",), ("cuda:1",), (3,), (None,)]),
        (devices, [([cpu],), ((),), (["cpu"],), ([1],)]),
        (table, [({"a": cpu},), ({"b": cpu},), ({"a": 1},)]),
        (default_device, [(), (cpu,)]),
        (optional_device, [(), (None,), (cpu,), ("cpu",), (1.5,)]),
        (keys, [(cpu,)]),
        (parts, [(cpu,), ("cuda:1",)]),
        (union, [(cpu,), ("x",), (1,)]),
        (anything, [(cpu,), (1,)]),
        (of_tensor, [(m.ones(1),)]),
        (default_dtype, [(), (m.int8,), (6,), ("x",)]),
        (dtypes, [({"a": m.int8},)]),
        (pair, [((cpu, m.int8),), ((m.int8, cpu),)]),
        (optional_generator, [(), (None,), (seeded,), (1,)]),
        (generators, [([seeded],), ([],), ([1],)]),
        (generator_table, [({"a": seeded},)]),
        (stream, [(a_stream,)]),
        (optional_stream, [(), (a_stream,)]),
        (streams, [([a_stream],), ([],)]),
    ]


def outcome(m, function, args):
    """Return the schema and text of the result, or the first line of the error."""
    globals()["m"] = m  # PyTorch resolves annotations in the globals
    try:
        scripted = m.jit.script(function)
        schema, result = str(scripted.schema), scripted(*args)
        return schema, result.tolist() if isinstance(result, m.Tensor) else repr(result)
    except (RuntimeError, KeyError) as error:
        return str(error).split("\nPosition")[0].splitlines()[-1].replace("ts.", "torch.")


CASES = list(zip(programs(ts), programs(torch), strict=True))


@pytest.mark.parametrize(("ours", "theirs"), CASES, ids=[case[0][0].__name__ for case in CASES])
def test_as_in_pytorch(ours, theirs):
    for our_args, their_args in zip(ours[1], theirs[1], strict=True):
        assert outcome(ts, ours[0], our_args) == outcome(torch, theirs[0], their_args), their_args


def test_attributes_of_modules():
    """A module may have attributes of all of these types."""
    results = []
    for m in (ts, torch):

        class Holder(m.nn.Module):
            generator: m.Generator

            def __init__(self):
                super().__init__()
                self.device = m.device("cpu")
                self.devices = [m.device("cpu")]
                self.dtypes = {"a": m.float32}
                self.dtype, self.layout = m.float64, m.strided
                self.generator = m.Generator()
                self.generator.manual_seed(3)

            def forward(self):
                return (
                    self.device,
                    self.devices,
                    self.dtypes,
                    self.dtype,
                    self.layout,
                    m.rand(2, generator=self.generator),
                )

        *plain, generated = m.jit.script(Holder())()
        results.append((repr(plain), generated.tolist()))
    assert results[0] == results[1]


def test_types_in_strings():
    text = "def f(a: Stream, b: Generator, c: Device, d: List[Device], e: RRef[int], g: Optional[RRef[Tensor]]):\n    return 1\n"
    assert str(ts.jit.CompilationUnit(text).f.schema) == str(torch.jit.CompilationUnit(text).f.schema)


def test_other_values_are_not_streams():
    """Values that are not streams are rejected; PyTorch converts numbers, or raises internal errors."""

    def stream(s: ts.Stream) -> ts.Stream:
        return s

    for value in ("x", None, 3):
        with pytest.raises(RuntimeError, match="Expected a value of type 'Stream' for argument 's'"):
            ts.jit.script(stream)(value)


def test_streams():
    """Streams with equal device and number are equal."""
    assert repr(ts.Stream(device="cpu")) == repr(torch.Stream(device="cpu"))
    assert ts.Stream("cpu") == ts.Stream(device=ts.device("cpu")) and ts.Stream("cpu").stream_id == 0
    assert len({ts.Stream("cpu"), ts.Stream("cpu"), ts.Stream("cpu", 1)}) == 2 and ts.Stream() != 0
