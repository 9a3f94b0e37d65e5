"""Distributed optimizers (`torch.distributed.optim`) of parameters that several processes own.

In the example, each process updates its own parameters, concurrently with the other processes:

    optimizer = DistributedOptimizer(optim.SGD, [rref, other_rref], lr=0.05)
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [loss])
        optimizer.step(context_id)

The module needs the extra `rpc`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ts._core.vm.future import Future
from ts.distributed.rpc.agent import RpcAgent
from ts.distributed.rpc.optimizers import wire_name
from ts.distributed.rpc.rref import RRef
from ts.distributed.rpc.state import current
from ts.optim import Optimizer
from ts.unsupported import names_for

__all__ = ["DistributedOptimizer"]


class DistributedOptimizer:
    """Optimizer of remote parameters, with one local optimizer in each process that owns parameters.

    optimizer_class   a class of `ts.optim`, or, with `allow_python`, a user's class
    params_rref       RRefs to the parameters
    args, kwargs      other constructor arguments of the local optimizers

    Errors of the constructors of the local optimizers are raised here.
    """

    def __init__(
        self, optimizer_class: type[Optimizer], params_rref: Iterable[RRef], *args: Any, **kwargs: Any
    ) -> None:
        agent = current()
        name = wire_name(optimizer_class, agent.name_callee)
        by_owner: dict[int, list[RRef]] = {}
        for handle in params_rref:
            by_owner.setdefault(handle.owner().id, []).append(handle)
        self.remote_optimizers: list[RRef] = _wait_for_all(
            [_ask(agent, owner, "new", name, handles, args, kwargs) for owner, handles in by_owner.items()]
        )

    def step(self, context_id: int) -> None:
        """Run one optimizer step with the gradients of a context, in all processes concurrently.

        Raise RuntimeError for an unknown context. An error in another process is raised when all processes
        have finished.
        """
        agent = current()
        agent.contexts.find(context_id)
        _wait_for_all([_ask(agent, o.owner().id, "step", o, context_id) for o in self.remote_optimizers])


def _ask(agent: RpcAgent, process: int, kind: str, *values: Any) -> Future[Any]:
    return agent.request(process, ["optimizer", kind, *agent.serialize(agent.peer(process), values)])


def _wait_for_all(futures: list[Future[Any]]) -> list[Any]:
    """Return the results of all futures. If some fail, wait for all others, then raise the first error."""
    results, errors = [], []
    for future in futures:
        try:
            results.append(future.wait())
        except Exception as error:  # the first error is raised below, after all futures are done
            errors.append(error)
    if errors:
        raise errors[0]
    return results


__getattr__ = names_for(__name__)
