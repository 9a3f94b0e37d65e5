"""Top-level functions of `ts` other than operators."""
