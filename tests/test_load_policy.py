"""Load policy of archives: limits for reading and compiling, and allowed operators."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ts
from tests.untrusted_input.handcrafted_archives import archive, module
from ts.errors import CompilationError, LimitExceeded, MemoryExceeded, TimeExceeded

ROOT = Path(__file__).parent.parent
DOUBLED = archive(module("return torch.mul(torch.add(x, 1), 2)", parameters=", x: Tensor"))
LONG = "\n".join(f"x{i + 1} = torch.add(x{i}, {i})" for i in range(3000))


def load(data, **terms):
    return ts.jit.load(io.BytesIO(data), **terms)


# ---- operators ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "allowed",
    [
        {"aten::add", "aten::mul"},
        ["aten::add.Scalar", "aten::mul.Scalar"],
        ("aten::a*", "aten::mul.S*"),
        "aten::*",
        frozenset({"aten::[am]*"}),
        dict.fromkeys(["aten::add", "aten::mul"]).keys(),
    ],
    ids=["names", "overloads", "patterns", "pattern", "classes", "keys"],
)
def test_allowed(allowed):
    """`allowed_ops` accepts operator names with or without overload, and patterns."""
    assert load(DOUBLED, allowed_ops=allowed)(ts.ones(1)).tolist() == [4.0]


@pytest.mark.parametrize("allowed", [(), {"aten::mul"}, {"aten::add.Tensor", "aten::mul"}, "aten::m*", {"add", "mul"}])
def test_rejected_when_loading(allowed):
    """An operator outside of `allowed_ops` is rejected at load time, with its location in the archive."""
    with pytest.raises(CompilationError, match=r"the archive uses aten::(add|mul)\.Scalar, which is not among") as error:
        load(DOUBLED, allowed_ops=allowed)
    assert 'File "code/__torch__.py", line 5' in str(error.value)


@pytest.mark.parametrize(
    "body",
    [
        "if True:\n  torch.manual_seed(3)\nelse:\n  pass\nreturn x",
        "torch.manual_seed(3)\nreturn x",
        "def task():\n  torch.manual_seed(3)\n  return 1\nf = fork(task)\nreturn torch.wait(f)",
        "_0 = self.other()\nreturn x",
        "_0 = __torch__.helper()\nreturn x",
        "_0 = torch.rand([2])\nreturn x",
        "_0 = __torch__.C.__new__(__torch__.C)\n_1 = (_0).seed()\nreturn x",
        "return x.exp()",
        "return x - x",
    ],
)
def test_rejected_in_every_position(body):
    """An operator is rejected in branches, tasks, callees, dead code and Python syntax."""
    definitions = (
        "def helper():\n  torch.manual_seed(3)\n  return None\n"
        "class C:\n  def seed(self: __torch__.C):\n    torch.manual_seed(3)\n    return None\n"
    )
    source = module(body, definitions, parameters=", x: Tensor")
    source += "  def other(self: __torch__.M) -> NoneType:\n    torch.manual_seed(3)\n    return None\n"
    with pytest.raises(CompilationError, match=r"the archive uses aten::(manual_seed|rand|exp|sub)"):
        load(archive(source), allowed_ops={"aten::wait", "aten::add"})


def test_lazily_loaded_code():
    """A lazily loaded class is checked against `allowed_ops` when it is compiled."""
    source = module("return x", parameters=", x: Tensor") + "def late():\n  torch.manual_seed(3)\n  return None\n"
    loaded = load(archive(source), allowed_ops=())
    late = loaded._concrete.type.methods["forward"].definition().resolver.find("__torch__.late")
    with pytest.raises(CompilationError, match="the archive uses aten::manual_seed"):
        late()


def test_state_methods_follow_the_load_policy():
    """`__setstate__` runs under the limits and `allowed_ops` of loading."""
    source = module("return 1", attributes="a : int") + (
        "  def __setstate__(self: __torch__.M, state: int) -> NoneType:\n"
        "    torch.manual_seed(state)\n    self.a = state\n    return None\n"
    )
    data = archive(source, b"\x80\x02c__torch__\nM\n)\x81K\x05b.")
    assert load(data, allowed_ops={"aten::manual_seed"}).a == 5
    with pytest.raises(CompilationError, match="the archive uses aten::manual_seed"):
        load(data, allowed_ops=())


def test_former_operators():
    """An operator of an old version is checked by the operators of its upgrader, at its source location."""
    data = archive(module("return torch.div(x, x)", parameters=", x: Tensor"))
    allowed = {"aten::div", "aten::is_floating_point"}
    assert load(data, allowed_ops=allowed)(ts.ones(1)).tolist() == [1.0]
    with pytest.raises(CompilationError, match="the archive uses aten::div") as error:
        load(data, allowed_ops={"aten::is_floating_point"})
    assert "return torch.div(x, x)" in str(error.value)


def test_names_of_a_modules_operators():
    """An archive loads with `allowed_ops` set to the names that `export_opnames` returns for its module."""

    def forward(x, n: int = 2):
        for i in range(n):
            x = x.relu() + i
        return x / 3

    data = ts.jit.script(forward).save_to_buffer()
    names = ts.jit.export_opnames(load(data))
    assert load(data, allowed_ops=names)(ts.ones(1)).tolist() == pytest.approx([2 / 3])
    for name in names:
        with pytest.raises(CompilationError, match=f"the archive uses {re.escape(name)}, "):
            load(data, allowed_ops=set(names) - {name})


@pytest.mark.parametrize("limits", [{"fuel": 3}, 5])
def test_limits_must_be_limits_objects(limits):
    with pytest.raises(TypeError, match=r"is not a result of ts\.limits\(\.\.\.\)"):
        load(DOUBLED, limits=limits)


def test_names_are_texts():
    with pytest.raises(TypeError, match="3 is not the name of an operator"):
        load(DOUBLED, allowed_ops=[3])


# ---- limits ------------------------------------------------------------------------------------------


def test_limits_of_loading():
    """Loading is subject to the memory and time limits."""
    many = archive(module("return 1"), constants=b"\x80\x02(" + b"]" * 1_000_000 + b"t.")
    with pytest.raises(MemoryExceeded):
        load(many, limits=ts.limits(bytes=10_000_000))
    with pytest.raises(TimeExceeded):
        load(many, limits=ts.limits(seconds=0.05))


@pytest.mark.parametrize("work", ["compile_within_limits", "make_code_within_limits"])
def test_limits_of_compiling(work):
    """Run a check in a new process, because free memory from earlier work would hide the growth."""
    program = f"from tests.test_load_policy import {work}; {work}()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def compile_within_limits():
    """The load limits apply when a function is compiled later, by its first call or by an access to its
    graph."""
    data = archive(module(f"{LONG}\nreturn x3000", parameters=", x0: Tensor"))
    loaded = load(data, limits=ts.limits(bytes=6_000_000))
    for use in (lambda: loaded(ts.ones(1)), lambda: loaded.graph, lambda: loaded.forward.schema):
        with pytest.raises(MemoryExceeded):
            use()
    assert load(data, limits=ts.limits(bytes=500_000_000))(ts.ones(1)).tolist() == [4498501.0]


def make_code_within_limits():
    """The load limits include the optimizer and the bytecode, and tasks when they first run."""
    lines = LONG.replace("\n", "\n  ")
    for body in (f"{LONG}\nreturn x3000", f"def task():\n  {lines}\n  return x3000\nreturn torch.wait(fork(task))"):
        data = archive(module(body, parameters=", x0: Tensor"))
        loaded = load(data, limits=ts.limits(seconds=60))
        assert loaded.graph is not None
        loaded._concrete.type.methods["forward"].policy.limits = ts.limits(bytes=1_000_000)
        with pytest.raises(LimitExceeded):
            loaded(ts.ones(1))


def test_limits_do_not_apply_to_calls():
    """Limits of compilation do not apply to calls of the compiled functions."""
    data = archive(module("return torch.zeros([n])", parameters=", n: int"))
    loaded = load(data, limits=ts.limits(bytes=1_000_000))
    assert loaded(1_000_000).shape == (1_000_000,)
    with ts.limits(bytes=100_000), pytest.raises(MemoryExceeded):
        loaded(1_000_000)
