"""The CPU's kernels in C over whole tensors: arguments in registers, results into registers."""
