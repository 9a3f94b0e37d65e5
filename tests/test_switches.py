"""What scripts set at their top: it is remembered, and what cannot be given is refused."""

import warnings

import numpy as np
import pytest

import ts


def test_flags_last_for_the_block():
    cudnn = ts.backends.cudnn
    with cudnn.flags(enabled=False, deterministic=True):
        assert not cudnn.enabled and cudnn.deterministic
    assert cudnn.enabled and not cudnn.deterministic
    with pytest.raises(ZeroDivisionError), ts.backends.cuda.sdp_kernel(enable_math=False):
        assert not ts.backends.cuda.math_sdp_enabled()
        raise ZeroDivisionError
    assert ts.backends.cuda.math_sdp_enabled()


def test_default_device():
    """Only the CPU; the message names what to do."""
    ts.set_default_device(ts.device("cpu"))
    with pytest.raises(NotImplementedError, match=r"set_default_device\('meta'\).*give `device=`"):
        ts.set_default_device("meta")


def test_anomalies():
    with warnings.catch_warnings(), ts.autograd.set_detect_anomaly(True, check_nan=False):
        assert ts.is_anomaly_enabled() and not ts.is_anomaly_check_nan_enabled()
    assert not ts.is_anomaly_enabled() and ts.is_anomaly_check_nan_enabled()


def test_compile_gives_the_same():
    def twice(x):
        return x * 2

    assert ts.compile(twice) is twice
    assert ts.compile(mode="max-autotune")(twice) is twice
    layer = ts.nn.Linear(2, 2)
    assert ts.compile(layer, fullgraph=True, dynamic=False) is layer
    with pytest.raises(RuntimeError, match="Either mode or options"):
        ts.compile(layer, mode="default", options={})


def test_hooks_of_all_modules_go_away():
    """Also with the block that made them, and a call without hooks is direct again."""
    from ts.nn import hooks

    with ts.nn.modules.module.register_module_forward_pre_hook(lambda module, args: (args[0] + 1,)):
        assert ts.nn.Identity()(ts.zeros(1)).item() == 1
    assert ts.nn.Identity()(ts.zeros(1)).item() == 0 and not hooks.anywhere


def test_what_computes_can_be_shown():
    assert f"NumPy {np.__version__}" in ts.__config__.show()
    assert f"get_num_threads() : {ts.get_num_threads()}" in ts.__config__.parallel_info()


def test_nothing_is_downloaded():
    with pytest.raises(NotImplementedError, match="nothing is downloaded"):
        ts.hub.load("pytorch/vision", "resnet18")
    with pytest.raises(NotImplementedError, match="save the file as"):
        ts.hub.load_state_dict_from_url("https://example.org/weights.pt")
