"""Dispatch: operators, binding of their arguments, and the selection of kernels."""
