"""cuSPARSELt, which is not used."""


def is_available() -> bool:
    """Whether sparse products can run in cuSPARSELt: no."""
    return False


def version() -> int | None:
    """Its version; None, as there is none."""
    return None


def get_max_alg_id() -> int | None:
    """The last of its algorithms; None, as there are none."""
    return None
