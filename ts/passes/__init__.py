"""Passes: transformations of graphs.

The modules of this package are passes that run in a pipeline (`pipelines`), in specialization, or within such
a pass. The subpackages contain other passes: `freezing`, `tracing`, and `pytorch` for passes on request.
"""
