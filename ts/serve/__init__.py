"""HTTP server of `ts serve` (playground, inference server for model serving) with process isolation.

    playground   page/, playground, sandboxed_program, sandbox_resolver    programs of users
    model        model_worker, payload                                     POST /predict for an archive
    shared       app, connection_acceptor, server_limits, metrics          connections, routes, limits
                 clients, fair_queue, request_scheduler                    trust, fairness, batches
                 worker_pool, fork_server_client, fork_server              worker processes
                 ipc_protocol                                              messages to workers

The HTTP process decodes no programs, arrays or archives: it passes bytes to worker processes, which may be
slow, run out of memory or exit.  No process executes untrusted input as Python.
"""
