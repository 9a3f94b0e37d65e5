"""Distributed autograd, the implementation of `ts.distributed.autograd`.

messenger              interfaces of RPC that this package uses
contexts               contexts, which record messages with tensors that require grad, and gradients
send_recv_nodes        serialization of tensors with backward nodes for messages
message_dependencies   the messages that a backward pass traverses
backward_pass          one process's part of a backward pass
engine                 backward pass, coordinated by the process that starts it
rpc_handlers           handlers of requests from other processes
"""
