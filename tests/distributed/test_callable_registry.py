"""Registry of remotely callable functions: compiled code by name, without Python functions."""

import pytest

import ts

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from tests.distributed.rpc_worker import Scaled
from ts.distributed.rpc.callable_registry import ReceivedCode, SentCode, describe_callee


def scripted(name, body="return x + 1"):
    return ts.jit.CompilationUnit(f"def {name}(x: int) -> int:\n    {body}\n").__getattr__(name)


def send_code(callee):
    """Send a function's code and return its name and the receiving registry."""
    sent, known = SentCode(allow_python=False), ReceivedCode(allow_python=False)
    name = sent.name(callee)
    known.add(name[1], sent.archive(name[1]))
    return name, known


@pytest.mark.parametrize("word", ["doubled", "_hidden", "train", "save", "forward"])
def test_functions_have_their_names(word):
    """Sent functions keep their names, including names of Python module attributes."""
    name, known = send_code(scripted(word))
    assert (name[2], describe_callee(name)) == (word, word)
    assert known.find(name)(2) == 3
    assert known.find(name).schema.name == word


@pytest.mark.parametrize("word", ["training", "__setstate__", "__init__"])
def test_special_names_of_archives(word):
    name, known = send_code(scripted(word))
    assert (name[2], describe_callee(name)) == ("forward", word)
    assert known.find(name)(2) == 3


def test_python_methods_are_not_callable(tmp_path):
    """Python methods of a module, such as `save` and `eval`, cannot be called remotely, because they may
    write files or change state."""
    module = ts.jit.script(Scaled())
    (kind, digest, _), known = send_code(module)
    for method in ("save", "eval", "apply", "stays", "__init__", "_object", "factor"):
        with pytest.raises(ValueError, match=f"the code has no method {method}"):
            known.find((kind, digest, method))
    for method in (module.save, module.eval, module.stays):
        with pytest.raises(PermissionError, match="is a Python function"):
            SentCode(allow_python=False).name(method)
        with pytest.raises(TypeError, match="is a method of an object that cannot be sent"):
            SentCode(allow_python=True).name(method)
