"""Tracing: a program made of what a function does with tensors while it runs."""
