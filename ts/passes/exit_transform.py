"""Conversion of early exits to structured control flow (early return elimination).

Input: a graph in SSA form with two kinds of exits. `prim::ReturnStmt(%v...)` leaves the function, and
`prim::LoopContinuation(%again, %carried...)` leaves the innermost loop body. Output: a graph without exits.

An exit leaves one or several nested blocks. Each of these blocks gets additional outputs: the values of the
exit, and a boolean that is true if the exit was taken. This example shows a program and the result:

    if x > 1:            %done : bool, %v : int = prim::If(%2)
        return 5           block0(): -> (%true, %five)
    y = x + 1     =>       block1(): -> (%false, %uninitialized)
    return y             %r : int = prim::If(%done)
                           block0(): -> (%v)
                           block1():
                             %y : int = aten::add(%x, %one)
                             -> (%y)
                         return (%r)

The pass then merges the two ifs, because the branch of the first determines that of the second. The pass
removes unreachable code, and replaces its values by `prim::Uninitialized`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto
from itertools import islice
from typing import Final, NamedTuple

from ts.errors import InternalError
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import BOOL, Type, unify
from ts.passes.pass_utils import NOT_CONSTANT, constant_value, walk_nodes

# maximum number of nodes that are copied to merge ifs. After that, blocks are moved instead of copied
_MAX_COPIED_NODES: Final = 5000
_EXITS: Final = ("prim::LoopContinuation", "prim::ReturnStmt", "prim::RaiseException")


def exit_transform(graph: Graph) -> bool:
    """Remove `prim::LoopContinuation` and `prim::ReturnStmt`."""
    exits = _Exits(graph)
    if exits.has_with:
        _blocks_of_with(graph.block())
        exits = _Exits(graph)
    if exits.count == 1 and graph.return_node().prev().kind() == "prim::ReturnStmt":
        _return_at_end(graph)
        return True
    # Create both transformers even if there are no exits, because they insert constants, and PyTorch's value
    # numbers count these constants.
    continuations = _ExitTransformer(graph, "prim::LoopContinuation", exits.nodes_with_exits)
    if exits.has_loop_exit:
        continuations.run(graph.block())
        exits = _Exits(graph)
    _ExitTransformer(graph, "prim::ReturnStmt", exits.nodes_with_exits).run(graph.block())
    # Inline `with` blocks before ifs are merged. Values that a `with` block defines may be used after the
    # block. Merging may copy the block, and the copy would define other values.
    if exits.has_with:
        _inline_blocks_of_with(graph.block())
    _Merger().run(graph.block())
    return True


def _return_at_end(graph: Graph) -> None:
    """Remove the only exit of `graph`, a `return` at its end."""
    # Without this shortcut, the two transformers insert three values each, which value numbers count
    graph.skip_numbers(2 * 3)
    statement = graph.return_node().prev()
    _replace_outputs(graph.block(), statement.inputs())
    statement.destroy()
    _Merger().run(graph.block())


class _Exits:
    """Early exits of a graph. The transformation skips ifs and loops without an early exit.

    `nodes_with_exits` are the nodes that contain an exit or an exception. `has_loop_exit` is True if the
    graph contains a `prim::LoopContinuation` or an exception. `has_with` is True if the graph contains a
    `with`. `count` is the number of exits and exceptions.
    """

    def __init__(self, graph: Graph) -> None:
        self.nodes_with_exits: set[Node] = set()
        self.has_loop_exit = False
        self.has_with = False
        self.count = 0
        self._collect_block(graph.block())

    def _collect_block(self, block: Block) -> bool:
        has_exit = False
        for node in block.nodes():
            blocks = node.blocks()
            if blocks:
                # `any` would stop at the first exit, but all blocks must be visited.
                if True in [self._collect_block(inner) for inner in blocks]:
                    self.nodes_with_exits.add(node)
                    has_exit = True
                self.has_with |= node.kind() == "prim::With"
                continue
            kind = node.kind()
            if kind in _EXITS:
                has_exit = True
                self.count += 1
                self.has_loop_exit |= kind != "prim::ReturnStmt"
            elif kind == "prim::Enter":
                self.has_with = True
        return has_exit


class _ExitStatus(Enum):
    """Compile-time knowledge of whether execution of a block ends with an exit of the kind to remove.

    RAISES means that execution of the block always ends with an exception.
    """

    NEVER = auto()
    MAYBE = auto()
    ALWAYS = auto()
    RAISES = auto()


class _ExitPair(NamedTuple):
    """Early exit of a block: `exit_taken` is a run-time boolean, and `values` are the exit's values.

    If the `_ExitStatus` is known at compile time, `exit_taken` is a value of the transformer: `_true` for
    ALWAYS, `_false` for NEVER, and `_raises` for RAISES. No code reads `_raises`.
    """

    exit_taken: Value
    values: Sequence[Value]


class _ExitTransformer:
    """Transformation that removes the exits of kind `kind`. It skips nodes not in `nodes_with_exits`."""

    def __init__(self, graph: Graph, kind: str, nodes_with_exits: set[Node]) -> None:
        self._graph = graph
        self._kind = kind
        self._nodes_with_exits = nodes_with_exits
        # Dict from the id of a type object to the uninitialized value of this type. The keys are ids instead
        # of types, because PyTorch creates one value for each type object, even for equal types.
        self._uninitialized: dict[int, Value] = {}
        self._target: Block | None = None  # the innermost block that an exit of kind `kind` leaves
        with graph.inserting_at_start():
            self._true = graph.insert_constant(True)
            self._false = graph.insert_constant(False)
        self._raises = self._uninitialized_value(BOOL)
        self._never = _ExitPair(self._false, ())

    def run(self, block: Block) -> _ExitPair:
        """Transform `block`, and return its exit if the target is outside of `block`, else `self._never`."""
        enclosing_target = self._target
        if self._is_target(block):
            self._target = block
        is_target = self._target is block
        exit_pair, block = self._transform_nodes(block)
        if is_target:
            self._set_target_outputs(block, exit_pair)
            exit_pair = self._never
        self._target = enclosing_target
        return exit_pair

    def _is_target(self, block: Block) -> bool:
        owner = block.owning_node()
        if self._kind == "prim::LoopContinuation":
            return owner is not None and owner.kind() == "prim::Loop"
        return owner is None or owner.kind() == "prim::Closure"

    def _transform_nodes(self, block: Block) -> tuple[_ExitPair, Block]:
        """Transform the nodes of a block, and return its exit and the block that replaces it."""
        for node in block.nodes():
            following = node.next()  # found first, because `node` may be removed
            exit_pair = self._transform_node(node)
            status = self._status(exit_pair)
            if status in (_ExitStatus.ALWAYS, _ExitStatus.RAISES):
                self._remove_from(following, block)
                return exit_pair, block
            if status is _ExitStatus.MAYBE:
                if following is not block.return_node():
                    return self._guard(block, exit_pair, following)
                return exit_pair, block
        return self._never, block

    def _transform_node(self, node: Node) -> _ExitPair:
        kind = node.kind()
        if kind == self._kind:
            exit_pair = _ExitPair(self._true, tuple(node.inputs()))
            node.destroy()
            return exit_pair
        if kind == "prim::RaiseException":
            return _ExitPair(self._raises, ())
        if node not in self._nodes_with_exits:
            return self._never
        if kind == "prim::If":
            return self._transform_if(node)
        if kind == "prim::Loop":
            return self._transform_loop(node)
        if kind == "prim::With":
            return self.run(node.blocks()[0])
        if kind == "prim::Closure":
            # Exits in the block do not leave `node`, which declares a function without calling it.
            self.run(node.blocks()[0])
        return self._never

    def _set_target_outputs(self, block: Block, exit_pair: _ExitPair) -> None:
        """Set the outputs of the target `block`: the exit's values after an exit, else the old outputs."""
        status = self._status(exit_pair)
        if status is _ExitStatus.MAYBE:
            choice = self._graph.create_if(exit_pair.exit_taken).insert_before(block.return_node())
            _add_if_outputs(choice, exit_pair.values, block.outputs())
            _replace_outputs(block, choice.outputs())
        elif status is _ExitStatus.ALWAYS:
            _replace_outputs(block, exit_pair.values)

    def _transform_if(self, node: Node) -> _ExitPair:
        branches = [self.run(block) for block in node.blocks()]
        statuses = [self._status(branch) for branch in branches]
        status = _status_of_if(*statuses)
        if status is _ExitStatus.RAISES:
            return _ExitPair(self._raises, ())
        if status is _ExitStatus.NEVER:
            return self._never
        # A branch that does not take the exit returns uninitialized values as exit values. No code reads
        # them.
        for i, other in ((0, 1), (1, 0)):
            if statuses[i] in (_ExitStatus.NEVER, _ExitStatus.RAISES):
                branches[i] = _ExitPair(
                    branches[i].exit_taken, self._uninitialized_like(branches[other].values)
                )
                break
        on_true, on_false = branches
        if status is _ExitStatus.ALWAYS:
            exit_taken = self._true
        else:
            _add_if_outputs(node, [on_true.exit_taken], [on_false.exit_taken])
            exit_taken = node.outputs()[-1]
        _add_if_outputs(node, on_true.values, on_false.values)
        return _ExitPair(exit_taken, _last(node.outputs(), len(on_true.values)))

    def _transform_loop(self, node: Node) -> _ExitPair:
        exit_pair = self.run(node.blocks()[0])
        body = node.blocks()[0]
        if self._status(exit_pair) in (_ExitStatus.NEVER, _ExitStatus.RAISES):
            # The exit of the body is no exit of the loop: even if the body always raises, the loop may have
            # no iterations.
            return self._never
        # The target of the exit encloses the loop, so the exit also ends the loop.
        continue_choice = self._graph.create_if(exit_pair.exit_taken)
        body.append_node(continue_choice)
        _add_if_outputs(continue_choice, [self._false], [body.outputs()[0]])
        body.erase_output(0)
        body.insert_output(0, continue_choice.output())
        # The flag `exit_taken` becomes a loop-carried value that is false before the first iteration.
        node.add_input(self._false)
        body.add_input().set_type(BOOL)
        body.register_output(exit_pair.exit_taken)
        exit_taken = node.add_output().set_type(BOOL)
        for value in exit_pair.values:
            node.add_input(self._uninitialized_value(value.type()))
            node.add_output().set_type(value.type())
            body.add_input().set_type(value.type())
            body.register_output(value)
        return _ExitPair(exit_taken, _last(node.outputs(), len(exit_pair.values)))

    def _guard(self, block: Block, exit_pair: _ExitPair, following: Node) -> tuple[_ExitPair, Block]:
        """Move `following` and all later nodes of `block` into a new `if`.

        They run only if the exit was not taken.
        """
        outputs = list(block.outputs())
        guard = self._graph.create_if(exit_pair.exit_taken).insert_before(following)
        outer = block.sink_after(guard, 1)
        if self._target is block:
            self._target = outer
        exit_block = guard.blocks()[0]
        for value, skipped in zip(outputs, self._uninitialized_like(outputs), strict=True):
            exit_block.register_output(skipped)
            outer.register_output(guard.add_output().set_type(value.type()))
        if _is_body_of_with(outer):
            self._add_guard_outputs(guard)
        exit_again = self._graph.create(self._kind, exit_pair.values, 0)
        exit_again.insert_before(exit_block.return_node())
        return self._transform_if(guard), outer

    def _add_guard_outputs(self, guard: Node) -> None:
        """Add outputs to `guard` for values of the guarded code that are used after the `with` statement."""
        exit_block, rest = guard.blocks()
        for node in _nodes_with_bodies(rest):
            for value in node.outputs():
                outside_uses = [
                    use
                    for use in value.uses()
                    if not _is_inside(use.user, rest) and use.user is not guard.owning_block().return_node()
                ]
                if not outside_uses:
                    continue
                exit_block.register_output(self._uninitialized_value(value.type()))
                rest.register_output(value)
                carried = guard.add_output().set_type(value.type())
                for use in outside_uses:
                    use.user.replace_input(use.offset, carried)

    def _remove_from(self, first: Node, block: Block) -> None:
        """Remove `first` and all later nodes in reverse order.

        Replace uses of their results by uninitialized values.
        """
        dead = []
        while first is not block.return_node():
            dead.append(first)
            first = first.next()
        for node in reversed(dead):
            for output in node.outputs():
                if output.has_uses():
                    output.replace_all_uses_with(self._uninitialized_value(output.type()))
            node.destroy()

    def _status(self, exit_pair: _ExitPair) -> _ExitStatus:
        if exit_pair.exit_taken is self._true:
            return _ExitStatus.ALWAYS
        if exit_pair.exit_taken is self._false:
            return _ExitStatus.NEVER
        if exit_pair.exit_taken is self._raises:
            return _ExitStatus.RAISES
        return _ExitStatus.MAYBE

    def _uninitialized_like(self, values: Sequence[Value]) -> list[Value]:
        return [self._uninitialized_value(value.type()) for value in values]

    def _uninitialized_value(self, type: Type) -> Value:
        value = self._uninitialized.get(id(type))
        if value is None:
            node = self._graph.create("prim::Uninitialized", (), 1)
            self._graph.prepend_node(node)
            value = self._uninitialized[id(type)] = node.output().set_type(type)
        return value


def _is_body_of_with(block: Block) -> bool:
    owner = block.owning_node()
    return owner is not None and owner.kind() == "prim::With"


def _nodes_with_bodies(block: Block) -> Iterator[Node]:
    """Yield the nodes of `block`, including those in the blocks of `with` nodes.

    Values that these blocks define are visible after the `with`.
    """
    for node in block.nodes():
        yield node
        if node.kind() == "prim::With":
            for inner in node.blocks():
                yield from _nodes_with_bodies(inner)


def _is_inside(node: Node, block: Block, outer_block: Block | None = None) -> bool:
    """Return whether `node` is inside `block`. The search ends at `outer_block`, which contains `block`."""
    current: Block | None = node.owning_block()
    while current is not outer_block and current is not block:
        owner = current.owning_node() if current is not None else None
        current = None if owner is None else owner.owning_block()
    return current is block


def _status_of_if(on_true: _ExitStatus, on_false: _ExitStatus) -> _ExitStatus:
    if on_true is _ExitStatus.RAISES:
        return on_false
    if on_false is _ExitStatus.RAISES or on_true is on_false:
        return on_true
    return _ExitStatus.MAYBE


def _add_if_outputs(node: Node, on_true: Sequence[Value], on_false: Sequence[Value]) -> None:
    then_block, else_block = node.blocks()
    for true_value in on_true:
        then_block.register_output(true_value)
    for false_value in on_false:
        else_block.register_output(false_value)
    for true_value, false_value in zip(on_true, on_false, strict=True):
        type = unify(true_value.type(), false_value.type(), default_to_union=True)
        if type is None:
            raise InternalError(
                f"the branches of an if return {true_value.type().str()} and {false_value.type().str()}",
                "exit_transform",
            )
        node.add_output().set_type(type)


def _replace_outputs(block: Block, values: Sequence[Value]) -> None:
    values = list(values)
    block.return_node().remove_all_inputs()
    for value in values:
        block.register_output(value)


def _last(values: Sequence[Value], count: int) -> Sequence[Value]:
    return values[len(values) - count :]


# -- merging of consecutive ifs ------------------------------------------------------------------------


class _Merger:
    """Merger of consecutive ifs where the first determines the branch of the second (jump threading)."""

    def __init__(self) -> None:
        self._copies = _MAX_COPIED_NODES

    def run(self, block: Block, done: Node | None = None) -> None:
        """Merge consecutive ifs in `block`.

        If `done` is passed, a merge has appended nodes after the node `done`. Visit only these nodes, and try
        to merge `done` with the first of them.
        """
        if not block.nodes_with_blocks():
            return
        end = block.return_node()
        node = end.next() if done is None or done is end else done
        while node is not end:
            if not node.blocks():
                node = node.next()
                continue
            if node is not done:
                for inner in node.blocks():
                    self.run(inner)
            lasts = [inner.return_node().prev() for inner in node.blocks()]
            while self._merge_with_next(node):  # `node` may determine the branches of several following ifs
                for inner, last in zip(node.blocks(), lasts, strict=True):
                    self.run(inner, last)
                lasts = [inner.return_node().prev() for inner in node.blocks()]
            node = node.next()

    def _merge_with_next(self, first: Node) -> bool:
        second = first.next()
        if first.kind() != "prim::If" or second.kind() != "prim::If":
            return False
        condition = second.input()
        if condition.node() is not first:
            return False
        conditions = [constant_value(block.outputs()[condition.offset()]) for block in first.blocks()]
        if NOT_CONSTANT in conditions or conditions[0] == conditions[1]:
            # If both conditions are equal, constant propagation can remove the second `if` without copying.
            return False
        for block, value in zip(first.blocks(), conditions, strict=True):
            self._continue(block, second.blocks()[0 if value else 1])
        for output in second.outputs():
            output.replace_all_uses_with(first.add_output().copy_metadata(output))
        second.destroy()
        return True

    def _continue(self, branch: Block, rest: Block) -> None:
        """Append the nodes of `rest`, a branch of the second `if`, to `branch` of the first `if`."""
        first = branch.owning_node()
        assert first is not None
        outputs = tuple(branch.outputs())

        def in_branch(value: Value) -> Value:
            return outputs[value.offset()] if value.node() is first else value

        # Copy the nodes, so that their values get new numbers, as in PyTorch. Move large blocks instead,
        # which is faster.
        size = sum(1 for _ in islice(walk_nodes(rest), self._copies + 1))
        self._copies = max(self._copies - size, 0)
        if self._copies:
            branch.clone_from(rest, in_branch)
            return
        for output in first.outputs():
            for use in output.uses():
                if _is_inside(use.user, rest, first.owning_block()):
                    use.user.replace_input(use.offset, in_branch(output))
        for node in rest.nodes():
            node.move_before(branch.return_node())
        for value in rest.outputs():
            branch.register_output(value)


# -- conversion of `with` statements to blocks ---------------------------------------------------------


def _blocks_of_with(block: Block) -> None:
    """Convert `prim::Enter(%c) body prim::Exit(%c)` to a `prim::With` with two blocks: body and exit."""
    entered: list[Node] = []
    for node in block.nodes():
        for inner in node.blocks():
            _blocks_of_with(inner)
        if node.kind() == "prim::Enter":
            entered.append(node)
        elif node.kind() == "prim::Exit":
            enter = entered.pop()
            with_node = node.owning_graph().create("prim::With", (), 0).insert_after(node)
            body, leave = with_node.add_block(), with_node.add_block()
            body_node = enter.next()
            while body_node is not node:
                after = body_node.next()
                body_node.move_before(body.return_node())
                body_node = after
            node.move_before(leave.return_node())


def _inline_blocks_of_with(block: Block) -> None:
    for node in block.nodes():
        for inner in node.blocks():
            _inline_blocks_of_with(inner)
        if node.kind() == "prim::With":
            for inner in node.blocks():
                for inner_node in inner.nodes():
                    inner_node.move_before(node)
            node.destroy()
