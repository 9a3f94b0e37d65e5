"""Passes over graphs that a tracer recorded."""
