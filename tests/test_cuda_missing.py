"""`ts.cuda` without a device: queries return defaults, other calls raise errors."""

import pytest

import ts
from ts import backends

pytestmark = pytest.mark.skipif("cuda" in backends.available(), reason="a GPU is present")


def test_asking_without_a_device():
    """Without a device, queries report no devices and no memory in use."""
    assert not ts.cuda.is_available() and ts.cuda.device_count() == 0 and not ts.cuda.is_initialized()
    assert ts.cuda.memory_allocated() == ts.cuda.max_memory_allocated() == ts.cuda.memory_reserved() == 0
    assert ts.cuda.memory_stats() == {} and not ts.cuda.is_bf16_supported() and not ts.ones(1).is_pinned()
    ts.cuda.empty_cache()
    ts.cuda.manual_seed(3)
    with ts.cuda.stream(None), ts.cuda.device(None):
        assert ts.ones(1).device.type == "cpu"


@pytest.mark.parametrize(
    "use",
    [ts.cuda.synchronize, ts.cuda.current_device, ts.cuda.init, ts.cuda.Stream, ts.cuda.Event, ts.cuda.mem_get_info,
     ts.cuda.current_stream, lambda: ts.ones(1).cuda(), lambda: ts.Generator(device="cuda"),
     ts.cuda.get_device_name, lambda: ts.zeros(1, device="cuda")],
)  # fmt: skip
def test_using_without_a_device(use):
    """Operations that need a device raise an error with the package to install or a missing GPU."""
    with pytest.raises(RuntimeError, match="device 'cuda'"):
        use()


def test_pinning_without_a_device():
    """Pinning without a device raises PyTorch's error."""
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        ts.ones(1).pin_memory()


def test_other_devices_are_rejected():
    """A device of another type is no CUDA device."""
    with pytest.raises((ValueError, RuntimeError), match="cuda"):
        ts.cuda.synchronize("cpu")
