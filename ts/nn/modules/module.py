"""Base class Module: an object with parameters, buffers, submodules and the method `forward`.

An assignment to an attribute registers a submodule or parameter:

    class Net(Module):
        def __init__(self):
            super().__init__()
            self.linear = Linear(3, 2)                   # submodule
            self.scale = Parameter(ts.ones(2))           # parameter
            self.register_buffer("steps", ts.zeros(()))  # buffer

        def forward(self, x):
            return self.linear(x) * self.scale

    list(Net().state_dict())       # ["scale", "steps", "linear.weight", "linear.bias"]

A module stores registered objects in the dictionaries `_parameters`, `_buffers` and `_modules`. The order of
these dictionaries is the order of `state_dict` and of a scripted module's attributes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from ts import compiler
from ts._core.tensor.hooks import RemovableHandle, add_hook
from ts._core.tensor.sharing import share_memory
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import GradMode, current_tracer
from ts.errors import missing_attribute
from ts.nn import hooks
from ts.nn.hooks import (
    ForwardHook,
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from ts.nn.modules import module_to, state_dict_io
from ts.nn.parameter import Buffer, Parameter, is_uninitialized
from ts.nn.registration_hooks import (  # noqa: F401  PyTorch's names
    _global_buffer_registration_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    call_hooks,
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

__all__ = [
    "Module", "register_module_backward_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]  # fmt: skip

if TYPE_CHECKING:
    from typing import ParamSpec, Protocol

    P = ParamSpec("P")
    R = TypeVar("R", covariant=True)

    class _HasForward(Protocol[P, R]):
        def forward(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


T = TypeVar("T", bound="Module")
_TABLES: Final = ("_parameters", "_buffers", "_modules")


def type_name(value: object) -> str:
    """Return the name of a value's type for messages: "int", "my_module.Net", "torch.FloatTensor"."""
    if isinstance(value, Tensor) and type(value) is Tensor:
        return str(value.type())
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


class Module:
    """Base class of all modules."""

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _version: int = 1
    dump_patches: bool = False
    call_super_init: bool = False
    # True if the registered backward hooks are full, False if they are non-full, None if there are none
    _is_full_backward_hook: bool | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            unexpected = f"keyword argument '{next(iter(kwargs))}'" if kwargs else None
            problem = (
                f"got an unexpected {unexpected}"
                if unexpected
                else f"takes 1 positional argument but {len(args) + 1} were given"
            )
            raise TypeError(f"{type(self).__name__}.__init__() {problem}")
        put = super().__setattr__
        put("training", True)
        put("_parameters", {})
        put("_buffers", {})
        put("_non_persistent_buffers_set", set())
        put("_modules", {})
        for name in hooks_of_a_module:
            put(name, OrderedDict())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result of the module. Each subclass overrides this method."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    if TYPE_CHECKING:  # type checkers give a call the signature of `forward`

        def __call__(self: _HasForward[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...
    else:

        def __call__(self, *args, **kwargs):
            if (
                self._forward_pre_hooks
                or self._forward_hooks
                or self._backward_hooks
                or self._backward_pre_hooks
                or hooks.anywhere
                or current_tracer() is not None
            ):
                return hooks.call_forward(self, args, kwargs)
            return self.forward(*args, **kwargs)

    # ---- registration --------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter. None reserves the name for an absent parameter."""
        self._check_new("parameter", "_parameters", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type_name(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if _global_parameter_registration_hooks and param is not None:
            param = call_hooks(_global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor as buffer. `state_dict` contains it if `persistent` is True."""
        self._check_new("buffer", "_buffers", name)
        if tensor is not None and not _is_tensor_like(tensor):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        if _global_buffer_registration_hooks and tensor is not None:
            tensor = call_hooks(_global_buffer_registration_hooks, self, name, tensor)
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_new("module", "_modules", name)
        if _global_module_registration_hooks:
            module = call_hooks(_global_module_registration_hooks, self, name, module)
        self._modules[name] = module

    def register_module(self, name: str, module: Module | None) -> None:
        """Alias of `add_module`."""
        self.add_module(name, module)

    def _check_new(self, kind: str, table: str, name: str) -> None:
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type_name(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" * (kind == "module")))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")

    # ---- attribute access ----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        for table in _TABLES:
            members = self.__dict__.get(table)
            if members is not None and name in members:
                return members[name]
        raise missing_attribute(f"'{type(self).__name__}' object", name, lambda: dir(self))

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in attributes:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in attributes:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_modules")
            if _global_module_registration_hooks:
                value = call_hooks(_global_module_registration_hooks, self, name, value)
            self._modules[name] = value
        elif isinstance(value, Buffer):
            if "_buffers" not in attributes:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            self._forget(name, "_buffers")
            self.register_buffer(name, value, value.persistent)
        elif name in attributes.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self._parameters[name] = None
        elif name in attributes.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._modules[name] = None
        elif name in attributes.get("_buffers", ()):
            if value is not None and not _is_tensor_like(value):
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            self._buffers[name] = value
        else:
            super().__setattr__(name, value)

    def _forget(self, name: str, target_table: str) -> None:
        """Remove the attribute `name` from the instance, and from its dictionaries other than `target_table`.

        These are the dictionaries of parameters, buffers and submodules.
        """
        self.__dict__.pop(name, None)
        for table in _TABLES:
            if table != target_table:
                self.__dict__[table].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        for table in _TABLES:
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__}
        for table in _TABLES:
            names.update(self.__dict__[table])
        return sorted(name for name in names if not name[:1].isdigit())

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        for name in hooks_of_a_module:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())

    # ---- module tree ---------------------------------------------------------------------------------

    def children(self) -> Iterator[Module]:
        """Return an iterator over the direct submodules, without duplicates."""
        return (module for _, module in self.named_children())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield (name, module) for each direct submodule, without duplicates."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self) -> Iterator[Module]:
        """Return an iterator over this module and all its descendants, without duplicates."""
        return (module for _, module in self.named_modules())

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yield this module with the name `prefix`, and all its descendants with dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, _joined(prefix, name), remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Return an iterator over the parameters, without duplicates."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield (dotted name, parameter) pairs."""
        return self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Return an iterator over the buffers, without duplicates."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield (dotted name, buffer) pairs."""
        return self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def _named_members(
        self,
        members: Callable[[Module], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        owners = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else iter([(prefix, self)])
        )
        for owner, module in owners:
            for name, value in members(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield _joined(owner, name), value

    def get_submodule(self, target: str) -> Module:
        """Return the submodule with the dotted name `target`."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Set the submodule with the dotted name `target`. If `strict`, it must replace a submodule."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter with the dotted name `target`."""
        return self._member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer with the dotted name `target`."""
        return self._member(target, "_buffers", "a buffer")

    def _member(self, target: str, table: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in module.__dict__[table]:
            raise AttributeError(f"`{name}` is not {kind}")
        return module.__dict__[table][name]

    # ---- conversions of the whole tree ---------------------------------------------------------------

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` with every descendant, then with this module, and return this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Apply `fn` to parameters, their gradients and buffers.

        Parameters remain the same objects, unless `convert_parameter` returns a new parameter.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            gradient = None if is_uninitialized(parameter) else parameter.grad
            converted = module_to.convert_parameter(self, name, parameter, fn)
            if converted is not parameter:
                self._parameters[name] = converted
                with GradMode(False):
                    converted.grad = None if gradient is None else fn(gradient)
            elif gradient is not None and parameter.grad is gradient:
                with GradMode(False):
                    gradient.data = fn(gradient)
        for name, buffer in self._buffers.items():
            if is_uninitialized(buffer):
                buffer.data = fn(buffer.data)
            elif buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set `training` of this module and all its descendants."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set `training` of this module and all its descendants to False."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` of all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set all parameter gradients to None, or to zeros."""
        parameter: Any
        for parameter in self.parameters():
            gradient = parameter.grad
            if gradient is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                gradient.detach_() if gradient.grad_fn else gradient.requires_grad_(False)
                gradient.zero_()

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move all tensors to another device, and convert floating-point tensors to another dtype."""
        return self._apply(module_to.to(args, kwargs))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move all tensors to another device without copying their elements."""
        return self._apply(lambda t: t.new_empty(t.shape, device=device), recurse)

    def share_memory(self) -> Self:
        """Move all parameters and buffers to shared memory."""
        tensors = [*self.parameters(), *self.buffers()]
        for tensor in tensors:
            if is_uninitialized(tensor):
                tensor.share_memory_()  # this call raises RuntimeError
        share_memory(tensors)
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Call `ts.compile`, which only warns. Programs use `ts.jit.script` to compile a module."""
        compiler.compile(self, *args, **kwargs)

    def cpu(self) -> Self:
        """Move all tensors to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move all tensors to a GPU."""
        return self._apply(lambda t: t.cuda(device))

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Convert all floating-point tensors to float32."""
        return self._apply(module_to.real("float32"))

    def double(self) -> Self:
        """Convert all floating-point tensors to float64."""
        return self._apply(module_to.real("float64"))

    def half(self) -> Self:
        """Convert all floating-point tensors to float16."""
        return self._apply(module_to.real("float16"))

    def bfloat16(self) -> Self:
        """Convert all floating-point tensors to bfloat16."""
        return self._apply(module_to.real("bfloat16"))

    # ---- state dict ----------------------------------------------------------------------------------

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return parameters and persistent buffers by dotted name. They share memory with the module."""
        positional = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
        return state_dict_io.collect(
            self,
            positional.get("destination", destination),
            positional.get("prefix", prefix),
            positional.get("keep_vars", keep_vars),
        )

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Add the tensors of this module, without submodules, to `destination`.

        Classes with additional state override this method.
        """
        state_dict_io.save_own(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> state_dict_io.IncompatibleKeys:
        """Copy tensors by dotted name into the module.

        With `strict`, missing and unexpected names are errors.
        """
        return state_dict_io.load(self, state_dict, strict, assign)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the tensors of this module, without submodules.

        Classes with additional state override this method.
        """
        state_dict_io.load_own(
            self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    get_extra_state = state_dict_io.no_extra_state

    def set_extra_state(self, state: Any) -> None:
        """Restore the state that `get_extra_state` returned."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    # ---- hooks ---------------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`. A result other than None replaces the arguments."""
        return add_hook(self._forward_pre_hooks, ForwardHook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, result)` after `forward`. A result other than None replaces the result."""
        return add_hook(self._forward_hooks, ForwardHook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the arguments are computed.

        If the hook returns a tuple, the tuple replaces `grad_input`. With a hook, the arguments and results
        of `forward` cannot be modified in place.
        """
        return self._add_backward_hook(hook, True, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_output)` when gradients of the results of `forward` are computed.

        If the hook returns a tuple, the tuple replaces `grad_output`.
        """
        return add_hook(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` in the backward pass (a non-full hook).

        `grad_input` contains the gradients of the inputs of the last operator in `forward`, which may differ
        from the arguments of `forward`.
        """
        return self._add_backward_hook(hook, False, False)

    def _add_backward_hook(self, hook: Callable[..., Any], full: bool, prepend: bool) -> RemovableHandle:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please "
                "use only one of them."
            )
        self._is_full_backward_hook = full
        return add_hook(self._backward_hooks, hook, prepend)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` collects the tensors."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` at the end of `state_dict`."""
        return add_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, ...)` before `load_state_dict` copies the tensors."""
        return add_hook(self._load_state_dict_pre_hooks, lambda *args: hook(self, *args))

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        if with_module:
            return self.register_load_state_dict_pre_hook(hook)
        return add_hook(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after `load_state_dict` has copied the tensors."""
        return add_hook(self._load_state_dict_post_hooks, hook)

    # ---- repr ----------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return the text that `repr` shows in parentheses after the class name."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return "\n  ".join([f"{self._get_name()}(", *lines, *children]) + "\n)"

    def _repr_html_(self) -> str:
        """Return the module tree as HTML for notebooks, with the number of parameters of each module."""
        from ts.nn.modules.module_html import format_module

        return format_module(self)


hooks_of_a_module: Final = (
    "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


def _is_tensor_like(value: object) -> bool:
    """Return True for a tensor or an object that overrides `__torch_function__`."""
    return isinstance(value, Tensor) or hasattr(value, "__torch_function__")


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _addindent(s_: str, numSpaces: int) -> str:
    """Indent all lines of a string except the first."""
    return s_.replace("\n", "\n" + " " * numSpaces)
