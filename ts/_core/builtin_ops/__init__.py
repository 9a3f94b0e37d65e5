"""Built-in operators of the language on numbers, strings and containers. Their kernels access registers."""
