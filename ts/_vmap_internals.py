"""PyTorch's first home of `vmap`, from which programs still import it."""

from ts.func import vmap

__all__ = ["vmap"]
