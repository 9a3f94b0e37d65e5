"""PyTorch's KleidiAI query: `ts` does not use KleidiAI."""


def is_available() -> bool:
    """Return False: `ts` does not use KleidiAI."""
    return False
