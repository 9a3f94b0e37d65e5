"""Modules and functions whose archive needs more than attributes and code."""

import io

import pytest

import ts
from ts import nn


def saved_and_loaded(module):
    buffer = io.BytesIO()
    ts.jit.save(module, buffer)
    buffer.seek(0)
    return ts.jit.load(buffer)


class PythonState(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def __getstate__(self):
        return dict(self.__dict__)

    def __setstate__(self, state):
        self.__dict__.update(state)

    def forward(self, x):
        return self.linear(x)


def test_python_state_methods_are_not_saved():
    module = ts.jit.script(PythonState())
    x = ts.ones(1, 2)
    assert ts.equal(saved_and_loaded(module)(x), module(x))


@pytest.mark.parametrize("parametrize", ["weight_norm", "spectral_norm"])
def test_traces_of_parametrized_modules(parametrize):
    module = getattr(nn.utils.parametrizations, parametrize)(nn.Linear(2, 2)).eval()
    x = ts.ones(1, 2)
    trace = ts.jit.trace(module, x)
    assert ts.equal(saved_and_loaded(trace)(x), module(x))


def test_a_function_of_many_statements():
    def long(x):
        for _ in range(2100):
            x = x * 1.0001
        return x

    trace = ts.jit.trace(long, ts.tensor(1.0), check_trace=False)
    x = ts.tensor(3.0)
    assert ts.equal(saved_and_loaded(trace)(x), trace(x))


def test_an_empty_script_module():
    loaded = saved_and_loaded(ts.jit.ScriptModule())
    assert list(loaded.state_dict()) == [] and list(loaded.children()) == []


@pytest.mark.parametrize("location", [{"cpu": "cpu"}, lambda storage, place: storage, 3])
def test_invalid_map_locations(location):
    buffer = io.BytesIO()
    ts.jit.save(ts.jit.script(nn.Linear(1, 1)), buffer)
    buffer.seek(0)
    expected = "map_location should be either None, string or torch.device, but got type"
    with pytest.raises(ValueError, match=expected):
        ts.jit.load(buffer, map_location=location)
