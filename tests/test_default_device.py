"""`with ts.device(...)` and `ts.set_default_device`: functions that create tensors use that device if a call names none."""

import io
import threading

import numpy as np
import pytest

import ts
from ts import nn
from ts.overrides import TorchFunctionMode
from ts.utils._device import DeviceContext

META, CPU = ts.device("meta"), ts.device("cpu")
FACTORIES = {
    "arange": (3,), "as_tensor": ([1.0],), "asarray": ([1.0],), "bartlett_window": (3,), "blackman_window": (3,),
    "empty": (2,), "empty_strided": ((2,), (1,)), "eye": (2,), "fft.fftfreq": (4,), "fft.rfftfreq": (4,),
    "full": ((2,), 1.0), "hamming_window": (3,), "hann_window": (3,), "kaiser_window": (3,), "linspace": (0, 1, 3),
    "logspace": (0, 1, 3), "ones": (2,), "rand": (2,), "randint": (3, (2,)), "randn": (2,), "randperm": (3,),
    "scalar_tensor": (1.0,), "tensor": ([1.0],), "tril_indices": (2, 2), "triu_indices": (2, 2), "zeros": (2,),
}  # fmt: skip


def function_named(path):
    value = ts
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("name", FACTORIES)
def test_factories_use_the_device_of_the_block(name):
    function, args = function_named(name), FACTORIES[name]
    with ts.device("meta"):
        assert function(*args).device == META
        assert function(*args, device=None).device == META
        assert function(*args, device="cpu").device == CPU
    assert function(*args).device == CPU


@pytest.mark.parametrize(
    "create",
    [
        lambda x: ts.Tensor(2), lambda x: ts.FloatTensor(2), lambda x: ts.ones_like(x), lambda x: x.new_ones(2),
        lambda x: ts.from_numpy(np.ones(2)), lambda x: ts.frombuffer(bytearray(8), dtype=ts.float32),
        lambda x: ts.normal(0.0, 1.0, (2,)), lambda x: x + 1, lambda x: nn.functional.one_hot(x.long()),
    ],
)  # fmt: skip
def test_non_factory_functions_keep_their_device(create):
    x = ts.ones(2)
    with ts.device("meta"):
        assert create(x).device == CPU


@pytest.mark.parametrize(
    "create",
    [
        lambda: nn.Linear(2, 3), lambda: nn.Linear(2, 3, device=None), lambda: nn.BatchNorm2d(2),
        lambda: nn.LSTM(2, 3, num_layers=2), lambda: nn.Embedding(3, 4), lambda: nn.TransformerEncoderLayer(4, 2),
        lambda: nn.Conv2d(1, 2, 3), lambda: nn.LayerNorm(3),
    ],
)  # fmt: skip
def test_layers_are_created_on_the_device(create):
    with ts.device("meta"):
        layer = create()
    assert {t.device for t in layer.state_dict().values()} == {META}


def test_parameter_without_data():
    with ts.device("meta"):
        assert nn.Parameter().device == META
    assert nn.Parameter().device == CPU


def test_a_model_is_created_without_elements_and_filled_from_a_file():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2)
            self.register_buffer("scale", ts.arange(3.0))

        def forward(self, x):
            return self.layer(x * self.scale)

    model = Model()
    file = io.BytesIO()
    ts.save(model.state_dict(), file)
    file.seek(0)
    state = ts.random.get_rng_state()
    with ts.device("meta"):
        empty = Model()
    assert ts.equal(ts.random.get_rng_state(), state)  # no random numbers are drawn for elements that do not exist
    empty.load_state_dict(ts.load(file), assign=True)
    x = ts.ones(3)
    assert ts.equal(empty(x), model(x))
    with ts.device("meta"):
        other = Model()
    assert other.to_empty(device="cpu").layer.weight.device == CPU


def test_load_keeps_the_device_of_the_file():
    file = io.BytesIO()
    ts.save(ts.ones(2), file)
    file.seek(0)
    with ts.device("meta"):
        assert ts.load(file).device == CPU


def test_blocks_nest_and_return_their_device():
    assert ts.get_default_device() == CPU
    with META as entered:
        assert entered is META and ts.get_default_device() == META
        with ts.device("cpu"):
            assert ts.ones(2).device == CPU and ts.get_default_device() == CPU
        assert ts.get_default_device() == META
    assert ts.get_default_device() == CPU


def test_exit_without_enter():
    with pytest.raises(RuntimeError, match="trying to pop from empty mode stack"):
        META.__exit__(None, None, None)


def test_device_is_not_a_decorator():
    with pytest.raises(TypeError, match="object is not callable"):
        ts.device("meta")(lambda: None)


@pytest.fixture
def _default():
    yield
    ts.set_default_device(None)


def test_set_default_device(_default):
    ts.set_default_device("meta")
    assert ts.get_default_device() == META and ts.ones(2).device == META
    with ts.device("cpu"):
        assert ts.ones(2).device == CPU
    with ts.no_grad():
        ts.set_default_device("cpu")
    assert ts.get_default_device() == CPU and ts.ones(2).device == CPU
    ts.set_default_device("meta")
    ts.set_default_device(None)
    assert ts.ones(2).device == CPU


def test_set_default_device_inside_of_a_block(_default):
    with ts.device("cpu"):
        ts.set_default_device("meta")
        assert ts.ones(2).device == CPU  # the block has precedence
    assert ts.ones(2).device == META


def test_default_device_is_thread_local(_default):
    ts.set_default_device("meta")
    results = []
    thread = threading.Thread(target=lambda: results.append((ts.get_default_device(), ts.ones(1).device)))
    thread.start()
    thread.join()
    assert results == [(CPU, CPU)]


def test_unknown_devices_are_rejected_and_change_nothing(_default):
    with pytest.raises(RuntimeError, match=r"Expected one of cpu, cuda, .* at start of device string: foo"):
        ts.set_default_device("foo")
    with pytest.raises(TypeError, match=r"device\(\)"):
        ts.set_default_device(3.5)
    assert ts.get_default_device() == CPU


def test_function_modes_see_the_default_device():
    class Record(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append((func.__name__, kwargs))
            return func(*args, **(kwargs or {}))

    calls = []
    with Record(), ts.device("meta"):
        ts.tensor([1.0])
    assert calls == [("tensor", {"device": META})]
    calls.clear()
    with DeviceContext("meta"), Record():
        assert ts.as_tensor([1.0], dtype=ts.float64).device == META
        assert ts.asarray([1.0]).device == META
    assert [(name, kwargs or {}) for name, kwargs in calls] == [("as_tensor", {"dtype": ts.float64}), ("asarray", {})]


def scaled(x, n: int):
    return x * ts.ones(n) * ts.tensor(2.0)


def test_scripts_ignore_the_default_device():
    with ts.device("meta"):
        compiled = ts.jit.script(scaled)
        result = compiled(ts.ones(2, device="cpu"), 2)
    assert ts.equal(result, ts.full((2,), 2.0))


def test_traces_record_the_device():
    def create(x):
        with ts.device("meta"):
            return ts.ones(2)

    traced = ts.jit.trace(create, ts.ones(1), check_trace=False)
    assert "Device = prim::Constant[value=\"meta\"]" in str(traced.graph)
    assert traced(ts.ones(1)).device == META
