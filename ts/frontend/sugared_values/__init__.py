"""Compile-time values of names and expressions without a graph value."""
