from collections.abc import Callable
from typing import Any

from ts._core.dispatch.operator import Operator
from ts._core.value.spec import TypeSpec

class PythonOperator(Operator):
    function: Callable[..., Any]
    def __init__(self, function: Callable[..., Any], count: int, result: TypeSpec) -> None: ...

def failure_text(error: BaseException) -> str: ...

class WarnOperator(Operator):
    filename: str
    line: int
    def __init__(self, filename: str, line: int) -> None: ...
