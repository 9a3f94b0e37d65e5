"""Operator records, by family."""
