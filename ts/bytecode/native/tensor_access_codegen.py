"""Code generation for tensor element accesses, with address computation, bounds checks, loads and stores.

The code reads the header of the tensor at the entry and after each call. Machine code holds the GIL, so
headers change only in calls. For the tensor in register 0, with ScalarType 6 (float) and 1 dimension:

    %r0.6.1.ok      true if r0 holds a one-dimensional CPU tensor of 32-bit floats
    %r0.6.1.bytes   in this case, the address of its data
    %r0.6.1.size0   its size

An access exits to the interpreter if the index is not below the size. Otherwise, it loads the element:

    %y = load float, ptr %bytes + %i * %stride0

If all tensors have the expected type and contiguous last dimensions, the dense version of the instructions
runs. It checks only indices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ts.bytecode.native.liveness import reads_and_writes, successors
from ts.bytecode.native.opcode_codegen import builds
from ts.bytecode.native.tensor_operands import TensorOperand, access_registers, tensor_operands_of
from ts.bytecode.opcodes import NUMBER

if TYPE_CHECKING:
    from ts._core.vm.code import Code
    from ts.bytecode.native.ir_builder import FunctionBuilder

# Suffix of labels in the dense version of the code, for tensors whose last dimension is contiguous.
DENSE: Final = ".dense"
_FLOAT32_CODE: Final = 6  # ScalarType number of torch.float32
# ScalarType number of an integer dtype narrower than int64 -> (LLVM's type in memory, conversion to i64)
_INTS: Final = {
    0: ("i8", "zext"), 1: ("i8", "sext"), 2: ("i16", "sext"), 3: ("i32", "sext"), 11: ("i8", "zext"),
}  # fmt: skip
# ScalarType number of each dtype that the dense version supports -> LLVM's type and item size
_TYPES: Final = {6: ("float", 4), 7: ("double", 8), 4: ("i64", 8)}
_STORES: Final = frozenset((NUMBER["STORE_FLOAT"], NUMBER["STORE_INT"]))


class TensorAccesses:
    """Instructions of a code that access tensor elements, and LLVM variables that cache tensor headers."""

    def __init__(self, w: FunctionBuilder, reachable_pcs: list[int]) -> None:
        sites: dict[TensorOperand, list[int]] = {}
        self._written: set[TensorOperand] = set()
        for pc in reachable_pcs:
            tensor = tensor_operands_of(w.code, pc)
            if tensor is not None:
                sites.setdefault(tensor, []).append(pc)
                if w.code.instructions[pc][0] in _STORES:
                    self._written.add(tensor)
        self._before = {
            tensor: _instructions_reaching(w.code, tensor.register, pcs) for tensor, pcs in sites.items()
        }
        dense = all(tensor.rank == 0 or tensor.dtype in _TYPES for tensor in sites)
        self.versions = (DENSE,) if dense and any(tensor.rank for tensor in sites) else ()
        for tensor in sites:
            w.emit(f"{tensor.name('ok')} = alloca i1")
            w.emit(f"{tensor.name('writeable')} = alloca i1")
            for field in ("bytes", "writes"):
                w.emit(f"{tensor.name(field)} = alloca ptr")
            for field in tensor.lengths():
                w.emit(f"{tensor.name(field)} = alloca i64")
            if tensor in self._written:
                w.emit(f"{tensor.name('pending')} = alloca i32")
                w.emit(f"store i32 0, ptr {tensor.name('pending')}")

    def reload(self, w: FunctionBuilder, pc: int) -> None:
        """Emit loads of the tensor headers that instructions reachable from `pc` use."""
        for tensor in self._used_tensors(w, pc):
            _reload_header(w, tensor)
        if w.version == DENSE and self._used_tensors(w, pc):
            w.branch_unlikely(w.emit_value(f"xor i1 {self.are_dense(w, pc)}, true"), w.side_exit(pc))

    def flush_writes(self, w: FunctionBuilder) -> None:
        """Emit code that adds the pending write counts to the tensors' version counters."""
        for tensor in sorted(self._written):
            has_writes, no_writes = w.new_label(), w.new_label()
            count = _load_field(w, tensor, "pending", "i32")
            w.branch(w.emit_value(f"icmp ne i32 {count}, 0"), has_writes, no_writes)
            w.label(has_writes)
            w.count_writes(_load_field(w, tensor, "writes", "ptr"), count)
            w.emit(f"store i32 0, ptr {tensor.name('pending')}")
            w.jump(no_writes)
            w.label(no_writes)

    def are_dense(self, w: FunctionBuilder, pc: int) -> str:
        """Emit the condition for running the dense version from `pc` on.

        Return the condition's LLVM value.
        """
        conjunction = "true"
        for tensor in self._used_tensors(w, pc):
            conditions = [_load_field(w, tensor, "ok", "i1")]
            if tensor in self._written:
                conditions.append(_load_field(w, tensor, "writeable", "i1"))
            if tensor.rank:
                stride = _load_field(w, tensor, f"stride{tensor.rank - 1}", "i64")
                conditions.append(w.emit_value(f"icmp eq i64 {stride}, {_TYPES[tensor.dtype][1]}"))
            for condition in conditions:
                conjunction = w.emit_value(f"and i1 {conjunction}, {condition}")
        return conjunction

    def _used_tensors(self, w: FunctionBuilder, pc: int) -> list[TensorOperand]:
        before = self._before.items()
        return [tensor for tensor, leading in before if pc in leading and w.is_live(pc, tensor.register)]


def _instructions_reaching(code: Code, register: int, sites: list[int]) -> set[int]:
    """Return the instructions from which a path without a write to `register` leads to one of `sites`."""
    reaching = set(sites)
    writes = {pc for pc in range(code.size) if register in reads_and_writes(code, pc)[1]}
    size = 0
    while len(reaching) != size:
        size = len(reaching)
        for pc in reversed(range(code.size)):
            if pc in reaching or pc in writes:
                continue
            if any(successor in reaching for successor in successors(code, pc)):
                reaching.add(pc)
    return reaching


def _reload_header(w: FunctionBuilder, tensor: TensorOperand) -> None:
    x = w.object(tensor.register)
    matches, after = w.new_label(), w.new_label()
    array = w.field(x, "array", "ptr")
    condition = ""
    for header, name, expected in (
        (x, "scalar_type", tensor.dtype),
        (x, "backend", 0),
        (array, "ndim", tensor.rank),
    ):
        is_equal = w.emit_value(f"icmp eq i32 {w.field(header, name, 'i32')}, {expected}")
        condition = w.emit_value(f"and i1 {condition}, {is_equal}") if condition else is_equal
    w.emit(f"store i1 {condition}, ptr {tensor.name('ok')}")
    w.branch(condition, matches, after)
    w.label(matches)
    w.emit(f"store ptr {w.field(array, 'bytes', 'ptr')}, ptr {tensor.name('bytes')}")
    flag = w.emit_value(f"and i32 {w.field(array, 'flags', 'i32')}, {w.layout['writeable']}")
    w.emit(f"store i1 {w.emit_value(f'icmp ne i32 {flag}, 0')}, ptr {tensor.name('writeable')}")
    owner = w.field(x, "owner", "ptr")
    is_own = w.emit_value(f"icmp eq ptr {owner}, {w.function(w.layout['none'])}")
    counted = w.emit_value(f"select i1 {is_own}, ptr {x}, ptr {owner}")
    writes = w.emit_value(f"getelementptr i8, ptr {counted}, i64 {w.layout['version']}")
    w.emit(f"store ptr {writes}, ptr {tensor.name('writes')}")
    for name, field in (("size", "dims"), ("stride", "strides")):
        for k in range(tensor.rank):
            address = w.emit_value(f"getelementptr i64, ptr {w.field(array, field, 'ptr')}, i64 {k}")
            w.emit(f"store i64 {w.load_header_field(address, 'i64')}, ptr {tensor.name(f'{name}{k}')}")
    w.jump(after)
    w.label(after)


def _load_field(w: FunctionBuilder, tensor: TensorOperand, field: str, type: str) -> str:
    return w.emit_value(f"load {type}, ptr {tensor.name(field)}")


def _element(w: FunctionBuilder, pc: int) -> tuple[TensorOperand, str]:
    """Return the tensor operand of the instruction and the address of its element.

    The emitted code exits to the interpreter if the tensor or an index does not match.
    """
    tensor = tensor_operands_of(w.code, pc)
    assert tensor is not None
    _require(w, pc, tensor, "ok")
    address = _load_field(w, tensor, "bytes", "ptr")
    for k, index in enumerate(access_registers(w.code, pc)[1:]):
        i = w.value(index)
        if not w.is_hoisted(pc, k):
            i = w.index(pc, index, _load_field(w, tensor, f"size{k}", "i64"))
        if w.version == DENSE and k + 1 == tensor.rank:
            address = w.emit_value(
                f"getelementptr inbounds {_TYPES[tensor.dtype][0]}, ptr {address}, i64 {i}"
            )
        else:
            offset = w.emit_value(f"mul i64 {i}, {_load_field(w, tensor, f'stride{k}', 'i64')}")
            address = w.emit_value(f"getelementptr i8, ptr {address}, i64 {offset}")
    return tensor, address


def _require(w: FunctionBuilder, pc: int, tensor: TensorOperand, field: str) -> None:
    if w.version == DENSE:  # the prologue of the dense version has checked `field`
        return
    w.branch_unlikely(w.emit_value(f"xor i1 {_load_field(w, tensor, field, 'i1')}, true"), w.side_exit(pc))


@builds("LOAD_FLOAT")
def _load_float(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    _, address = _element(w, pc)
    if c == _FLOAT32_CODE:
        w.set_single(a, w.element(address, "float"))
    else:
        w.set(a, w.element(address, "double"))


@builds("LOAD_INT")
def _load_int(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    _, address = _element(w, pc)
    if c not in _INTS:
        w.set(a, w.element(address, "i64"))
        return
    type, extension = _INTS[c]
    w.set(a, w.emit_value(f"{extension} {type} {w.element(address, type)} to i64"))


@builds("STORE_FLOAT", "STORE_INT")
def _store(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    tensor, address = _element(w, pc)
    _require(w, pc, tensor, "writeable")
    value, type = w.value(b), w.type(b)
    if c == _FLOAT32_CODE:
        value, type = w.emit_value(f"fptrunc double {value} to float"), "float"
    w.put_element(address, type, value)
    count = w.emit_value(f"add i32 {_load_field(w, tensor, 'pending', 'i32')}, 1")
    w.emit(f"store i32 {count}, ptr {tensor.name('pending')}")


@builds("ROUND_F32")
def _round(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    w.set_single(a, w.emit_value(f"fptrunc double {w.value(b)} to float"))
