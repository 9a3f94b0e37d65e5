"""HTTP server of `ts serve` (playground, inference server for model serving) with process isolation.

The playground runs programs of users. The model server answers POST /predict for an archive. The table lists
the modules of each part, and their purpose:

    playground   page/, playground, sandboxed_program, sandbox_resolver    programs of users
    model        model_worker, payload                                     prediction requests
    shared       app, connection_acceptor, server_limits, metrics          connections, routes, limits
                 clients, fair_queue, request_scheduler                    trust, fairness, batches
                 worker_pool, fork_server_client, fork_server              worker processes
                 ipc_protocol                                              messages to workers

The HTTP process decodes no programs, arrays or archives. It passes bytes to worker processes, which may be
slow, run out of memory or exit. No process executes untrusted input as Python.
"""
