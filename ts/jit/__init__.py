"""The public face, under the names of `torch.jit`."""
