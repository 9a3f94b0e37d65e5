"""Random programs on tensors: views, in-place writes, branches, loops, several results.

    text, shapes = program(seed)         source of a function f(a, b, c ...), shapes of its arguments
    with_source(text)                    the function, which the compiler can read
"""

import linecache
import random

import ts

_UNARY = ["{x}.tanh()", "{x}.sigmoid()", "{x}.sin()", "{x} * 0.5", "{x}.relu()", "{x}.square()", "-{x}", "{x}.exp().clamp(max=3.0)",
          "ts.softmax({x}, -1)", "{x}.abs() + 0.1", "{x}.cumsum(0)", "{x}.clone()", "{x}.contiguous()", "{x}.detach() * {x}"]  # fmt: skip
_BINARY = ["{x} + {y}", "{x} * {y}", "{x} - {y} * 2", "ts.where({x} > {y}, {x}, {y})", "{x} / ({y}.square() + 1.0)", "ts.minimum({x}, {y})"]
_SHAPED = ["{x}.mm({y}.t())[:, :4].tanh()", "ts.cat([{x}, {y}], 0)[1:4]", "ts.stack([{x}, {y}])[1]", "{x}.chunk(2, 1)[0].sum(1, True) + {y}",
           "({x}.t() * {y}.t()).t()", "{x}.view(-1)[:3].unsqueeze(1) * {y}", "{x} + {y}.mean(0)", "{x} * {y}.sum(1, True)",
           "ts.layer_norm({x}, [4]) * {y}", "{x}.unsqueeze(0).expand(2, 3, 4).sum(0) * {y}"]  # fmt: skip
_WRITES = ["{x}.mul_({y})", "{x}.add_({y})", "{x}[0].mul_(2.0)", "{x}[:, 1] = {y}[:, 0]", "{x}.t()[1].add_(1.0)", "{x}.sigmoid_()", "{x}.copy_({y})"]


def program(seed):
    """Return a random function of (3, 4) tensors that preserves their shape."""
    r = random.Random(seed)
    arguments = list("abc")[: r.randint(1, 3)]
    known, own, lines = list(arguments), [], []

    def expression():
        kind = r.choice([_UNARY, _BINARY, _BINARY, _SHAPED])
        return r.choice(kind).format(x=r.choice(known), y=r.choice(known))

    def statement(indent):
        what = r.random()
        if what < 0.14 and own:
            target = r.choice(own)
            lines.append(indent + r.choice(_WRITES).format(x=target, y=r.choice(known)))
        elif what < 0.24 and len(indent) < 12:
            x = r.choice(known)
            if r.random() < 0.5:
                lines.append(f"{indent}if bool({x}.sum() > 0):")
                block(indent)
                lines.append(f"{indent}else:")
                block(indent)
            else:
                lines.append(f"{indent}for i{len(lines)} in range({r.randint(1, 3)}):")
                block(indent)
        elif what < 0.34:
            variable = f"v{len(lines)}"
            lines.append(f"{indent}{variable} = {r.choice(known)}[:2]")
            lines.append(f"{indent}{variable} = ts.cat([{variable}, {r.choice(known)}[2:]])")
            if len(indent) == 4:
                known.append(variable)
        elif own and (len(indent) > 4 or r.random() < 0.4):
            lines.append(f"{indent}{r.choice(own)} = {expression()}")
        else:
            variable = f"v{len(lines)}"
            lines.append(f"{indent}{variable} = {expression()}")
            if len(indent) == 4:
                known.append(variable)
                own.append(variable)

    def block(indent):
        for _ in range(r.randint(1, 3)):
            statement(indent + "    ")

    for _ in range(r.randint(3, 12)):
        statement("    ")
    results = r.sample(known, min(len(known), r.randint(1, 2)))
    declared = ", ".join(f"{name}: ts.Tensor" for name in arguments)
    loss = " + ".join(f"({name} * {k + 1}).sum()" for k, name in enumerate(results))
    return f"def f({declared}):\n" + "\n".join(lines) + f"\n    return {loss}, {results[0]}\n", len(arguments)


def with_source(text, name="random program"):
    """Return the function defined by a source text, whose source the compiler can read."""
    filename = f"<{name} {abs(hash(text))}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"ts": ts}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


def outcome(function, count, wanted):
    """Return the result and gradients of a call, or the class of the error."""
    ts.manual_seed(count)
    leaves = [ts.randn(3, 4, dtype=ts.float64).requires_grad_(k in wanted) for k in range(count)]
    try:
        loss, first = function(*leaves)
        found = ts.autograd.grad(loss, [leaves[k] for k in wanted], allow_unused=True) if loss.requires_grad else []
        return [loss.detach(), first.detach(), first.requires_grad, *found]
    except RuntimeError as error:
        return RuntimeError, str(error).strip().splitlines()[-1][:60]
