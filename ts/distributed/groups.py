"""Process groups and subgroups (ranks, world size): initialization, membership queries and destruction.

In rank 0 of two processes, the second line returns 0 and 2. All ranks must create the same subgroups in the
same order:

    init_process_group("gloo", init_method="tcp://127.0.0.1:29500", rank=0, world_size=2)
    get_rank(), get_world_size()
    pair = new_group([0, 1])
    destroy_process_group()

Each pair of processes has one connection, authenticated by a shared secret.
"""

from __future__ import annotations

import atexit
import itertools
import os
import threading
import warnings
from collections.abc import Sequence
from datetime import timedelta
from multiprocessing.util import Finalize
from typing import Any, ClassVar, Final

import numpy as np

from ts.distributed import collective_algorithms
from ts.distributed.collective_call import CollectiveCall
from ts.distributed.peer_links import PeerConnections
from ts.distributed.work import CollectiveQueue

default_pg_timeout: Final = timedelta(minutes=30)
_BUFFER_CACHE_BYTES: Final = 1 << 26  # maximal size of a receive buffer that is kept for later calls

_UNINITIALIZED: Final = (
    "Default process group has not been initialized, please make sure to call init_process_group."
)


class Backend(str):
    """Name of a communication backend in lower case. "gloo" is the only supported backend."""

    UNDEFINED: ClassVar = "undefined"
    GLOO: ClassVar = "gloo"
    NCCL: ClassVar = "nccl"
    XCCL: ClassVar = "xccl"
    UCC: ClassVar = "ucc"
    MPI: ClassVar = "mpi"
    backend_list: ClassVar = ["undefined", "gloo"]

    def __new__(cls, name: str) -> Any:
        """Return the lower-case name as a plain str, so that processes without this class can unpickle it."""
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, found {name!r}")
        return name.lower()


class ProcessGroup:
    """Group of ranks that run collectives together."""

    def __init__(self, links: PeerConnections, group_id: int, ranks: Sequence[int], timeout: float) -> None:
        self.links, self.group_id, self.ranks, self.timeout = links, group_id, tuple(ranks), timeout
        self.group_ranks = {rank: group_rank for group_rank, rank in enumerate(self.ranks)}
        self.queue = CollectiveQueue()
        self._collective_ids = itertools.count()
        self._workspace = np.empty(0, np.uint8)
        links.add_group(group_id, ranks)

    def rank(self) -> int:
        """Return this process's group rank."""
        return self.group_ranks[self.links.rank]

    def size(self) -> int:
        """Return the number of ranks in the group."""
        return len(self.ranks)

    def name(self) -> str:
        """Return the name of the backend, "gloo". PyTorch has this method."""
        return Backend.GLOO

    @property
    def group_name(self) -> str:
        """Return the unique name of the group."""
        return str(self.group_id)

    def next_call(self) -> int:
        """Return the number of the next collective call."""
        return next(self._collective_ids)

    def workspace(self, size: int) -> Any:
        """Return a buffer of at least `size` bytes.

        The next collective overwrites the buffer (buffer reuse).
        """
        if size > self._workspace.size:
            buffer = np.empty(size, np.uint8)
            if size > _BUFFER_CACHE_BYTES:
                return buffer
            self._workspace = buffer
        return self._workspace


class GroupMember:
    """PyTorch's constants: default group, and result of `new_group` in ranks outside of the new group."""

    WORLD: ClassVar[ProcessGroup | None] = None
    NON_GROUP_MEMBER: ClassVar[Any] = -100


class _World:
    """State of the process: the default group, all groups and the connections."""

    def __init__(self) -> None:
        self.links: PeerConnections | None = None
        self.default: ProcessGroup | None = None
        self.groups: dict[int, ProcessGroup] = {}
        # id of a group to which this process does not belong -> its ranks
        self.others: dict[int, tuple[int, ...]] = {}
        self.group_ids = itertools.count()
        self.finalizer: Any = None


_lock = threading.Lock()
_world = _World()


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Initialize the default group. Raise an error if not all ranks have joined after `timeout`."""
    _check_backend(backend)
    if _world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None:
        raise NotImplementedError("init_process_group: stores are unsupported; pass init_method")
    seconds = _seconds(timeout)
    from ts.distributed.mesh_connect import join

    links, members = join(init_method, rank, world_size, seconds)
    with _lock:
        _world.links, _world.group_ids = links, itertools.count()
        _world.default = GroupMember.WORLD = _new(range(members), seconds)
        group.WORLD = _world.default
        # Use a finalizer, because a child process of `multiprocessing` calls finalizers, but no functions of
        # `atexit`.
        _world.finalizer = Finalize(None, _leave, exitpriority=100)
    world = _world.default
    try:
        # Rank 0 must listen until all ranks are connected. After this barrier it stops, and another
        # rendezvous may use its address.
        world.queue.run(lambda: CollectiveCall(world, "barrier"), collective_algorithms.barrier)
    except BaseException:
        destroy_process_group()
        raise


def _check_backend(backend: str | None) -> str:
    """Return "gloo" for all spellings of the CPU backend, or raise an error for other backends."""
    if backend is None:
        return Backend.GLOO
    names = {entry.rpartition(":")[2]: entry.partition(":")[0] for entry in Backend(backend).split(",")}
    if "gloo" in names:
        return Backend.GLOO
    if names.keys() & {"nccl", "xccl", "ucc", "mpi"}:
        raise RuntimeError(
            f"Distributed package doesn't have {str(backend).upper()} built in: process groups "
            'support only the CPU; use init_process_group("gloo")'
        )
    raise AssertionError(f"Unknown backend type {Backend(backend)}")


def _seconds(timeout: timedelta | float | None) -> float:
    if timeout is None:
        return default_pg_timeout.total_seconds()
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout!r}")
    return timeout.total_seconds()


def _new(ranks: Sequence[int], timeout: float) -> ProcessGroup:
    assert _world.links is not None
    group_id = next(_world.group_ids)
    group = ProcessGroup(_world.links, group_id, ranks, timeout)
    _world.groups[group_id] = group
    return group


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Destroy a group. Without an argument, destroy all groups and close the connections."""
    if group is GroupMember.NON_GROUP_MEMBER:
        return
    if _world.default is None:
        raise AssertionError("Process group cannot be None")
    if group is not None and group is not _world.default:
        if _world.groups.pop(group.group_id, None) is None:
            raise ValueError("Invalid process group specified")
        group.queue.close()
        return
    _leave()


def _leave() -> None:
    global _world
    with _lock:
        world, _world = _world, _World()
        GroupMember.WORLD = group.WORLD = None
    for each in world.groups.values():
        each.queue.close()
    if world.finalizer is not None:
        world.finalizer.cancel()
    if world.links is not None:
        world.links.close()


atexit.register(_leave)


def _forget() -> None:
    """Reset the state in a forked child (fork safety). Close the child's copies of the parent's sockets."""
    global _world, _lock
    _lock = threading.Lock()
    links = _world.links
    _world = _World()
    GroupMember.WORLD = group.WORLD = None
    if links is not None:
        links.forget()


os.register_at_fork(after_in_child=_forget)


def is_initialized() -> bool:
    """Return True if this process has initialized the default group."""
    return _world.default is not None


def find(
    group: ProcessGroup | None, operation: str | None = None, stacklevel: int = 3
) -> ProcessGroup | None:
    """Return the group for the argument `group` of a collective. None means the default group.

    Return None if this process is not a member of the group. In this case, if `operation` is given, warn with
    this name of the collective.
    """
    if group is None:
        if _world.default is None:
            raise ValueError(_UNINITIALIZED)
        return _world.default
    if not isinstance(group, ProcessGroup):
        if operation is not None:
            warnings.warn(
                f"Running {operation} on global rank {get_rank()} which does not belong to the given group.",
                stacklevel=stacklevel,
            )
        return None
    if _world.groups.get(group.group_id) is not group:
        raise ValueError("Invalid process group specified")
    return group


def member_of(group: ProcessGroup | None) -> ProcessGroup:
    """Return the group for the argument `group`. Raise ValueError if this process is not a member."""
    process_group = find(group)
    if process_group is None:
        raise ValueError("Invalid process group specified")
    return process_group


def find_group_rank(group: ProcessGroup, rank: int | None, group_rank: int | None) -> int:
    """Return the rank within a group, from either the global rank `rank` or the group rank `group_rank`."""
    if group_rank is not None:
        if rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        if not 0 <= group_rank < group.size():
            raise ValueError(f"Group rank {group_rank} is not part of group {group}")
        return group_rank
    if rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return get_group_rank(group, rank)


def get_rank(group: ProcessGroup | None = None) -> int:
    """Return this process's rank in a group, or -1 if this process is not a member."""
    process_group = find(group)
    return -1 if process_group is None else process_group.rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """Return the number of ranks in a group, or -1 if this process is not a group member."""
    process_group = find(group)
    return -1 if process_group is None else process_group.size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """Return the backend of a group."""
    return Backend(member_of(group).name())


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """Return the device-to-backend mapping of a group, such as "cpu:gloo"."""
    return f"cpu:{member_of(group).name()}"


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """Return the global ranks of a group's members, ordered by group rank."""
    return list(member_of(group).ranks)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Return the group rank of a global rank. Raise ValueError for a global rank that is not a member."""
    group_rank = group.group_ranks.get(global_rank)
    if group_rank is None:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group_rank


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Return the global rank of a group rank. Raise ValueError if the group has no such rank."""
    if not 0 <= group_rank < group.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group.ranks[group_rank]


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return the rank within this machine.

    It is LOCAL_RANK of the environment, or `fallback_rank` if this variable is not set.
    """
    local_rank = os.environ.get("LOCAL_RANK", fallback_rank)
    if local_rank is None:
        raise RuntimeError(
            "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
            "`get_node_local_rank` to work, assuming you are not running in a multi-device context and want "
            "the code to run locally instead."
        )
    return int(local_rank)


def get_pg_count() -> int:
    """Return the number of process groups."""
    return len(_world.groups)


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """Create a group of some ranks.

    All ranks call this function in the same order, including ranks outside of the group.
    """
    world = member_of(None)
    if backend is not None:
        _check_backend(backend)
    if use_local_synchronization:
        raise NotImplementedError(
            "new_group: use_local_synchronization is unsupported; all processes must call new_group"
        )
    member_ranks = list(world.ranks) if ranks is None else list(ranks)
    if sort_ranks:
        member_ranks.sort()
    for each in member_ranks:
        if not 0 <= each < world.size():
            raise ValueError(
                f"Rank {each} is out of range. Valid ranks are 0 to {world.size() - 1} "
                f"(world_size={world.size()})"
            )
    if len(set(member_ranks)) < len(member_ranks):
        raise ValueError(f"ranks list must not contain duplicate entries, got {member_ranks}")
    seconds = world.timeout if timeout is None else _seconds(timeout)
    with _lock:
        if world.rank() not in member_ranks:
            next(_world.group_ids)
            return GroupMember.NON_GROUP_MEMBER
        return _new(member_ranks, seconds)


class group:
    """Namespace whose attribute `WORLD` is the default group, as in PyTorch."""

    WORLD: ClassVar[ProcessGroup | None] = None
