"""Tracing: a function is called, and its tensor operations are recorded as a graph."""
