"""Index of C operator names by module, for the import of a module at its operators' first use.

The names in the index lack the prefix `aten::`. `python -m tests.generate_operator_index` generates the index
from the modules.
"""

from __future__ import annotations

from typing import Final

NAMES: Final[dict[str, str]] = {
    "math": """
        acos acosh angle asin asinh atan atanh cos cosh degrees erf erfc exp expm1 fabs frexp gamma isfinite
        isinf isnan ldexp lgamma log log10 log1p modf polar radians round sin sinh sqrt tan tanh
    """,
    "scalar": """
        Bool Complex Float Int __and__ __derive_index __lshift__ __not__ __or__ __range_length
        __round_to_zero_floordiv __rshift__ __xor__ add atan2 ceil copysign div divmod eq factorial floor
        floordiv fmod gcd ge gt le log lt mathremainder mul ne neg pow prim::abs prim::max prim::min
        remainder sub
    """,
    "container": """
        Delete Size __getitem__ _set_item add add_ all any append clear copy extend insert len list mul mul_
        pop prim::rangelist reverse select slice sum
    """,
    "comparison": """
        __contains__ count eq index ne prim::max prim::min remove sort sorted
    """,
    "dict": """
        Delete __contains__ __getitem__ _set_item clear copy dict get items keys len pop popitem setdefault
        update values
    """,
    "string": """
        Float Int __getitem__ add bin capitalize center chr count endswith eq expandtabs find format ge gt
        hex index isalnum isalpha isdecimal isdigit isidentifier islower isnumeric isprintable isspace
        istitle isupper join le len ljust lower lstrip lt ne oct ord partition percentFormat
        prim::StringIndex replace rfind rindex rjust rpartition rsplit rstrip slice split splitlines
        startswith str strip swapcase title upper zfill
    """,
    "generic_ops": """
        __is__ __isnot__ _assert_scalar _get_tracing_state _infer_size _nnpack_available _print
        _size_if_not_equal _unwrap_optional _use_cudnn_rnn_flatten_weight broadcast_shapes eq
        has_torch_function hash is_autocast_cpu_enabled is_autocast_enabled is_scripting is_vulkan_available
        ne prim::AddStatValue prim::AutogradAllNonZero prim::AutogradAllZero prim::AutogradAnyNonZero
        prim::BroadcastSizes prim::EnumName prim::EnumValue prim::IfThenElse prim::Print
        prim::RaiseException prim::ReductionSizes prim::TimePoint prim::TupleIndex prim::TupleUnpack
        prim::Uninitialized prim::id prim::index prim::type prim::unchecked_cast
        prim::unchecked_unwrap_optional save wait warn
    """,
    "tensor": """
        _version dim element_size get_device is_contiguous is_leaf len numel output_nr prim::device
        prim::dtype prim::is_cpu prim::is_cuda prim::is_ipu prim::is_meta prim::is_mkldnn prim::is_mps
        prim::is_nested prim::is_sparse prim::is_sparse_csr prim::is_vulkan prim::is_xla prim::is_xpu
        prim::itemsize prim::layout prim::name prim::nbytes prim::requires_grad prim::tolist retains_grad
        size storage_offset stride sym_is_contiguous sym_numel sym_size sym_storage_offset sym_stride
    """,
    "variadic_ops": """
        einsum prim::AutogradAdd prim::VarConcat prim::VarStack
    """,
}

OPERATOR_TO_MODULES: Final[dict[str, list[str]]] = {}
for _module, _names in NAMES.items():
    for _name in _names.split():
        OPERATOR_TO_MODULES.setdefault(_name if "::" in _name else f"aten::{_name}", []).append(_module)
