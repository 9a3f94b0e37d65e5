"""C kernels of the CPU backend, on whole tensors. Arguments and results are in interpreter registers."""
