"""Derivatives of functional operators without aliases: view copies and functional fill operators."""

from __future__ import annotations

import ts
from ts.ops.derivatives.formula_registry import compose, constant, derive

NOTHING = "ts.zeros_like(grad)"

for _name in "cauchy exponential geometric log_normal uniform".split():
    derive(f"aten::{_name}", self=NOTHING)
derive("aten::random.from", self=NOTHING)
derive("aten::random.to", self=NOTHING, name="RandomBackward1")
derive("aten::random", self=NOTHING, name="RandomBackward2")
derive("aten::bernoulli.Tensor", self=NOTHING, p=NOTHING, name="BernoulliBackward1")

compose("aten::alias_copy aten::_fw_primal_copy", "self.clone()")
compose("aten::as_strided_copy", "self.as_strided(size, stride, storage_offset).clone()")
compose("aten::diagonal_copy", "self.diagonal(offset, dim1, dim2).clone()")
compose("aten::expand_copy", "self.expand(size).clone()")
compose("aten::permute_copy", "self.permute(dims).clone()")
compose("aten::select_copy.int", "self.select(dim, index).clone()")
compose("aten::slice_copy.Tensor", "ts.slice(self, dim, start, end, step).clone()")
compose("aten::squeeze_copy", "self.squeeze().clone()")
compose("aten::squeeze_copy.dim aten::squeeze_copy.dims", "self.squeeze(dim).clone()")
compose("aten::split_copy.Tensor", "[part.clone() for part in self.split(split_size, dim)]")
compose("aten::split_with_sizes_copy", "[part.clone() for part in self.split_with_sizes(split_sizes, dim)]")
compose("aten::t_copy", "self.t().clone()")
compose("aten::transpose_copy.int", "self.transpose(dim0, dim1).clone()")
compose("aten::unbind_copy.int", "[part.clone() for part in self.unbind(dim)]")
compose("aten::unfold_copy", "self.unfold(dimension, size, step).clone()")
compose("aten::unsqueeze_copy", "self.unsqueeze(dim).clone()")
compose("aten::view_copy", "self.view(size).clone()")
constant("aten::view_copy.dtype", "it reinterprets the bits as another dtype")
compose("aten::view_as_complex_copy", "ts.view_as_complex(self).clone()")
compose("aten::view_as_real_copy", "ts.view_as_real(self).clone()")
