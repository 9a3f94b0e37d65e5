"""Facts about graphs: aliasing, liveness."""
