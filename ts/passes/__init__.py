"""Passes: transformations of graphs."""
