"""`ts.cuda`: what is asked about devices has an answer also where there are none."""

import pytest

import ts


def test_asking_without_a_device():
    """Without CuPy or a GPU there are no devices, and using one says what is missing."""
    assert ts.cuda.device_count() >= 0
    assert ts.cuda.is_available() == (ts.cuda.device_count() > 0)
    if not ts.cuda.is_available():
        with pytest.raises(RuntimeError, match="cuda"):
            ts.cuda.synchronize()


def test_other_devices_are_refused():
    """A device of another type is no CUDA device."""
    with pytest.raises((ValueError, RuntimeError), match="cuda"):
        ts.cuda.synchronize("cpu")


def test_a_device_is_the_current_one():
    """Inside of its context, new tensors go to the device."""
    if not ts.cuda.is_available():
        pytest.skip("needs a CUDA device")
    with ts.cuda.device(0):
        assert ts.cuda.current_device() == 0
        assert ts.zeros(2, device="cuda").device == ts.device("cuda", 0)
