"""Functions as users hold them: compiled on demand, limited, logged."""
