from typing import Any

from numpy.typing import NDArray

from ts.ops.registry import Record

def multiply(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any] | None: ...
def kernel(record: Record) -> Any: ...
