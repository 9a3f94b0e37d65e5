"""The Cython core: values, containers, tensors, the interpreter loop and dispatch."""
