"""KleidiAI, which is not used."""


def is_available() -> bool:
    """Whether products can run in KleidiAI: no."""
    return False
