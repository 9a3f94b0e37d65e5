from typing import Any

from numpy.typing import NDArray

from ts.ops.operator_record import OperatorRecord

def multiply(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any] | None: ...
def kernel(record: OperatorRecord) -> Any: ...
