"""Dtypes that operators accept, and results of their examples; written by `python -m tests.regenerate`."""

from __future__ import annotations

from typing import Final

_DTYPES_TEXT: Final = {
    "bihfc": """
        Bool ComplexImplicit ScalarImplicit _assert_tensor_metadata _autocast_to_full_precision
        _autocast_to_reduced_precision _cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int
        _cast_Long _cast_Short _chunk_cat _compute_linear_combination _conj_physical _copy_from
        _copy_from_and_resize _debug_has_internal_overlap _dimI _dimV _dim_arange _foreach_acos _foreach_add
        _foreach_add_ _foreach_asin _foreach_atan _foreach_clone _foreach_copy_ _foreach_cos _foreach_cosh
        _foreach_div _foreach_exp _foreach_expm1 _foreach_log _foreach_log10 _foreach_log1p _foreach_log2
        _foreach_mul _foreach_mul_ _foreach_pow _foreach_pow_ _foreach_reciprocal _foreach_rsqrt
        _foreach_sigmoid _foreach_sin _foreach_sinh _foreach_sqrt _foreach_tan _foreach_tanh _foreach_zero_
        _functional_assert_scalar _functional_sym_constrain_range_for_size _fused_rms_norm_backward
        _fw_primal _fw_primal_copy _grad_sum_to_size _has_compatible_shallow_copy_type
        _has_same_storage_numel _index_put_impl _index_put_impl_ _is_zerotensor _lazy_clone
        _linalg_check_errors _local_scalar_dense _masked_scale _ncf_unsqueeze _ncf_view
        _nested_tensor_from_mask_left_aligned _new_zeros_with_same_feature_meta _no_grad_fill_
        _no_grad_zero_ _pack_padded_sequence _pack_padded_sequence_backward _pack_sequence _pad_circular
        _pad_packed_sequence _reshape_alias _reshape_alias_copy _reshape_copy _reshape_from_tensor
        _resize_output _resize_output_ _rows_as_sparse _shape_as_tensor _stack _tensor_to_list _to_copy
        _to_cpu _to_sparse _to_sparse_csc _to_sparse_csr _unpack_dual _unsafe_index _unsafe_index_put
        _unsafe_masked_index _unsafe_masked_index_put_accumulate _unsafe_view acos acosh add addr adjoint
        alias alias_copy all allclose alpha_dropout alpha_dropout_ angle any arccos arccosh arcsin arcsinh
        arctan arctanh argwhere as_strided as_strided_ as_strided_copy as_strided_scatter as_tensor asin
        asinh atan atanh atleast_1d atleast_2d atleast_3d backward block_diag broadcast_tensors broadcast_to
        cartesian_prod cat channel_shuffle chunk clone column_stack combinations concat concatenate conj
        conj_physical constant_pad_nd contiguous convolution_backward copy copy_ cos cosh count_nonzero cpu
        cumprod cumsum data dense_dim dequantize detach detach_ detach_copy diag diag_embed diagflat
        diagonal diagonal_backward diagonal_copy diagonal_scatter diff div divide dropout dropout_ dsplit
        dstack embedding embedding_dense_backward embedding_sparse_backward empty_like eq equal exp exp2
        expand expand_as expand_copy expm1 feature_alpha_dropout feature_alpha_dropout_ feature_dropout
        feature_dropout_ fft_fftshift fft_ifftshift fill fill_diagonal_ flatten flatten_dense_tensors flip
        fliplr flipud float_power full_like gather ger hsplit hstack index index_add index_copy index_fill
        index_put index_put_ index_select int_repr is_complex is_conj is_distributed is_floating_point
        is_inference is_neg is_non_overlapping_and_dense is_nonzero is_pinned is_same_size is_set_to
        is_signed is_strides_like_format isclose isfinite isinf isnan isreal item kron ldexp lift lift_fresh
        lift_fresh_copy linalg_diagonal linalg_matrix_power linspace log log10 log1p log2 logical_and
        logical_not logical_or logical_xor logspace logsumexp lu_unpack mH mT masked_fill masked_scatter
        masked_select matrix_H matrix_power meshgrid moveaxis movedim mul multiply nan_to_num narrow
        narrow_copy native_channel_shuffle native_dropout native_dropout_backward ne new_empty
        new_empty_strided new_full new_ones new_zeros nonzero nonzero_numpy nonzero_static not_equal numpy_T
        ones_like outer pad pad_sequence permute permute_copy pixel_shuffle pixel_unshuffle pow prim::data
        prim::grad prim::is_quantized prod put q_per_channel_axis q_per_channel_scales
        q_per_channel_zero_points q_scale q_zero_point quantized::add quantized::add_scalar quantized::cat
        quantized::conv1d_prepack quantized::conv2d_prepack quantized::conv3d_prepack
        quantized::conv_transpose1d_prepack quantized::conv_transpose2d_prepack
        quantized::conv_transpose3d_prepack quantized::dropout quantized::embedding_4bit
        quantized::embedding_bag_4bit quantized::embedding_bag_byte quantized::embedding_bag_prepack
        quantized::embedding_byte quantized::linear_prepack quantized::linear_prepack_fp16
        quantized::linear_with_input_q_dq_qweight_dq_output_fp32
        quantized::linear_with_input_q_dq_qweight_dq_relu_output_fp32
        quantized::make_quantized_cell_params_dynamic quantized::mul quantized::mul_scalar ravel real
        reciprocal repeat repeat_interleave reshape reshape_as resize resize_ resize_as resize_as_
        resolve_conj resolve_neg result_type retain_grad roll rot90 row_stack rsqrt scatter scatter_add
        scatter_reduce select select_backward select_copy select_scatter set set_ set_data sgn sigmoid sin
        sinc sinh slice slice_backward slice_copy slice_inverse slice_scatter sparse_coo_tensor sparse_dim
        special_exp2 special_expit special_expm1 special_log1p special_logsumexp special_sinc split
        split_copy split_with_sizes split_with_sizes_copy sqrt square squeeze squeeze_copy stack sum
        sum_to_size swapaxes swapdims t t_copy take take_along_dim tan tanh tensor_split tile to to_dense
        to_sparse to_sparse_csc to_sparse_csr transpose transpose_copy tril triu true_divide type_as unbind
        unbind_copy unflatten unflatten_dense_tensors unfold unfold_backward unfold_copy unsafe_chunk
        unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_copy vander view view_as view_copy vsplit
        vstack where zero zeros_like
    """,
    "bhfc": """
        col2im im2col
    """,
    "bifc": """
        fft_fft fft_fft2 fft_fftn fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_irfft
        fft_irfft2 fft_irfftn
    """,
    "bihf": """
        Float FloatImplicit Int _aminmax _cummax_helper _cummin_helper _foreach_clamp_max
        _foreach_clamp_max_ _foreach_clamp_min _foreach_clamp_min_ _foreach_erf _foreach_erfc
        _foreach_lgamma _foreach_max _foreach_maximum _foreach_maximum_ _foreach_minimum _foreach_minimum_
        _foreach_sign _foreach_sign_ _unique _unique2 amax amin aminmax arctan2 argsort atan2 bernoulli
        bernoulli_ clamp clamp_max clamp_min clip copysign cosine_embedding_loss cummax cummin deg2rad
        digamma erf erfc erfinv fmax fmin ge greater greater_equal gt hash_tensor heaviside i0 index_reduce
        isneginf isposinf le less less_equal lgamma logit lt max maximum min minimum mode msort nansum
        polygamma profiler::_record_function_exit quantized::add_relu quantized::add_scalar_relu
        quantized::clamp quantized::mul_relu quantized::mul_scalar_relu quantized::relu6 rad2deg random
        random_ sign signbit sort special_digamma special_entr special_erf special_erfc special_erfinv
        special_gammaln special_i0 special_i0e special_i1 special_i1e special_logit special_ndtr
        special_polygamma special_psi special_xlog1py special_xlogy unique_consecutive unique_dim
        unique_dim_consecutive xlogy
    """,
    "ihfc": """
        _conv_depthwise2d _foreach_abs _foreach_addcmul _foreach_addcmul_ _foreach_mm _foreach_neg
        _foreach_neg_ _foreach_sub _foreach_sub_ _neg_view _neg_view_copy _pad_enum _sparse_mm _trilinear
        abs absolute addbmm addcmul addmm addmv affine_grid_generator baddbmm bilinear bmm chain_matmul
        conv1d conv2d conv3d conv_depthwise3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
        corrcoef cov cross cumulative_trapezoid dot einsum gradient gru gru_cell inner linalg_cross
        linalg_matmul linalg_multi_dot linear lstm lstm_cell matmul mm mv neg negative pairwise_distance
        poisson_nll_loss positive prim::abs reflection_pad1d reflection_pad2d reflection_pad3d
        replication_pad1d replication_pad2d replication_pad3d rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell
        rsub sub subtract tensordot trace trapezoid trapz triplet_margin_loss vdot
    """,
    "bif": """
        fft_ihfft fft_ihfft2 fft_ihfftn fft_rfft fft_rfft2 fft_rfftn quantized::sigmoid special_airy_ai
        special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1
        special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
        special_chebyshev_polynomial_w special_erfcx special_hermite_polynomial_h
        special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p
        special_log_ndtr special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
        special_modified_bessel_k1 special_ndtri special_scaled_modified_bessel_k0
        special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t
        special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
        special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 special_zeta
    """,
    "hfc": """
        _assert_async _foreach_acos_ _foreach_addcdiv _foreach_addcdiv_ _foreach_asin_ _foreach_atan_
        _foreach_cos_ _foreach_cosh_ _foreach_div_ _foreach_exp_ _foreach_expm1_ _foreach_lerp
        _foreach_lerp_ _foreach_log10_ _foreach_log1p_ _foreach_log2_ _foreach_log_ _foreach_norm
        _foreach_powsum _foreach_reciprocal_ _foreach_rsqrt_ _foreach_sigmoid_ _foreach_sin_ _foreach_sinh_
        _foreach_sqrt_ _foreach_tan_ _foreach_tanh_ _functional_assert_async _fused_rms_norm _logcumsumexp
        _no_grad_embedding_renorm_ _no_grad_normal_ _no_grad_uniform_ addcdiv dist embedding_renorm
        embedding_renorm_ frobenius_norm l1_loss lerp linalg__powsum linalg_matrix_exp linalg_matrix_norm
        linalg_norm linalg_vecdot linalg_vector_norm logaddexp logcumsumexp matrix_exp mean native_norm norm
        norm_except_dim normal normal_ normal_functional rand rand_like randn randn_like
        reflection_pad1d_backward reflection_pad2d_backward reflection_pad3d_backward renorm
        replication_pad1d_backward replication_pad2d_backward replication_pad3d_backward requires_grad_
        rms_norm sigmoid_backward silu silu_backward soft_margin_loss std std_mean tanh_backward uniform
        uniform_ var var_mean
    """,
    "ifc": """
        linalg_vander
    """,
    "ihf": """
        __interpolate __upsample __upsample_bilinear __upsample_nearest _convolution _convolution_mode
        _foreach_abs_ _foreach_ceil _foreach_ceil_ _foreach_floor _foreach_floor_ _foreach_round
        _foreach_round_ _foreach_trunc _foreach_trunc_ _rowwise_prune _upsample_nearest_exact1d
        _upsample_nearest_exact2d _upsample_nearest_exact3d argmax argmin avg_pool1d avg_pool2d bucketize
        ceil convolution convolution_overrideable fix floor floor_divide fmod geometric geometric_ hardtanh
        isin kthvalue margin_ranking_loss max_pool1d_with_indices max_pool2d max_pool2d_with_indices
        max_pool3d max_pool3d_with_indices median mse_loss_backward mvlgamma nanmedian quantized::cat_relu
        quantized::max_pool2d quantized::threshold quantized_max_pool2d quantized_max_pool3d randint
        randint_like randperm relu relu6 remainder round searchsorted smooth_l1_loss_backward
        special_multigammaln threshold threshold_backward topk trunc upsample_bicubic2d upsample_bilinear2d
        upsample_nearest1d upsample_nearest2d upsample_nearest3d
    """,
    "bi": """
        __and__ __or__ __xor__ bitwise_and bitwise_not bitwise_or bitwise_xor
    """,
    "fc": """
        _cholesky_solve_helper _linalg_det _linalg_eigh _linalg_eigvals _linalg_slogdet _linalg_solve_ex
        _linalg_svd _lu_with_info cholesky cholesky_inverse cholesky_solve det geqrf inverse linalg_cholesky
        linalg_cholesky_ex linalg_cond linalg_det linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh
        linalg_householder_product linalg_inv linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex
        linalg_ldl_solve linalg_lstsq linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve
        linalg_matrix_rank linalg_pinv linalg_qr linalg_slogdet linalg_solve linalg_solve_ex
        linalg_solve_triangular linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve logdet
        lu_solve nuclear_norm orgqr ormqr pinverse qr slogdet svd triangular_solve
    """,
    "hf": """
        _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d
        _adaptive_avg_pool3d_backward _batch_norm_impl_index _batch_norm_no_update _batch_norm_with_update
        _batch_norm_with_update_functional _embedding_bag _embedding_bag_forward_only _euclidean_dist
        _foreach_erf_ _foreach_erfc_ _foreach_frac _foreach_frac_ _foreach_lgamma_ _fused_adagrad
        _fused_adagrad_ _fused_adam _fused_adam_ _fused_adamw _fused_adamw_ _fused_sgd _fused_sgd_
        _grid_sampler_2d_cpu_fallback_backward _grouped_mm _histogramdd_from_bin_tensors _log_softmax
        _log_softmax_backward_data _masked_softmax _masked_softmax_backward _mkldnn_rnn_layer_backward
        _native_batch_norm_legit _native_batch_norm_legit_functional _native_batch_norm_legit_no_training
        _native_multi_head_attention _prelu_kernel _prelu_kernel_backward _safe_softmax _softmax
        _softmax_backward_data _transform_bias_rescale_qkv _transformer_encoder_layer_fwd
        _upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward
        _upsample_nearest_exact3d_backward _weight_norm _weight_norm_interface
        _weight_norm_interface_backward adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
        adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool2d_backward adaptive_max_pool3d
        adaptive_max_pool3d_backward avg_pool2d_backward batch_norm batch_norm_backward batch_norm_elemt
        batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats
        binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits cauchy cauchy_
        celu complex cosine_similarity cross_entropy_loss elu elu_backward embedding_bag exponential
        exponential_ fake_quantize_per_channel_affine fake_quantize_per_tensor_affine frac
        fractional_max_pool2d fractional_max_pool2d_backward fractional_max_pool3d
        fractional_max_pool3d_backward frexp gelu gelu_backward glu glu_backward grid_sampler
        grid_sampler_2d grid_sampler_2d_backward grid_sampler_3d grid_sampler_3d_backward group_norm
        hardshrink hardshrink_backward hardsigmoid hardsigmoid_backward hardswish hardswish_backward
        hardtanh_backward hinge_embedding_loss histc histogram histogramdd huber_loss huber_loss_backward
        hypot igamma igammac instance_norm kl_div layer_norm leaky_relu leaky_relu_backward log_normal
        log_normal_ log_sigmoid log_sigmoid_backward log_sigmoid_forward log_softmax logaddexp2
        logit_backward max_pool1d max_pool2d_with_indices_backward max_pool3d_with_indices_backward
        max_unpool2d max_unpool3d mish mish_backward mkldnn_rnn_layer mkldnn_rnn_layer_backward mse_loss
        multinomial nanmean native_batch_norm native_batch_norm_backward native_group_norm
        native_group_norm_backward native_layer_norm native_layer_norm_backward nextafter nll_loss
        nll_loss2d nll_loss2d_backward nll_loss2d_forward nll_loss_backward nll_loss_forward nll_loss_nd
        poisson polygamma_ prelu quantized::max_pool1d quantized_max_pool1d rrelu rrelu_with_noise
        rrelu_with_noise_ rrelu_with_noise_backward rrelu_with_noise_functional scaled_dot_product_attention
        selu smooth_l1_loss soft_margin_loss_backward softmax softplus softplus_backward softshrink
        softshrink_backward special_gammainc special_gammaincc special_log_softmax special_round
        special_softmax upsample_bicubic2d_backward upsample_bilinear2d_backward upsample_linear1d
        upsample_linear1d_backward upsample_nearest1d_backward upsample_nearest2d_backward
        upsample_nearest3d_backward upsample_trilinear3d upsample_trilinear3d_backward view_as_complex
        view_as_complex_copy
    """,
    "if": """
        _add_relu _upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_lanczos2d_aa avg_pool3d
    """,
    "b": """
        _functional_sym_constrain_range _is_all_true _is_any_true
    """,
    "c": """
        _conj _conj_copy _fft_c2c _fft_c2r imag istft stft view_as_real view_as_real_copy
    """,
    "f": """
        _amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_ _cdist_backward _cdist_forward
        _ctc_loss _ctc_loss_backward _dirichlet_grad _fft_r2c _grid_sampler_2d_cpu_fallback
        _histogramdd_bin_edges _histogramdd_from_bin_cts _pdist_backward _pdist_forward _sample_dirichlet
        _saturate_weight_to_fp16 _standard_gamma _standard_gamma_grad _upsample_bicubic2d_aa_backward
        _upsample_bilinear2d_aa_backward _upsample_lanczos2d_aa_backward avg_pool3d_backward binomial cdist
        ctc_loss glu_jvp multi_margin_loss multi_margin_loss_backward multilabel_margin_loss
        multilabel_margin_loss_backward multilabel_margin_loss_forward nanquantile pdist polar quantile
        quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized::batch_norm
        quantized::batch_norm1d quantized::batch_norm1d_relu quantized::batch_norm2d
        quantized::batch_norm2d_relu quantized::batch_norm3d quantized::batch_norm3d_relu
        quantized::batch_norm_relu quantized::celu quantized::conv1d quantized::conv1d_dynamic
        quantized::conv1d_relu quantized::conv2d quantized::conv2d_add quantized::conv2d_add_relu
        quantized::conv2d_dynamic quantized::conv2d_relu quantized::conv3d quantized::conv3d_dynamic
        quantized::conv3d_relu quantized::conv_transpose1d quantized::conv_transpose1d_dynamic
        quantized::conv_transpose2d quantized::conv_transpose2d_dynamic quantized::conv_transpose3d
        quantized::conv_transpose3d_dynamic quantized::elu quantized::group_norm quantized::hardswish
        quantized::instance_norm quantized::layer_norm quantized::leaky_relu quantized::linear
        quantized::linear_dynamic quantized::linear_dynamic_fp16
        quantized::linear_dynamic_fp16_unpacked_weight quantized::linear_leaky_relu quantized::linear_relu
        quantized::linear_relu_dynamic quantized::linear_relu_dynamic_fp16 quantized::linear_tanh
        quantized::matmul quantized::prelu quantized::quantized_gru_cell_dynamic
        quantized::quantized_lstm_cell_dynamic quantized::quantized_rnn_relu_cell_dynamic
        quantized::quantized_rnn_tanh_cell_dynamic quantized::softmax quantized_batch_norm quantized_gru
        quantized_lstm
    """,
    "i": """
        IntImplicit __lshift__ __rshift__ _int_mm bincount bitwise_left_shift bitwise_right_shift gcd lcm
        one_hot
    """,
}
DTYPES: Final = {name: letters for letters, names in _DTYPES_TEXT.items() for name in names.split()}
RESULTS: Final = {
    "abs": """\
tensor([1.5000, 2.0000])""",
    "acos": """\
tensor([0.0000, 1.5708])""",
    "add": """\
tensor([21, 42])""",
    "addmm": """\
tensor([[2., 1.],
        [1., 2.]])""",
    "all": """\
tensor([False,  True])""",
    "allclose": """\
True""",
    "amax": """\
tensor([5, 7])""",
    "amin": """\
tensor([1, 2])""",
    "any": """\
tensor([False,  True])""",
    "arange": """\
tensor([1, 3, 5])""",
    "argmax": """\
tensor([1, 0])""",
    "argmin": """\
tensor(1)""",
    "argsort": """\
tensor([1, 2, 0])""",
    "asin": """\
tensor([0.0000, 1.5708])""",
    "atan": """\
tensor([0.0000, 0.7854])""",
    "atan2": """\
tensor([1.5708])""",
    "baddbmm": """\
tensor([[[4., 4.],
         [4., 4.]]])""",
    "bernoulli": """\
tensor([0., 1.])""",
    "bincount": """\
tensor([1, 2, 0, 1])""",
    "bitwise_and": """\
tensor([2])""",
    "bitwise_not": """\
tensor([-1, -2])""",
    "bitwise_or": """\
tensor([7])""",
    "bitwise_xor": """\
tensor([5])""",
    "bmm": """\
tensor([[[3., 3.],
         [3., 3.]]])""",
    "broadcast_to": """\
tensor([[1, 2],
        [1, 2]])""",
    "bucketize": """\
tensor([1, 3])""",
    "cat": """\
tensor([[0., 0.],
        [1., 1.]])""",
    "ceil": """\
tensor([ 2., -1.])""",
    "celu": """\
tensor([1., 0.])""",
    "chunk": """\
(tensor([0, 1, 2]), tensor([3, 4]))""",
    "clamp": """\
tensor([-1,  0,  3])""",
    "clone": """\
tensor([1, 2])""",
    "complex": """\
tensor([1.+2.j])""",
    "conj": """\
tensor([1.-2.j])""",
    "conv1d": """\
tensor([[[2., 2., 2.]]])""",
    "conv2d": """\
tensor([[[[4., 4.],
          [4., 4.]]]])""",
    "conv3d": """\
tensor([[[[[8.]]]]])""",
    "cos": """\
tensor([1.])""",
    "cosh": """\
tensor([1.])""",
    "count_nonzero": """\
tensor(2)""",
    "cross": """\
tensor([0, 0, 1])""",
    "cummax": """\
torch.return_types.cummax(
values=tensor([1, 3, 3]),
indices=tensor([0, 1, 1]))""",
    "cumprod": """\
tensor([1, 2, 6])""",
    "cumsum": """\
tensor([1, 3, 6])""",
    "detach": """\
tensor([1., 1.])""",
    "diag": """\
tensor([[1, 0],
        [0, 2]])""",
    "diagonal": """\
tensor([1, 4])""",
    "diff": """\
tensor([3, 5])""",
    "dist": """\
tensor(5.)""",
    "div": """\
tensor([3.])""",
    "dot": """\
tensor(11)""",
    "dropout": """\
tensor([1., 1.])""",
    "elu": """\
tensor([1., 0.])""",
    "embedding": """\
tensor([[3, 4],
        [1, 2],
        [3, 4]])""",
    "empty": """\
torch.Size([2, 3])""",
    "empty_like": """\
torch.Size([2, 3])""",
    "eq": """\
tensor([ True, False])""",
    "equal": """\
True""",
    "erf": """\
tensor([0.0000, 0.8427])""",
    "exp": """\
tensor([1.0000, 2.7183])""",
    "expand": """\
tensor([[1, 1, 1],
        [2, 2, 2]])""",
    "expm1": """\
tensor([0.])""",
    "eye": """\
tensor([[1., 0.],
        [0., 1.]])""",
    "fill_": """\
tensor([7., 7.])""",
    "flatten": """\
torch.Size([2, 12])""",
    "flip": """\
tensor([3, 2, 1])""",
    "floor": """\
tensor([ 1., -2.])""",
    "floor_divide": """\
tensor([ 3, -4])""",
    "fmod": """\
tensor([-1,  1])""",
    "full": """\
tensor([[7, 7],
        [7, 7]])""",
    "full_like": """\
tensor([3., 3.])""",
    "gather": """\
tensor([[1],
        [4]])""",
    "ge": """\
tensor([False,  True])""",
    "gelu": """\
tensor([0.0000, 0.8413])""",
    "glu": """\
tensor([0.5000])""",
    "group_norm": """\
tensor([[[0., 0.],
         [0., 0.]]])""",
    "gt": """\
tensor([False, False,  True])""",
    "histc": """\
tensor([1., 2.])""",
    "index_add": """\
tensor([3., 0., 0.])""",
    "index_select": """\
tensor([30, 10])""",
    "isfinite": """\
tensor([ True, False])""",
    "isin": """\
tensor([False,  True, False])""",
    "isinf": """\
tensor([False,  True])""",
    "isnan": """\
tensor([False,  True])""",
    "kthvalue": """\
torch.return_types.kthvalue(
values=tensor(2),
indices=tensor(2))""",
    "layer_norm": """\
tensor([[-1.0000,  1.0000]])""",
    "le": """\
tensor([ True,  True, False])""",
    "lerp": """\
tensor([2.5000])""",
    "linalg_cholesky": """\
tensor([[2., 0.],
        [0., 3.]])""",
    "linalg_det": """\
tensor(-1.)""",
    "linalg_eigh": """\
tensor([1., 2.])""",
    "linalg_inv": """\
tensor([[0.5000, 0.0000],
        [0.0000, 0.2500]])""",
    "linalg_norm": """\
tensor(5.)""",
    "linalg_qr": """\
tensor([[1., 0.],
        [0., 1.]])""",
    "linalg_solve": """\
tensor([1.0000, 0.5000])""",
    "linalg_svd": """\
tensor([3., 2.])""",
    "linear": """\
tensor([[3.5000]])""",
    "linspace": """\
tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])""",
    "log": """\
tensor([0.])""",
    "log10": """\
tensor([2.])""",
    "log1p": """\
tensor([0.])""",
    "log2": """\
tensor([3.])""",
    "log_softmax": """\
tensor([-0.6931, -0.6931])""",
    "logical_and": """\
tensor([ True, False])""",
    "logical_not": """\
tensor([False,  True])""",
    "logical_or": """\
tensor([ True, False])""",
    "logsumexp": """\
tensor(0.6931)""",
    "lt": """\
tensor([ True, False, False])""",
    "masked_fill": """\
tensor([0, 2])""",
    "masked_select": """\
tensor([1, 3])""",
    "matmul": """\
tensor([3, 7])""",
    "max": """\
torch.return_types.max(
values=tensor([5, 7]),
indices=tensor([1, 0]))""",
    "maximum": """\
tensor([3, 5])""",
    "mean": """\
tensor([2., 6.])""",
    "median": """\
tensor(2)""",
    "min": """\
tensor(1)""",
    "minimum": """\
tensor([1, 2])""",
    "mm": """\
tensor([[1., 2.],
        [3., 4.]])""",
    "movedim": """\
torch.Size([3, 4, 2])""",
    "mul": """\
tensor([10, 40])""",
    "multinomial": """\
tensor([1])""",
    "mv": """\
tensor([1., 2.])""",
    "nan_to_num": """\
tensor([0., 1.])""",
    "narrow": """\
tensor([1, 2, 3])""",
    "ne": """\
tensor([False,  True])""",
    "neg": """\
tensor([-1,  2])""",
    "nonzero": """\
tensor([[1],
        [2]])""",
    "normal": """\
torch.Size([2])""",
    "one_hot": """\
tensor([[1, 0, 0],
        [0, 0, 1]])""",
    "ones": """\
tensor([[1., 1.],
        [1., 1.]])""",
    "ones_like": """\
tensor([1., 1.])""",
    "outer": """\
tensor([[ 1, 10],
        [ 2, 20]])""",
    "pad": """\
tensor([0, 1, 2, 0])""",
    "permute": """\
torch.Size([4, 2, 3])""",
    "pow": """\
tensor([1, 4, 9])""",
    "prod": """\
tensor(6)""",
    "quantile": """\
tensor(2.)""",
    "rand": """\
torch.Size([2, 3])""",
    "rand_like": """\
torch.Size([2])""",
    "randint": """\
tensor([1, 1])""",
    "randn": """\
torch.Size([2, 3])""",
    "randperm": """\
tensor([0, 1, 2])""",
    "reciprocal": """\
tensor([0.5000, 0.2500])""",
    "relu": """\
tensor([0., 2.])""",
    "remainder": """\
tensor([2, 1])""",
    "repeat": """\
tensor([1, 2, 1, 2])""",
    "repeat_interleave": """\
tensor([1, 1, 2, 2])""",
    "reshape": """\
tensor([[0, 1],
        [2, 3]])""",
    "roll": """\
tensor([3, 1, 2])""",
    "round": """\
tensor([0., 2., 2.])""",
    "rsqrt": """\
tensor([0.5000])""",
    "scaled_dot_product_attention": """\
tensor([[1., 1.]])""",
    "scatter": """\
tensor([0., 0., 5.])""",
    "scatter_add": """\
tensor([0., 0., 6.])""",
    "searchsorted": """\
tensor([1, 2])""",
    "select": """\
tensor([3, 4])""",
    "sigmoid": """\
tensor([0.5000])""",
    "sign": """\
tensor([-1,  0,  1])""",
    "silu": """\
tensor([0.0000, 0.7311])""",
    "sin": """\
tensor([0.])""",
    "sinh": """\
tensor([0.])""",
    "softmax": """\
tensor([0.5000, 0.5000])""",
    "softplus": """\
tensor([0.6931])""",
    "sort": """\
torch.return_types.sort(
values=tensor([1, 2, 3]),
indices=tensor([1, 2, 0]))""",
    "special_expit": """\
tensor([0.5000])""",
    "split": """\
(tensor([0, 1]), tensor([2, 3]), tensor([4]))""",
    "sqrt": """\
tensor([2., 3.])""",
    "square": """\
tensor([4, 9])""",
    "squeeze": """\
torch.Size([2])""",
    "stack": """\
tensor([[1, 2],
        [3, 4]])""",
    "std": """\
tensor(1.4142)""",
    "sub": """\
tensor([ 9, 19])""",
    "sum": """\
tensor([3, 7])""",
    "t": """\
tensor([[1, 3],
        [2, 4]])""",
    "take": """\
tensor([4, 1])""",
    "tan": """\
tensor([0.])""",
    "tanh": """\
tensor([0.])""",
    "tile": """\
tensor([1, 2, 1, 2])""",
    "topk": """\
torch.return_types.topk(
values=tensor([3, 2]),
indices=tensor([1, 2]))""",
    "trace": """\
tensor(5)""",
    "transpose": """\
torch.Size([3, 2])""",
    "tril": """\
tensor([[1., 0.],
        [1., 1.]])""",
    "triu": """\
tensor([[1., 1.],
        [0., 1.]])""",
    "trunc": """\
tensor([ 1., -1.])""",
    "unbind": """\
(tensor([1, 2]), tensor([3, 4]))""",
    "unflatten": """\
tensor([[0, 1, 2],
        [3, 4, 5]])""",
    "unsqueeze": """\
tensor([[1],
        [2]])""",
    "var": """\
tensor(2.)""",
    "view": """\
tensor([[0, 1, 2],
        [3, 4, 5]])""",
    "vstack": """\
tensor([[1, 2],
        [3, 4]])""",
    "where": """\
tensor([1, 0])""",
    "zeros": """\
tensor([[0., 0.],
        [0., 0.]])""",
    "zeros_like": """\
tensor([0., 0.])""",
}
