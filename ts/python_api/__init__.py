"""The functions of `ts` itself that are no operators."""
