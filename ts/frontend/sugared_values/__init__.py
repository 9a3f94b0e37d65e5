"""Compile-time values of names and expressions, including those without a graph value."""
