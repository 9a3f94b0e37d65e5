"""Functions of neural networks equal values computed by hand, in eager mode and scripts."""

import math

import pytest

import ts
from ts.nn import functional as F


def test_margins_of_one_class_and_of_several():
    scores = ts.tensor([[1.0, 2.0, 3.0]])
    assert F.multi_margin_loss(scores, ts.tensor([0])).item() == pytest.approx((2 + 3) / 3)
    assert F.multi_margin_loss(scores, ts.tensor([0]), p=2).item() == pytest.approx((4 + 9) / 3)
    # Classes 3 and 0 hold (the list ends at -1): 1 - (0.8 - 0.2) + 1 - (0.8 - 0.4) + 1 - (0.1 - 0.2) + 1 - (0.1 - 0.4)
    scores = ts.tensor([[0.1, 0.2, 0.4, 0.8]])
    assert F.multilabel_margin_loss(scores, ts.tensor([[3, 0, -1, 1]])).item() == pytest.approx(3.4 / 4)


def test_labels_out_of_range_are_rejected():
    scores = ts.zeros(2, 3)
    for labels in ([0, 3], [-1, 0]):
        with pytest.raises(RuntimeError, match="target out of range"):
            F.multi_margin_loss(scores, ts.tensor(labels))
    with pytest.raises(RuntimeError, match="is out of range"):
        F.multilabel_margin_loss(scores, ts.tensor([[0, 1, 3], [0, 0, 0]]))
    logs = ts.zeros(4, 1, 3)
    with pytest.raises(RuntimeError, match="Expected targets to be labels below 3, but got 7"):
        F.ctc_loss(logs, ts.tensor([[7]]), ts.tensor([4]), ts.tensor([1]))


def test_ctc_sums_over_all_alignments():
    """CTC loss sums over all alignments: target `1` has three of four paths of two steps, `1 1` needs three
    steps."""
    logs = ts.full((2, 1, 2), math.log(0.5))
    one = F.ctc_loss(logs, ts.tensor([[1]]), ts.tensor([2]), ts.tensor([1]), reduction="none")
    assert one.tolist() == pytest.approx([-math.log(0.75)])
    two = F.ctc_loss(logs, ts.tensor([[1, 1]]), ts.tensor([2]), ts.tensor([2]), reduction="none")
    assert two.tolist() == [math.inf]
    zero = F.ctc_loss(logs, ts.tensor([[1, 1]]), ts.tensor([2]), ts.tensor([2]), zero_infinity=True)
    assert zero.item() == 0


def test_bags():
    table = ts.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 5.0]])
    rows, starts = ts.tensor([0, 1, 2, 2]), ts.tensor([0, 2, 2])
    assert F.embedding_bag(rows, table, starts, mode="sum").tolist() == [[3, 30], [0, 0], [8, 10]]
    assert F.embedding_bag(rows, table, starts, mode="mean").tolist() == [[1.5, 15], [0, 0], [4, 5]]
    assert F.embedding_bag(rows.reshape(2, 2), table, mode="max").tolist() == [[2, 20], [4, 5]]
    assert F.embedding_bag(rows, table, starts, mode="sum", padding_idx=1).tolist() == [[1, 10], [0, 0], [8, 10]]
    with pytest.raises(RuntimeError, match="ascending"):
        F.embedding_bag(rows, table, ts.tensor([0, 3, 1]))


def test_grids():
    """An identity grid returns the image; samples outside of the image are zero or border values."""
    image = ts.arange(6.0).reshape(1, 1, 2, 3)
    grid = F.affine_grid(ts.tensor([[[1.0, 0, 0], [0, 1, 0]]]), [1, 1, 2, 3], align_corners=False)
    for mode in ("bilinear", "nearest"):
        assert F.grid_sample(image, grid, mode=mode, align_corners=False).flatten().tolist() == pytest.approx(range(6), abs=1e-5)
    outside = ts.full((1, 1, 1, 2), 3.0)
    assert F.grid_sample(image, outside, align_corners=True).item() == 0
    assert F.grid_sample(image, outside, padding_mode="border", align_corners=True).item() == 5
    # x = 3 is column 4, which reflects at column 2 to column 0; y = 3 is row 2, which reflects at row 1 to row 0.
    assert F.grid_sample(image, outside, padding_mode="reflection", align_corners=True).item() == 0


def test_bytes_are_resampled_in_integers():
    row = ts.tensor([0, 255], dtype=ts.uint8).reshape(1, 1, 1, 2)
    assert F.interpolate(row, size=(1, 4), mode="bilinear").flatten().tolist() == [0, 64, 191, 255]
    assert F.interpolate(row, size=(1, 1), mode="bilinear", antialias=True).item() == 128


def test_antialiasing_averages_removed_pixels():
    row = ts.tensor([0.0, 0, 0, 8, 0, 0, 0, 0]).reshape(1, 1, 1, 8)
    assert F.interpolate(row, size=(1, 2), mode="bilinear").sum().item() == 0
    smooth = F.interpolate(row, size=(1, 2), mode="bilinear", antialias=True).flatten().tolist()
    assert smooth[0] > smooth[1] > 0


def test_running_moments():
    x, mean, variance = ts.tensor([[1.0], [3.0]]), ts.zeros(1), ts.ones(1)
    result = F.batch_norm(x, mean, variance, training=True, momentum=0.5, eps=0.0)
    assert result.flatten().tolist() == [-1, 1]
    assert (mean.item(), variance.item()) == (1.0, 1.5)  # halfway to 2 and to 2: the unbiased variance
    nothing = F.batch_norm(ts.zeros(0, 1), mean, variance)
    assert nothing.shape == (0, 1) and mean.item() == 1.0


def test_half_precision_norms_do_not_overflow():
    x = ts.tensor([300.0, 400.0], dtype=ts.float16)
    assert F.rms_norm(x, [2]).tolist() == pytest.approx([300 / math.sqrt(125000), 400 / math.sqrt(125000)], rel=1e-3)


def test_resampling_and_grids_compile():
    def f(x: ts.Tensor, grid: ts.Tensor):
        a = F.interpolate(x, scale_factor=2.0, mode="bilinear")
        b = F.interpolate(x, size=[3, 3])
        c = F.grid_sample(x, grid, align_corners=True)
        return a.sum() + b.sum() + c.sum() + F.upsample_nearest(x, size=4).sum()

    x, grid = ts.arange(4.0).reshape(1, 1, 2, 2), ts.zeros(1, 1, 1, 2)
    assert ts.jit.script(f)(x, grid).item() == pytest.approx(f(x, grid).item())


def test_uniform_attention_averages_values():
    """Attention with equal weights returns the mean of the unmasked values."""
    attend = ts.nn.MultiheadAttention(2, 1)
    for p in (attend.in_proj_weight, attend.out_proj.weight):
        p.detach().zero_()
    attend.in_proj_weight.detach()[4:] = ts.eye(2)  # queries and keys are zero, values are the input
    attend.out_proj.weight.detach().copy_(ts.eye(2))
    x = ts.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 12.0]])
    result, weights = attend(x, x, x)
    assert result.tolist() == [pytest.approx([3, 6])] * 3
    assert weights.flatten().tolist() == pytest.approx([1 / 3] * 9)
    hidden = attend(x, x, x, key_padding_mask=ts.tensor([False, False, True]))[0]
    assert hidden.tolist() == [pytest.approx([2, 3])] * 3
    causal = ts.nn.Transformer.generate_square_subsequent_mask(3)
    assert attend(x, x, x, attn_mask=causal)[0][1].tolist() == pytest.approx([2, 3])


def test_a_transformer_compiles():
    model = ts.nn.Transformer(4, 2, 1, 1, 8).eval()
    source, target = ts.randn(3, 2, 4), ts.randn(5, 2, 4)
    mask = model.generate_square_subsequent_mask(5)
    scripted = ts.jit.script(model)
    got, expected = scripted(source, target, tgt_mask=mask), model(source, target, tgt_mask=mask)
    assert got.flatten().tolist() == pytest.approx(expected.flatten().tolist(), abs=1e-6)
    assert [name for name, _ in scripted.named_parameters()] == [name for name, _ in model.named_parameters()]


def test_dropout_after_a_reload():
    from importlib import reload

    functional = reload(F)
    assert functional.dropout1d(ts.ones(1, 2, 3), training=False).shape == (1, 2, 3)
    assert functional.dropout(ts.ones(2), training=False).tolist() == [1, 1]
    assert not (set(functional.NAME_TO_MODULE) & {home.rpartition(".")[2] for home in functional.NAME_TO_MODULE.values()})


def test_scripts_call_functions_that_a_program_assigned_to_torch_functional(monkeypatch):
    """`torch.functional.dropout = F.dropout` names the function with its default arguments, not `aten::dropout`."""
    import ts.functional

    def doubled(x: ts.Tensor) -> ts.Tensor:
        return x * 2

    monkeypatch.setattr(ts.functional, "dropout", F.dropout, raising=False)
    monkeypatch.setattr(ts.functional, "relu", doubled, raising=False)

    def program(x: ts.Tensor) -> ts.Tensor:
        return ts.functional.relu(ts.functional.dropout(x, 0.0))

    assert ts.jit.script(program)(ts.tensor([-1.0, 2.0])).tolist() == [-2, 4]


def test_cross_map_normalization_follows_the_moving_sum_of_pytorch():
    """The sum of squares of a channel keeps channel 0 after it left the window; the gradient does not."""
    layer = ts.nn.CrossMapLRN2d(2, alpha=2.0, beta=1.0)
    assert repr(layer) == "CrossMapLRN2d(2, alpha=2.0, beta=1.0, k=1)"
    x = ts.tensor([1.0, 2.0, 3.0]).reshape(1, 3, 1, 1).requires_grad_()
    y = layer(x)
    assert y.flatten().tolist() == pytest.approx([1 / 2, 2 / 6, 3 / 11])
    y.sum().backward()
    assert x.grad.flatten().tolist() == pytest.approx([0.0, -1.0555556, -0.3911845], abs=1e-6)
    with pytest.raises(ValueError, match=r"CrossMapLRN2d: Expected input to be 4D, got 3D instead\."):
        layer(ts.ones(1, 3, 2))
    scripted = ts.jit.script(layer)
    assert "^CrossMapLRN2d" in scripted.code
    assert scripted(x).tolist() == y.tolist()
