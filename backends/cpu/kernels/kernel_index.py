"""Index of the C kernels for lazy import: the module that registers each name.

`python -m tests.generate_operator_index` generates the index from the modules' registrations.
"""

from __future__ import annotations

from typing import Final

NAMES: Final[dict[str, str]] = {
    "activation": """
        aten::celu aten::celu_ aten::elu aten::elu_ aten::gelu aten::hardshrink aten::hardtanh
        aten::hardtanh_ aten::leaky_relu aten::leaky_relu_ aten::log_sigmoid aten::prelu aten::relu6
        aten::relu6_ aten::selu aten::selu_ aten::silu aten::silu_ aten::softplus aten::softshrink
        aten::threshold aten::threshold_
    """,
    "activation_backward": """
        aten::hardshrink_backward aten::hardsigmoid_backward aten::hardswish_backward
        aten::hardtanh_backward aten::leaky_relu_backward aten::sigmoid_backward aten::softshrink_backward
        aten::tanh_backward aten::threshold_backward
    """,
    "activation_loops": """
        loops:hardsigmoid loops:hardswish loops:relu loops:sigmoid
    """,
    "any_all": """
        aten::all aten::all.dim aten::any aten::any.dim aten::count_nonzero aten::count_nonzero.dim_IntList
    """,
    "arithmetic": """
        aten::addcdiv aten::addcdiv_ aten::addcmul aten::addcmul_ aten::clamp aten::clamp_ aten::clamp_max
        aten::clamp_max_ aten::clamp_min aten::clamp_min_ aten::clip aten::clip_ aten::floor_divide.Scalar
        aten::lerp.Scalar aten::lerp.Tensor aten::lerp_.Scalar aten::pow.Tensor_Scalar
        aten::remainder.Scalar aten::rsub.Scalar scaled_sum
    """,
    "arithmetic_loops": """
        loops:left_shift_by loops:log_of_sum loops:one_by_root loops:powers loops:quotient_down loops:rest
        loops:rest_as_in_c loops:right_shift_by loops:signs
    """,
    "attention": """
        aten::_transformer_encoder_layer_fwd aten::scaled_dot_product_attention
    """,
    "batch_norm": """
        aten::batch_norm aten::native_batch_norm
    """,
    "cat": """
        aten::cat aten::concat aten::concatenate aten::stack
    """,
    "classification_loss": """
        aten::cross_entropy_loss aten::multi_margin_loss aten::multilabel_margin_loss aten::nll_loss
        aten::nll_loss2d aten::nll_loss2d_backward aten::nll_loss2d_forward aten::nll_loss_backward
        aten::nll_loss_forward aten::nll_loss_nd
    """,
    "conv_op": """
        aten::_convolution aten::_convolution.deprecated aten::conv1d aten::conv2d aten::conv3d
        aten::conv_transpose1d aten::conv_transpose2d.input aten::conv_transpose3d.input aten::convolution
    """,
    "convert": """
        aten::_to_copy aten::to.dtype aten::to.other aten::to.prim_dtype aten::type_as
    """,
    "create": """
        aten::arange aten::arange.start aten::arange.start_step aten::as_tensor.list aten::clone aten::conj
        aten::contiguous aten::empty.memory_format aten::empty_like aten::fill_.Scalar aten::full
        aten::full_like aten::new_empty aten::new_full aten::new_ones aten::new_zeros aten::ones
        aten::ones_like aten::real aten::resolve_conj aten::tensor aten::zero_ aten::zeros aten::zeros_like
    """,
    "distances": """
        aten::_cdist_forward aten::cdist aten::cosine_similarity aten::pairwise_distance
    """,
    "embedding_bag": """
        aten::_embedding_bag aten::_embedding_bag_forward_only aten::embedding_bag
        aten::embedding_bag.padding_idx
    """,
    "flash_attention": """
        aten::log_softmax.int aten::logsumexp aten::softmax.int aten::special_log_softmax
        aten::special_logsumexp aten::special_softmax
    """,
    "flip_roll": """
        aten::flip aten::fliplr aten::flipud aten::roll
    """,
    "fourier": """
        aten::fft_fft aten::fft_ifft aten::fft_irfft aten::fft_rfft
    """,
    "fused_executor": """
        prim::DifferentiableGraph prim::FusionGroup
    """,
    "fused_steps": """
        aten::_fused_adagrad_ aten::_fused_adagrad_.tensor_lr aten::_fused_adam_
        aten::_fused_adam_.tensor_lr aten::_fused_adamw_ aten::_fused_adamw_.tensor_lr aten::_fused_sgd_
        aten::_fused_sgd_.tensor_lr
    """,
    "gather": """
        aten::embedding aten::gather aten::index.Tensor aten::index.Tensor_hacked_twin aten::index_select
        aten::take
    """,
    "gemm_ops": """
        aten::addmm aten::addmm_ aten::baddbmm aten::baddbmm_ aten::bmm aten::linear aten::matmul aten::mm
    """,
    "grid_sample": """
        aten::grid_sampler aten::grid_sampler_2d
    """,
    "histogram": """
        aten::histc
    """,
    "im2col": """
        aten::im2col
    """,
    "index_backward": """
        aten::_log_softmax_backward_data aten::_softmax_backward_data aten::adaptive_max_pool2d_backward
        aten::adaptive_max_pool3d_backward aten::embedding_dense_backward
        aten::max_pool2d_with_indices_backward aten::max_pool3d_with_indices_backward
    """,
    "linspace": """
        aten::linspace
    """,
    "lstm_layer": """
        aten::_mkldnn_rnn_layer_backward aten::mkldnn_rnn_layer aten::mkldnn_rnn_layer_backward
    """,
    "masked": """
        aten::masked_fill.Scalar aten::masked_fill_.Scalar aten::masked_select aten::nonzero
        aten::where.ScalarOther aten::where.ScalarSelf aten::where.self
    """,
    "minmax": """
        aten::amax aten::amin aten::argmax aten::argmin aten::max aten::max.dim aten::min aten::min.dim
    """,
    "norm": """
        aten::group_norm aten::layer_norm aten::native_group_norm aten::native_layer_norm aten::rms_norm
    """,
    "normalization_backward": """
        aten::native_batch_norm_backward aten::native_group_norm_backward aten::native_layer_norm_backward
    """,
    "pad": """
        aten::constant_pad_nd aten::pad
    """,
    "pointwise_loss": """
        aten::binary_cross_entropy aten::binary_cross_entropy_with_logits aten::huber_loss aten::kl_div
        aten::l1_loss aten::mse_loss aten::smooth_l1_loss
    """,
    "pooling": """
        aten::adaptive_avg_pool1d aten::adaptive_avg_pool2d aten::adaptive_max_pool1d
        aten::adaptive_max_pool2d aten::avg_pool1d aten::avg_pool2d aten::avg_pool3d aten::max_pool1d
        aten::max_pool1d_with_indices aten::max_pool2d aten::max_pool2d_with_indices aten::max_pool3d
        aten::max_pool3d_with_indices
    """,
    "randn": """
        aten::normal_ aten::randn aten::randn_like
    """,
    "random_sampling": """
        aten::bernoulli aten::bernoulli.p aten::bernoulli_.float aten::dropout aten::rand aten::rand_like
        aten::randint aten::randint.low aten::randperm aten::uniform_
    """,
    "recurrent": """
        aten::gru.data aten::gru.input aten::gru_cell aten::lstm.data aten::lstm.input aten::lstm_cell
        aten::rnn_relu.data aten::rnn_relu.input aten::rnn_relu_cell aten::rnn_tanh.data
        aten::rnn_tanh.input aten::rnn_tanh_cell
    """,
    "reduce": """
        aten::linalg_vector_norm aten::mean aten::mean.dim aten::norm.Scalar aten::norm.ScalarOpt_dim
        aten::prod aten::prod.dim_int aten::std aten::std.correction aten::std.dim aten::sum
        aten::sum.dim_IntList aten::var aten::var.correction aten::var.dim
    """,
    "reshape": """
        aten::broadcast_to aten::expand_as aten::flatten.using_ints aten::reshape_as aten::unflatten.int
        aten::view_as aten::view_as_complex aten::view_as_real expand reshape view
    """,
    "scalar_conversion": """
        copy item tensor_of_number to_bool to_float to_int
    """,
    "scan": """
        aten::cumprod aten::cumsum
    """,
    "scatter": """
        aten::index_add aten::index_add_ aten::index_copy aten::index_copy_ aten::index_put
        aten::index_put.hacked_twin aten::index_put_ aten::index_put_.hacked_twin aten::index_reduce
        aten::index_reduce_ aten::scatter.src aten::scatter.value aten::scatter_.src aten::scatter_.value
        aten::scatter_add aten::scatter_add_ aten::scatter_reduce.two aten::scatter_reduce_.two
    """,
    "small_linalg": """
        aten::_cholesky_solve_helper aten::cholesky aten::cholesky_inverse aten::cholesky_solve
        aten::inverse aten::linalg_cholesky aten::linalg_cholesky_ex aten::linalg_inv aten::linalg_inv_ex
        aten::linalg_lu aten::linalg_lu_factor aten::linalg_lu_factor_ex aten::linalg_solve
        aten::linalg_solve_ex aten::linalg_solve_triangular
    """,
    "small_qr": """
        aten::linalg_qr aten::qr
    """,
    "small_svd": """
        aten::_linalg_svd aten::linalg_svd aten::linalg_svdvals
    """,
    "sort_topk_median": """
        aten::argsort aten::argsort.stable aten::kthvalue aten::median aten::median.dim aten::msort
        aten::nanmedian aten::nanmedian.dim aten::sort aten::sort.stable aten::topk
    """,
    "special": """
        ufunc:arccos ufunc:arcsin ufunc:arctan ufunc:cos ufunc:cosh ufunc:entr ufunc:erf ufunc:erfc
        ufunc:erfinv ufunc:exp ufunc:exp2 ufunc:expm1 ufunc:gammaln ufunc:gelu ufunc:gelu_tanh ufunc:i0
        ufunc:i0e ufunc:log ufunc:log10 ufunc:log1p ufunc:log2 ufunc:log_sigmoid ufunc:ndtr ufunc:ndtri
        ufunc:psi ufunc:sigmoid ufunc:silu ufunc:sin ufunc:sinh ufunc:softplus ufunc:tan ufunc:tanh
        ufunc:xlog1py ufunc:xlogy
    """,
    "stft": """
        aten::istft aten::stft aten::stft.center
    """,
    "symmetric_eigen": """
        aten::_linalg_eigh aten::linalg_eigh aten::linalg_eigvalsh
    """,
    "tril_triu": """
        aten::eye aten::eye.m aten::tril aten::tril_indices aten::triu aten::triu_indices
    """,
    "unique": """
        aten::_unique aten::_unique2
    """,
    "vectors": """
        aten::cross aten::dot aten::ger aten::linalg_cross aten::mv aten::outer aten::vdot
    """,
    "view": """
        aten::chunk aten::mT aten::meshgrid aten::meshgrid.indexing aten::moveaxis.int aten::movedim.int
        aten::narrow aten::numpy_T aten::select.int aten::slice.Tensor aten::split aten::split.Tensor
        aten::split.sizes aten::split_with_sizes aten::swapaxes aten::swapdims aten::t aten::transpose.int
        aten::unfold aten::unsqueeze chunk narrow permute select slice split squeeze squeeze_dim t transpose
        unbind unsqueeze
    """,
}

OPERATOR_TO_MODULE: Final[dict[str, str]] = {
    name: home for home, names in NAMES.items() for name in names.split()
}
