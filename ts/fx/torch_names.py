"""PyTorch's qualified names of functions, classes and types.

Each line shows a call and its result:

    qualified_name(ts.relu)                     "torch.relu"
    qualified_name(ts.nn.functional.linear)     "torch._C._nn.linear"
    qualified_name(math.sqrt)                   "math.sqrt"
    type_name(list[ts.Tensor])                  "list[torch.Tensor]"

In generated code, `torch` is the package `ts`.
"""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Callable
from types import FunctionType, GenericAlias
from typing import Any, Final

import ts
from ts._core.dispatch.overloads import OverloadSet
from ts._core.dispatch.overrides import Overridable
from ts.fx.op_locations import is_tensor_method, namespace_of
from ts.fx.torch_function_forwarding import CALLS, TORCH_FUNCTIONAL_NAMES
from ts.module_names import is_own, own_name, torch_name
from ts.ops.namespace import OpOverload, Packet

# Functions that `torch.nn.functional` imports from a C module.
_C_NN_FUNCTIONS: Final = frozenset({
    "avg_pool2d", "avg_pool3d", "elu_", "gelu", "hardtanh_", "leaky_relu_", "linear", "logsigmoid",
    "log_sigmoid", "one_hot",
    "scaled_dot_product_attention", "softplus", "softshrink",
})  # fmt: skip
# Functions with names in both `torch` and `nn.functional`. Their qualified names start with `torch.`.
_TORCH_FUNCTIONS: Final = frozenset(
    {"adaptive_avg_pool1d", "celu_", "relu_", "rrelu_", "selu_", "threshold_"}
)
# Function of `torch` -> submodule of `torch` that PyTorch states as its `__module__`.
_MODULE_TO_PYTORCH_MODULE: Final = {
    "from_dlpack": "utils.dlpack", "get_rng_state": "random", "initial_seed": "random",
    "manual_seed": "random", "seed": "random", "set_rng_state": "random", "load": "serialization",
    "save": "serialization", "pca_lowrank": "_lowrank", "svd_lowrank": "_lowrank", "vmap": "func",
    "set_printoptions": "_tensor_str", "while_loop": "_higher_order_ops.while_loop",
    **dict.fromkeys(TORCH_FUNCTIONAL_NAMES, "functional"),
}  # fmt: skip
_OTHER_NAMES: Final = {"threshold": "_threshold"}  # name of a function -> its `__name__` in PyTorch
_OWN: Final = re.compile(r"\bts\.(?=[A-Za-z_])")


def is_from_torch(obj: object) -> bool:
    """Return True for an object of `ts` or `torch`. Generated code names such an object as PyTorch does."""
    if isinstance(obj, OverloadSet | OpOverload | Packet):
        return True
    module = getattr(obj, "__module__", None)
    if isinstance(module, str):
        return module.partition(".")[0] in ("ts", "torch")
    return False


def simple_name(func: Any) -> str:
    """Return the `__name__` that a function has in PyTorch."""
    return (
        _OTHER_NAMES.get(func.__name__, func.__name__)
        if isinstance(func, Overridable)
        else str(func.__name__)
    )


def qualified_name(func: Callable[..., Any]) -> str:
    """Return the qualified name of a function or class.

    Raise RuntimeError for a lambda expression whose source is not available.
    """
    if isinstance(func, OverloadSet | OpOverload | Packet):
        return _operator_name(func)
    name: str = func.__name__
    if getattr(builtins, name, None) is func:
        return name
    if is_tensor_method(func):
        return f"torch.Tensor.{name}"
    if name == "<lambda>":
        try:
            name = inspect.getsource(func).split("=")[0].strip()
        except Exception as error:
            raise RuntimeError("Unable to represent lambda") from error
    module = func.__module__
    if module is None:
        raise RuntimeError(f"cannot find module for {func}")
    if not is_own(module):
        return f"{module}.{name}"
    module = own_name(module)
    if module.startswith("ts.nn.functional"):
        if name in _C_NN_FUNCTIONS or name in _TORCH_FUNCTIONS:
            return f"torch._C._nn.{name}" if name in _C_NN_FUNCTIONS else f"torch.{name}"
        return f"torch.nn.functional.{_OTHER_NAMES.get(name, name)}"
    if getattr(ts, name, None) is func:
        home = _MODULE_TO_PYTORCH_MODULE.get(name)
        return f"torch.{home}.{name}" if home else f"torch.{name}"
    return f"{torch_name(module)}.{name}"


def _operator_name(func: Any) -> str:
    name = func.__name__
    if isinstance(func, OpOverload):
        return f"torch.ops.{func}"
    if isinstance(func, Packet):
        return f"torch.ops.{func.qualified_name.replace('::', '.')}"
    home = namespace_of(func)
    if home is None:
        if is_tensor_method(func):
            return f"torch.Tensor.{name}"
        return f"torch.ops.{func.name.replace('::', '.')}"
    if home is ts.nn.functional:
        if name in _C_NN_FUNCTIONS:
            return f"torch._C._nn.{name}"
        home = "nn.functional." if name in CALLS else "functional." if name in TORCH_FUNCTIONAL_NAMES else ""
        return f"torch.{home}{name}"
    if home is ts:
        return f"torch.functional.{name}" if name in TORCH_FUNCTIONAL_NAMES else f"torch.{name}"
    return f"torch._C._{home.__name__.rpartition('.')[2]}.{name}"


def type_name(obj: object) -> str:
    """Return the text of a type in annotations of a graph, or the `repr` of another object."""
    if isinstance(obj, type) and not isinstance(obj, GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        if is_from_torch(obj):
            module, name = obj.__module__, obj.__qualname__
            return f"torch.{name}" if getattr(ts, name, None) is obj else f"{torch_name(module)}.{name}"
        return f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, FunctionType | Overridable):
        return str(obj.__name__)
    return _OWN.sub("torch.", repr(obj))


def printed_target(target: Any) -> str:
    """Return the text of the target of a node: `operator.add`, `builtins.getattr`, `torch.relu`."""
    if isinstance(target, str):
        return target
    name = getattr(target, "__name__", None)
    if name is not None:
        module = getattr(target, "__module__", None)
        if module == "builtins":
            return f"builtins.{name}"
        if module == "_operator":
            return f"operator.{name}"
    return qualified_name(target)
