"""`inference_mode`, which scripts do not support."""

import ts


def main(x: ts.Tensor):
    with ts.inference_mode():
        return x + 1

# error: CompilationError
# Unknown builtin op: aten::inference_mode.
# Could not find any similar ops to aten::inference_mode. This op may not exist or may not be currently supported in TorchScript.
# :
#   File "inference_mode.py", line 7
# def main(x: ts.Tensor):
#     with ts.inference_mode():
#          ~~~~~~~~~~~~~~~~~ <--- HERE
#         return x + 1
