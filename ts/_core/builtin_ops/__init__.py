"""Built-in operators of the language on numbers, strings and containers; their kernels access registers."""
