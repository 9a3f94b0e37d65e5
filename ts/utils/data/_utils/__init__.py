"""PyTorch's private home of what loaders do: programs import `collate.default_collate` from it."""

from ts.absent import names_for
from ts.utils.data._utils import collate, worker

__all__ = ["collate", "worker"]
__getattr__ = names_for(__name__)
