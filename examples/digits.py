"""Train a convolutional network on handwritten digits and save it as an archive that PyTorch can load.

The 1,797 images of 8 x 8 pixels are part of scikit-learn; there is no download.

    pip install 'torchscript-ts[examples]'
    python examples/digits.py                       writes build/examples/digits.pt and digits.png

Functions take the library as an argument, so that they also run with PyTorch: `train_model(torch, ...)`.
"""

from typing import Any, Iterator, List, Tuple

from training_utils import arguments, draw, endless, run

import ts

BATCH = 64
TEST_IMAGES = 360  # number of test images


def images(torch: Any, digits: Tuple[int, ...] = tuple(range(10))) -> Tuple[Any, Any]:
    """Return a training set and a test set of images (1, 8, 8) from 0 to 1 with their digits."""
    from sklearn.datasets import load_digits

    data = load_digits()
    selected = [i for i, digit in enumerate(data.target) if digit in digits]
    pixels = torch.tensor(data.images[selected]).float().div(16).unsqueeze(1)
    numbers = torch.tensor(data.target[selected]).long()
    # Images of one writer are adjacent: shuffle, so that the split does not depend on the order.
    order = torch.randperm(len(selected), generator=torch.Generator().manual_seed(0))
    tested = TEST_IMAGES * len(selected) // len(data.target)
    parts = order[tested:], order[:tested]
    train, test = (torch.utils.data.TensorDataset(pixels[part], numbers[part]) for part in parts)
    return train, test


def network(torch: Any) -> Any:
    """Return a model from images (batch, 1, 8, 8) to a score for each digit (batch, 10)."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def batches(torch: Any, data: Any, seed: int) -> Iterator[List[Any]]:
    """Yield batches of images and digits in random order, endlessly."""
    generator = torch.Generator().manual_seed(seed)
    size = min(BATCH, len(data))
    loader = torch.utils.data.DataLoader(data, size, shuffle=True, generator=generator, drop_last=True)
    return endless(loader)


def train_model(torch: Any, model: Any, optimizer: Any, data: Iterator[Any], steps: int) -> List[float]:
    """Train the model on `steps` batches and return the losses."""

    def step() -> float:
        inputs, digits = next(data)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), digits)
        loss.backward()
        optimizer.step()
        return loss.item()

    return run("training", steps, step)


def accuracy(torch: Any, model: Any, data: Any) -> float:
    """Return the fraction of correctly classified images."""
    inputs, digits = data.tensors
    with torch.no_grad():
        return (model(inputs).argmax(1) == digits).float().mean().item()


def main() -> None:
    options = arguments(__doc__, steps=600)
    ts.manual_seed(options.seed)
    train, test = images(ts)
    model = ts.jit.script(network(ts))
    optimizer = ts.optim.Adam(model.parameters(), lr=2e-3)
    losses = train_model(ts, model, optimizer, batches(ts, train, options.seed), options.steps)
    draw(losses, options.out / "digits.png", "Handwritten digits")
    model.eval()
    ts.jit.save(model, str(options.out / "digits.pt"))
    share = 100 * accuracy(ts, model, test)
    print(f"loss {losses[-1]:.4f}, {share:.1f} % of {len(test)} unseen images are classified correctly")


if __name__ == "__main__":
    main()
