"""Batching rules of operators, one file per operator family.

batch("aten::softmax.int aten::cumsum", along("dim"))       the same operator, one dimension further in
batch("aten::mm", ROW)                                      ROW(call) gives the result, with the batch first

An operator without a row whose record says that it works element by element needs none, nor does one that is
computed by
others; what is left runs for one element after the other, with a warning.
"""
