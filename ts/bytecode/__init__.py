"""Lowering of graphs to register bytecode."""
