"""Private names of PyTorch that packages import have PyTorch's behaviour."""

import pytest

import ts
from ts import _tensor_str, _utils
from ts.optim import lbfgs, optimizer
from ts.utils import _foreach_utils


def test_text_of_tensors():
    assert _tensor_str._tensor_str(ts.ones(2), 0) == "[1., 1.]" and _tensor_str._str_intern(ts.ones(2)) == "tensor([1., 1.])"
    assert _tensor_str._add_suffixes("tensor(1", ["a=1"], 0, False) == "tensor(1, a=1)"
    assert _tensor_str._add_suffixes("tensor(1", ["a=1"], 2, True) == "tensor(1,\n  a=1)"
    with _tensor_str.printoptions(precision=1):
        assert repr(ts.tensor(1.25)) == "tensor(1.2)" and _tensor_str.PRINT_OPTS.precision == 1
    assert _tensor_str.get_printoptions()["precision"] == 4


def test_rebuilt_tensors():
    storage = ts.arange(4.0)._typed_storage()
    rebuilt = _utils._rebuild_tensor_v2(storage, 1, (2,), (2,), True, None)
    assert rebuilt.tolist() == [1.0, 3.0] and rebuilt.requires_grad
    parameter = _utils._rebuild_parameter(ts.ones(1), True, None)
    assert type(parameter) is ts.nn.Parameter and parameter.requires_grad
    x = ts.ones(2)
    assert ts._C._is_alias_of(x, x[1:]) and not ts._C._is_alias_of(x, ts.ones(2))


def test_optimizers():
    assert optimizer._default_to_fused_or_foreach([ts.ones(1)], False, False) == (False, False)
    assert optimizer._default_to_fused_or_foreach([ts.ones(1)], False, True) == (True, False)
    assert optimizer._default_to_fused_or_foreach([ts.ones(1)], True, True) == (False, False)
    assert optimizer._get_capturable_supported_devices()[0] == "cuda" and optimizer._get_value(ts.tensor(2.0)) == 2.0
    assert optimizer._to_scalar(ts.tensor([2.0])).shape == () and optimizer._get_scalar_dtype() is ts.float32
    params, grads = [ts.ones(2, dtype=ts.complex64)], [ts.ones(2, dtype=ts.complex64)]
    optimizer._view_as_real(params, grads)
    assert params[0].shape == grads[0].shape == (2, 2)
    groups = _foreach_utils._group_tensors_by_device_and_dtype([[ts.ones(1), ts.ones(1).double(), ts.ones(1)], [1, 2, 3]], True)
    assert [indices for _, indices in groups.values()] == [[0, 2], [1]] and groups[ts.device("cpu"), ts.float64][0][1] == [2]


def test_line_search():
    """`_strong_wolfe` and `_cubic_interpolate`, which optimizer packages import, find a minimum."""
    assert lbfgs._cubic_interpolate(0.0, 1.0, -1.0, 1.0, 0.5, 0.3) == pytest.approx(0.8550399683147397)
    x, d = ts.tensor([2.0]), ts.tensor([-4.0])

    def objective(x, t, d):
        at = x + t * d
        return float((at * at).sum()), (2 * at)

    loss, _, t, evaluations = lbfgs._strong_wolfe(objective, x, 1.0, d, 4.0, ts.tensor([4.0]), ts.tensor(-16.0))
    assert loss == pytest.approx(0.0) and float(t) == pytest.approx(0.5) and evaluations == 2


def test_derivative_helpers():
    f = ts.autograd.functional
    assert f._as_tuple((1, 2)) == (True, (1, 2)) and f._as_tuple(ts.ones(1), "x", "f")[0] is False
    with pytest.raises(TypeError, match="The x given to f must be either a Tensor or a tuple of Tensors but the given x has type <class 'int'>"):
        f._as_tuple(3, "x", "f")
    assert f._tuple_postprocess((1,), False) == 1 and f._tuple_postprocess(((1,), (2,)), (True, False)) == (1, 2)
    basis = f._construct_standard_basis_for((ts.ones(2), ts.ones(1)), (2, 1))
    assert [b.tolist() for b in basis] == [[[1, 0], [0, 1], [0, 0]], [[0], [0], [1]]]


def test_distributions():
    normal, transforms = ts.distributions.multivariate_normal, ts.distributions.transforms
    assert normal._precision_to_scale_tril(ts.eye(2) * 4).tolist() == [[0.5, 0.0], [0.0, 0.5]]
    assert float(normal._batch_mahalanobis(ts.eye(2), ts.ones(2))) == 2.0
    assert 0.999 < float(transforms._clipped_sigmoid(ts.tensor(100.0))) < 1.0


def test_layers():
    functional, transformer, parameter = ts.nn.functional, ts.nn.modules.transformer, ts.nn.parameter
    mask = functional._canonical_mask(ts.tensor([True, False]), "m", None, "", ts.float32)
    assert mask.tolist() == [float("-inf"), 0.0] and functional._none_or_dtype(mask) is ts.float32
    assert transformer._get_activation_fn("relu")(ts.tensor(-1.0)) == 0
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not x"):
        transformer._get_activation_fn("x")
    copies = transformer._get_clones(ts.nn.Linear(1, 1), 2)
    assert len(copies) == 2 and copies[0].weight is not copies[1].weight
    assert parameter.is_lazy(ts.nn.UninitializedParameter()) and parameter.is_lazy(ts.nn.UninitializedBuffer())
    assert isinstance(ts.nn.UninitializedBuffer(), parameter.UninitializedTensorMixin) and not parameter.is_lazy(ts.ones(1))


def test_known_answers():
    assert ts._C._get_cudnn_enabled() is True and ts.autograd._profiler_enabled() is False
    assert ts._C._get_privateuse1_backend_name() == "privateuseone"
    assert not ts._C._is_torch_function_mode_enabled()


def test_classes():
    """Namespaces of classes of extensions exist; classes do not."""
    assert ts.classes.foo is ts.classes.foo
    with pytest.raises(RuntimeError, match=r"Tried to instantiate class 'foo\.Bar', but it does not exist! Ensure that"):
        ts.classes.foo.Bar
    ts.classes.__path__ = []
    assert "missing" not in ts.classes.loaded_libraries


def test_settings_of_the_compiler():
    """`torch._dynamo.config.patch` sets settings for a block or a function; the class of compiled modules is one."""
    config = ts._dynamo.config
    for given in ((("suppress_errors", True), {}), (({"suppress_errors": True},), {}), ((), {"suppress_errors": True})):
        with config.patch(*given[0], **given[1]):
            assert config.suppress_errors is True
        assert config.suppress_errors is False

    @config.patch(verbose=True)
    def look():
        return config.verbose

    assert look() is True and config.verbose is False and config.optimize_ddp is True
    with pytest.raises(AttributeError, match=r"torch\._dynamo\.config\.nope does not exist"), config.patch(nope=1):
        pass
    assert not isinstance(ts.nn.ReLU(), ts._dynamo.eval_frame.OptimizedModule)
    assert ts._dynamo.eval_frame.OptimizedModule is ts._dynamo.OptimizedModule
