"""Fusion groups: the rules for their nodes, and the fused program passed to a backend."""
