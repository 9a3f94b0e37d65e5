"""C kernels of the CPU backend, on whole tensors; arguments and results are in interpreter registers."""
