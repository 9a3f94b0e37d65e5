"""Operator fusion: rules for the nodes of a fusion group, and the fused program that a backend compiles."""
