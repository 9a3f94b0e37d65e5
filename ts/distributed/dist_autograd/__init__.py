"""Distributed autograd, the implementation of `ts.distributed.autograd`.

Modules:

    messenger              interfaces of RPC that this package uses
    contexts               records of gradients, and of messages with tensors that require grad
    send_recv_nodes        serialization of tensors in messages, with backward nodes
    message_dependencies   the messages that a backward pass traverses
    backward_pass          part of a backward pass in one process
    engine                 coordination of a backward pass by the process that starts it
    rpc_handlers           handlers of requests from other processes
"""
