"""Freezing of modules, and the optimizations of frozen graphs."""
