"""Python code generation (source code generation) for a graph.

Output: a `PythonCode` with the source text and its globals. Example of source text:

    def forward(self, x):
        relu = torch.relu(x);  x = None
        return relu

A `CodeGen` generates the function header and the return statement. `Graph.set_codegen` accepts instances of
subclasses. The subclass `_PyTreeCodeGen` adds code that flattens the arguments and unflattens the result.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ts.fx.code_writer import CodeWriter, Options
from ts.fx.namespace import Namespace
from ts.utils import _pytree as pytree

TransformCodeFunc = Callable[[list[str]], list[str]]
_COUNTER: Final = re.compile(r"# COUNTER: (\d+)")


@dataclass
class PythonCode:
    """Python source of a graph, with the data that executing the source needs.

    src               the source text
    globals           dict from a global name in the source to its object
    _lineno_map       dict from a line number to the index of the node that the line computes
    _prologue_start   line number of `def`
    """

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None
    _prologue_start: int = 0


class PyTreeInfo(NamedTuple):
    """Parameter names of the original function, and tree specs of its arguments and of its result."""

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


_PyTreeInfo = PyTreeInfo


def _one_per_line(texts: Sequence[str]) -> str:
    """Format arguments with one argument per line. A comment of an argument follows the comma."""
    lines = []
    for source in texts:
        argument, hash_sign, comment = source.partition("#")
        lines.append(f"    {argument.rstrip()},  # {comment.lstrip()}\n" if hash_sign else f"    {source},\n")
    return "".join(lines)


def _call_with_accepted_options(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call `function(*args)` with those keyword arguments in `options` that `function` has as parameters.

    A program may override `function` and omit parameters that only newer versions of PyTorch have.
    """
    parameters = inspect.signature(function).parameters
    return function(*args, **{name: value for name, value in options.items() if name in parameters})


class CodeGen:
    """Generator of the function header, the argument handling and the return statement of generated code."""

    def __init__(self) -> None:
        self._body_transformer: TransformCodeFunc | None = None
        self._func_name = "forward"

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """Return the line with `def`.

        free_vars                 the parameters, with annotations and defaults
        maybe_return_annotation   text such as ` -> Tensor`, or an empty string
        expanded_def              write each parameter on its own line
        """
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        inner = f"\n{_one_per_line(free_vars)}" if expanded_def else ", ".join(free_vars)
        return f"def {self._func_name}({inner}){maybe_return_annotation}:"

    def generate_output(
        self,
        output_args: Any,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[object], str] | None = None,
    ) -> str:
        """Return the text of a `return` statement for `output_args`.

        If `descs` is given and `output_args` is a list or tuple, it contains a comment for each element.
        """
        return "return " + self._container(output_args, descs, repr_fn or repr)

    def _container(self, value: Any, descs: Sequence[str] | None, repr_fn: Callable[[object], str]) -> str:
        if descs is None or not isinstance(value, list | tuple):
            return repr_fn(value)
        opening, closing = "()" if isinstance(value, tuple) else "[]"
        lines = (f"    {repr_fn(x)},  # {desc}\n" for x, desc in zip(value, descs, strict=False))
        return f"{opening}\n{''.join(lines)}{closing}"

    def process_inputs(self, *args: Any) -> Any:
        """Convert the arguments of a call to the values of the placeholders."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """Convert the result of the graph to the return value of the call."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return additional globals of the generated code, as (name, object) pairs."""
        return []

    def _gen_python_code(
        self, nodes: Any, root_module: str, namespace: Namespace, options: Options
    ) -> PythonCode:
        """Return the Python code of a graph with these nodes."""
        writer = CodeWriter(root_module, namespace, options)

        def output(value: Any, **output_options: Any) -> str:
            return str(_call_with_accepted_options(self.generate_output, value, **output_options))

        writer.write(nodes, output)
        body = writer.body or ["pass\n"]
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped)
        if self._body_transformer:
            body = self._body_transformer(body)
        for name, value in self.additional_globals():
            writer.add_global(name, value)
        head = _call_with_accepted_options(
            self.gen_fn_def, writer.parameters, writer.returns, expanded_def=options.expanded_def
        )
        lines: list[str] = []
        nodes_of_lines: dict[int, int | None] = {}
        node_index = None
        for line in "".join(body).split("\n"):
            counter = _COUNTER.search(line)
            if counter is not None:
                node_index = int(counter[1])
            else:
                nodes_of_lines[len(lines) + head.count("\n") + 1] = node_index
                lines.append(line)
        indented_body = "\n".join(f"    {line}" for line in "\n".join(lines).lstrip("\n").split("\n"))
        return PythonCode(
            f"\n{wraps}\n\n{head}\n{indented_body}", writer.globals, nodes_of_lines, wraps.count("\n") + 4
        )


class _PyTreeCodeGen(CodeGen):
    """Code generator for functions whose arguments or results are containers."""

    def __init__(self, pytree_info: PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        """Return the leaves of the arguments."""
        return pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out: Any) -> Any:
        """Unflatten the results of the graph to the container that the original function returned."""
        if self.pytree_info is None or self.pytree_info.out_spec is None:
            return out
        return pytree.tree_unflatten(
            out if isinstance(out, list | tuple) else [out], self.pytree_info.out_spec
        )

    def gen_var_bindings(self, fn_args: list[str], free_vars: list[str], expanded_def: bool) -> str:
        """Return the statements that flatten the arguments `fn_args` into the placeholders `free_vars`."""
        spec = self.pytree_info.in_spec
        arguments = f"[{', '.join(fn_args)}]"
        if (
            spec.type is tuple
            and spec.num_children == 2
            and spec.child(0).type is tuple
            and spec.child(1).type is dict
        ):  # the inputs are a tuple (args, kwargs), whose second element is a dict
            count = spec.child(0).num_children
            names = self.pytree_info.orig_args
            by_name = ", ".join(
                f"{k!r}:{v}" for k, v in zip(spec.child(1).context, names[count:], strict=False)
            )
            arguments = f"([{', '.join(names[:count])}], {{{by_name}}})"
        values = ", ".join(v.split(":")[0].split("#")[0] for v in free_vars)
        types = self._annotations(free_vars, expanded_def)
        return f"{types}\n    {values}, = fx_pytree.tree_flatten_spec({arguments}, self._in_spec)"

    def _annotations(self, free_vars: list[str], expanded_def: bool) -> str:
        """Return the statements that annotate the placeholders with types.

        The assignment to the placeholders cannot contain the annotations, because it has several targets.
        """
        annotated = [v for v in free_vars if ":" in v]
        if not annotated:
            return ""
        if expanded_def:
            return "\n    " + "\n    ".join(annotated)
        return "\n    " + "".join(f"{v}; " for v in annotated) + "\n"

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """Return the `def` line and the statements that flatten the arguments."""
        if self.pytree_info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation, expanded_def=expanded_def)
        names = self.pytree_info.orig_args
        if names and names[0] == "self":
            free_vars.insert(0, "self")
        head = super().gen_fn_def(names[:], maybe_return_annotation, expanded_def=expanded_def)
        return head + (self.gen_var_bindings(names, free_vars, expanded_def) if free_vars else "")

    def generate_output(
        self,
        output_args: Any,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[object], str] | None = None,
    ) -> str:
        """Return the statement that unflattens and returns the result."""
        if not (self.pytree_info and self.pytree_info.out_spec):
            return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
        value = self._container(output_args, descs, repr_fn or repr)
        return f"return pytree.tree_unflatten({value}, self._out_spec)"


class _BoxedCodeGen(CodeGen):
    """Generator of code with one parameter, a list of arguments.

    The code clears the list, so that each argument can be freed after its last use.
    """

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """Return the `def` line and the statements that unpack and clear the argument list."""
        head = f"def {self._func_name}(self, args_list){maybe_return_annotation}:"
        names = [v.split(":")[0].split("=")[0].strip() for v in free_vars if v != "self"]
        if not names:
            return head
        values = "".join(f"\n    {name} = next(args_iter)" for name in names)
        return f"{head}\n    args_iter = iter(args_list){values}\n    args_list.clear()"
