"""PyTorch's cuSPARSELt queries: `ts` does not use cuSPARSELt."""


def is_available() -> bool:
    """Return False: `ts` does not use cuSPARSELt."""
    return False


def version() -> int | None:
    """Return None: `ts` does not use cuSPARSELt."""
    return None


def get_max_alg_id() -> int | None:
    """Return None: no cuSPARSELt algorithm is available."""
    return None
