"""Syntax to graph: one module for each kind of statement and expression."""
