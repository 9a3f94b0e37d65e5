"""Freezing of modules, and the optimizations of frozen graphs."""

from ts.passes.freezing.freeze import freeze_module as freeze_module
