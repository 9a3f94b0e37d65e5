"""Networks of `benchmarks.large_models` in small sizes: scripts and traces agree with eager calls."""

from pathlib import Path

import numpy as np
import pytest

import ts
from benchmarks import large_models, networks
from benchmarks.large_models_process import RUNTIMES
from tests.program_files import run_family

FOLDER = Path(networks.__file__).parent
vision, transformers, sequences = (run_family(FOLDER, name, "ts") for name in networks.FAMILIES)
NETWORKS = {**vision.NETWORKS, **transformers.NETWORKS, **sequences.NETWORKS}

SMALL = {
    "ResNet-18": networks.Network(
        lambda: vision.ResNet(vision.Basic, (2, 1), width=8), lambda: [vision.image(2, 64)]
    ),
    "ResNet-50": networks.Network(
        lambda: vision.ResNet(vision.Bottleneck, (1, 2), width=8), lambda: [vision.image(1, 64)]
    ),
    "MobileNetV3": networks.Network(
        lambda: vision.MobileNetV3(vision.MOBILENET_V3_LARGE[2:5]), lambda: [vision.image(1, 64)]
    ),
    "EfficientNet": networks.Network(
        lambda: vision.EfficientNet(vision.EFFICIENTNET_B0[:2]), lambda: [vision.image(1, 64)]
    ),
    "U-Net": networks.Network(lambda: vision.UNet(8, 2), lambda: [vision.image(1, 32)]),
    "ViT": networks.Network(
        lambda: transformers.VisionTransformer(64, 16, 32, 2, 4), lambda: [vision.image(1, 64)]
    ),
    "BERT": networks.Network(
        lambda: transformers.Bert(100, 32, 64, 2, 4), lambda: transformers.sentence(16, 3, 100)
    ),
    "GPT-2": networks.Network(
        lambda: transformers.Decoder(100, 64, 32, 2, 4, steps=5),
        lambda: [ts.randint(100, (1, 6))],
        has_loop=True,
    ),
    "ConvTasNet": networks.Network(
        lambda: sequences.ConvTasNet(32, 16, 16, 32, blocks=3, repeats=2), lambda: [ts.randn(1, 1, 800)]
    ),
    "LSTM": networks.Network(lambda: sequences.Recurrent(16, 24, 8), lambda: [ts.randn(1, 10, 16)]),
    "DLRM": networks.Network(lambda: sequences.Dlrm(26, 50, 16), lambda: sequences.clicks(3, rows=50)),
}


def flat(result):
    """Return the arrays of a result."""
    return [x.detach().numpy() for x in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", SMALL)
def test_compiled_networks(name, tmp_path):
    """The saved and frozen script or trace of a network returns the eager results, for other inputs too."""
    model, compiled, inputs = networks.compiled(ts, SMALL[name])
    compiled.save(str(tmp_path / "model.pt"))
    with ts.no_grad():
        frozen = ts.jit.optimize_for_inference(ts.jit.freeze(ts.jit.load(str(tmp_path / "model.pt"))))
        others = tuple(SMALL[name].inputs())
        for arguments in (inputs, others):
            expected = flat(model(*arguments))
            assert max(float(np.ptp(x)) for x in expected) > 0.001  # not constant
            assert large_models.relative_difference(flat(frozen(*arguments)), expected) < 1e-5


@pytest.mark.parametrize("name", ["ResNet-50", "DLRM"])
def test_weights_are_deterministic(name):
    """Two networks from one seed are equal."""
    first, second = networks.build(ts, SMALL[name]), networks.build(ts, SMALL[name])
    assert all(ts.equal(a, b) for a, b in zip(first[1], second[1], strict=True))
    for key, value in first[0].state_dict().items():
        assert ts.equal(value, second[0].state_dict()[key]), key


def test_cached_keys_and_values():
    """Generation with the key-value cache chooses the same tokens as without the cache."""
    model, (prompt,) = networks.build(ts, SMALL["GPT-2"])
    with ts.no_grad():
        tokens, scores = model(prompt)
        model.steps = 1
        for length in range(prompt.size(1), tokens.size(1)):
            longer, last = model(tokens[:, :length])
            assert ts.equal(longer, tokens[:, : length + 1])
    assert large_models.relative_difference([last.numpy()], [scores.numpy()]) < 1e-5


def test_sizes():
    """The networks have the numbers of parameters of their papers."""
    millions = {"ResNet-18, batch 8": 11.69, "MobileNetV3": 5.48, "EfficientNet-B0": 5.29, "ViT small": 22.05}
    for name, expected in millions.items():
        with ts.device("meta"):
            model = NETWORKS[name].make()
        assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(expected, abs=0.01)


def test_relative_differences():
    """Differences are relative to the largest value, and shapes must agree."""
    expected = [np.array([1.0, -4.0]), np.array([7])]
    assert large_models.relative_difference([np.array([1.5, -4.0]), np.array([7])], expected) == 0.125
    with pytest.raises(AssertionError, match="shapes"):
        large_models.relative_difference([np.zeros(3)], [np.zeros((3, 1))])


def save_results(folder, **results):
    """Write the result files of runtimes."""
    for runtime, values in results.items():
        np.savez(folder / f"{runtime}.npz", np.array(values))


def test_different_results_are_errors(tmp_path):
    """A result that differs from PyTorch's by more than the tolerance, or is not a number, is an error."""
    for value, message in ((2.0001, "ts and PyTorch differ by 5.0e-05"), (np.nan, "differ by nan")):
        save_results(tmp_path, PyTorch=[1.0, 2.0], ts=[1.0, value])
        with pytest.raises(AssertionError, match=message):
            large_models.check_results(tmp_path, "network", dict(ts=1e-5, PyTorch=1e-5))
    save_results(tmp_path, ts=[1.0, 2.000001])
    large_models.check_results(tmp_path, "network", dict(ts=1e-5, PyTorch=1e-5))


def test_report_without_pytorch(monkeypatch):
    """Without PyTorch, the report names the command that installs the peers."""
    monkeypatch.setattr(large_models, "peer_versions", dict)
    assert large_models.report(1).endswith(f"not installed: {large_models.INSTALL}")


def test_process_of_a_runtime(tmp_path, monkeypatch):
    """The process of `ts` writes its results, and measures a round for each request."""
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert "OPENBLAS_CORETYPE" not in large_models.environment()
    model, compiled, inputs = networks.compiled(ts, SMALL["DLRM"])
    compiled.save(str(tmp_path / "model.pt"))
    np.savez(tmp_path / "arguments.npz", *[x.numpy() for x in inputs])
    with large_models.started("ts", str(tmp_path)) as process:
        assert large_models.reply(process) == "ready"
        with np.load(tmp_path / "ts.npz") as results:
            assert large_models.relative_difference(list(results.values()), flat(model(*inputs))) < 1e-5
        for _ in range(2):
            print(file=process.stdin, flush=True)
            assert 0 < float(large_models.reply(process)) < 1
    assert process.poll() is not None
    assert set(RUNTIMES) == {"ts", "PyTorch", "PyTorch, frozen", "ONNX Runtime", "OpenVINO"}
