"""Clusters: dynamic sets of processes that register with a scheduler and call each other by name.

Commands that start a cluster with 4 workers, and add another worker from another shell or machine:

    ts cluster --workers 4
    ts worker ts://127.0.0.1:4711

A program joins the cluster under the name "me":

    rpc.init_rpc("me", rpc_backend_options=TensorPipeRpcBackendOptions(init_method="ts://127.0.0.1:4711"))

Modules:

    scheduler      directory of the members, a subclass of dask's scheduler
    worker         a process that executes calls of other processes
    supervisor     start, restart and end of the workers of `ts cluster`
    local          a cluster on this machine within a `with` block: `LocalCluster`
    dask_cluster   a cluster in the worker processes of a dask cluster
    certificates   certificates for TLS

Connections to the scheduler carry plain data only. Calls are sent directly between processes, not through the
scheduler.
"""
