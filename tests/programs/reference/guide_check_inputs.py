"""Traces are checked with other inputs; control flow that depends on inputs is scripted instead."""
# rule: trace.check

import ts as torch


def loop_in_traced_fn(x):
    result = x[0]
    for i in range(x.size(0)):
        result = result * x[i]
    return result


inputs = (torch.rand(3, 4, 5),)
check_inputs = [(torch.rand(4, 5, 6),), (torch.rand(2, 3, 4),)]

try:
    torch.jit.trace(loop_in_traced_fn, inputs, check_inputs=check_inputs)
except torch.jit.TracingCheckError as error:
    print("Graphs differed across invocations!" in str(error))  # expect: True


def fn(x):
    result = x[0]
    for i in range(x.size(0)):
        result = result * x[i]
    return result


scripted_fn = torch.jit.script(fn)

for input_tuple in [inputs] + check_inputs:
    print(torch.allclose(fn(*input_tuple), scripted_fn(*input_tuple)))
# expect: True
# expect: True
# expect: True
