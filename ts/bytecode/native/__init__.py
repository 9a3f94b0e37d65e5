"""Machine code for hot loops, beside the interpreter and with its results to the bit."""
