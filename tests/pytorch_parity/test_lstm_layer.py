"""The LSTM layer operator compared with PyTorch's: results, gradients, backward nodes and rejected dtypes."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402


@pytest.fixture(autouse=True)
def restore_grad_mode():
    """Restore PyTorch's grad mode, which scripts that end with gradients disabled change for the thread."""
    with torch.enable_grad():
        yield

SHAPES = [(3, 2, 4), (20, 4), (20, 5), (20,), (20,), (2, 5), (2, 5)]


def arguments(library, lead):
    """Return equal inputs, weights, biases and states in a library, all of which require gradients."""
    numbers = [np.random.default_rng(i).standard_normal(shape).astype("f4") for i, shape in enumerate(SHAPES)]
    found = [library.from_numpy(x) for x in numbers]
    return [x.reshape(*lead, *x.shape).requires_grad_() if i > 4 else x.requires_grad_() for i, x in enumerate(found)]


@pytest.mark.parametrize("lead", [(), (1,)])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("reverse", [False, True])
def test_results_and_gradients(reverse, biased, lead):
    results = []
    for library in (torch, ts):
        given = arguments(library, lead)
        found = library.mkldnn_rnn_layer(*given, reverse, [], 2, 5, 1, biased, False, False, True)
        loss = sum((x * x).sum() for x in found[:3])
        gradients = library.autograd.grad(loss, given)
        if not biased:  # `ts` returns no gradients for unused biases, PyTorch does
            assert library is torch or (not gradients[3].any() and not gradients[4].any())
            gradients = gradients[:3] + gradients[5:]
        results.append([x.detach().numpy() for x in (*found[:3], *gradients)])
        assert found[3].dtype is library.uint8 and not found[3].requires_grad
        assert found[0].grad_fn.name() == "MkldnnRnnLayerBackward0"
    for theirs, ours in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-4, 1e-5)
        assert ours.strides == theirs.strides


@pytest.mark.parametrize("dtype", ["int32", "bool", "complex64"])
def test_rejected_dtypes(dtype):
    for library in (torch, ts):
        given = [x.detach().to(getattr(library, dtype)) for x in arguments(library, ())]
        with pytest.raises(RuntimeError, match=r"^get_mkldnn_dtype: unsupported data type$"):
            library.mkldnn_rnn_layer(*given, False, [], 2, 5, 1, True, False, False, True)


def test_backward_nodes_of_layers():
    names = []
    for library in (torch, ts):
        output, _ = library.nn.LSTM(4, 5, 2, bidirectional=True)(library.zeros(3, 2, 4))
        node, found = output.grad_fn, []
        while node is not None:
            found.append(node.name())
            node = node.next_functions[0][0]
        names.append(found[:4])
    assert names[0] == names[1] == ["CatBackward0", "MkldnnRnnLayerBackward0"] * 2
