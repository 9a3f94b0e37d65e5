"""PyTorch's query about KleidiAI, which `ts` does not use."""


def is_available() -> bool:
    """Return False, because `ts` does not use KleidiAI."""
    return False
