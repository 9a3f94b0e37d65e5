"""The training examples have equal curves in both libraries, and exchange checkpoints.

The examples' functions take the library as an argument, so that both run the same code.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn", reason="the images come with scikit-learn (extra `examples`)")

import ts  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples"
STEPS = 200
LOSS_TOLERANCE = 1e-3  # maximum difference of a loss from PyTorch's after all steps


@pytest.fixture(autouse=True, scope="module")
def _importable():
    """Add the folder of the examples to `sys.path` and use one thread."""
    sys.path.insert(0, str(EXAMPLES))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    sys.path.remove(str(EXAMPLES))


def digits(library):
    import digits as example

    library.manual_seed(0)
    model = library.jit.script(example.network(library))
    optimizer = library.optim.Adam(model.parameters(), lr=2e-3)
    train, _ = example.images(library)
    return example, model, optimizer, example.batches(library, train, 0)


def finetune(library):
    import digits as example
    import finetune

    library.manual_seed(0)
    model, optimizer = finetune.pretrained(library, finetune.CHECKPOINT)
    train, _ = finetune.few_images(library)
    return example, model, optimizer, example.batches(library, train, 0)


def char_lstm(library):
    import char_lstm as example

    library.manual_seed(0)
    text = example.source_text()
    letters = sorted(set(text))
    numbers = {letter: number for number, letter in enumerate(letters)}
    model = example.network(library, len(letters))
    optimizer = library.optim.Adam(model.parameters(), lr=4e-3)
    encoded = library.tensor([numbers[letter] for letter in text])
    return example, model, optimizer, example.batches(library, encoded, 0)


EXAMPLE_FACTORIES = [digits, finetune, char_lstm]


def halves(library, make_example, path):
    """Return the losses of all steps, with a checkpoint written after half of them."""
    example, model, optimizer, data = make_example(library)
    losses = example.train_model(library, model, optimizer, data, STEPS // 2)
    library.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, str(path))
    return losses + example.train_model(library, model, optimizer, data, STEPS - STEPS // 2)


def second_half(library, make_example, path):
    """Return the losses of the second half, resumed from a file."""
    example, model, optimizer, data = make_example(library)
    for _ in range(STEPS // 2):
        next(data)
    state = library.load(str(path), weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return example.train_model(library, model, optimizer, data, STEPS - STEPS // 2)


@pytest.mark.parametrize("make_example", EXAMPLE_FACTORIES)
def test_curves_and_checkpoints(make_example, tmp_path):
    """Training curves agree between the libraries, also after resuming from the other library's
    checkpoint."""
    ours = halves(ts, make_example, tmp_path / "ours.pt")
    theirs = halves(torch, make_example, tmp_path / "theirs.pt")
    assert np.mean(theirs[-20:]) < 0.8 * theirs[0]  # training reduces the loss
    np.testing.assert_allclose(ours, theirs, atol=LOSS_TOLERANCE, rtol=0)
    half = STEPS // 2
    np.testing.assert_allclose(
        second_half(ts, make_example, tmp_path / "theirs.pt"), theirs[half:], atol=LOSS_TOLERANCE, rtol=0
    )
    np.testing.assert_allclose(second_half(torch, make_example, tmp_path / "ours.pt"), ours[half:], atol=LOSS_TOLERANCE, rtol=0)


def test_archives_of_trained_nets(tmp_path):
    """PyTorch loads the archive saved by the digits example with equal predictions."""
    example, model, optimizer, data = digits(ts)
    example.train_model(ts, model, optimizer, data, 60)
    model.eval()
    ts.jit.save(model, str(tmp_path / "digits.pt"))
    loaded = torch.jit.load(str(tmp_path / "digits.pt"))
    _, test = example.images(ts)
    inputs, _ = test.tensors
    with torch.no_grad(), ts.no_grad():
        theirs = loaded(torch.from_numpy(inputs.numpy()))
        np.testing.assert_allclose(model(inputs).numpy(), theirs.numpy(), atol=1e-5)
    correct = (theirs.argmax(1).numpy() == test.tensors[1].numpy()).mean()
    assert correct == pytest.approx(example.accuracy(ts, model, test), abs=1e-6) and correct > 0.8


def test_text_is_the_same():
    """The trained LSTM writes PyTorch's characters for the same seed."""

    def written(library):
        example, model, optimizer, data = char_lstm(library)
        example.train_model(library, model, optimizer, data, 20)
        library.manual_seed(7)
        return model.write([3, 4, 5], 50, 0.5)

    assert written(ts) == written(torch)
