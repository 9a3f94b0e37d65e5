"""C kernels of the CPU backend, which operate on whole tensors; arguments and results are in registers."""
