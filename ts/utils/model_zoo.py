"""Old names of functions of `ts.hub`."""

from ts.hub import load_state_dict_from_url as load_url
from ts.hub import tqdm

__all__ = ["load_url", "tqdm"]
