"""Global flags that scripts set: valid settings are stored, unsupported settings raise errors."""

import subprocess
import sys
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


def test_the_engine_of_quantized_products():
    """The engine of quantized products can be set to PyTorch's engines."""
    quantized = ts.backends.quantized
    for engine in quantized.supported_engines:
        quantized.engine = engine
        assert quantized.engine == engine
    with pytest.raises(RuntimeError, match="other is not a valid value for quantized engine"):
        quantized.engine = "other"
    quantized.engine = "x86"


def test_libraries_that_are_not_used():
    """Unused libraries report that they are unavailable, and their flags can be set and restored."""
    backends = ts.backends
    for each in (backends.nnpack, backends.opt_einsum, backends.kleidiai, backends.cusparselt):
        assert not each.is_available()
    assert backends.opt_einsum.set_flags(True, "greedy") == (False, None)
    with backends.opt_einsum.flags(enabled=False, strategy="auto"), backends.nnpack.flags(), backends.miopen.flags(True):
        assert (backends.opt_einsum.enabled, backends.opt_einsum.strategy) == (False, "auto")
        assert not backends.nnpack.enabled and backends.miopen.immediate
    assert backends.opt_einsum.set_flags(False, None) == (True, "greedy")
    backends.opt_einsum.strategy = None
    assert backends.nnpack.enabled and not backends.miopen.immediate


def test_anomalies():
    with warnings.catch_warnings(), ts.autograd.set_detect_anomaly(True, check_nan=False):
        assert ts.is_anomaly_enabled() and not ts.is_anomaly_check_nan_enabled()
    assert not ts.is_anomaly_enabled() and ts.is_anomaly_check_nan_enabled()


@pytest.fixture
def always_warned():
    """Enable warnings at every call, for one test."""
    before = ts.is_warn_always_enabled()
    ts.set_warn_always(True)
    yield
    ts.set_warn_always(before)


@pytest.mark.usefixtures("always_warned")
@pytest.mark.filterwarnings("ignore:ts.compile does not compile")
def test_compile_gives_the_same():
    def twice(x):
        return x * 2

    assert ts.compile(twice) is twice
    assert ts.compile(mode="max-autotune")(twice) is twice
    layer = ts.nn.Linear(2, 2)
    assert ts.compile(layer, fullgraph=True, dynamic=False) is layer
    with pytest.raises(RuntimeError, match="Either mode or options"):
        ts.compile(layer, mode="default", options={})


@pytest.mark.parametrize("compiled", [lambda f: ts.compile(f), lambda f: ts.compile()(f), lambda f: f.compile()])
@pytest.mark.usefixtures("always_warned")
def test_compile_warns_that_nothing_is_compiled(compiled):
    with pytest.warns(UserWarning, match="does not compile and returns its argument unchanged; use `ts.jit.script`") as caught:
        compiled(ts.nn.Linear(2, 2))
    assert [warning.filename for warning in caught] == [__file__]


def test_compile_warns_once():
    code = "import ts; net = ts.nn.Linear(1, 1); ts.compile(net); net.compile(); ts.compile(net)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stderr.count("UserWarning") == 1


@pytest.mark.usefixtures("always_warned")
def test_disabled_compile_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ts.compile(disable=True)(ts.nn.Linear(2, 2))
        ts.nn.Linear(2, 2).compile(backend="eager")


def test_global_hooks_are_removed():
    """Global module hooks are removed at the end of their context, after which calls bypass hooks."""
    from ts.nn import hooks

    with ts.nn.modules.module.register_module_forward_pre_hook(lambda module, args: (args[0] + 1,)):
        assert ts.nn.Identity()(ts.zeros(1)).item() == 1
    assert ts.nn.Identity()(ts.zeros(1)).item() == 0 and not hooks.anywhere


def test_config_shows_libraries_and_threads():
    assert f"NumPy {np.__version__}" in ts.__config__.show()
    assert f"get_num_threads() : {ts.get_num_threads()}" in ts.__config__.parallel_info()


def test_nothing_is_downloaded():
    with pytest.raises(NotImplementedError, match="downloads are unsupported"):
        ts.hub.load("pytorch/vision", "resnet18")
    with pytest.raises(NotImplementedError, match="save the file as"):
        ts.hub.load_state_dict_from_url("https://example.org/weights.pt")
