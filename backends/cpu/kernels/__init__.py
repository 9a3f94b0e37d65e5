"""C kernels of the CPU backend over whole tensors: arguments and results in registers."""
