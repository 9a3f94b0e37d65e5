"""Built-in operators of the language on numbers, strings and containers.

The kernels of these operators access registers.
"""
