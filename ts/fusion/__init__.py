"""Fusion groups: rules for the nodes of a group, and the fused program that a backend compiles."""
