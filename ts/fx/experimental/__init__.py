"""What PyTorch has under `torch.fx.experimental`: of it, `optimization`."""

from ts.absent import names_for

__getattr__ = names_for(__name__)
