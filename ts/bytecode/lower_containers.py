"""Lowering of list and dict operators to instructions that depend on the element type.

    %x : int = aten::__getitem__(%list, %i)           LIST_GET_SCALAR  %x, %list, %i     a number
    %y : Tensor = aten::__getitem__(%list, %i)        LIST_GET         %y, %list, %i
    %n : int = aten::get(%dict, %key, %zero)          MOVE             %n, %zero
                                                      DICT_FIND        %n, %dict, %key

If no instruction supports the type of the container, the lowering method emits no code and returns False. The
caller then emits a call of the operator.
"""

from __future__ import annotations

from ts.bytecode.instruction import SCALARS
from ts.bytecode.lower_loops import LoopLowering
from ts.bytecode.typespec import register_class
from ts.ir.graph import Node, Value
from ts.ir.types import DictType, ListType


class ContainerLowering(LoopLowering):
    """Lowering of lists and dicts, the base class of `lower.Lowering`."""

    def lower_list_construct(self, node: Node) -> None:
        """Lower `prim::ListConstruct`. The ints in a list of floats are converted."""
        registers = [self.use(v) for v in node.inputs()]
        type = node.output().type()
        if isinstance(type, ListType) and register_class(type.elem) == "f":
            registers = [self.as_float(v) for v in node.inputs()]
        self.emit("LIST_NEW", self.define(node.output()), self.type_index(type), register_list=registers)

    def lower_dict_construct(self, node: Node) -> None:
        """Lower `prim::DictConstruct`."""
        registers = [self.use(v) for v in node.inputs()]
        self.emit(
            "DICT_NEW",
            self.define(node.output()),
            self.type_index(node.output().type()),
            register_list=registers,
        )

    def lower_list_unpack(self, node: Node) -> None:
        """Lower `prim::ListUnpack` to a length check and one load for each used output."""
        source = self.use(node.input())
        self.emit("LIST_CHECK_LEN", source, len(node.outputs()))
        for i, output in enumerate(node.outputs()):
            if output.has_uses():
                self.emit_get("LIST_GET", output, source, self.constant(i, "i"))

    def emit_get(self, name: str, output: Value, container: int, key: int) -> None:
        """Emit instruction `name`, or its variant `name`_SCALAR if `output` is an int, float or bool."""
        scalar = register_class(output.type()) in SCALARS
        self.emit(f"{name}_SCALAR" if scalar else name, self.define(output), container, key)

    def lower_get_item(self, node: Node) -> bool:
        """Lower `container[key]`. Return False if the container is neither a list nor a dict."""
        container, key = node.inputs()
        if isinstance(container.type(), ListType):
            self.emit_get("LIST_GET", node.output(), self.use(container), self.use(key))
        elif isinstance(container.type(), DictType):
            self.emit_get("DICT_GET", node.output(), self.use(container), self.use(key))
        else:
            return False
        return True

    def lower_set_item(self, node: Node) -> bool:
        """Lower `container[key] = value`. Return False if no instruction supports the types."""
        container, key, value = (self.use(v) for v in node.inputs())
        type, kind = node.input().type(), self.classes[value]
        if isinstance(type, ListType) and register_class(type.elem) == kind:
            name = "LIST_SET"
        elif isinstance(type, DictType) and register_class(type.value) in (kind, "x"):
            name, kind = "DICT_SET", register_class(type.value)
        else:
            return False
        self.emit(f"{name}_SCALAR" if kind in SCALARS else name, container, key, value)
        self.forward_input(node)
        return True

    def lower_get(self, node: Node) -> bool:
        """Lower `d.get(key, default)`: move the default, then overwrite it if the dict has the key."""
        container, key, *default = node.inputs()
        type, kind = container.type(), register_class(node.output().type())
        if not isinstance(type, DictType) or kind not in (register_class(type.value), "x"):
            return False
        default_register = self.use(default[0]) if default else self.constant(None, "x")
        if kind not in (self.classes[default_register], "x"):
            return False
        source, key_register = self.use(container), self.use(key)
        result = self.define(node.output())
        self.move(result, default_register)
        self.emit("DICT_FIND", result, source, key_register)
        return True

    def lower_append(self, node: Node) -> bool:
        """Lower `list.append`. Return False if no instruction supports the types."""
        container, value = (self.use(v) for v in node.inputs())
        type = node.input().type()
        if not isinstance(type, ListType) or register_class(type.elem) not in (self.classes[value], "x"):
            return False
        self.emit("LIST_APPEND", container, value)
        self.forward_input(node)
        return True

    def lower_len(self, node: Node) -> bool:
        """Lower `len(container)`. Return False if the container is neither a list nor a dict."""
        type = node.input().type()
        name = "LIST_LEN" if isinstance(type, ListType) else "DICT_LEN" if isinstance(type, DictType) else ""
        if name:
            self.emit(name, self.define(node.output()), self.use(node.input()))
        return bool(name)

    def lower_contains(self, node: Node) -> bool:
        """Lower `key in dict`. Return False if the container is not a dict."""
        container, key = node.inputs()
        if not isinstance(container.type(), DictType):
            return False
        self.emit("DICT_CONTAINS", self.define(node.output()), self.use(container), self.use(key))
        return True

    def as_float(self, value: Value) -> int:
        """Return a float register with the value of a number. An int is converted."""
        register = self.use(value)
        if self.classes[register] != "i":
            return register
        if register in self.constant_values:
            return self.constant(float(self.constant_values[register]), "f")
        converted = self.new_register("f")
        self.emit("INT_TO_FLOAT", converted, register)
        return converted

    def forward_input(self, node: Node) -> None:
        """Emit a copy of the node's first input to its output, unless the output is unused."""
        for output in node.outputs():
            if output.has_uses():
                self.move(self.define(output), self.use(node.input()))
