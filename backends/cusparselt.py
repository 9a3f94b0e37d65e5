"""PyTorch's queries about cuSPARSELt, which `ts` does not use."""


def is_available() -> bool:
    """Return False, because `ts` does not use cuSPARSELt."""
    return False


def version() -> int | None:
    """Return None, because `ts` does not use cuSPARSELt."""
    return None


def get_max_alg_id() -> int | None:
    """Return None, because no cuSPARSELt algorithm is available."""
    return None
