"""Archives of scripted layers are exchanged with PyTorch in both directions."""

import io

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

i = torch.tensor
LAYERS = {
    "MultiheadAttention(4, 2, batch_first=True)": lambda: [torch.randn(3, 2, 4)] * 3,
    "TransformerEncoderLayer(4, 2, 8)": lambda: [torch.randn(3, 2, 4)],
    "TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=True, activation='gelu')": lambda: [
        torch.randn(3, 2, 4)
    ],
    "TransformerDecoderLayer(4, 2, 8)": lambda: [torch.randn(3, 2, 4), torch.randn(5, 2, 4)],
    "TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2)": lambda: [
        torch.randn(3, 2, 4)
    ],
    "Transformer(4, 2, 1, 1, 8)": lambda: [torch.randn(3, 2, 4), torch.randn(5, 2, 4)],
    "EmbeddingBag(5, 3)": lambda: [i([1, 2, 3]), i([0, 2])],
    "CTCLoss()": lambda: [torch.randn(5, 2, 4).log_softmax(-1), i([[1, 2], [3, 1]]), i([5, 4]), i([2, 1])],
    "Upsample(scale_factor=2, mode='bicubic')": lambda: [torch.randn(1, 2, 3, 4)],
    "Upsample(size=(5, 6), mode='bilinear')": lambda: [torch.randn(1, 2, 3, 4)],
    "MultiLabelMarginLoss()": lambda: [torch.randn(2, 3), i([[0, -1, 1], [1, 2, -1]])],
    "MultiMarginLoss()": lambda: [torch.randn(2, 3), i([0, 2])],
    "RMSNorm(4)": lambda: [torch.randn(2, 4)],
}


def flat(value):
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in flat(v)]
    return [] if value is None else [np.asarray(value.detach().numpy(), dtype=np.float64)]


def are_close(ours, theirs):
    return len(ours) == len(theirs) and all(
        a.shape == b.shape and np.allclose(a, b, atol=1e-5) for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("gradients", (True, False))
@pytest.mark.parametrize("case", LAYERS)
def test_archives_of_both_libraries(case, gradients, tmp_path):
    """Layer archives of both libraries load in the other one; without gradients, PyTorch's layers use fused
    layer operators."""
    torch.manual_seed(0)
    theirs = eval(f"nn.{case}", {"nn": torch.nn}).eval()
    ours = eval(f"nn.{case}", {"nn": ts.nn}).eval()
    ours.load_state_dict({name: ts.from_numpy(x.numpy()) for name, x in theirs.state_dict().items()})
    args = LAYERS[case]()
    with torch.set_grad_enabled(gradients), ts.set_grad_enabled(gradients):
        want = flat(theirs(*args))
        saved = io.BytesIO()
        torch.jit.save(torch.jit.script(theirs), saved)
        saved.seek(0)
        assert are_close(flat(ts.jit.load(saved)(*[ts.from_numpy(x.numpy()) for x in args])), want)
        ts.jit.save(ts.jit.script(ours), tmp_path / "layer.pt")
        assert are_close(flat(torch.jit.load(tmp_path / "layer.pt")(*args)), want)
