"""Step debugger: breakpoints, stepping, and inspection of stopped programs."""
