"""Assembler, which allocates registers and encodes the instructions of a lowered function."""
