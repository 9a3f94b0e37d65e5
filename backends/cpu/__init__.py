"""The CPU backend: NumPy."""
