"""Error responses of a model worker to invalid requests."""

import json

import pytest

import ts
from ts.errors import without_stack
from ts.serve.model_worker import ServedModel


@pytest.fixture(scope="module")
def model(net):
    return ServedModel.load(str(net), "forward", seconds=60, bytes=1 << 28)


def run_request(model, x):
    """Return the status and the error message of the response to a JSON request."""
    head = {"kinds": [("json", "json")], "seconds": 60.0, "stack": False, "final": True, "last": False}
    (answer,), (body,) = model.run_batch(head, [json.dumps({"inputs": {"x": x}}).encode()], lambda seconds: None)
    return answer["status"], json.loads(body).get("error", {}).get("message")


def test_int64_input_to_float_model(model):
    """The message explains how to write floats, and both forms work."""
    assert run_request(model, [[1, 2, 3, 4]]) == (
        422,
        "RuntimeError: mat1 and mat2 must have the same dtype, but got Long and Float (integers are decoded as int64, "
        'here x; for float inputs, write 1.0 or {"data": ..., "dtype": "float32"})',
    )
    assert run_request(model, [[1.0, 2, 3, 4]]) == (200, None)
    assert run_request(model, {"data": [[1, 2, 3, 4]], "dtype": "float32"}) == (200, None)


def test_errors_have_no_stack(model):
    """Error messages of a model contain no stack and no file paths, and dtype hints only for dtype errors."""
    assert run_request(model, [[1.0, 2.0]]) == (422, "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x2 and 4x16)")


def test_message_without_stack():
    unit = ts.jit.CompilationUnit("def f(x):\n  return x.view(7)\n")
    with pytest.raises(RuntimeError) as caught:
        unit.f(ts.ones(3))
    assert without_stack(str(caught.value)) == "shape '[7]' is invalid for input of size 3"
    assert without_stack("x\nRuntimeError: y") == "x\nRuntimeError: y"
