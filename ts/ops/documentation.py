"""Help texts of operators, as shown by `help(ts.softmax)`.

A help text contains signature, summary, shape, dtypes, errors and an example. For example, the text of
softmax begins as follows:

    softmax(input, dim, dtype=None) -> Tensor

    Return the softmax along `dim`: the exponentials of the elements, divided by their sum.

Summaries and examples are from `doc_summaries`. Results of examples and accepted dtypes are from `doc_data`.
Other facts are from the operator records.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ts.ops.doc_data import DTYPES, RESULTS
from ts.ops.doc_summaries import SENTENCES

_WIDTH: Final = 100
_KINDS: Final = {
    "b": "bool",
    "i": "integers",
    "h": "float16 and bfloat16 (in float32, rounded once)",
    "f": "float32 and float64",
    "c": "complex64 and complex128",
}
_REFUSED: Final = {"b": "bool", "i": "integers", "h": "float16 and bfloat16", "f": "floats", "c": "complex"}
# Operators that are not pointwise, but whose result has the shape of the first argument
_SAME: Final = """
    softmax log_softmax cumsum cumprod cummax cummin logcumsumexp sort argsort flip roll tril triu clone
    detach index_add masked_fill scatter scatter_add scatter_reduce index_copy index_fill index_put layer_norm
    group_norm batch_norm dropout zeros_like ones_like full_like empty_like rand_like randn_like fill_ zero_
    bernoulli nan_to_num renorm
"""
_WORDS: Final = {
    "Scalar": "number",
    "ScalarType": "dtype",
    "Device": "device",
    "MemoryFormat": "memory format",
}


def help_text(name: str, operators: Sequence[Any]) -> str:
    """Return the help text of an operator."""
    plain = name.removeprefix("aten::")
    listed = [op for op in operators if op.record is None or op.record.variant != "out"] or list(operators)
    sections = ["\n".join(dict.fromkeys(_call(plain, op) for op in listed)), _sentence(plain, listed)]
    facts = [*_facts(plain, listed, len(listed) < len(operators))]
    sections += ["\n".join(facts)] if facts else []
    if plain in RESULTS:
        sections.append(f">>> {SENTENCES[plain][1]}\n{RESULTS[plain]}")
    sections.append("\n".join(op.schema_text for op in operators))
    return "\n\n".join(sections)


def _call(name: str, operator: Any) -> str:
    """Return the Python call signature of an overload."""
    parameters = []
    keyword_only = False
    for p in operator.signature.parameters:
        if p.keyword_only and not keyword_only:
            parameters.append("*")
            keyword_only = True
        rendered = "input" if p.name == "self" else p.name
        if p.has_default:
            rendered += f"={p.default!r}"
        elif p.keyword_only and p.optional:
            rendered += "=None"
        parameters.append(rendered)
    results = [_WORDS.get(r.kind, r.kind) for r in operator.signature.returns]
    rendered = results[0] if len(results) == 1 else f"({', '.join(results)})" if results else "None"
    space, _, inner = name.partition("_")
    spelled = f"{space}.{inner}" if space in ("linalg", "special", "fft") and inner else name
    return f"{spelled}({', '.join(parameters)}) -> {rendered}"


def _sentence(name: str, operators: Sequence[Any]) -> str:
    """Return the summary of an operator. If there is none, describe arguments and results.

    For an in-place variant or alias, add the summary of the base operator.
    """
    if name in SENTENCES:
        return textwrap.fill(SENTENCES[name][0], _WIDTH)
    record = operators[0].record
    if record is not None and record.variant == "inplace":
        base = name.removesuffix("_")
        summary = f" {SENTENCES[base][0]}" if base in SENTENCES else ""
        return textwrap.fill(f"In-place version of `{base}`.{summary}", _WIDTH)
    if record is not None and record.same_as:
        other = record.same_as.removeprefix("aten::")
        summary = f". {SENTENCES[other][0]}" if other in SENTENCES else "."
        return textwrap.fill(f"Alias of `{other}`{summary}", _WIDTH)
    argument_names = [
        f"`{_display_name(p)}`" for p in operators[0].signature.parameters if not p.keyword_only
    ]
    result_names = [
        _noun(r.kind) + (f" `{r.name}`" if r.name else "") for r in operators[0].signature.returns
    ]
    return textwrap.fill(
        f"Of {_listed(argument_names) or 'nothing'} it gives {_listed(result_names) or 'nothing'}.", _WIDTH
    )


def _display_name(parameter: Any) -> str:
    return "input" if parameter.name == "self" else str(parameter.name)


def _noun(kind: str) -> str:
    noun = _WORDS.get(kind, kind)
    if noun.endswith("[]"):
        return f"{noun[:-2]}s".replace("Tensors", "tensors")
    return f"{'an' if noun[0] in 'aio' else 'a'} {noun.replace('Tensor', 'tensor')}"


def _listed(phrases: Sequence[str]) -> str:
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]]) if len(phrases) > 1 else "".join(phrases)


def _facts(name: str, operators: Sequence[Any], out: bool) -> Iterator[str]:
    """Yield the lines of a help text about the shape of the result, dtypes and errors.

    If `out` is True, also yield a line about the argument `out=`.
    """
    record = operators[0].record
    if record is not None:
        shape = _shape(record, operators[0].signature)
        if shape:
            yield _line("Shape", shape)
    letters = DTYPES.get(name) or DTYPES.get(name.removesuffix("_"), "")
    if letters:
        yield _line("Dtypes", ", ".join(_KINDS[letter] for letter in letters) + ".")
    if out:
        yield _line("out=", "The result is written there, in its dtype; another shape is resized.")
    yield _line("Errors", "; ".join(_errors(record, operators)) + ".")


def _line(title: str, description: str) -> str:
    return textwrap.fill(f"{title + ':':8}{description}", _WIDTH, subsequent_indent=" " * 8)


def _shape(record: Any, signature: Any) -> str:
    """Return the help text about the shape of the result.

    Return "" if a result is neither a tensor nor a list of tensors.
    """
    from ts.ops.shape_functions import DataDependentShapeError

    names = {p.name for p in signature.parameters}
    base = record.base or record
    if isinstance(base.shape, DataDependentShapeError):
        return "It depends on the elements: there is none on the device `meta`."
    if any(r.kind not in ("Tensor", "Tensor[]") for r in signature.returns):
        return ""
    if record.variant == "inplace":
        return "That of `input`."
    if base.family == "unary" or base.preserves_dtype or base.name.removeprefix("aten::") in _SAME.split():
        return "That of `input`."
    if base.family in ("pointwise", "ternary"):
        return "Those of its tensors, broadcast together."
    if "keepdim" in names:
        return "That of `input` without `dim`, which stays with size 1 where `keepdim` is true."
    if any(r.view_of >= 0 for r in signature.returns):
        return "A view: it shares the elements of `input`."
    if names & {"size", "shape"} and "self" not in names:
        return "The one that is given."
    return "On the device `meta` it is found without computing elements."


def _errors(record: Any, operators: Sequence[Any]) -> Iterator[str]:
    """Yield a line for each error that the operator raises, with the condition of the error."""
    yield "TypeError for arguments that no overload takes"
    names = {p.name for op in operators for p in op.signature.parameters}
    if "dim" in names:
        yield "IndexError where the tensor has no such `dim`"
    if record is None:
        return
    base = record.base or record
    if base.family in ("pointwise", "ternary"):
        yield "RuntimeError where shapes cannot be broadcast together"
    if record.variant == "inplace":
        yield "RuntimeError where the result is of a dtype that the tensor cannot hold"
    for kinds, message in (base.dtype_errors or {}).items():
        spelled = _listed([_REFUSED[kind] for kind in kinds if kind in _REFUSED])
        if spelled and isinstance(message, str):
            yield f"for {spelled}: {re.sub('{.*?}', '...', message)!r}"
