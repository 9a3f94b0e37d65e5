"""Gradients of what several processes computed together, below the names of `ts.distributed.autograd`.

contexts     what belongs together: messages that carried tensors, and the gradients found
recording    tensors on their way, which have their gradients where they came from
routes       which messages a way back leads through, of all processes
passes       a way back, as much of it as one process has
engine       one from the process that asked for it
optimizers   steps on parameters of this process by such gradients
service      what others ask of this process
"""
