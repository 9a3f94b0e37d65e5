"""Symbolic tracing (symbolic execution): a function or module is called with proxies.

Example:

    tracer = Tracer()
    graph = tracer.trace(net)
    GraphModule(tracer.root, graph)               # equivalent to `net`

A call of a module of `ts.nn` becomes one node (`is_leaf_module`). The code of other modules is traced.
Control flow may depend on constants (numbers, lists, `concrete_args`), but not on proxies.
"""

from __future__ import annotations

import collections
import copy
import functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterable
from itertools import chain
from types import FunctionType, ModuleType
from typing import Any, Final

import ts

# The imported module stores functions of `math`. Import it before a tracer replaces functions of `math`.
import ts.frontend.sugared_values.python_objects
from ts._core.dispatch.overrides import Overridable
from ts._core.tensor.tensor import Tensor
from ts.fx.code_generation import PyTreeInfo, _PyTreeCodeGen
from ts.fx.graph import Graph
from ts.fx.node import map_aggregate
from ts.fx.patcher import autowrap, find_proxy, new_patcher, patch_wrapped_functions, wrap
from ts.fx.proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase, base_types
from ts.module_names import is_own
from ts.nn.modules.container import Sequential
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter
from ts.utils import _pytree as pytree

_call_module: Any = Module.__call__
_get_attribute = Module.__getattr__
_NO_DEFAULT: Final = inspect.Parameter.empty
_VARIABLE: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_constant_types: Final = (Tensor, pytree.TreeSpec)
_proxyable_classes: Final[dict[type, None]] = {}


class _Tracing:
    """Holder of `depth`, the number of tracers that are tracing."""

    depth = 0


def is_fx_symbolic_tracing() -> bool:
    """Return True during symbolic tracing."""
    return _Tracing.depth > 0


def is_fx_tracing() -> bool:
    """Return True during symbolic tracing. As in PyTorch, this function is deprecated."""
    warnings.warn(
        "torch.fx._symbolic_trace.is_fx_tracing will return true for both fx.symbolic_trace and "
        "torch.export, please use is_fx_tracing_symbolic_tracing() for specifically fx.symbolic_trace "
        "or torch.compiler.is_compiling() for specifically torch.export/compile.",
        stacklevel=2,
    )
    return is_fx_symbolic_tracing()


class ProxyableClassMeta(type):
    """Metaclass of classes whose construction is recorded: a call with proxies becomes a node."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Create an instance. During tracing, create a node if an argument is a proxy."""
        instance = cls.__new__(cls)  # type: ignore[call-overload]
        if is_fx_symbolic_tracing():
            proxies: list[Proxy] = []
            map_aggregate((args, kwargs), lambda x: proxies.append(x) if isinstance(x, Proxy) else None)
            if proxies:
                return proxies[0].tracer.create_proxy("call_function", cls, args, kwargs)
        cls.__init__(instance, *args, **kwargs)  # type: ignore[misc]
        return instance


class PHBase:
    """Marker of a leaf in `concrete_args` that becomes a placeholder instead of a fixed value."""

    def __repr__(self) -> str:
        return "PH"


PH: Final = PHBase()


class PHWithMeta(PHBase):
    """Marker of a leaf in `concrete_args`, with attributes that are copied to the placeholder node."""

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


def _transfer_attrs(fr: object, to: Any) -> None:
    for name in dir(fr):
        value = getattr(fr, name)
        if not callable(value) and not name.startswith("__") and not hasattr(to, name):
            setattr(to, name, value)


def _with_positional_parameters(function: FunctionType, count: int) -> FunctionType:
    """Return a copy of a function with `count` positional parameters.

    In the copy, keyword-only parameters, `*args` and `**kwargs` are ordinary positional parameters.
    """
    code = function.__code__
    code = code.replace(
        co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=code.co_flags & ~_VARIABLE
    )
    return FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function. For a function of `ts`, evaluate annotations that are strings."""
    own = is_own(getattr(function, "__module__", None))
    return inspect.get_annotations(function, eval_str=own)


class Tracer(TracerBase):
    """Symbolic tracer of functions and modules.

    autowrap_modules        Python modules. Calls of the functions in them become nodes
    autowrap_functions      other functions whose calls become nodes
    param_shapes_constant   let shapes of parameters be numbers instead of nodes

    Subclasses may override methods such as `is_leaf_module`, `call_module`, `getattr` and `create_arg`.
    """

    _qualname_counter: dict[str, int] = collections.defaultdict(int)

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        members = chain.from_iterable(m.__dict__.items() for m in autowrap_modules)
        self._autowrap_function_ids = {
            *(id(v) for name, v in members if not name.startswith("_") and callable(v)),
            *map(id, autowrap_functions),
        }
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Return True if a call of `m` becomes one node.

        The default is True for modules of `ts.nn` except `Sequential`, and for impure modules.
        """
        home = type(m).__module__
        of_nn = any(home == nn or home.startswith(f"{nn}.") for nn in ("ts.nn", "torch.nn", "torch.ao.nn"))
        return (of_nn and not isinstance(m, Sequential)) or getattr(type(m), "_is_impure", False)

    def path_of_module(self, mod: Module) -> str:
        """Return the dotted name of a module in the root. Raise NameError if the root does not contain it."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
        else:
            path = next((name for name, each in self.root.named_modules() if each is mod), None)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(
        self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Record a call of a module as a node, or run `forward` if the module is no leaf module."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            count = self.num_calls.get(path, 0)
            key = f"{scope.module_path}@{count}" if count else scope.module_path
            self.module_stack[key] = path, scope.module_type
            self.num_calls[path] = count + 1
            if self.is_leaf_module(m, path):
                result: Any = self.create_proxy("call_module", path, args, kwargs)
            else:
                result = forward(*args, **kwargs)
            last, _ = self.module_stack.popitem(last=True)
            if last != key:
                raise AssertionError(f"Unexpected key {last}, expected {key}")
        return result

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """Return the value of an attribute: a proxy for a parameter, otherwise `attr_val` itself.

        With `proxy_buffer_attributes`, buffers have proxies, too.
        """
        members: Iterable[tuple[str, Any]] = ()
        if isinstance(attr_val, Parameter):
            members = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            members = self.root.named_buffers()
        for name, member in members:
            if member is attr_val:
                if name not in parameter_proxy_cache:
                    parameter_proxy_cache[name] = self._attribute_proxy(name, attr_val)
                return parameter_proxy_cache[name]
        return attr_val

    def _attribute_proxy(self, name: str, value: Any) -> Proxy:
        options: dict[str, Any] = {}
        if (
            self.param_shapes_constant
            and "proxy_factory_fn" in inspect.signature(self.create_proxy).parameters
        ):
            options["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, name, value)
        return self.create_proxy("get_attr", name, (), {}, **options)

    def create_arg(self, a: Any) -> Any:
        """Convert a value to an argument of a node. Tensors and modules become attributes of the root."""
        if isinstance(a, Parameter):
            node = self._attribute_node(a, self.root.named_parameters())
            if node is None:
                raise NameError("parameter is not a member of this module")
            return node
        if isinstance(a, Tensor | Module):
            members: Any = self.root.named_buffers() if isinstance(a, Tensor) else self.root.named_modules()
            node = self._attribute_node(a, members)
            if node is not None:
                return node
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(x) for x in a), {})
        if isinstance(a, _constant_types):
            name = self.tensor_attrs.get(a)
            if not name:
                kind = "_tensor_constant" if isinstance(a, Tensor) else "_tree_spec_constant"
                name = self.tensor_attrs[a] = self.get_fresh_qualname(kind)
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def _attribute_node(self, value: Any, members: Iterable[tuple[str, Any]]) -> Any:
        name = next((name for name, member in members if member is value), None)
        return None if name is None else self.create_node("get_attr", name, (), {})

    def get_fresh_qualname(self, prefix: str) -> str:
        """Return an unused attribute name of the root: `prefix` and a number."""
        if not hasattr(self.root, f"{prefix}0"):
            self._qualname_counter[prefix] = 0
            return f"{prefix}0"
        index = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{index}"):
            index += 1
        self._qualname_counter[prefix] = index + 1
        return f"{prefix}{index}"

    def create_args_for_root(
        self,
        root_fn: Callable[..., Any],
        is_module: bool,
        concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
    ) -> tuple[Any, list[Any]]:
        """Create placeholders for the parameters of `root_fn`.

        Return the function that the tracer must call, and the arguments of this call.
        """
        analysed = inspect.unwrap(root_fn)
        code = analysed.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames)
        skipped = int(is_module)
        if is_module and total == 0:
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        args: list[Any] = [self.root] if is_module else []
        if isinstance(concrete_args, tuple) and concrete_args and code.co_flags & _VARIABLE and total == 1:
            return root_fn, [*args, *(self._vararg_placeholder(i, x) for i, x in enumerate(concrete_args))]
        parameters = names[skipped:total]
        if isinstance(concrete_args, tuple):
            if len(parameters) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(parameters)} arguments but got {len(concrete_args)} concrete "
                    "arguments"
                )
            concrete_args = dict(zip(parameters, concrete_args, strict=True))
        if code.co_kwonlyargcount > 0 or code.co_flags & _VARIABLE:
            rest = iter(names[total:])
            if code.co_flags & inspect.CO_VARARGS:
                parameters.append("*" + next(rest))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                parameters.append("**" + next(rest))
            root_fn = _with_positional_parameters(root_fn, skipped + len(parameters))  # type: ignore[arg-type]
        signature = inspect.signature(analysed)
        args += [self._proxy_placeholder(name, concrete_args, signature, analysed) for name in parameters]
        flat_args, in_spec = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in in_spec.children()):
            return root_fn, args
        self.graph._codegen = _PyTreeCodeGen(PyTreeInfo(names[:total], in_spec, None))

        # No return annotation, since `_run` would copy it to the graph.
        def flattened(*args):  # type: ignore[no-untyped-def]
            result, out_spec = pytree.tree_flatten(root_fn(*pytree.tree_unflatten(list(args), in_spec)))
            codegen = self.graph._codegen
            if not isinstance(codegen, _PyTreeCodeGen):
                raise AssertionError(f"Expected _codegen to be _PyTreeCodeGen, got {type(codegen)}")
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return result

        return flattened, flat_args

    def _vararg_placeholder(self, index: int, value: Any) -> Any:
        """Create a placeholder for element `index` of `*args`."""
        proxy = self.create_proxy("placeholder", f"input_{index}", (), {})
        if isinstance(value, PHBase) and value is not PH:
            _transfer_attrs(value, proxy.node)
        return proxy

    def _proxy_placeholder(
        self,
        name: str,
        concrete_args: dict[str, Any] | None,
        sig: inspect.Signature,
        fn_for_analysis: Callable[..., Any],
    ) -> Any:
        """Create placeholders for a parameter, and return the value that is passed for it during tracing.

        Return a proxy if `concrete_args` has no value for the parameter. Otherwise, return the value in
        `concrete_args`, in which a proxy replaces each marker `PH`.
        """
        default: tuple[Any, ...] = ()
        if name[0] != "*" and sig.parameters[name].default is not _NO_DEFAULT:
            default = (sig.parameters[name].default,)
        if concrete_args is None or name not in concrete_args:
            annotation = _annotations(fn_for_analysis).get(name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=annotation)
        count = 0

        def add_placeholder(x: Any) -> Any:
            nonlocal count
            count += 1
            proxy = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(x, PHBase):
                if x is not PH:
                    _transfer_attrs(x, proxy.node)
                return proxy
            self._check_concrete(name, proxy, x)
            return x

        return pytree.tree_map(add_placeholder, concrete_args[name])

    def _check_concrete(self, name: str, proxy: Proxy, value: Any) -> None:
        """Add nodes that check whether an argument has the value in `concrete_args`.

        Warn about values that cannot be compared.
        """
        if value is None:
            message = f"{name} has been specialized to have value None but got another value"
            self.create_proxy("call_function", _assert_is_none, (proxy, message), {})
        elif type(value) in base_types and type(value) is not Tensor:
            message = f"{name} has been specialized to have value {value} but got another value"
            self.create_proxy("call_function", ts._assert, (proxy == value, message), {})
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. "
                "It is up to the user to make sure that your inputs match the inputs you specialized the "
                "function with.",
                stacklevel=2,
            )

    def trace(self, root: Module | Callable[..., Any], concrete_args: Any = None) -> Graph:
        """Trace a module or function and return the graph.

        concrete_args   fixed values of parameters, by name. In containers, `PH` marks leaves that vary
        """
        _Tracing.depth += 1
        try:
            return self._trace(root, concrete_args)
        finally:
            _Tracing.depth -= 1

    def _trace(self, root: Module | Callable[..., Any], concrete_args: Any) -> Graph:
        is_module = isinstance(root, Module)
        fn: Any
        if isinstance(root, Module):
            self.root = root
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(
                    f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}"
                )
            fn = getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root = Module()
            fn = root
        self.graph = Graph(tracer_cls=type(self))
        code = getattr(fn, "__code__", None)
        if code is not None:
            self.graph._co_fields = {
                "co_name": code.co_name,
                "co_filename": code.co_filename,
                "co_firstlineno": code.co_firstlineno,
            }
        self.tensor_attrs: dict[Any, str] = {}
        self._find_tensors(self.root, "")
        if not isinstance(fn, FunctionType | Overridable):
            raise AssertionError(f"Expected FunctionType, got {type(fn)}")
        names: dict[str, Any] = fn.__globals__  # type: ignore[union-attr]
        fn, args = self.create_args_for_root(fn, is_module, concrete_args)
        self._run(fn, args, names)
        self.submodule_paths = None
        return self.graph

    def _find_tensors(self, module: Module, prefix: str) -> None:
        """Record the names of attributes that hold tensors but are neither parameters nor buffers."""
        for name, value in module.__dict__.items():
            if isinstance(value, _constant_types):
                self.tensor_attrs[value] = prefix + name
        for name, child in module.named_children():
            self._find_tensors(child, f"{prefix}{name}.")

    def _run(self, fn: Callable[..., Any], args: list[Any], names: dict[str, Any]) -> None:
        """Call the function with proxies and add the output node.

        During the call, `Module.__call__` and wrapped functions are patched to record their calls.
        """
        proxies: dict[str, Proxy] = {}

        @functools.wraps(_get_attribute)
        def get_attribute(mod: Module, attr: str) -> Any:
            return self.getattr(attr, _get_attribute(mod, attr), proxies)

        @functools.wraps(_call_module)
        def call_module(mod: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                if isinstance(mod, ts.jit.ScriptModule) and find_proxy(args, kwargs) is not None:
                    return self.create_proxy("call_method", "forward", (mod, *args), kwargs)
                return _call_module(mod, *args, **kwargs)

            namespace = getattr(getattr(mod, "forward", mod), "__globals__", {})
            autowrap(patcher, namespace, self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        with new_patcher() as patcher:
            patcher.patch_method(Module, "__getattr__", get_attribute, deduplicate=False)
            patcher.patch_method(Module, "__call__", call_module, deduplicate=False)
            patch_wrapped_functions(patcher)
            autowrap(patcher, names, self._autowrap_function_ids)
            for module in self._autowrap_search:
                autowrap(patcher, module.__dict__, self._autowrap_function_ids)
            returned = _annotations(inspect.unwrap(fn)).get("return")
            self.create_node("output", "output", (self.create_arg(fn(*args)),), {}, type_expr=returned)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        copied = Tracer.__new__(Tracer)
        # `_autowrap_search` is a list of modules, which cannot be copied deeply.
        for name, value in self.__dict__.items():
            copied.__dict__[name] = (
                copy.copy(value) if name == "_autowrap_search" else copy.deepcopy(value, memo)
            )
        return copied


def _assert_is_none(value: object, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


_assert_is_none.__module__ = "ts.fx._symbolic_trace"  # generated code imports the function from this module
wrap("_assert_is_none")
