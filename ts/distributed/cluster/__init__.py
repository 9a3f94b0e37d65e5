"""Clusters: dynamic sets of processes that register with a scheduler and call each other by name.

    ts cluster --workers 4                     a scheduler, and processes that others have run things
    ts worker ts://127.0.0.1:4711              one more, from another shell or machine
    rpc.init_rpc("me", rpc_backend_options=TensorPipeRpcBackendOptions(init_method="ts://127.0.0.1:4711"))

    scheduler      who is there: dask's, which only keeps names here
    worker         a process that does nothing but what others ask it to
    supervisor     the workers of `ts cluster`: started, started again, ended
    local          a cluster on this machine for the time of a block: `LocalCluster`
    on_dask        one in the processes of a cluster of dask
    certificates   for TLS

A process joins by `ts.distributed.rpc.cluster_membership`.  What goes over a connection to the scheduler is
data, as on all others here.  Calls go from process to process and do not pass it.
"""
