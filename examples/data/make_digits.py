"""Create `digits.pt` and `digits.npz` with PyTorch 2.13 and scikit-learn; run in this folder."""

import sys
import zipfile
from pathlib import Path
from typing import List

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import digits


class Reader(torch.nn.Module):
    """Classifies images of digits with pixel bytes from 0 to 16."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return the probabilities of the ten digits."""
        if images.dim() == 2:
            images = images.unsqueeze(0)
        return torch.softmax(self.net(images.unsqueeze(1).float() / 16), dim=1)

    @torch.jit.export
    def read(self, images: torch.Tensor, sure: float = 0.5) -> List[int]:
        """Return the digits, with -1 for probabilities below `sure`."""
        found: List[int] = []
        for shares in self.forward(images):
            best = int(shares.argmax())
            found.append(best if float(shares[best]) >= sure else -1)
        return found


def remove_debug_records(path: str) -> None:
    """Remove debug records, which contain file names and lines."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith(".debug_pkl")]
        records = [(name, archive.read(name)) for name in names]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in records:
            archive.writestr(zipfile.ZipInfo(name), content)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train, test = digits.images(torch)
    net = digits.network(torch)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    digits.train_model(torch, net, optimizer, digits.batches(torch, train, 0), 600)
    reader = torch.jit.script(Reader(net).eval())
    reader.save("digits.pt")
    remove_debug_records("digits.pt")
    pixels, numbers = test.tensors
    images = (pixels[:200, 0] * 16).round().to(torch.uint8)
    np.savez_compressed("digits.npz", images=images.numpy(), digits=numbers[:200].to(torch.uint8).numpy())
    right = sum(a == b for a, b in zip(reader.read(images), numbers[:200].tolist(), strict=True))
    print(f"{right} of 200 images are classified correctly")


if __name__ == "__main__":
    main()
