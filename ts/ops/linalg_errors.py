"""Errors of `linalg` functions for failed matrices, from LAPACK's error codes.

Input: `info`, an integer array with one error code per matrix (0 for success), and the name of the function.
Output: the error for the first failed matrix. For example, the code 2 of `linalg.inv` raises

    LinAlgError: linalg.inv: The diagonal element 2 is zero, the inversion could not be completed because
    the input matrix is singular.
"""

from __future__ import annotations

from typing import Any

from ts.errors import LinAlgError
from ts.ops import common

Array = common.Array

_CONVERGE = (
    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
    "repeated {} (error code: {{info}})."
)
# Substring of the name of the `linalg` function -> text of its error for the first failed matrix.
_MESSAGES = {
    "inv": "The diagonal element {info} is zero, the inversion could not be completed because the input "
    "matrix is singular.",
    "solve": "The solver failed because the input matrix is singular.",
    "cholesky": "The factorization could not be completed because the input is not positive-definite (the "
    "leading minor of order {info} is not positive-definite).",
    "eig": _CONVERGE.format("eigenvalues"),
    "svd": _CONVERGE.format("singular values"),
    "lstsq": "The least squares solution could not be computed because the input matrix does not have "
    "full rank (error code: {info}).",
    "lu_factor": "U[{info},{info}] is zero and using it on lu_solve would result in a division by zero. "
    "If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
    "linalg.lu_factor_ex(A, pivot)",
}


def raise_errors(xp: Any, info: Array, name: str, is_matrix: bool) -> None:
    """Raise the error of function `name` for the first matrix with a nonzero error code in `info`."""
    if not common.is_any_true(xp, info):
        return
    first = int(xp.flatnonzero(info)[0])
    error_code = int(info.reshape(-1)[first])
    batch = "" if is_matrix else f"(Batch element {first}): "
    message = next((message for function_name, message in _MESSAGES.items() if function_name in name), None)
    if error_code < 0 or message is None:
        template = "Argument {} has illegal value" if error_code < 0 else "Unknown error code: {}"
        raise RuntimeError(f"{name}: {batch}{template.format(abs(error_code))}.")
    kind = RuntimeError if "lu_factor" in name else LinAlgError
    raise kind(f"{name}: {batch}{message.format(info=error_code)}")
