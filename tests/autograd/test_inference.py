"""Tensors created in inference mode can be read outside of it, but neither written nor saved for backward."""

import pytest

import ts


def inference_tensor():
    with ts.inference_mode():
        return ts.ones(2, 3)


def test_is_inference():
    """Tensors created in inference mode and their views are inference tensors; results outside, and views of
    normal tensors, are not."""
    x, ordinary = inference_tensor(), ts.ones(2, 3)
    assert x.is_inference() and ts.is_inference(x) and x.view(6).is_inference() and x.detach().is_inference()
    assert not (x + 1).is_inference() and not x.clone().is_inference()
    with ts.inference_mode():
        assert (ordinary + 1).is_inference() and ordinary.clone().is_inference()
        assert not ordinary.view(6).is_inference() and not ordinary[0].is_inference() and not ordinary.add_(1).is_inference()
        with ts.inference_mode(False):
            assert not ts.ones(2).is_inference()


def test_scripts_create_inference_tensors():
    @ts.jit.script
    def f(x):
        return x * 2 + ts.ones(3)

    with ts.inference_mode():
        assert f(ts.ones(3)).is_inference()  # compiled in inference mode, with normal constants
    x = ts.ones(3, requires_grad=True)
    f(x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize("write", [lambda x: x.add_(1), lambda x: x.__setitem__(0, 1), lambda x: x.zero_(), lambda x: x.t().mul_(2)])
def test_inference_tensors_are_read_only_outside(write):
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed"):
        write(inference_tensor())
    with ts.inference_mode():
        write(ts.ones(2, 3))
    with ts.no_grad(), pytest.raises(RuntimeError, match="Inplace update"):
        write(inference_tensor())


def test_inference_tensors_cannot_be_saved_for_backward():
    x, w = inference_tensor(), ts.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * w
    (x + w).sum().backward()  # `add` does not save its operands
    assert w.grad.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        x.requires_grad_()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        print(x._version)
    with ts.inference_mode():
        assert ts.ones(1, requires_grad=True).requires_grad


def test_views_of_normal_tensors_are_read_only_outside():
    x = ts.ones(4, requires_grad=True)
    y = x * 1
    with ts.inference_mode():
        view = y.view(2, 2)
    assert view.requires_grad and view.is_leaf and not view.is_inference()
    with ts.inference_mode():
        view.add_(1)
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being modified inplace in normal mode"):
        view.add_(1)
    assert y.tolist() == [2, 2, 2, 2]


def test_layers_run_in_inference_mode():
    layer = ts.nn.LSTM(3, 4)
    with ts.inference_mode():
        out, _ = layer(ts.rand(2, 1, 3))
        fast, _ = ts.jit.script(layer)(ts.rand(2, 1, 3))
    assert out.is_inference() and fast.is_inference()
    layer(ts.rand(2, 1, 3))[0].sum().backward()
    assert layer.weight_ih_l0.grad is not None


def test_gradients_of_inference_tensors():
    """Functions under `grad`, `vjp` and `jvp` can use inference tensors, and their results are normal tensors."""
    with ts.inference_mode():
        x = ts.tensor([1.0, 2.0])
        inside = ts.func.grad(lambda y: (y * y * x).sum())(x)
    outside = ts.func.grad(lambda y: (y * y * x).sum())(x)
    for gradient in (inside, outside):
        assert gradient.tolist() == [2, 8]
        assert not gradient.is_inference()
    assert ts.func.vjp(lambda y: y * y, x)[1](ts.ones(2))[0].tolist() == [2, 4]
    assert ts.func.jacfwd(lambda y: y * x)(x).tolist() == [[1, 0], [0, 2]]

    def saves_inference_tensor(y):
        with ts.inference_mode():
            z = y * 2
        return (y * z).sum()

    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        ts.func.grad(saves_inference_tensor)(ts.ones(2))


def test_view_of_other_dtype():
    """In inference mode, `view(dtype)` of a normal tensor is an inference tensor, unlike other views."""
    x = ts.ones(2)
    with ts.inference_mode():
        views = [x.view(ts.int32), x.view(ts.float32)]
        assert not x.view(2).is_inference()
        views[0].zero_()
    assert x.tolist() == [0, 0]
    for view in views:
        assert view.is_inference() and not view._is_view()
        with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
            view._version
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
            view.zero_()
    assert not views[0].view(ts.float32).is_inference()
