"""Primitives of the language: operators over numbers, strings and containers, written against registers."""
