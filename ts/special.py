"""Special functions. For example, `ts.special.expit` is the operator `aten::special_expit`."""

from __future__ import annotations

from ts.ops.namespace_functions import namespace_attributes

__getattr__, __dir__ = namespace_attributes("special", globals())
