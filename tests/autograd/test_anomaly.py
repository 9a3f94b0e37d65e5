"""Anomaly detection: errors name the source line that created the failing backward node."""

import pytest

import ts
from ts.autograd import detect_anomaly, set_detect_anomaly


def test_nan_error_names_the_line():
    x = ts.tensor([-1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"), detect_anomaly():
        y = x.sqrt().sum()
        with (
            pytest.warns(
                UserWarning, match=r"Error detected in SqrtBackward0(.|\n)*y = x\.sqrt\(\)\.sum\(\)"
            ),
            pytest.raises(
                RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"
            ),
        ):
            y.backward()


def test_nodes_recorded_before_detection_have_no_traceback():
    x = ts.tensor([-1.0, 2.0], requires_grad=True)
    y = x.sqrt().sum()
    with (
        set_detect_anomaly(True),
        pytest.warns(UserWarning, match="No forward pass information available"),
        pytest.raises(RuntimeError, match="returned nan"),
    ):
        y.backward(retain_graph=True)
    y.backward()
    assert x.grad.isnan().tolist() == [True, False]


def test_nan_may_be_allowed():
    x = ts.tensor([-1.0, 2.0], requires_grad=True)
    with set_detect_anomaly(True, check_nan=False):
        x.sqrt().sum().backward()
    assert x.grad.isnan().tolist() == [True, False]
    assert not ts.is_anomaly_enabled()


def test_nodes_of_a_pass_know_what_induced_them():
    x = ts.tensor([2.0], requires_grad=True)
    with set_detect_anomaly(True):
        y = x**3
        (first,) = ts.autograd.grad(y, x, create_graph=True)
        assert "traceback_" in y.grad_fn.metadata
        assert first.grad_fn.metadata["parent_"] is y.grad_fn


def test_lines_of_scripts_and_functions():
    @ts.jit.script
    def root(x):
        return ts.sqrt(x) * 2

    class Bad(ts.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad * float("nan")

    x = ts.tensor([-1.0], requires_grad=True)
    with set_detect_anomaly(True):
        y = root(x)
        with pytest.warns(UserWarning, match=r"return ts\.sqrt\(x\) \* 2"), pytest.raises(RuntimeError):
            y.backward()
        z = Bad.apply(x)
        with pytest.warns(UserWarning, match=r"z = Bad\.apply\(x\)"), pytest.raises(RuntimeError):
            z.backward()
