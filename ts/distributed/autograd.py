"""Distributed autograd (`torch.distributed.autograd`) of computations that span several processes.

The example returns a dictionary from tensors to gradients:

    with dist_autograd.context() as context_id:
        loss = rpc.rpc_sync("worker1", torch.mul, (x, w)).sum()
        dist_autograd.backward(context_id, [loss])
        dist_autograd.get_gradients(context_id)

The attribute `x.grad` is unchanged. The module needs the extra `rpc`.
docs/how-to/compute-gradients-across-processes.md explains its use.
"""

from __future__ import annotations

from types import TracebackType

from ts._core.tensor.tensor import Tensor
from ts.distributed.dist_autograd import engine
from ts.distributed.dist_autograd.contexts import DistAutogradContainer, current_id, set_current_context
from ts.distributed.dist_autograd.contexts import DistAutogradContext as DistAutogradContext
from ts.distributed.rpc import state
from ts.unsupported import names_for

__all__ = ["DistAutogradContext", "backward", "context", "get_gradients", "is_available"]


def is_available() -> bool:
    """Return True: this module can only be imported where distributed autograd is available."""
    return True


class context:
    """Distributed autograd context of this thread within a `with` block.

    Yields the id that `backward` takes.
    """

    def __enter__(self) -> int:
        self.autograd_context = _new_context()
        return self.autograd_context._context_id()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        set_current_context(None)
        if state.agent is not None:  # the agent is None if RPC was shut down within the block
            _release_context(self.autograd_context._context_id())


def backward(context_id: int, roots: list[Tensor], retain_graph: bool = False) -> None:
    """Compute the gradients of the sum of the scalars `roots` in all participating processes.

    The gradients are accumulated in the context (see `get_gradients`), so `.grad` of the tensors is
    unchanged.

    retain_graph    keep saved tensors for another backward pass

    Raise RuntimeError if a process fails or is lost, or if the pass takes more than `rpc_timeout` seconds.
    """
    engine.backward(_contexts(), _contexts().find(context_id), roots, retain_graph)


def get_gradients(context_id: int) -> dict[Tensor, Tensor]:
    """Return a dict from the tensors of this process to their gradients in a context."""
    return _contexts().find(context_id).gradients()


def _contexts() -> DistAutogradContainer:
    if state.agent is None:
        raise RuntimeError("Need to initialize distributed autograd using torch.distributed.autograd.init()")
    return state.agent.contexts


def _new_context() -> DistAutogradContext:
    return _contexts().new()


def _release_context(context_id: int) -> None:
    _contexts().end(context_id)


def _retrieve_context(context_id: int) -> DistAutogradContext:
    return _contexts().find(context_id)


def _is_valid_context(context_id: int) -> None:
    _contexts().find(context_id)


def _current_context() -> DistAutogradContext:
    context_id = current_id()
    if context_id is None:
        raise RuntimeError(
            "Current thread doesn't have a valid autograd context. Please wrap your code using: `with "
            "torch.distributed.autograd.context() as context_id` to generate a valid context"
        )
    return _contexts().find(context_id)


__getattr__ = names_for(__name__)
