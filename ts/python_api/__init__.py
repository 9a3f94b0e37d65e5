"""Top-level functions of `ts` that are not operators."""
