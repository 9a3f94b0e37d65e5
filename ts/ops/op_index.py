"""Index of operator names by declaring family, for imports on first use.

Made from the records by `python -m tests.generate_operator_index`; names stand without `aten::`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

NAMES: Final[dict[str, str]] = {
    "unary": """
        _conj_physical abs abs_ absolute absolute_ acos acos_ acosh acosh_ angle arccos arccos_ arccosh
        arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan_ arctanh arctanh_ asin asin_ asinh asinh_
        atan atan_ atanh atanh_ ceil ceil_ conj_physical conj_physical_ cos cos_ cosh cosh_ deg2rad deg2rad_
        digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expm1 expm1_ fix fix_ floor
        floor_ frac frac_ i0 i0_ isfinite isinf isnan isneginf isposinf isreal lgamma lgamma_ log log10
        log10_ log1p log1p_ log2 log2_ log_ logical_not logical_not_ neg neg_ negative negative_ prim::abs
        rad2deg rad2deg_ reciprocal reciprocal_ rsqrt rsqrt_ sgn sgn_ sigmoid sigmoid_ sign sign_ signbit
        sin sin_ sinc sinc_ sinh sinh_ special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0
        special_bessel_y1 special_digamma special_entr special_erf special_erfc special_erfcx special_erfinv
        special_exp2 special_expit special_expm1 special_gammaln special_i0 special_i0e special_i1
        special_i1e special_log1p special_log_ndtr special_modified_bessel_i0 special_modified_bessel_i1
        special_modified_bessel_k0 special_modified_bessel_k1 special_ndtr special_ndtri special_psi
        special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_sinc
        special_spherical_bessel_j0 sqrt sqrt_ square square_ tan tan_ tanh tanh_ trunc trunc_
    """,
    "pointwise": """
        __and__ __iand__ __ilshift__ __ior__ __irshift__ __ixor__ __lshift__ __or__ __rshift__ __xor__
        _add_relu _add_relu_ add add_ arctan2 arctan2_ atan2 atan2_ bitwise_and bitwise_and_
        bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_
        bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ copysign copysign_ div div_ divide
        divide_ eq eq_ float_power float_power_ floor_divide floor_divide_ fmax fmin fmod fmod_ gcd gcd_ ge
        ge_ greater greater_ greater_equal greater_equal_ gt gt_ heaviside heaviside_ hypot hypot_ igamma
        igamma_ igammac igammac_ lcm lcm_ ldexp ldexp_ le le_ less less_ less_equal less_equal_ logaddexp
        logaddexp2 logical_and logical_and_ logical_or logical_or_ logical_xor logical_xor_ lt lt_ maximum
        minimum mul mul_ multiply multiply_ ne ne_ nextafter nextafter_ not_equal not_equal_ pow pow_
        remainder remainder_ rsub special_gammainc special_gammaincc special_xlog1py special_xlogy
        special_zeta sub sub_ subtract subtract_ true_divide true_divide_ xlogy xlogy_
    """,
    "ternary": """
        addcdiv addcdiv_ addcmul addcmul_ allclose clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_
        clip clip_ complex equal frexp isclose lerp lerp_ logit logit_ mvlgamma mvlgamma_ nan_to_num
        nan_to_num_ polar polygamma polygamma_ round round_ special_logit special_multigammaln
        special_polygamma special_round where
    """,
    "reduce": """
        _aminmax all amax amin aminmax any argmax argmin count_nonzero hash_tensor logsumexp max mean min
        nanmean nansum prod special_logsumexp std std_mean sum trace var var_mean
    """,
    "vector_norm": """
        dist linalg__powsum linalg_vector_norm native_norm norm renorm renorm_
    """,
    "scan": """
        _cummax_helper _cummin_helper _logcumsumexp cummax cummin cumprod cumprod_ cumsum cumsum_
        cumulative_trapezoid diff logcumsumexp trapezoid trapz
    """,
    "view": """
        _conj _conj_copy _fw_primal _neg_view _neg_view_copy alias broadcast_to chunk conj diagonal dsplit
        expand expand_as flatten hsplit imag lift lift_fresh linalg_diagonal moveaxis movedim narrow
        narrow_copy positive ravel real reshape reshape_as resolve_conj resolve_neg select slice split
        split_with_sizes squeeze squeeze_ tensor_split unbind unflatten unfold unsafe_chunk unsafe_split
        unsafe_split_with_sizes unsqueeze unsqueeze_ view view_as view_as_complex view_as_real vsplit
    """,
    "view_backward": """
        diagonal_backward select_backward slice_backward unfold_backward
    """,
    "transpose": """
        adjoint mH mT matrix_H numpy_T permute swapaxes swapaxes_ swapdims swapdims_ t t_ transpose
        transpose_
    """,
    "storage_ops": """
        _copy_from _copy_from_and_resize _debug_has_internal_overlap _has_same_storage_numel _lazy_clone
        _resize_output _resize_output_ as_strided as_strided_ as_strided_scatter clone contiguous
        is_non_overlapping_and_dense is_set_to is_strides_like_format lift_fresh_copy resize resize_
        resize_as resize_as_ set set_ slice_inverse
    """,
    "rearrange": """
        _chunk_cat _stack atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cat
        channel_shuffle column_stack combinations concat concatenate diag diag_embed diagflat dstack flip
        fliplr flipud hstack kron meshgrid native_channel_shuffle pixel_shuffle pixel_unshuffle repeat
        repeat_interleave roll rot90 row_stack stack tile tril tril_ triu triu_ vstack
    """,
    "reshape": """
        _ncf_unsqueeze _ncf_view _reshape_alias _reshape_alias_copy _reshape_copy _reshape_from_tensor
        _shape_as_tensor _unsafe_view flatten_dense_tensors unflatten_dense_tensors
    """,
    "index": """
        argwhere copy copy_ diagonal_scatter fill fill_ fill_diagonal_ gather index index_put index_put_
        index_select masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select nonzero
        nonzero_numpy nonzero_static put put_ select_scatter slice_scatter take take_along_dim where zero
        zero_
    """,
    "unsafe_index": """
        _index_put_impl _index_put_impl_ _unsafe_index _unsafe_index_put _unsafe_masked_index
        _unsafe_masked_index_put_accumulate
    """,
    "scatter": """
        index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_reduce index_reduce_
        scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_
    """,
    "sort": """
        argsort bincount bucketize histc isin kthvalue median mode msort nanmedian nanquantile quantile
        searchsorted sort topk
    """,
    "unique": """
        _unique _unique2 unique_consecutive unique_dim unique_dim_consecutive
    """,
    "matmul": """
        addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_ bilinear bmm chain_matmul cross
        dot einsum ger inner linalg_cross linalg_matmul linalg_matrix_power linalg_multi_dot linalg_vecdot
        linear matmul matrix_power mm mv outer tensordot vdot
    """,
    "mixed_dtype_matmul": """
        _compute_linear_combination _grouped_mm _int_mm _trilinear addmm baddbmm bmm mm
    """,
    "factories": """
        _dim_arange _efficientzerotensor _new_zeros_with_same_feature_meta arange empty empty_like
        empty_permuted empty_strided eye full full_like linalg_vander linspace logspace new_empty
        new_empty_strided new_full new_ones new_zeros ones ones_like range scalar_tensor tril_indices
        triu_indices vander zeros zeros_like
    """,
    "dtype": """
        _grad_sum_to_size can_cast is_complex is_floating_point is_nonzero is_same_size is_signed
        promote_types result_type sum_to_size type_as
    """,
    "random": """
        Generator initial_seed manual_seed rand rand_like randint randint_like randn randn_like randperm
        seed
    """,
    "sampling": """
        _no_grad_fill_ _no_grad_normal_ _no_grad_uniform_ _no_grad_zero_ _sample_dirichlet _standard_gamma
        bernoulli bernoulli_ binomial cauchy_ exponential_ geometric_ log_normal_ multinomial normal normal_
        poisson random_ uniform_
    """,
    "reparameterization_grads": """
        _dirichlet_grad _standard_gamma_grad
    """,
    "dropout": """
        _masked_scale alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout
        feature_alpha_dropout_ feature_dropout feature_dropout_ native_dropout native_dropout_backward rrelu
        rrelu_ rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_functional
    """,
    "activation": """
        _log_softmax _masked_softmax _prelu_kernel _safe_softmax _softmax _softmax_backward_data celu celu_
        elu elu_ gelu gelu_ glu glu_jvp hardshrink hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh
        hardtanh_ leaky_relu leaky_relu_ log_sigmoid log_sigmoid_forward log_softmax mish mish_ prelu relu
        relu6 relu6_ relu_ selu selu_ silu silu_ softmax softplus softshrink special_log_softmax
        special_softmax threshold threshold_
    """,
    "activation_backward": """
        _log_softmax_backward_data _masked_softmax_backward _prelu_kernel_backward elu_backward
        gelu_backward glu_backward hardshrink_backward hardsigmoid_backward hardswish_backward
        hardtanh_backward leaky_relu_backward log_sigmoid_backward logit_backward mish_backward
        rrelu_with_noise_backward sigmoid_backward silu_backward softplus_backward softshrink_backward
        tanh_backward threshold_backward
    """,
    "normalization": """
        _fused_rms_norm _fused_rms_norm_backward group_norm layer_norm native_group_norm
        native_group_norm_backward native_layer_norm native_layer_norm_backward rms_norm
    """,
    "batch_norm": """
        _batch_norm_impl_index _batch_norm_no_update _batch_norm_with_update
        _batch_norm_with_update_functional _native_batch_norm_legit _native_batch_norm_legit_functional
        _native_batch_norm_legit_no_training batch_norm batch_norm_backward batch_norm_elemt
        batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats
        instance_norm native_batch_norm native_batch_norm_backward
    """,
    "embedding": """
        _embedding_bag _embedding_bag_forward_only _no_grad_embedding_renorm_ _rowwise_prune
        _saturate_weight_to_fp16 embedding embedding_bag embedding_dense_backward embedding_renorm
        embedding_renorm_ one_hot
    """,
    "loss": """
        binary_cross_entropy binary_cross_entropy_with_logits hinge_embedding_loss huber_loss kl_div l1_loss
        margin_ranking_loss mse_loss poisson_nll_loss smooth_l1_loss soft_margin_loss
    """,
    "loss_backward": """
        binary_cross_entropy_backward huber_loss_backward mse_loss_backward multi_margin_loss_backward
        multilabel_margin_loss_backward smooth_l1_loss_backward soft_margin_loss_backward
    """,
    "classification_loss": """
        cross_entropy_loss multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward nll_loss
        nll_loss2d nll_loss2d_backward nll_loss2d_forward nll_loss_backward nll_loss_forward nll_loss_nd
    """,
    "ctc": """
        _ctc_loss _ctc_loss_backward ctc_loss
    """,
    "distance": """
        _cdist_backward _cdist_forward _euclidean_dist _pdist_backward _pdist_forward cdist
        cosine_embedding_loss cosine_similarity pairwise_distance pdist triplet_margin_loss
    """,
    "unfold": """
        col2im im2col
    """,
    "conv": """
        _conv_depthwise2d _convolution _convolution_mode conv1d conv2d conv3d conv_depthwise3d conv_tbc
        conv_transpose1d conv_transpose2d conv_transpose3d convolution convolution_backward
        convolution_overrideable
    """,
    "pad": """
        _pad_circular _pad_enum constant_pad_nd pad reflection_pad1d reflection_pad1d_backward
        reflection_pad2d reflection_pad2d_backward reflection_pad3d reflection_pad3d_backward
        replication_pad1d replication_pad1d_backward replication_pad2d replication_pad2d_backward
        replication_pad3d replication_pad3d_backward
    """,
    "pooling": """
        _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d
        _adaptive_avg_pool3d_backward adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
        adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool2d_backward adaptive_max_pool3d
        adaptive_max_pool3d_backward avg_pool1d avg_pool2d avg_pool2d_backward avg_pool3d
        avg_pool3d_backward max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices
        max_pool2d_with_indices_backward max_pool3d max_pool3d_with_indices max_pool3d_with_indices_backward
        max_unpool2d max_unpool3d
    """,
    "fractional_pool": """
        fractional_max_pool2d fractional_max_pool2d_backward fractional_max_pool3d
        fractional_max_pool3d_backward
    """,
    "upsample": """
        _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward _upsample_bilinear2d_aa
        _upsample_bilinear2d_aa_backward _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward
        _upsample_nearest_exact1d _upsample_nearest_exact1d_backward _upsample_nearest_exact2d
        _upsample_nearest_exact2d_backward _upsample_nearest_exact3d _upsample_nearest_exact3d_backward
        upsample_bicubic2d upsample_bicubic2d_backward upsample_bilinear2d upsample_bilinear2d_backward
        upsample_linear1d upsample_linear1d_backward upsample_nearest1d upsample_nearest1d_backward
        upsample_nearest2d upsample_nearest2d_backward upsample_nearest3d upsample_nearest3d_backward
        upsample_trilinear3d upsample_trilinear3d_backward
    """,
    "interpolate": """
        __interpolate __upsample __upsample_bilinear __upsample_nearest
    """,
    "grid_sample": """
        _grid_sampler_2d_cpu_fallback _grid_sampler_2d_cpu_fallback_backward affine_grid_generator
        grid_sampler grid_sampler_2d grid_sampler_2d_backward grid_sampler_3d grid_sampler_3d_backward
    """,
    "attention": """
        _native_multi_head_attention _nested_tensor_from_mask _nested_tensor_from_mask_left_aligned
        _transform_bias_rescale_qkv _transformer_encoder_layer_fwd scaled_dot_product_attention
        to_padded_tensor
    """,
    "packed_sequence": """
        _pack_padded_sequence _pack_padded_sequence_backward _pack_sequence _pad_packed_sequence
        pad_sequence
    """,
    "rnn": """
        gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell
    """,
    "lstm_layer": """
        _mkldnn_rnn_layer_backward mkldnn_rnn_layer mkldnn_rnn_layer_backward
    """,
    "polynomial": """
        special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
        special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he
        special_laguerre_polynomial_l special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t
        special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
        special_shifted_chebyshev_polynomial_w
    """,
    "copy_variants": """
        _fw_primal_copy alias_copy as_strided_copy bernoulli cauchy detach_copy diagonal_copy expand_copy
        exponential geometric log_normal normal normal_functional permute_copy random select_copy slice_copy
        split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy uniform
        unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy
    """,
    "fft": """
        _fft_c2c _fft_c2r _fft_r2c fft_fft fft_fft2 fft_fftfreq fft_fftn fft_fftshift fft_hfft fft_hfft2
        fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft
        fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn
    """,
    "factorizations": """
        _cholesky_solve_helper cholesky cholesky_inverse cholesky_solve det inverse linalg_cholesky
        linalg_cholesky_ex linalg_cond linalg_det linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh
        linalg_inv linalg_inv_ex linalg_matrix_exp linalg_qr linalg_slogdet linalg_solve linalg_solve_ex
        linalg_solve_triangular linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve logdet
        matrix_exp qr slogdet svd triangular_solve
    """,
    "matrix_norm": """
        _weight_norm _weight_norm_interface _weight_norm_interface_backward frobenius_norm
        linalg_matrix_norm linalg_norm norm_except_dim nuclear_norm
    """,
    "lu": """
        _lu_with_info linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve lu_solve lu_unpack
    """,
    "linalg_helpers": """
        _linalg_check_errors _linalg_det _linalg_eigh _linalg_eigvals _linalg_slogdet _linalg_solve_ex
        _linalg_svd
    """,
    "householder": """
        geqrf linalg_householder_product orgqr ormqr
    """,
    "pseudo_inverse": """
        linalg_matrix_rank linalg_pinv pinverse
    """,
    "covariance": """
        corrcoef cov
    """,
    "least_squares": """
        linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve linalg_lstsq
    """,
    "stft": """
        istft stft
    """,
    "finite_differences": """
        gradient
    """,
    "histogram": """
        _histogramdd_bin_edges _histogramdd_from_bin_cts _histogramdd_from_bin_tensors histogram histogramdd
    """,
    "window_functions": """
        bartlett_window blackman_window hamming_window hann_window kaiser_window
    """,
    "script_only_ops": """
        Bool Complex ComplexImplicit Float FloatImplicit Int IntImplicit ScalarImplicit __contains__
        __getitem__ _get_cpu_capability _list_to_tensor _local_scalar_dense _tensor_to_list as_tensor count
        device get_autocast_dtype is_grad_enabled item len prim::EnterAutocast prim::ExitAutocast
        prim::NumToTensor set_grad_enabled sorted tensor
    """,
    "assert_ops": """
        _assert_async _assert_tensor_metadata _functional_assert_async _functional_assert_scalar
        _functional_sym_constrain_range _functional_sym_constrain_range_for_size _is_all_true _is_any_true
        sym_constrain_range sym_constrain_range_for_size
    """,
    "profiling": """
        profiler::_call_end_callbacks_on_jit_fut profiler::_record_function_enter
        profiler::_record_function_enter_new profiler::_record_function_exit
    """,
    "to": """
        _autocast_to_full_precision _autocast_to_reduced_precision _cast_Byte _cast_Char _cast_Double
        _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short _has_compatible_shallow_copy_type
        _is_zerotensor _make_dual _make_dual_copy _pin_memory _to_copy _to_cpu _unpack_dual as_tensor cpu
        cuda data detach detach_ is_conj is_distributed is_inference is_neg is_pinned pin_memory prim::data
        record_stream requires_grad_ set_data to
    """,
    "autograd_ops": """
        backward grad prim::grad retain_grad
    """,
    "quantizer": """
        dequantize fake_quantize_per_channel_affine fake_quantize_per_tensor_affine int_repr
        prim::is_quantized q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
        q_zero_point quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic
    """,
    "packed_params": """
        quantized::conv1d_prepack quantized::conv1d_unpack quantized::conv2d_dilation
        quantized::conv2d_groups quantized::conv2d_output_padding quantized::conv2d_padding
        quantized::conv2d_prepack quantized::conv2d_stride quantized::conv2d_transpose
        quantized::conv2d_unpack quantized::conv3d_dilation quantized::conv3d_groups
        quantized::conv3d_output_padding quantized::conv3d_padding quantized::conv3d_prepack
        quantized::conv3d_stride quantized::conv3d_transpose quantized::conv3d_unpack
        quantized::conv_transpose1d_prepack quantized::conv_transpose1d_unpack
        quantized::conv_transpose2d_dilation quantized::conv_transpose2d_groups
        quantized::conv_transpose2d_output_padding quantized::conv_transpose2d_padding
        quantized::conv_transpose2d_prepack quantized::conv_transpose2d_stride
        quantized::conv_transpose2d_transpose quantized::conv_transpose2d_unpack
        quantized::conv_transpose3d_dilation quantized::conv_transpose3d_groups
        quantized::conv_transpose3d_output_padding quantized::conv_transpose3d_padding
        quantized::conv_transpose3d_prepack quantized::conv_transpose3d_stride
        quantized::conv_transpose3d_transpose quantized::conv_transpose3d_unpack
        quantized::embedding_bag_prepack quantized::embedding_bag_unpack quantized::linear_prepack
        quantized::linear_prepack_fp16 quantized::linear_unpack quantized::linear_unpack_fp16
    """,
    "quantized": """
        quantized::add quantized::add_relu quantized::add_scalar quantized::add_scalar_relu
        quantized::batch_norm quantized::batch_norm1d quantized::batch_norm1d_relu quantized::batch_norm2d
        quantized::batch_norm2d_relu quantized::batch_norm3d quantized::batch_norm3d_relu
        quantized::batch_norm_relu quantized::cat quantized::cat_relu quantized::celu quantized::clamp
        quantized::conv1d quantized::conv1d_dynamic quantized::conv1d_relu quantized::conv2d
        quantized::conv2d_add quantized::conv2d_add_relu quantized::conv2d_dynamic quantized::conv2d_relu
        quantized::conv3d quantized::conv3d_dynamic quantized::conv3d_relu quantized::conv_transpose1d
        quantized::conv_transpose1d_dynamic quantized::conv_transpose2d quantized::conv_transpose2d_dynamic
        quantized::conv_transpose3d quantized::conv_transpose3d_dynamic quantized::dropout quantized::elu
        quantized::embedding_4bit quantized::embedding_bag_4bit quantized::embedding_bag_byte
        quantized::embedding_byte quantized::group_norm quantized::hardswish quantized::instance_norm
        quantized::layer_norm quantized::leaky_relu quantized::linear quantized::linear_dynamic
        quantized::linear_dynamic_fp16 quantized::linear_dynamic_fp16_unpacked_weight
        quantized::linear_leaky_relu quantized::linear_relu quantized::linear_relu_dynamic
        quantized::linear_relu_dynamic_fp16 quantized::linear_tanh
        quantized::linear_with_input_q_dq_qweight_dq_output_fp32
        quantized::linear_with_input_q_dq_qweight_dq_relu_output_fp32 quantized::matmul
        quantized::max_pool1d quantized::max_pool2d quantized::mul quantized::mul_relu quantized::mul_scalar
        quantized::mul_scalar_relu quantized::prelu quantized::relu6 quantized::sigmoid quantized::softmax
        quantized::threshold quantized_batch_norm quantized_max_pool1d quantized_max_pool2d
        quantized_max_pool3d
    """,
    "quantized_rnn": """
        quantized::make_quantized_cell_params_dynamic quantized::make_quantized_cell_params_fp16
        quantized::quantized_gru_cell_dynamic quantized::quantized_lstm_cell_dynamic
        quantized::quantized_rnn_relu_cell_dynamic quantized::quantized_rnn_tanh_cell_dynamic quantized_gru
        quantized_lstm
    """,
    "foreach": """
        _foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_ _foreach_add _foreach_add_ _foreach_addcdiv
        _foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_ _foreach_asin _foreach_asin_ _foreach_atan
        _foreach_atan_ _foreach_ceil _foreach_ceil_ _foreach_clamp_max _foreach_clamp_max_
        _foreach_clamp_min _foreach_clamp_min_ _foreach_clone _foreach_copy_ _foreach_cos _foreach_cos_
        _foreach_cosh _foreach_cosh_ _foreach_div _foreach_div_ _foreach_erf _foreach_erf_ _foreach_erfc
        _foreach_erfc_ _foreach_exp _foreach_exp_ _foreach_expm1 _foreach_expm1_ _foreach_floor
        _foreach_floor_ _foreach_frac _foreach_frac_ _foreach_lerp _foreach_lerp_ _foreach_lgamma
        _foreach_lgamma_ _foreach_log _foreach_log10 _foreach_log10_ _foreach_log1p _foreach_log1p_
        _foreach_log2 _foreach_log2_ _foreach_log_ _foreach_max _foreach_maximum _foreach_maximum_
        _foreach_minimum _foreach_minimum_ _foreach_mm _foreach_mul _foreach_mul_ _foreach_neg _foreach_neg_
        _foreach_norm _foreach_pow _foreach_pow_ _foreach_powsum _foreach_reciprocal _foreach_reciprocal_
        _foreach_round _foreach_round_ _foreach_rsqrt _foreach_rsqrt_ _foreach_sigmoid _foreach_sigmoid_
        _foreach_sign _foreach_sign_ _foreach_sin _foreach_sin_ _foreach_sinh _foreach_sinh_ _foreach_sqrt
        _foreach_sqrt_ _foreach_sub _foreach_sub_ _foreach_tan _foreach_tan_ _foreach_tanh _foreach_tanh_
        _foreach_trunc _foreach_trunc_ _foreach_zero_
    """,
    "fused_optimizers": """
        _fused_adagrad _fused_adagrad_ _fused_adam _fused_adam_ _fused_adamw _fused_adamw_ _fused_sgd
        _fused_sgd_
    """,
    "amp_ops": """
        _amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_
    """,
    "rpc_ops": """
        confirmed_by_owner is_owner local_value owner owner_name to_here
    """,
    "sparse": """
        _coalesce _coalesced_ _dimI _dimV _indices _nnz _rows_as_sparse _sparse_addmm
        _sparse_coo_tensor_unsafe _sparse_coo_tensor_with_dims _sparse_coo_tensor_with_dims_and_tensors
        _sparse_log_softmax _sparse_log_softmax_backward_data _sparse_mm _sparse_softmax
        _sparse_softmax_backward_data _sparse_sparse_matmul _sparse_sum _sparse_sum_backward _to_dense
        _to_sparse _to_sparse_csc _to_sparse_csr _validate_sparse_coo_tensor_args _values ccol_indices
        coalesce col_indices copy_sparse_to_sparse_ crow_indices dense_dim embedding_sparse_backward hspmm
        indices is_coalesced resize_as_sparse_ row_indices smm sparse_compressed_tensor sparse_coo_tensor
        sparse_csc_tensor sparse_csr_tensor sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_
        sparse_sampled_addmm sspaddmm to_dense to_sparse to_sparse_csc to_sparse_csr values values_copy
    """,
}


def families_of(name: str) -> tuple[str, ...]:
    """Return the families with overloads of `name` ("aten::add"), in the order of their declaration."""
    return _families().get(name.removeprefix("aten::"), ())


@cache
def _families() -> dict[str, tuple[str, ...]]:
    families_by_name: dict[str, tuple[str, ...]] = {}
    for family, names in NAMES.items():
        family_names: dict[str, tuple[str, ...]] = dict.fromkeys(names.split(), (family,))
        for name in families_by_name.keys() & family_names.keys():
            family_names[name] = (*families_by_name[name], family)
        families_by_name.update(family_names)
    return families_by_name
