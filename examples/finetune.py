"""Fine-tune weights trained by PyTorch for other classes: the digits 5 to 9, with few training images.

`examples/data/digits_0_to_4.pt` is a `state_dict` saved by PyTorch 2.13 (`examples/data/README.md`): weights
of the network in `examples/digits.py`, trained on digits 0 to 4. Its convolutions are frozen; the following
layers are trained.

    pip install 'torchscript-ts[examples]'
    python examples/finetune.py                     writes build/examples/finetuned.pt and finetune.png
    python examples/finetune.py --checkpoint my.pt  another state_dict of this network
"""

from pathlib import Path
from typing import Any, Tuple

from digits import accuracy, batches, images, network, train_model
from training_utils import arguments, draw

import ts

CHECKPOINT = Path(__file__).parent / "data" / "digits_0_to_4.pt"
NEW_DIGITS = (5, 6, 7, 8, 9)
TRAINING_IMAGES = 50  # number of training images of the new digits


def pretrained(torch: Any, checkpoint: Path) -> Tuple[Any, Any]:
    """Return the model of a checkpoint with a new last layer, and an optimizer of the unfrozen layers."""
    model = network(torch)
    model.load_state_dict(torch.load(str(checkpoint), weights_only=True))
    model[-1].reset_parameters()
    convolutions = [layer for layer in model if isinstance(layer, torch.nn.Conv2d)]
    for layer in convolutions:
        layer.requires_grad_(False)
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return torch.jit.script(model), torch.optim.SGD(learning, lr=0.01, momentum=0.9, weight_decay=1e-4)


def few_images(torch: Any) -> Tuple[Any, Any]:
    """Return a small training set and a full test set of the new digits."""
    train, test = images(torch, NEW_DIGITS)
    inputs, digits = train.tensors
    return torch.utils.data.TensorDataset(inputs[:TRAINING_IMAGES], digits[:TRAINING_IMAGES]), test


def main() -> None:
    options = arguments(__doc__, steps=200, checkpoint=CHECKPOINT)
    ts.manual_seed(options.seed)
    model, optimizer = pretrained(ts, options.checkpoint)
    train, test = few_images(ts)
    print(
        f"before: {100 * accuracy(ts, model, test):.1f} % of {len(test)} unseen images are "
        "classified correctly"
    )
    losses = train_model(ts, model, optimizer, batches(ts, train, options.seed), options.steps)
    draw(losses, options.out / "finetune.png", f"Digits 5 to 9 from {TRAINING_IMAGES} images")
    ts.save(model.state_dict(), str(options.out / "finetuned.pt"))
    print(f"after {options.steps} steps on {TRAINING_IMAGES} images: {100 * accuracy(ts, model, test):.1f} %")


if __name__ == "__main__":
    main()
