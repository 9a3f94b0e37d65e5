"""GraphModule: a module whose `forward` is generated from a graph.

Example, for a module `net` and a graph of its operations:

    module = GraphModule(net, graph)
    module.code                           # source of `forward`
    module.graph.call_function(...)       # change the graph
    module.recompile()                    # generate `forward` again

The new module has the submodules, parameters and buffers of `net` that the graph uses. Each instance has a
separate class, which defines `forward`. Scripting, copying and pickling use the generated code.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import linecache
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Self

import ts
from ts._core.tensor.tensor import Tensor
from ts.fx.code_generation import PythonCode, _BoxedCodeGen, _PyTreeCodeGen
from ts.fx.code_writer import check_parameters
from ts.fx.generated_source import (
    exec_with_source,
    forward_from_src,
    import_block,
    method_from_src,
)
from ts.fx.graph import Graph
from ts.fx.namespace import CUSTOM_BUILTINS
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter
from ts.unsupported import names_for

__all__ = ["GraphModule", "reduce_graph_module"]

_exec_with_source = exec_with_source
_format_import_block = import_block
_forward_from_src = forward_from_src
_method_from_src = method_from_src
_USER_PRESERVED_ATTRIBUTES_KEY: Final = "_user_preserved_attributes"
_COPIED_ATTRIBUTES: Final = (
    "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_replace_hooks",
    "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks",
)  # fmt: skip


def _indented(text: str, count: int = 4) -> str:
    """Indent all lines except the first line and blank lines."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * count + line if line.strip() else "" for line in rest)])


def _module_for(root: Module, path: list[str]) -> Module:
    """Return the submodule at `path`. Missing modules are created."""
    for name in path:
        submodule = getattr(root, name, None)
        if submodule is None:
            submodule = Module()
            setattr(root, name, submodule)
        root = submodule
    return root


def _set_attribute(module: Module, name: str, value: Any) -> None:
    """Set an attribute of a module. Register the value as a buffer if it is a tensor but not a Parameter."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Copy the attribute with the dotted name `target` from one module to another."""
    *path, name = target.split(".")
    for item in path:
        theirs, own = getattr(from_module, item), getattr(to_module, item, None)
        if theirs is own:  # `to_module` has this submodule, and thus the attribute
            return
        from_module, to_module = theirs, _module_for(to_module, [item])
    _set_attribute(to_module, name, getattr(from_module, name))


def _assign_attr(from_obj: object, to_module: Module, target: str) -> None:
    """Set the attribute of `to_module` with the dotted name `target` to `from_obj`."""
    *path, name = target.split(".")
    _set_attribute(_module_for(to_module, path), name, from_obj)


def _get_attr(model: Module, attr_name: str) -> Any:
    return _get_attr_via_attr_list(model, attr_name.split("."))


def _get_attr_via_attr_list(model: Module, attr_list: list[str]) -> Any:
    attribute: Any = model
    for name in attr_list[:-1]:
        attribute = getattr(attribute, name, None)
        if attribute is None:
            raise AssertionError(f"Attribute '{name}' not found in model")
    return getattr(attribute, attr_list[-1]) if attr_list else model


def _del_attr(model: Module, attr_name: str) -> None:
    *path, name = attr_name.split(".")
    delattr(_get_attr_via_attr_list(model, path), name)


def _has_attr(model: Module, attr_name: str) -> bool:
    attribute: Any = model
    for name in attr_name.split("."):
        if not hasattr(attribute, name):
            return False
        attribute = getattr(attribute, name)
    return True


class _CodeOnlyModule(Module):
    """Module that has the attributes of an unpickled GraphModule, and its code as method `forward`."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """Create a module from a pickle: attributes, code, and import statements for the code."""
    source = body.get("_code") or body["code"]
    return _deserialize_graph_module(forward_from_src(import_block + source, {}), body)


def _deserialize_graph_module(
    forward: Callable[..., Any], body: dict[str, Any], graph_module_cls: type[Any] | None = None
) -> Module:
    """Create a GraphModule from its code, by tracing the code."""
    _CodeOnlyModule.forward = forward  # type: ignore[method-assign]
    from ts.fx.tracer import Tracer

    tracer_cls: Any = body.get("_tracer_cls") or Tracer

    class KeepModules(tracer_cls):  # type: ignore[misc]
        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            # The code contains only calls of leaf modules, because the original tracer inlined all others.
            return True

    root = _CodeOnlyModule(body)
    graph = KeepModules().trace(root, **body.get("_tracer_extras", {}))
    traces = body.pop("_graphmodule_graph_node_meta_stack_trace", None) or {}
    for node in graph.nodes:
        if traces.get(node.name) is not None:
            node.meta["stack_trace"] = traces[node.name]
    graph._tracer_cls = tracer_cls
    name = body.get("_graphmodule_cls_name", "GraphModule")
    module = (graph_module_cls or GraphModule)(root, graph, class_name=name)
    for key, value in body.items():
        if not hasattr(module, key):
            setattr(module, key, value)
    return module  # type: ignore[no-any-return]


class _WrappedCall:
    """Wrapper of module calls that prints the failing lines of generated code if a call raises an error."""

    def __init__(self, cls: type, cls_call: Callable[..., Any] | None) -> None:
        self.cls = cls
        self.cls_call = cls_call

    @staticmethod
    def _generate_error_message(frame_summary: traceback.FrameSummary) -> str:
        line_number, line = frame_summary.lineno, frame_summary.line
        if line_number is None or line is None:
            raise AssertionError("frame_summary.lineno is None")
        lines = linecache.getlines(frame_summary.filename)
        where = (
            f"Call using an FX-traced Module, line {line_number} of the traced Module's generated forward "
            "function:"
        )
        before = "".join(lines[line_number - 2 : line_number])
        marker = "~" * len(line) + "~~~ <--- HERE"
        behind = "\n".join(lines[line_number : line_number + 2])
        return "\n".join([traceback.format_exc(), where, before, marker, behind])

    def __call__(self, obj: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)  # type: ignore[misc, arg-type]
        except Exception as error:
            last = traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__))[-1]
            if "eval_with_key" in last.filename:
                print(self._generate_error_message(last), file=sys.stderr)
                raise error.with_traceback(None)  # noqa: B904
            raise


class GraphModule(Module):
    """Module whose `forward` is generated from a graph, as in the example of the module docstring.

    root         module with the attributes that the graph uses, or a dictionary: dotted name -> attribute
    class_name   class name in `repr` and error messages
    """

    __jit_unused_properties__: Final = ["graph", "_boxed_call"]
    _code: str

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Create the object in a new subclass, so that `forward` belongs to this object only."""
        base = next(c for c in cls.__mro__ if c.__qualname__.rpartition(".")[2] != "GraphModuleImpl")

        class GraphModuleImpl(base):  # type: ignore[misc, valid-type]
            pass

        return super().__new__(GraphModuleImpl)  # type: ignore[no-any-return]

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        targets = [n.target for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = getattr(root, "training", self.training)
            # For an unpickled GraphModule, copy all attributes, even those that the graph does not use.
            if isinstance(root, _CodeOnlyModule):
                members = (root.named_children(), root.named_buffers(), root.named_parameters())
                targets = [*(name for name, _ in itertools.chain(*members)), *targets]
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in "
                        "``root``!"
                    )
            # sort by depth, so that a module is assigned before attributes of the module
            for target in sorted(targets, key=lambda t: t.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        tracer_cls = graph._tracer_cls
        # Do not store a class that is defined within a function, because pickle cannot find such a class.
        local = tracer_cls is None or "<locals>" in tracer_cls.__qualname__
        self._tracer_cls = None if local else tracer_cls
        self._tracer_extras = graph._tracer_extras or {}
        self.meta: dict[str, Any] = {}
        self._replace_hooks: list[Callable[..., object]] = []
        self._create_node_hooks: list[Callable[..., object]] = []
        self._erase_node_hooks: list[Callable[..., object]] = []
        self._deepcopy_hooks: list[Callable[..., object]] = []
        self.shape_env = None

    @property
    def graph(self) -> Graph:
        """Graph of the module. Call `recompile` after modifications."""
        return self._graph  # type: ignore[no-any-return]

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def _boxed_call(self) -> bool:
        return isinstance(self._graph._codegen, _BoxedCodeGen)

    @property
    def code(self) -> str:
        """Source of `forward`."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self) -> PythonCode:
        """Generate `forward` from the graph again, and return the code."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            self._in_spec = self._graph._codegen.pytree_info.in_spec
            self._out_spec = self._graph._codegen.pytree_info.out_spec
        code: PythonCode = self._graph.python_code(root_module="self")
        self._code = code.src
        self._lineno_map = code._lineno_map
        self._prologue_start = code._prologue_start
        cls: Any = type(self)
        check_parameters(self._graph.nodes)
        cls.forward = forward_from_src(self._code, code.globals, self._graph._co_fields)
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, vars(cls).get("__call__"))
        self._recompile_submodules()

        def call_wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self._wrapped_call(self, *args, **kwargs)

        cls.__call__ = call_wrapped
        return code

    def _recompile_submodules(self) -> list[tuple[str, PythonCode]]:
        return [(n, m.recompile()) for n, m in self.named_children() if isinstance(m, GraphModule)]

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        *,
        fast_sympy_print: bool = False,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:
        """Return the code of this module and nested GraphModules. If `print_output`, print the code.

        include_stride, include_device   show strides and devices in annotations of tensors
        expanded_def                     write each parameter on its own line
        additional_meta                  keys of nodes' `meta` to show
        """
        options = {
            "include_stride": include_stride,
            "include_device": include_device,
            "colored": colored,
            "additional_meta": additional_meta,
        }
        code = self._readable(self._get_name(), expanded_def=expanded_def, **options)
        if print_output:
            print(code)
        return code

    def _readable(self, name: str, **options: Any) -> str:
        code = self.graph.python_code(root_module="self", verbose=True, **options).src.lstrip("\n")
        options.pop("expanded_def", None)
        inner = [m._readable(n, **options) for n, m in self.named_children() if isinstance(m, GraphModule)]
        class_source = _indented(f"class {name}(torch.nn.Module):\n{code}")
        return class_source + _indented("\n".join(["", *inner]))

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, hint])

    def add_submodule(self, target: str, m: Module) -> bool:
        """Add module `m` with the dotted name `target`. Create missing parent modules.

        Return False if a parent in the dotted name exists and is not a module.
        """
        *path, name = target.split(".")
        module: Any = self
        for item in path:
            submodule = getattr(module, item, None)
            if submodule is None:
                submodule = Module()
                setattr(module, item, submodule)
            if not isinstance(submodule, Module):
                return False
            module = submodule
        module.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Delete the module with a dotted name. Return False if there is none."""
        *path, name = target.split(".")
        module: Any = self
        for item in path:
            module = getattr(module, item, None)
            if not isinstance(module, Module):
                return False
        if not isinstance(getattr(module, name, None), Module):
            return False
        delattr(module, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Delete the submodules that the graph does not use."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            used.update(itertools.accumulate(node.target.split("."), "{}.{}".format))
            if node.op == "call_module" and _has_attr(self, node.target):
                inside = self.get_submodule(node.target).named_modules()
                used.update(f"{node.target}.{name}" for name, _ in inside if name)
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

    def __reduce__(self) -> Any:
        body = self.__dict__.copy()
        del body["_graph"]  # unpickling creates the graph from the code
        return reduce_graph_module, (body, import_block(self.recompile().globals))

    def _deepcopy_init(self) -> Callable[..., None]:
        return GraphModule.__init__

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        root = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        self._deepcopy_init()(copied, root, root.__dict__["_graph"])
        for name in _COPIED_ATTRIBUTES:
            if name in self.__dict__:
                setattr(copied, name, copy.deepcopy(self.__dict__[name], memo))
        copied.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        for name, value in copied.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(copied, name, value)
        for hook in getattr(self, "_deepcopy_hooks", ()):
            hook(copied)
        return copied

    def __copy__(self) -> GraphModule:
        copied = GraphModule(self, self.graph)
        copied.meta = getattr(self, "meta", {})
        return copied

    def _replicate_for_data_parallel(self) -> GraphModule:
        replica = self.__copy__()
        object.__setattr__(replica, "_is_replica", True)
        return replica

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write the module as a Python package: `from folder import module_name`."""
        folder = Path(folder)
        folder.mkdir(exist_ok=True)
        ts.save(self.state_dict(), folder / "state_dict.pt")
        imports = "\n".join(builtin.import_str for builtin in CUSTOM_BUILTINS.values())
        lines = []
        in_files = []
        for name, child in self.named_children():
            child_repr = repr(child)
            if type(child) in _WITH_SAFE_REPR:
                lines.append(f"setattr(self, '{name}', {child_repr})")
                continue
            ts.save(child, folder / f"{name}.pt")
            in_files.append(name)
            loaded = f"torch.load(r'{folder / f'{name}.pt'}', weights_only=False)"
            lines.append(f"setattr(self, '{name}', {loaded}) # {' '.join(child_repr.splitlines())}")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                empty = f"torch.empty({list(buffer.shape)}, dtype={buffer.dtype})"
                lines.append(f"self.register_buffer('{name}', {empty})")
        for name, parameter in self._parameters.items():
            if parameter is not None:
                empty = f"torch.empty({list(parameter.shape)}, dtype={parameter.dtype})"
                lines.append(f"setattr(self, '{name}', torch.nn.Parameter({empty}))")
        lines.append(f"self.load_state_dict(torch.load(r'{folder}/state_dict.pt'))")
        body = "".join(f"        {line}\n" for line in lines)
        (folder / "module.py").write_text(
            f"\nimport ts as torch\n{imports}\n\nfrom ts.nn import *\n\n\nclass "
            f"{module_name}(torch.nn.Module):\n"
            f"    def __init__(self):\n        super().__init__()\n{body}{_indented(self.code)}\n"
        )
        (folder / "__init__.py").write_text("from .module import *")
        if in_files:
            warnings.warn(
                "Was not able to save the following children modules as reprs -"
                f"saved as pickled files instead: {in_files}",
                stacklevel=2,
            )

    @contextlib.contextmanager
    def _set_replace_hook(self, f: Callable[..., object]) -> Iterator[None]:
        if not callable(f):
            raise AssertionError("Replace hook must be a callable.")
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_replace_node_hook(self, f: Callable[..., object]) -> None:
        """Register `f`: each replacement of a node in the arguments of a user calls `f(old=, new=, user=)`.

        `old` and `user` are nodes, and `new` is the name of the new node.
        """
        self._replace_hooks.append(_checked(f, "create_node"))

    def _unregister_replace_node_hook(self, f: Callable[..., object]) -> None:
        self._replace_hooks.remove(_checked(f, "create_node"))

    def _register_create_node_hook(self, f: Callable[..., object]) -> None:
        self._create_node_hooks.append(_checked(f, "create_node"))

    def _unregister_create_node_hook(self, f: Callable[..., object]) -> None:
        self._create_node_hooks.remove(_checked(f, "create_node"))

    def _register_erase_node_hook(self, f: Callable[..., object]) -> None:
        self._erase_node_hooks.append(_checked(f, "erase_node"))

    def _unregister_erase_node_hook(self, f: Callable[..., object]) -> None:
        self._erase_node_hooks.remove(_checked(f, "erase_node"))

    def _register_deepcopy_hook(self, f: Callable[..., object]) -> None:
        self._deepcopy_hooks.append(_checked(f, "deepcopy"))

    def _unregister_deepcopy_hook(self, f: Callable[..., object]) -> None:
        self._deepcopy_hooks.remove(_checked(f, "deepcopy"))


_WITH_SAFE_REPR: Final = (
    ts.nn.Linear, ts.nn.Conv1d, ts.nn.Conv2d, ts.nn.Conv3d, ts.nn.BatchNorm1d, ts.nn.BatchNorm2d,
    ts.nn.BatchNorm3d,
)  # fmt: skip


def _checked(hook: Callable[..., object], kind: str) -> Callable[..., object]:
    if not callable(hook):
        raise AssertionError(f"{kind} hook must be a callable.")
    return hook


__getattr__ = names_for(__name__)
