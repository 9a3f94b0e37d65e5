"""A model in its process: what a request that it does not take is told."""

import json

import pytest

import ts
from ts.errors import without_stack
from ts.serve.model_worker import Model


@pytest.fixture(scope="module")
def model(net):
    return Model.load(str(net), "forward", seconds=60, bytes=1 << 28)


def asked(model, x):
    """The status and the message of the answer to a request in JSON."""
    head = {"kinds": [("json", "json")], "seconds": 60.0, "stack": False, "final": True, "last": False}
    (answer,), (body,) = model.answer(head, [json.dumps({"inputs": {"x": x}}).encode()], lambda seconds: None)
    return answer["status"], json.loads(body).get("error", {}).get("message")


def test_whole_numbers_where_floats_are_wanted(model):
    """One line that says what to write, and both ways of it work."""
    assert asked(model, [[1, 2, 3, 4]]) == (
        422,
        "RuntimeError: expected m1 and m2 to have the same dtype, but got: long int != float (whole numbers are int64, "
        'here x: where the model wants floats write 1.0, or {"data": ..., "dtype": "float32"})',
    )
    assert asked(model, [[1.0, 2, 3, 4]]) == (200, None)
    assert asked(model, {"data": [[1, 2, 3, 4]], "dtype": "float32"}) == (200, None)


def test_other_errors_are_told_without_places(model):
    """No stack, no paths of the machine, and nothing of dtypes where they are not what is wrong."""
    assert asked(model, [[1.0, 2.0]]) == (422, "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x2 and 4x16)")


def test_the_message_of_a_failure():
    unit = ts.jit.CompilationUnit("def f(x):\n  return x.view(7)\n")
    with pytest.raises(RuntimeError) as caught:
        unit.f(ts.ones(3))
    assert without_stack(str(caught.value)) == "shape '[7]' is invalid for input of size 3"
    assert without_stack("x\nRuntimeError: y") == "x\nRuntimeError: y"
