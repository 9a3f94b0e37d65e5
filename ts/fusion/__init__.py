"""Operator fusion (kernel fusion): rules of fusion groups, and the fused program that a backend compiles."""
