"""Code cache of archives (`runtime/code_cache`): a later load runs cached code with equal results."""

import copy
import hashlib
import io
import itertools
import json
import os
import random
import subprocess
import sys
from enum import Enum
from typing import NamedTuple

import pytest

import ts
from tests.jit_helpers import needs_interpreted_compiler
from tests.untrusted_input.handcrafted_archives import archive, module
from ts.bytecode import serialized_code
from ts.errors import CompilationError, InternalError, LimitExceeded
from ts.runtime import graph_variants

WHOLE = archive(
    module(
        """\
        _0 = __torch__.pick(x, n)
        sizes = [2, 3]
        if torch.gt(n, 3):
          ops.prim.RaiseException("too large", "builtins.ValueError")
        else:
          pass
        return torch.add(torch.reshape(_0, sizes), torch.tensor([1.5, 2.5, 3.5]))""".replace("        ", ""),
        definitions="def pick(x: Tensor, n: int) -> Tensor:\n  return torch.mul(x, n)\n",
        parameters=", x: Tensor, n: int=2",
    )
)


class Mode(Enum):
    PLAIN = 1
    DOUBLE = 2


class Pair(NamedTuple):
    x: ts.Tensor
    n: int


@ts.jit.interface
class Step(ts.nn.Module):
    def forward(self, x: ts.Tensor) -> ts.Tensor:
        pass


class Twice(ts.nn.Module):
    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return x * 2


class Everything(ts.nn.Module):
    """A module with all serializable kinds of data: enums, named tuples, interfaces, recursion, warnings,
    constants."""

    step: Step

    def __init__(self):
        super().__init__()
        self.step = Twice()
        self.mode = Mode.DOUBLE
        self.register_buffer("weight", ts.arange(3.0))

    @ts.jit.export
    def falls(self, n: int) -> int:
        return n if n < 2 else self.falls(n - 1) + self.falls(n - 2)

    def forward(self, x: ts.Tensor, mode: Mode = Mode.DOUBLE, words: list[str] | None = None) -> Pair:
        n = len(words) if words is not None else self.falls(10)
        for a, b in [(1, "one"), (2, "two")]:
            n += a * len(b)
        if mode == self.mode:
            x = self.step.forward(x)
        return Pair(x + self.weight.to(ts.device("cpu")), n)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Set the folder of the code cache and return its path."""
    monkeypatch.setenv("TS_CACHE", "1")
    monkeypatch.setenv("TS_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def compiled(monkeypatch):
    """Record the names of compiled functions."""
    names = []
    lower = graph_variants.lower_to_program
    monkeypatch.setattr(graph_variants, "lower_to_program", lambda g, name, *rest: names.append(name) or lower(g, name, *rest))
    return names


def load(data=WHOLE, **terms):
    return ts.jit.load(io.BytesIO(data), **terms)


def saved(module):
    buffer = io.BytesIO()
    ts.jit.save(ts.jit.script(module), buffer)
    return buffer.getvalue()


def files(folder):
    return sorted(folder.rglob("*.json"))


def test_cache_is_read_by_other_processes(folder, compiled):
    """Cached code is read by other archives with the same bytes and by other processes."""
    x = ts.arange(6.0)
    expected = load()(x).tolist()
    assert compiled == ["forward"]
    (file,) = files(folder)
    again = load()
    assert again(x).tolist() == expected and compiled == ["forward"]
    script = f"import io, ts; m = ts.jit.load(io.BytesIO({WHOLE!r})); print(m(ts.arange(6.0)).tolist())"
    before = file.stat().st_mtime_ns
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out == f"{expected}\n" and files(folder) == [file] and file.stat().st_mtime_ns == before
    assert "aten::reshape" in str(again.graph) and "sizes" in again.code  # compiled on access
    assert again(x).tolist() == expected and again.forward.schema.arguments[2].default == 2


def test_cached_archives_need_no_emitter(folder):
    """A process that loads and calls a module with cached code imports no part of the compiler."""
    load()(ts.arange(6.0))
    script = (
        f"import io, sys, ts; m = ts.jit.load(io.BytesIO({WHOLE!r})); m(ts.arange(6.0))\n"
        "print(*(name for name in sys.modules if name.startswith(('ts.frontend.ir_emitter', 'ts.passes.pipelines', 'ts.bytecode.lower'))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_all_kinds(folder, compiled):
    data, x = saved(Everything()), ts.ones(3)
    first, second = load(data), load(data)
    expected = first(x, words=["a"])
    assert first.falls(7) == 13
    count = len(compiled)
    got = second(x, words=["a"])
    assert second.falls(7) == 13
    assert len(compiled) == count and "forward" in compiled
    assert got.x.tolist() == expected.x.tolist() and got.n == expected.n == 1 + 3 + 6 and type(got).__name__ == "Pair"
    assert second(x).n == 55 + 9 and second(x, mode=next(iter(type(second.mode)))).x.tolist() == [1.0, 2.0, 3.0]


def test_same_errors(folder, compiled):
    """Errors of cached code have the source locations and messages of newly compiled code."""
    def message(*args, **kwargs):
        with pytest.raises(Exception) as error:
            load()(*args, **kwargs)
        return type(error.value), str(error.value)

    calls = [((ts.ones(6), 5), {}), ((ts.ones(5),), {}), ((), {}), ((1,), {}), ((ts.ones(6),), {"m": 1}), ((ts.ones(6), 1.5), {})]
    first = [message(*args, **kwargs) for args, kwargs in calls]
    assert len(compiled) == 1
    assert [message(*args, **kwargs) for args, kwargs in calls] == first
    assert len(compiled) == 1
    assert first[0][0] is ts.jit.Error and 'File "code/__torch__.py", line 10' in first[0][1]


def test_cache_key(folder, compiled):
    """The cache key contains the source text, the constants and the default dtype."""
    def value(text, constants=b"\x80\x02)."):
        return load(archive(module(text), constants=constants))()

    assert value("return torch.add(1, 1)") == 2 and value("return torch.add(1, 2)") == 3
    plain = "return torch.tensor([1.5])"
    assert value(plain).dtype == ts.float32
    ts.set_default_dtype(ts.float64)
    try:
        assert value(plain).dtype == ts.float64
    finally:
        ts.set_default_dtype(ts.float32)
    text = "return CONSTANTS.c0"
    assert value(text, b"\x80\x02K\x05\x85.") == 5 and value(text, b"\x80\x02K\x06\x85.") == 6
    assert len(compiled) == len(files(folder)) == 6


def test_constants_of_frozen_modules(folder, compiled):
    """Constant tensors are part of the cache key by their contents."""
    def frozen(fill):
        layer = ts.nn.Linear(3, 2).eval()
        ts.nn.init.constant_(layer.weight, fill)
        ts.nn.init.zeros_(layer.bias)
        buffer = io.BytesIO()
        ts.jit.save(ts.jit.freeze(ts.jit.script(layer)), buffer)
        return buffer.getvalue()

    for _, (fill, data) in itertools.product(range(2), [(fill, frozen(fill)) for fill in (1.0, 2.0)]):
        assert load(data)(ts.ones(1, 3)).tolist() == [[3 * fill, 3 * fill]]
    assert len(compiled) == 2


def test_switches(folder, compiled, monkeypatch):
    monkeypatch.setenv("TS_CACHE", "0")
    load()(ts.ones(6))
    assert files(folder) == []
    monkeypatch.setenv("TS_CACHE", "1")
    load(allowed_ops="aten::*")(ts.ones(6))  # `allowed_ops` requires a check of each operator
    assert files(folder) == []
    with ts.jit.optimized_execution(False):
        load()(ts.ones(6))
    assert files(folder) == [] and compiled[2:] == ["forward", "pick"]
    load()(ts.ones(6))
    with pytest.raises(CompilationError, match="not among the allowed"):
        load(allowed_ops="aten::mul")
    with pytest.raises(LimitExceeded):
        load(limits=ts.limits(bytes=10))
    assert len(files(folder)) == 1


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of files are Unix's")
def test_unsafe_folders_are_ignored(folder, compiled):
    """A cache folder that others can write to is ignored; a folder that cannot be created is no error."""
    load()(ts.ones(6))
    os.chmod(files(folder)[0].parent, 0o777)
    load()(ts.ones(6))
    assert len(compiled) == 2
    os.environ["TS_CACHE_DIR"] = str(files(folder)[0])  # a file instead of a folder
    load()(ts.ones(6))
    assert len(compiled) == 3


def test_damaged_files(folder, compiled):
    """A truncated or changed cache file is ignored and rewritten."""
    expected = load()(ts.ones(6)).tolist()
    (file,) = files(folder)
    contents = file.read_bytes()
    for damaged in (b"", contents[:-1], contents[:40], contents.replace(b"reshape", b"flatten"), b"\n", contents + b"\0"):
        file.write_bytes(damaged)
        assert load()(ts.ones(6)).tolist() == expected
        assert file.read_bytes() == contents
    assert len(compiled) == 7


def write_cache_file(file, data):
    """Write data to a cache file with a valid checksum."""
    body = json.dumps(data).encode()
    file.write_bytes(hashlib.blake2b(body, digest_size=32).hexdigest().encode() + b"\n" + body)


def test_code_of_another_signature(folder, compiled):
    """A cache file whose code contradicts its stored signature is ignored."""
    expected = load()(ts.ones(6)).tolist()
    (file,) = files(folder)
    contents = json.loads(file.read_bytes().partition(b"\n")[2])
    *_, (name, _, default) = contents["arguments"]
    for change in ({"result": "int"}, {"arguments": contents["arguments"][:-1]}, {"arguments": [*contents["arguments"][:-1], [name, "Any", default]]}):
        write_cache_file(file, contents | change)
        assert load()(ts.ones(6)).tolist() == expected
    assert len(compiled) == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are Unix's")
def test_special_files_are_ignored(folder, compiled):
    """A pipe, device or directory in place of a cache file is ignored without blocking."""
    expected = load()(ts.ones(6)).tolist()
    (file,) = files(folder)
    for make in (os.mkfifo, lambda path: os.symlink("/dev/zero", path), os.mkdir):
        file.unlink()
        make(file)
        assert load()(ts.ones(6)).tolist() == expected
    assert len(compiled) == 4


def leaves(data):
    """Yield (container, key) for each element of nested data."""
    keys = range(len(data)) if isinstance(data, list) else list(data)
    for key in keys:
        yield data, key
        if isinstance(data[key], list | dict):
            yield from leaves(data[key])


STRANGE = [None, True, -1, 0, 1, 7, 255, 1 << 31, 1 << 70, 0.5, "", "i", "Tensor", "__torch__.M", "aten::add.Tensor", [], [0], {}, {"of": "int"}]


def test_malicious_files(folder):
    """Malicious cache files with a valid hash return a result or raise an error."""
    load()(ts.ones(6))
    (file,) = files(folder)
    contents = json.loads(file.read_bytes().partition(b"\n")[2])
    random_numbers = random.Random(0)
    for _ in range(400):
        data = copy.deepcopy(contents)
        for _ in range(random_numbers.choice([1, 1, 1, 2, 4])):
            container, key = random_numbers.choice(list(leaves(data)))
            container[key] = random_numbers.choice(STRANGE)
        write_cache_file(file, data)
        with ts.limits(seconds=5, bytes=1 << 28):
            try:
                load()(ts.ones(6))
            except InternalError:
                raise
            except (RuntimeError, ValueError, TypeError, LookupError, LimitExceeded):
                continue


def test_uncached_functions(folder):
    """Code with tasks or calls of Python functions is not cached."""
    body = "def task():\n  return torch.add(x, 1)\nf = fork(task)\nreturn torch.wait(f)"
    forks = archive(module(body, parameters=", x: int"))
    assert load(forks)(2) == load(forks)(2) == 3
    assert files(folder) == []


class ByKey(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = ts.nn.ModuleDict({"twice": Twice()})

    def forward(self, x: ts.Tensor, key: str) -> ts.Tensor:
        step: Step = self.steps[key]
        return step.forward(x)


def test_modules_selected_by_a_computed_key(folder):
    """The operator that selects a module by a computed key is not written to the code cache."""
    file = io.BytesIO()
    ts.jit.save(ts.jit.script(ByKey()), file)
    for _ in range(2):
        file.seek(0)
        assert ts.jit.load(file)(ts.ones(2), "twice").tolist() == [2.0, 2.0]


@needs_interpreted_compiler
def test_number_of_files(folder, monkeypatch):
    """The oldest cache files are removed above the maximum number."""
    from ts.bytecode import disk_cache

    monkeypatch.setattr(disk_cache, "_MAX_FILES", 256 * 8)
    inside = folder / "00"
    for i in range(20):
        disk_cache._write(inside / f"{i}.json", b"")
        os.utime(inside / f"{i}.json", (i, i))
    assert 7 <= len(files(folder)) <= 8 and inside / "19.json" in files(folder) and inside / "0.json" not in files(folder)


def test_serialization_round_trip():
    """Serialization of code and back preserves its listing."""
    owner = serialized_code.CodeOwner(ts.jit.CompilationUnit().__class__, lambda name: None, {}, ())
    for value in (None, True, 3, -0.0, float("inf"), "text\ud800", ts.device("cpu"), ts.arange(4)):
        data = json.loads(json.dumps(serialized_code.serialize_constant(value, owner)))
        deserialized = serialized_code.deserialize_constant(data, owner)
        assert repr(deserialized) == repr(value) and type(deserialized) is type(value)
    with pytest.raises(serialized_code.NotSerializableError):
        serialized_code.serialize_constant(ts.zeros(1 << 20), owner)
    with pytest.raises(serialized_code.NotSerializableError):
        serialized_code.serialize_constant(object(), owner)
