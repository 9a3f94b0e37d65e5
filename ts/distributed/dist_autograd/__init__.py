"""Distributed autograd, the implementation of `ts.distributed.autograd`.

contexts contexts: the messages that carried tensors, and the accumulated gradients
send_recv_nodes        serialization of tensors with backward nodes for messages
message_dependencies   the messages that a backward pass traverses
backward_pass          one process's part of a backward pass
engine                 backward pass, coordinated by the process that starts it
optimizers             optimizers over local parameters, with these gradients
rpc_handlers           handlers of requests from other processes
"""
