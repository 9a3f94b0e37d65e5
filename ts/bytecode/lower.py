"""Lowering of optimized graphs to verified bytecode, which the interpreter executes.

    graph(%n : int):                                    0  MOVE         r1, r4          r1 := 0
      %t : int = prim::Loop(%n, %true, %zero)           1  MOVE         r2, r4          r2 := 0
        block0(%i : int, %s : int):             =>      2  JUMP_LE_I64  5, r0, r4
          %u : int = aten::add(%s, %i)                  3  ADD_I64      r2, r2, r1
          -> (%true, %u)                                4  LOOP_STEP    3, r1, r0
      return (%t)                                       5  RETURN       r2

Each value has a virtual register. A loop-carried value uses one register in all iterations. Phi-like nodes
(`prim::If`, `prim::Loop`) become copies, which the register allocator (`register_allocation.py`) coalesces.
Comparisons and chains of `and`, `or` and `not` that only decide a branch become conditional jumps. Operators
with an opcode in the opcode table are lowered to that opcode, all other operators to calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from ts._core.builtin_ops.module_getitem import ContainerIndex
from ts._core.thread import deadline
from ts._core.value.fitting import is_subtype, present
from ts._core.vm.code import Code, Method
from ts._core.vm.python_call import PythonOperator, WarnOperator
from ts.bytecode.code_builder import Handler
from ts.bytecode.instruction import SCALARS, Instruction, Label
from ts.bytecode.lower_branches import line_of, operator_of
from ts.bytecode.lower_futures import FutureLowering
from ts.bytecode.opcodes import BY_NAME, BY_OPERATOR, Opcode, register_format
from ts.bytecode.serialized_code import SerializedCode
from ts.bytecode.subgraph_functions import Prepare, differentiable_operator
from ts.bytecode.typespec import register_class, result_spec, type_spec
from ts.bytecode.uninitialized_values import uninitialized_value
from ts.errors import CompilationError, FrontendError
from ts.fusion.fusion_rules import program_of_graph
from ts.fusion.program import group_operator
from ts.ir.attributes import REMOTE_CALLS
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.schema import Argument, FunctionSchema
from ts.ir.types import (
    ANY,
    FLOAT,
    INT,
    AnyListType,
    InterfaceType,
    ListType,
    NoneType,
    TupleType,
    Type,
    UnionType,
    erase_shape,
)

MIXED = ("int_float", "float_int")


ReplaceFunction = Callable[[Any], Any]


def find_opcode(operator: Any, node: Node) -> Opcode | None:
    """Return the opcode of `operator`, or None. For a `Scalar` overload, the type of the input selects it."""
    inputs = node.inputs()
    if operator.overload == "Scalar" and len(inputs) == 1:
        return BY_OPERATOR.get(f"{operator.name}.{inputs[0].type()}")
    return BY_OPERATOR.get(operator.key)


def is_mixed(operator: Any, node: Node) -> bool:
    """Return whether an operator with an int and a float as inputs converts the int to a float."""
    if operator.overload in MIXED:
        return True
    if operator.overload or {v.type() for v in node.inputs()} != {INT, FLOAT}:
        return False
    return [x.type for x in operator.schema.returns] == [FLOAT]


def lower(graph: Graph, name: str = "graph", prepare: Prepare | None = None) -> Code:
    """Return the code of a graph. `prepare` compiles a subgraph when it first runs."""
    return lower_to_program(graph, name, prepare)[0]


def lower_to_program(
    graph: Graph,
    name: str,
    prepare: Prepare | None = None,
    replace_function: ReplaceFunction | None = None,
    prepare_differentiable: Prepare | None = None,
) -> tuple[Code, SerializedCode]:
    """Lower a graph. Return its code, and the `SerializedCode` from which the code is built.

    prepare                  compiles forked subgraphs when they first run
    replace_function         replace_function(f) returns the function to call instead of f
    prepare_differentiable   compiles the forward and backward graphs of differentiable graphs
    """
    lowering = Lowering(graph, name, prepare or lower, replace_function, prepare_differentiable)
    code = lowering.run()
    assert lowering.program is not None
    return code, lowering.program


class Lowering(FutureLowering):
    """Lowering of one graph. Base classes lower futures, containers, loops and branches."""

    def __init__(
        self,
        graph: Graph,
        name: str,
        prepare: Prepare,
        replace_function: ReplaceFunction | None = None,
        prepare_differentiable: Prepare | None = None,
    ) -> None:
        super().__init__(graph, name)
        self.prepare = prepare
        self.prepare_differentiable = prepare_differentiable or prepare
        self.replace_function = replace_function
        # key of a warning -> bool register that is True after the warning was issued
        self.warned: dict[Any, int] = {}
        self.methods: dict[tuple[str, FunctionSchema], Method] = {}
        self.beginnings = {}

    def run(self) -> Code:
        """Lower the graph, allocate registers and assemble."""
        block = self.graph.block()
        for value in block.inputs():
            self.define(value)
        self.lower_nodes(block)
        if not self.terminated:
            outputs = block.outputs()
            if len(outputs) == 1:
                result = self.use(outputs[0])
            elif not outputs:
                result = self.constant(None, "x")
            else:
                result = self.new_register("o")
                tuple_type = TupleType([value.type() for value in outputs])
                registers = [self.use(v) for v in outputs]
                self.emit("TUPLE_NEW", result, self.type_index(tuple_type), register_list=registers)
            self.emit("RETURN", result)
        return self.assemble([type_spec(value.type()) for value in block.inputs()], result_spec(self.graph))

    # ---- lowering of blocks and operators --------------------------------------------------------------

    def lower_nodes(self, block: Block) -> None:
        """Lower the nodes of a block, up to a node that ends the control flow."""
        handler_count = len(self.active_handlers)
        for node in block.nodes():
            deadline.charge(5_000, bytes=500)
            if self.terminated:
                break
            if node.kind() == "prim::Constant" or self.is_deferred(node):
                continue
            self.line = line_of(node)
            method = _LOWER.get(node.kind())
            if method is not None:
                method(self, node)
            else:
                self.lower_operator(node)
        # end the `with` regions whose `__exit__` is unreachable
        while len(self.active_handlers) > handler_count:
            self.code.append(Instruction("", self.active_handlers.pop().end, depth=self.depth))

    def lower_operator(self, node: Node) -> None:
        """Lower an operator node to its opcode, or to a call of its kernel."""
        operator = operator_of(node)
        if operator.record is not None and operator.record.begins is not None:
            self.lower_beginning(node, operator)
            return
        opcode = find_opcode(operator, node)
        inputs = node.inputs()
        if opcode is not None and self.lower_by_opcode(opcode.name, [self.use(v) for v in inputs], node):
            return
        if is_mixed(operator, node) and self.lower_mixed(operator, node):
            return
        lower_container = _CONTAINERS.get(operator.name)
        if lower_container is not None and lower_container(self, node):
            return
        arguments = [self.use(v) for v in inputs]
        if operator.schema.is_vararg:
            fixed = operator.nargs - 1
            tuple_register = self.new_register("o")
            rest = TupleType([v.type() for v in inputs[fixed:]])
            self.emit("TUPLE_NEW", tuple_register, self.type_index(rest), register_list=arguments[fixed:])
            arguments = [*arguments[:fixed], tuple_register]
        results, casts = [], []
        for value, type in zip_longest(node.outputs()[: operator.nrets], self.declared(operator, inputs)):
            if value is not None and (type is not ANY or value.type() is ANY):
                results.append(self.define(value))
                continue
            # class "x" accepts any value, because the schema does not declare the type of the result
            results.append(self.new_register("x"))
            if value is not None:
                casts.append((value, results[-1]))
        name = "CALL_SCALAR" if operator.scalar else "CALL_OPERATOR"
        self.emit(
            name, self.operator_index(operator), register_list=arguments + results, results=len(results)
        )
        for value, source in casts:
            self.emit("CAST_TO", self.define(value), source, self.type_index(value.type()))

    def declared(self, operator: Any, inputs: Sequence[Value]) -> list[Type]:
        """Return the result types of an operator call, with Any for types that are known only at run time."""
        types = [returned.type for returned in operator.schema.returns]
        # an argument None does not determine the type variables of the schema
        if any(isinstance(value.type(), NoneType) for value in inputs):
            types = [ANY if type.has_free_variables() else type for type in types]
        return types + [ANY] * (operator.nrets - len(types))

    def lower_by_opcode(self, name: str, arguments: Sequence[int], node: Node) -> bool:
        """Emit opcode `name` if its formats match the classes of the registers. Return whether they match."""
        result, *formats = BY_NAME[name].operands
        if name.startswith("IS_"):
            return self.lower_identity(name, arguments, node)
        for format, argument in zip(formats, arguments, strict=False):
            if register_format(format) != self.classes[argument]:
                return False
        if result[-1] != register_class(node.output().type()):
            return False
        b, c = [*arguments, 0][:2]
        name, c = self.reduce_strength(name, c)
        self.emit(name, self.define(node.output()), b, c)
        return True

    def reduce_strength(self, name: str, c: int) -> tuple[str, int]:
        """Return the opcode and operand `c` after strength reduction.

        Floor division by a power of two becomes a right shift, and the remainder a bit mask.  Like Python's
        operators, both round towards minus infinity.
        """
        divisor = self.constant_values.get(c) if name in ("MOD_I64", "FLOORDIV_I64") else None
        if divisor is None or divisor <= 0 or divisor & (divisor - 1):
            return name, c
        if name == "MOD_I64":
            return "AND_I64", self.constant(divisor - 1, "i")
        return "SHR_I64", self.constant(divisor.bit_length() - 1, "i")

    def lower_identity(self, name: str, arguments: Sequence[int], node: Node) -> bool:
        """Lower `x is None` if `x` has an Optional type. Otherwise, emit no code and return False."""
        values = [v for v in node.inputs() if not isinstance(v.type(), NoneType)]
        if len(values) != 1 or register_class(values[0].type()) != "x":
            return False
        self.emit(name, self.define(node.output()), self.use(values[0]))
        return True

    def lower_mixed(self, operator: Any, node: Node) -> bool:
        """Lower an operator on an int and a float to the opcode for floats, after converting the int."""
        opcode = BY_OPERATOR.get(f"{operator.name}.float")
        if opcode is None or len(node.inputs()) != 2:
            return False
        return self.lower_by_opcode(opcode.name, [self.as_float(v) for v in node.inputs()], node)

    # ---- lowering of tuples and casts --------------------------------------------------------------

    def lower_tuple_construct(self, node: Node) -> None:
        """Lower `prim::TupleConstruct`."""
        registers = [self.use(v) for v in node.inputs()]
        self.emit(
            "TUPLE_NEW",
            self.define(node.output()),
            self.type_index(node.output().type()),
            register_list=registers,
        )

    def lower_tuple_unpack(self, node: Node) -> None:
        """Lower `prim::TupleUnpack` to one load for each used output."""
        source = self.use(node.input())
        for i, output in enumerate(node.outputs()):
            if output.has_uses():
                self.emit("TUPLE_GET", self.define(output), source, i)

    def lower_tuple_index(self, node: Node) -> None:
        """Lower `prim::TupleIndex` to a load if the index is a valid constant, else to an operator call."""
        index = self.constant_value(node.input(1))
        type = node.input().type()
        size = len(type.elems) if isinstance(type, TupleType) else 0
        # an index that is not constant, or out of range, requires the operator
        if not isinstance(index, int) or not -size <= index < size:
            self.lower_operator(node)
            return
        self.emit("TUPLE_GET", self.define(node.output()), self.use(node.input()), index % size)

    def lower_cast(self, node: Node) -> None:
        """Lower a cast to a run-time type check, or to a copy if the type needs no check."""
        type = node.output().type()
        if (
            node.needs_type_check
            and not node.input().type().is_subtype_of(erase_shape(type))
            and not _is_measured(node)
        ):
            self.emit("CAST_TO", self.define(node.output()), self.use(node.input()), self.type_index(type))
        else:
            self.lower_retype(node)

    def lower_retype(self, node: Node) -> None:
        """Lower a node that returns its input unchanged, with another static type."""
        target, source = self.define(node.output()), self.use(node.input())
        a, b = self.classes[target], self.classes[source]
        if a == b or "x" in (a, b):
            input_spec, output_spec = type_spec(node.input().type()), type_spec(node.output().type())
            if a == "o":
                input_spec = present(input_spec) or output_spec
            if a in SCALARS or b in SCALARS or is_subtype(input_spec, output_spec) or _is_measured(node):
                self.move(target, source)
            else:  # checked at run time: the verifier cannot prove which member of a Union the value has
                self.emit("CAST_TO", target, source, self.type_index(node.output().type()))
        else:  # unreachable code: the static type of the value excludes the type that `isinstance` tested
            message = f"a value of type {node.input().type()} is not of type {node.output().type()}"
            self.emit("RAISE", self.constant(message, "o"), self.constant(None, "x"))

    # ---- lowering of objects and attributes ------------------------------------------------------------

    def lower_create_object(self, node: Node) -> None:
        """Lower `prim::CreateObject`."""
        self.emit("OBJECT_NEW", self.define(node.output()), self.type_index(node.output().type()))

    def lower_get_attr(self, node: Node) -> None:
        """Lower `prim::GetAttr` to a load from the slot of the attribute."""
        type: Any = node.input().type()
        output = node.output()
        name = "ATTR_GET_SCALAR" if register_class(output.type()) in SCALARS else "ATTR_GET"
        self.emit(name, self.define(output), self.use(node.input()), type.slot(node.get("name")))

    def lower_container_index(self, node: Node) -> None:
        """Lower an index into a ModuleList or ModuleDict to an operator that looks up the slot."""
        type: Any = node.input(0).type()
        elements = type.elements(node.output().type())
        slots: dict[str | int, int] = {name: type.slot(name) for name in elements}
        if node.input(1).type() is INT:
            slots = {i: type.slot(elements[i]) for i in range(-len(elements), len(elements))}
        operator = ContainerIndex(type_spec(type), slots, type_spec(node.output().type()))
        registers = [*(self.use(v) for v in node.inputs()), self.define(node.output())]
        self.emit("CALL_OPERATOR", self.operator_index(operator), register_list=registers, results=1)

    def lower_set_attr(self, node: Node) -> None:
        """Lower `prim::SetAttr` to a store to the slot of the attribute."""
        type: Any = node.input(0).type()
        target, value = (self.use(v) for v in node.inputs())
        name = node.get("name")
        scalar = register_class(type.attributes[name]) in SCALARS
        self.emit("ATTR_SET_SCALAR" if scalar else "ATTR_SET", target, type.slot(name), value)

    def lower_call_method(self, node: Node) -> None:
        """Lower a method call to a call by name for interfaces, else to a direct call."""
        type: Any = node.input(0).type()
        name = node.get("name")
        if isinstance(type, InterfaceType | UnionType):
            # the value may be of several classes, all of which have the method
            if isinstance(type, UnionType):
                member: Any = type.types[0]
                schema = member.methods[name].schema
            else:
                schema = type.methods[name]
            method = self.methods.get((name, schema))
            if method is None:
                specs = (type_spec(ANY), *(type_spec(a.type) for a in schema.arguments[1:]))
                method = self.methods[name, schema] = Method(name, specs, type_spec(schema.returns[0].type))
            index = self.function_index(method)
            registers = self.arguments(schema.arguments, node.inputs())
            self.emit("CALL_METHOD", self.define(node.output()), index, register_list=registers)
        else:
            self.call(node, type.methods[name], node.inputs())

    # ---- lowering of `with` statements -----------------------------------------------------------------

    def lower_enter(self, node: Node) -> None:
        """Lower `__enter__`, and begin the region in which a failure calls `__exit__` (`Code.handlers`)."""
        type: Any = node.input().type()
        self.call(node, type.methods["__enter__"], node.inputs())
        leave = type.methods["__exit__"]
        leave.ensure_compiled()
        context = Handler(self.use(node.input()), leave, Label(), Label())
        self.bind_label(context.start)
        self.active_handlers.append(context)
        self.handlers.append(context)

    def lower_exit(self, node: Node) -> None:
        """Lower `__exit__` at the regular end of a `with` block."""
        context = self.active_handlers.pop()
        self.bind_label(context.end)
        none_register = self.constant(None, "x")
        index = self.function_index(context.function)
        ignored_result = self.new_register(register_class(context.function.schema.returns[0].type))
        self.emit(
            "CALL",
            ignored_result,
            index,
            register_list=[context.register, none_register, none_register, none_register],
        )

    # ---- lowering of calls and failures ----------------------------------------------------------------

    def lower_call(self, node: Node) -> None:
        """Lower `prim::CallFunction`."""
        type: Any = node.input().type()
        self.call(node, type.function, node.inputs()[1:])

    def call(self, node: Node, function: Any, arguments: Sequence[Value]) -> None:
        """Emit a call of a function that is known at compile time."""
        function.ensure_compiled()
        registers = self.arguments(function.schema.arguments, arguments)
        self.emit("CALL", self.define(node.output()), self.function_index(function), register_list=registers)

    def function_index(self, function: Any) -> int:
        """Return the index of a function, or of its replacement, in the function table."""
        if self.replace_function is not None and isinstance(function, Method):
            function.twin_of = self.replace_function
        elif self.replace_function is not None:
            function = self.replace_function(function)
        return super().function_index(function)

    def arguments(self, parameters: Sequence[Argument], values: Sequence[Value]) -> list[int]:
        """Return the registers of the arguments, converted to the register classes of the parameters."""
        registers = []
        for value, argument in zip(values, parameters, strict=True):
            register = self.use(value)
            kind = register_class(argument.type)
            # convert, for example, a number to an IValue for an Optional parameter
            if self.classes[register] != kind:
                converted = self.new_register(kind)
                self.move(converted, register)
                register = converted
            registers.append(register)
        return registers

    def lower_python_call(self, node: Node) -> None:
        """Lower a call of a Python function to a call of a `PythonOperator`."""
        if not node.has_attribute("function"):
            name = node.get("name")
            raise FrontendError(f"the Python function '{name}' is unavailable: the graph was read from text")
        if node.get("inplace"):
            raise FrontendError(f"inplace {node.get('name')} not supported in the JIT")
        inputs = [self.use(v) for v in node.inputs()]
        result = node.output()
        if result.has_uses():
            target, spec = self.define(result), type_spec(result.type())
        else:
            # an unused result may have any type, as that of a function without annotations
            target, spec = self.new_register("x"), type_spec(ANY)
        operator = PythonOperator(node.get("function"), len(inputs), spec)
        registers = [*inputs, target]
        self.emit("CALL_OPERATOR", self.operator_index(operator), register_list=registers, results=1)

    def lower_warn(self, node: Node) -> None:
        """Lower a warning. A register records that it was issued, so that a run issues it at most once."""
        key = node.get("warn_id", node)
        flag = self.warned.get(key)
        if flag is None:
            flag = self.warned[key] = self.new_register("b")
            initialization = Instruction("MOVE", flag, self.constant(False, "b"))
            initialization.refresh()
            self.code.insert(0, initialization)
        source_range = node.range
        if source_range is None:
            operator = operator_of(node)
        else:
            operator = WarnOperator(source_range.source.filename or "<string>", source_range.line)
        end = Label()
        self.emit("JUMP_IF", end, flag)
        arguments = [self.use(v) for v in node.inputs()]
        self.emit("CALL_OPERATOR", self.operator_index(operator), register_list=arguments)
        self.emit("MOVE", flag, self.constant(True, "b"))
        self.bind_label(end)

    def lower_raise(self, node: Node) -> None:
        """Lower `prim::RaiseException`."""
        name = self.use(node.input(1)) if len(node.inputs()) > 1 else self.constant(None, "x")
        self.emit("RAISE", self.use(node.input()), name)

    def lower_print(self, node: Node) -> None:
        """Lower `prim::Print`."""
        self.emit("PRINT", register_list=[self.use(v) for v in node.inputs()])

    def lower_breakpoint(self, node: Node) -> None:
        """Emit nothing, because breakpoints only take effect in code lowered for the debugger."""

    def lower_isinstance(self, node: Node) -> None:
        """Lower an `isinstance` test: a constant if the static type decides it, else a test of the value."""
        target, source = self.define(node.output()), self.use(node.input())
        types = list(node.get("types"))
        if any(node.input().type().is_subtype_of(type) for type in types):
            self.emit("MOVE", target, self.constant(True, "b"))
            return
        # tested at run time, because any class may implement the interface
        if isinstance(node.input().type(), InterfaceType):
            boxed = self.new_register("x")
            self.move(boxed, source)
            source = boxed
        if self.classes[source] != "x":
            self.emit("MOVE", target, self.constant(False, "b"))
            return
        self.emit("IS_INSTANCE", target, source, self.type_index(types[0]))
        for type in types[1:]:
            other = self.new_register("b")
            self.emit("IS_INSTANCE", other, source, self.type_index(type))
            self.emit("OR", target, target, other)

    def lower_uninitialized(self, node: Node) -> None:
        """Initialize the output's register with a placeholder, which only graphs from text can read."""
        type = node.output().type()
        register = self.register[node.output()] = self.new_register(register_class(type))
        if not node.needs_type_check:
            self.uninitialized.add(register)
        try:
            self.constant_values[register] = uninitialized_value(type)
        except KeyError:
            if node.needs_type_check:
                message = f"a value of type {type} cannot be left uninitialized"
                raise CompilationError(message, node.range) from None
            self.constant_values[register] = ""

    # ---- lowering of subgraphs, element accesses and ifs -----------------------------------------------

    def lower_fusion_group(self, node: Node) -> None:
        """Lower a fusion group to a call of its kernel.

        If the call returns False, the nodes of the group run.
        """
        subgraph = self.enter_subgraph(node)
        program, values = program_of_graph(subgraph)
        self.lower_subgraph(group_operator(program), values, node, subgraph)

    def lower_differentiable_graph(self, node: Node) -> None:
        """Lower a differentiable graph to a call that runs it and records its backward graph.

        If the call returns False, the nodes of the graph run.
        """
        subgraph = self.enter_subgraph(node)
        operator = differentiable_operator(subgraph, self.prepare_differentiable)
        self.lower_subgraph(operator, subgraph.inputs(), node, subgraph)

    def enter_subgraph(self, node: Node) -> Graph:
        """Assign the registers of the node's inputs to the inputs of its subgraph. Return the subgraph."""
        subgraph: Graph = node.get("Subgraph")
        for inner, outer in zip(subgraph.inputs(), node.inputs(), strict=True):
            self.register[inner] = self.use(outer)
        return subgraph

    def lower_subgraph(self, operator: Any, values: Sequence[Value], node: Node, subgraph: Graph) -> None:
        """Emit a call of `operator`, and the nodes of `subgraph`, which run if the call returns False."""
        inputs = [self.use(value) for value in values]
        outputs = [self.define(value) for value in node.outputs()]
        success = self.new_register("b")
        registers = [*inputs, success, *outputs]
        self.emit(
            "CALL_OPERATOR", self.operator_index(operator), register_list=registers, results=1 + len(outputs)
        )
        end = Label()
        self.depth += 1
        self.emit("JUMP_IF", end, success)
        self.lower_branch(subgraph.block(), outputs)
        self.depth -= 1
        self.bind_label(end)

    def lower_has_elements(self, node: Node) -> None:
        """Lower the check that the dtype, rank and layout of a tensor allow element access."""
        encoded = node.get("dtype") | node.get("rank") << 8 | node.get("written") << 16
        self.emit("HAS_ELEMENTS", self.define(node.output()), self.use(node.input()), encoded)

    def lower_load_element(self, node: Node) -> None:
        """Lower the load of a tensor element."""
        name = "LOAD_INT" if register_class(node.output().type()) == "i" else "LOAD_FLOAT"
        registers = [self.use(value) for value in node.inputs()]
        self.emit(name, self.define(node.output()), 0, node.get("dtype"), register_list=registers)

    def lower_store_element(self, node: Node) -> None:
        """Lower the store of a tensor element."""
        value_register, *operands = (self.use(value) for value in node.inputs())
        name = "STORE_INT" if self.classes[value_register] == "i" else "STORE_FLOAT"
        self.emit(name, 0, value_register, node.get("dtype"), register_list=operands)

    def lower_round(self, node: Node) -> None:
        """Lower the rounding of a float to float32."""
        self.emit("ROUND_F32", self.define(node.output()), self.use(node.input()))

    def lower_if(self, node: Node) -> None:
        """Lower `prim::If` to a conditional jump and two branches."""
        then_block, else_block = node.blocks()
        outputs = [self.define(v) for v in node.outputs()]
        otherwise, end = Label(), Label()
        self.depth += 1
        self.branch(node.input(), otherwise, False)
        self.lower_branch(then_block, outputs)
        both_terminated = self.terminated
        if not both_terminated:
            self.emit("JUMP", end)
        self.bind_label(otherwise)
        self.lower_branch(else_block, outputs)
        both_terminated = both_terminated and self.terminated
        self.depth -= 1
        self.bind_label(end)
        self.terminated = both_terminated

    def lower_branch(self, block: Block, outputs: list[int]) -> None:
        """Lower a branch and copy its results to the output registers."""
        self.lower_nodes(block)
        if not self.terminated:
            self.copy_all(zip(outputs, [self.use(v) for v in block.outputs()], strict=True))


def _is_measured(cast: Node) -> bool:
    """Return whether `cast` converts an untyped list to `List[Any]` only for calls of `len`."""
    measures = all(use.user.kind() == "aten::len" for use in cast.output().uses())
    return measures and isinstance(cast.input().type(), AnyListType) and cast.output().type() == ListType(ANY)


_LOWER: dict[str, Any] = {
    "prim::If": Lowering.lower_if,
    "prim::Loop": Lowering.lower_loop,
    "prim::FusionGroup": Lowering.lower_fusion_group,
    "prim::DifferentiableGraph": Lowering.lower_differentiable_graph,
    "prim::HasElements": Lowering.lower_has_elements,
    "prim::LoadElement": Lowering.lower_load_element,
    "prim::StoreElement": Lowering.lower_store_element,
    "prim::RoundFloat32": Lowering.lower_round,
    "prim::CallFunction": Lowering.lower_call,
    "prim::CallMethod": Lowering.lower_call_method,
    "prim::CreateObject": Lowering.lower_create_object,
    "prim::GetAttr": Lowering.lower_get_attr,
    "prim::SetAttr": Lowering.lower_set_attr,
    "prim::ModuleContainerIndex": Lowering.lower_container_index,
    "prim::PythonOp": Lowering.lower_python_call,
    "prim::Enter": Lowering.lower_enter,
    "prim::Exit": Lowering.lower_exit,
    "aten::warn": Lowering.lower_warn,
    "prim::fork": Lowering.lower_fork,
    "aten::wait": Lowering.lower_wait,
    **dict.fromkeys(REMOTE_CALLS, Lowering.lower_remote_call),
    "prim::RaiseException": Lowering.lower_raise,
    "prim::Print": Lowering.lower_print,
    "prim::Breakpoint": Lowering.lower_breakpoint,
    "prim::Line": lambda lowering, node: lowering.lower_line(node),  # only `SteppingLowering` has this method
    "prim::isinstance": Lowering.lower_isinstance,
    "prim::Uninitialized": Lowering.lower_uninitialized,
    "prim::unchecked_cast": Lowering.lower_cast,
    "prim::unchecked_unwrap_optional": Lowering.lower_cast,
    "prim::ListConstruct": Lowering.lower_list_construct,
    "prim::TupleConstruct": Lowering.lower_tuple_construct,
    "prim::DictConstruct": Lowering.lower_dict_construct,
    "prim::TupleUnpack": Lowering.lower_tuple_unpack,
    "prim::TupleIndex": Lowering.lower_tuple_index,
    "prim::ListUnpack": Lowering.lower_list_unpack,
}

_CONTAINERS: dict[str, Any] = {
    "aten::__getitem__": Lowering.lower_get_item,
    "aten::_set_item": Lowering.lower_set_item,
    "aten::append": Lowering.lower_append,
    "aten::len": Lowering.lower_len,
    "aten::__contains__": Lowering.lower_contains,
    "aten::get": Lowering.lower_get,
}
