"""The CUDA backend: CuPy."""
