"""Analyses of graphs: aliasing, mutation, side effects, liveness, type checks."""
