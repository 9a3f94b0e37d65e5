"""Passes: transformations of graphs.

The modules of this package run in the pipelines (`pipelines`) and in specialization, or are passes that these
call. The other passes are in packages: `freezing`, `tracing`, and `pytorch` for passes that run on request.
"""
