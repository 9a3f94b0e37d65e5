"""Emission of graph nodes from syntax, one module per kind of statement and expression."""
