"""C kernels of the CPU backend, which compute whole tensors.

Input: the arguments of an operator in interpreter registers. Output: its results in interpreter registers.
"""
