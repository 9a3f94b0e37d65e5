"""HTML view of module trees for notebooks.

Input: a module. Output: HTML with the class, the options and the number of parameters of each submodule.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ts.nn.parameter import is_uninitialized

if TYPE_CHECKING:
    from ts.nn.modules.module import Module


def format_module(module: Module) -> str:
    """Return the module tree as HTML, with the number of parameters of each module."""
    return f'<div class="ts-module">{_format_row("", module, 0)}</div>'


def _format_row(name: str, module: Module, depth: int) -> str:
    count = sum(p.numel() for p in module.parameters() if not is_uninitialized(p))
    title = f"<b>{html.escape(module._get_name())}</b>({html.escape(module.extra_repr())})"
    title = f"{html.escape(name)}: {title}" if name else title
    head = f"{title} <small>{count:,} parameters</small>" if count else title
    children = [*module._modules.items()]
    if not children:
        return f'<div style="margin-left: {depth}em">{head}</div>'
    inner = "".join(_format_row(n, m, 1) for n, m in children if m is not None)
    opened = " open" if depth < 2 and not name else ""
    return f'<details style="margin-left: {depth}em"{opened}><summary>{head}</summary>{inner}</details>'
