"""Groups of pointwise operators that run as one: which nodes may join, and the program for a backend."""
