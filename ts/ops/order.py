"""PyTorch's order of the overloads of a name, where it is not the order in which they are declared here.

In: the operators of a name.  Out: the same in the order in which a script tries them: the first that takes
the arguments is called, and the numbering of graph text shows which ones were tried before.

    >>> [operator.overload for operator in in_order("aten::eq_", [of_tensor, of_scalar])]
    ['Scalar', 'Tensor']
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

# Names without `aten::`, and their overloads in order; "-" is the one without a name.
_ORDERS = {
    "__contains__": "int_list str_list str int bool float complex Tensor float_list",
    "__getitem__": "t str Dict_str Dict_int Dict_bool Dict_float Dict_complex Dict_Tensor",
    "__ior__": "Tensor Scalar",
    "__lshift__ __rshift__": "Tensor Scalar int",
    "__or__ __xor__": "Tensor Scalar bool int",
    (
        "_upsample_lanczos2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d"
    ): "- out vec",
    "Complex": (
        "Scalar Tensor_Tensor int_bool bool_int float_bool bool_float float_int int_float int_int bool_bool "
        "float_float Tensor_float float_Tensor Tensor_int int_Tensor Tensor_bool bool_Tensor"
    ),
    "add": (
        "Tensor Scalar out Scalar_out t str int complex float int_complex complex_int float_complex "
        "complex_float int_float float_int -"
    ),
    "all": "- dim dims out dims_out all_out int float bool",
    "any": "- dim dims out dims_out all_out str int float bool",
    "bernoulli": "- out p Tensor",
    "bernoulli_": "Tensor float",
    "bitwise_left_shift_ bitwise_right_shift_": "Tensor_Scalar Tensor",
    "count": "- int float bool Tensor str",
    "count_nonzero": "- dim_IntList",
    "div": (
        "Tensor Scalar Tensor_mode Scalar_mode out out_mode Scalar_out Scalar_mode_out int complex float -"
    ),
    "div_": "Tensor Tensor_mode Scalar Scalar_mode",
    "divide_": "Tensor Tensor_mode Scalar_mode Scalar",
    "eq ne": (
        "Tensor Scalar Scalar_out Tensor_out int_list device bool enum int complex float int_float "
        "float_int float_complex complex_float - str float_list Tensor_list bool_list str_list"
    ),
    "eq_ ge_ greater_ greater_equal_ gt_ le_ lerp_ less_ less_equal_ lt_ ne_ not_equal_ pow_": (
        "Scalar Tensor"
    ),
    "fill masked_fill": "Scalar Scalar_out Tensor Tensor_out",
    "float_power": "Tensor_Tensor Tensor_Scalar Scalar Tensor_Tensor_out Scalar_out Tensor_Scalar_out",
    "ge gt le lt": "Tensor Scalar Scalar_out Tensor_out int float int_float float_int - str",
    "greater greater_equal less less_equal not_equal": "Tensor Scalar Scalar_out Tensor_out",
    "histogram": "bins_tensor bins_tensor_out bin_ct bin_ct_out",
    "index": "Tensor Tensor_out Tensor_hacked_twin str list_int list_float list_bool list_Tensor list_str",
    "index_fill": "int_Tensor int_Scalar int_Scalar_out int_Tensor_out",
    "index_fill_": "int_Tensor int_Scalar",
    "index_put": "- out hacked_twin",
    "isin": "Tensor_Tensor Tensor_Tensor_out Tensor_Scalar Tensor_Scalar_out Scalar_Tensor Scalar_Tensor_out",
    "len": "t Tensor str Dict_str Dict_int Dict_bool Dict_float Dict_complex Dict_Tensor any",
    "lerp": "Scalar Tensor Scalar_out Tensor_out",
    "linalg_matrix_rank": (
        "- tol_tensor atol_rtol_tensor atol_rtol_float atol_rtol_tensor_out "
        "atol_rtol_float_out out out_tol_tensor"
    ),
    "linalg_pinv": (
        "- atol_rtol_float atol_rtol_tensor atol_rtol_tensor_out atol_rtol_float_out out "
        "rcond_tensor out_rcond_tensor"
    ),
    "linspace logspace": "Tensor_Tensor Tensor_Scalar Scalar_Tensor -",
    "max": "other - dim dim_max unary_out out",
    "mean": "- dim out dtype_out",
    "median nanmedian": "- dim dim_values out",
    "meshgrid": "- indexing",
    "min": "other - dim dim_min unary_out out",
    "movedim": "int intlist",
    "mul": (
        "Tensor Scalar out Scalar_out left_t right_ int complex float int_complex complex_int "
        "float_complex complex_float int_float float_int -"
    ),
    "norm": "Scalar ScalarOpt_dim ScalarOpt_dim_dtype dtype_out out ScalarOpt_dtype",
    "normal": (
        "Tensor_float Tensor_float_out float_Tensor_out float_Tensor Tensor_Tensor "
        "Tensor_Tensor_out float_float float_float_out"
    ),
    "pow": (
        "Tensor_Tensor Tensor_Scalar Scalar Tensor_Tensor_out Scalar_out Tensor_Scalar_out int "
        "complex float int_float float_int float_complex complex_float Scalar_Scalar int_to_int"
    ),
    "prod": "- dim_int int_out out",
    "random": "from from_out to to_out - out",
    "rand rand_like randn randn_like randperm": "- generator out generator_out",
    "randint": "- generator low low_generator out generator_out low_out low_generator_out",
    "randint_like": (
        "- Tensor low_dtype generator Tensor_generator low_generator_dtype out generator_out Tensor_out "
        "Tensor_generator_out low_dtype_out low_generator_dtype_out"
    ),
    "prim::abs": "int float complex Scalar -",
    "repeat_interleave": "Tensor self_Tensor self_int Tensor_out",
    "scatter": "value src reduce value_reduce src_out value_out reduce_out value_reduce_out",
    "searchsorted": "Tensor Tensor_out Scalar Scalar_out",
    "sorted": "int float Tensor bool str any",
    "sort": "- stable values_stable values int float Tensor bool str any",
    (
        "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
        "special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he "
        "special_laguerre_polynomial_l special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t "
        "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
        "special_shifted_chebyshev_polynomial_w"
    ): "- out x_scalar x_scalar_out n_scalar n_scalar_out",
    "special_xlog1py special_xlogy special_zeta": (
        "- other_scalar self_scalar out self_scalar_out other_scalar_out"
    ),
    "set_": "source_Tensor - source_Tensor_storage_offset",
    "std var": "- dim correction correction_out out",
    "stft": "- center",
    "subtract": "Tensor out Scalar",
    "xlogy": "Tensor Scalar_Other Scalar_Self OutTensor OutScalar_Self OutScalar_Other",
}


@cache
def _order_of() -> dict[str, list[str]]:
    return {
        name if "::" in name else f"aten::{name}": order.split()
        for names, order in _ORDERS.items()
        for name in names.split()
    }


def in_order(name: str, operators: Sequence[Any]) -> tuple[Any, ...]:
    """The operators of `name`, sorted; those that the table does not know stay behind the others."""
    order = _order_of().get(name)
    if order is None:
        return tuple(operators)
    place = {overload: i for i, overload in enumerate(order)}
    return tuple(sorted(operators, key=lambda operator: place.get(operator.overload or "-", len(order))))
