"""The names of PyTorch 2.13 that `ts` has not, by module: the public ones, which a test compares.

A module that is not there at all stands here too, with all of its names.
"""

from __future__ import annotations

from typing import Final

NAMES: Final = {
    "": """
        AcceleratorError AggregationType AnyType AwaitType BoolType ClassType ComplexType ConcreteModuleType
        ConcreteModuleTypeBuilder DeviceObjType DictType EnumType ErrorReport FloatType FutureType
        InferredType IntType InterfaceType ListType NoneType NumberType OptionalType OutOfMemoryError
        PyObjectType RRefType StreamObjType StringType SymBoolType SymIntType
        TensorType TupleType UnionType float4_e2m1fn_x2 bits16 bits1x8 bits2x4
        bits4x2 bits8
        int1 int2 int3 int4 int5 int6 int7 uint1 uint2 uint3 uint4 uint5 uint6 uint7 qint32 qint8 quint2x4
        quint4x2 quint8
    """,
    "onnx": """
        ExportableModule InputObserver JitScalarType ONNXProgram OnnxExporterError
        OperatorExportTypes TensorProtoDataType TrainingMode export select_model_mode_for_export
    """,
    "onnx.operators": """
        reshape_from_tensor_shape shape_as_tensor
    """,
    "onnx.utils": """
        disable_apex_o2_state_dict_hook export exporter_context model_signature
        select_model_mode_for_export setup_onnx_logging unconvertible_ops unpack_quantized_tensor
        warn_on_static_input_change
    """,
    "onnx.symbolic_helper": """
        args_have_same_dtype cast_pytorch_to_onnx check_training_mode dequantize_helper
        is_complex_value pytorch_name_to_type quantize_helper requantize_bias_helper
        scalar_name_to_pytorch scalar_type_to_onnx scalar_type_to_pytorch_type
    """,
    "onnx.errors": """
        OnnxExporterError OnnxExporterWarning SymbolicValueError UnsupportedOperatorError
    """,
    "ao": "",
    "ao.quantization": """
        AffineQuantizedObserverBase DeQuantStub FakeQuantize FakeQuantizeBase
        FixedQParamsFakeQuantize FixedQParamsObserver FusedMovingAvgObsFakeQuantize Granularity
        HistogramObserver MappingType MinMaxObserver MovingAverageMinMaxObserver
        MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase ObserverOrFakeQuantize
        PerAxis PerBlock PerChannelMinMaxObserver PerGroup PerRow PerTensor PerToken
        PlaceholderObserver QConfig QConfigAny QConfigDynamic QConfigMapping QuantStub QuantType
        QuantWrapper RecordingObserver ReuseInputObserver Tensor TorchAODType
        UniformQuantizationObserverBase ZeroPointDomain add_quant_dequant convert
        convert_dynamic_jit convert_jit default_activation_only_qconfig
        default_affine_fixed_qparams_fake_quant default_affine_fixed_qparams_observer
        default_debug_observer default_debug_qconfig default_dynamic_fake_quant
        default_dynamic_qat_qconfig default_dynamic_qconfig default_dynamic_quant_observer
        default_embedding_fake_quant default_embedding_fake_quant_4bit default_embedding_qat_qconfig
        default_embedding_qat_qconfig_4bit default_eval_fn default_fake_quant
        default_fixed_qparams_range_0to1_fake_quant default_fixed_qparams_range_0to1_observer
        default_fixed_qparams_range_neg1to1_fake_quant default_fixed_qparams_range_neg1to1_observer
        default_float_qparams_observer default_float_qparams_observer_4bit
        default_fused_act_fake_quant default_fused_per_channel_wt_fake_quant
        default_fused_wt_fake_quant default_histogram_fake_quant default_histogram_observer
        default_observer default_per_channel_qconfig
        default_per_channel_symmetric_qnnpack_qat_qconfig
        default_per_channel_symmetric_qnnpack_qconfig default_per_channel_weight_fake_quant
        default_per_channel_weight_observer default_placeholder_observer default_qat_qconfig
        default_qat_qconfig_v2 default_qconfig default_quint8_weight_qconfig
        default_reuse_input_observer default_reuse_input_qconfig
        default_symmetric_fixed_qparams_fake_quant default_symmetric_fixed_qparams_observer
        default_symmetric_qnnpack_qat_qconfig default_symmetric_qnnpack_qconfig
        default_weight_fake_quant default_weight_observer default_weight_only_qconfig
        disable_fake_quant disable_observer enable_fake_quant enable_observer
        float16_dynamic_qconfig float16_static_qconfig float_qparams_weight_only_qconfig
        float_qparams_weight_only_qconfig_4bit fuse_conv_bn fuse_conv_bn_jit fuse_conv_bn_relu
        fuse_convtranspose_bn fuse_linear_bn fuse_modules fuse_modules_qat
        fused_per_channel_wt_fake_quant_range_neg_127_to_127
        fused_wt_fake_quant_range_neg_127_to_127 get_block_size
        get_default_compare_output_module_list get_default_custom_config_dict
        get_default_dynamic_quant_module_mappings get_default_dynamic_sparse_quant_module_mappings
        get_default_float_to_quantized_operator_mappings get_default_qat_module_mappings
        get_default_qat_qconfig get_default_qat_qconfig_dict get_default_qat_qconfig_mapping
        get_default_qconfig get_default_qconfig_dict get_default_qconfig_mapping
        get_default_qconfig_propagation_list get_default_static_quant_module_mappings
        get_default_static_quant_reference_module_mappings
        get_default_static_sparse_quant_module_mappings get_dynamic_quant_module_class
        get_embedding_qat_module_mappings get_embedding_static_quant_module_mappings
        get_fuser_method get_fuser_method_new get_observer_state_dict get_quantized_operator
        get_static_quant_module_class load_observer_state_dict no_observer_set
        per_channel_dynamic_qconfig per_channel_weight_observer_range_neg_127_to_127 prepare
        prepare_dynamic_jit prepare_jit prepare_qat propagate_qconfig_ qconfig_equals quantize
        quantize_dynamic quantize_dynamic_jit quantize_jit quantize_qat script_qconfig
        script_qconfig_dict swap_module weight_observer_range_neg_127_to_127
    """,
    "ao.nn": "",
    "ao.nn.quantized": """
        BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
        DeQuantize Dropout ELU Embedding EmbeddingBag FXFloatFunctional FloatFunctional GroupNorm
        Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM LayerNorm LeakyReLU Linear
        MaxPool2d MultiheadAttention PReLU QFunctional Quantize ReLU6 Sigmoid Softmax
    """,
    "ao.nn.intrinsic": """
        BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d
        ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearLeakyReLU
        LinearReLU LinearTanh
    """,
    "ao.pruning": """
        BaseScheduler BaseSparsifier CubicSL FakeSparsity LambdaSL NearlyDiagonalSparsifier
        WeightNormSparsifier fqn_to_module get_arg_info_from_tensor_fqn
        get_dynamic_sparse_quantized_mapping get_static_sparse_quantized_mapping module_to_fqn
    """,
    "quantization": """
        DeQuantStub FakeQuantize FakeQuantizeBase FixedQParamsFakeQuantize
        FusedMovingAvgObsFakeQuantize HistogramObserver MinMaxObserver MovingAverageMinMaxObserver
        MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase PerChannelMinMaxObserver
        PlaceholderObserver QConfig QConfigAny QConfigDynamic QuantStub QuantType QuantWrapper
        RecordingObserver add_quant_dequant convert convert_dynamic_jit convert_jit
        default_activation_only_qconfig default_debug_observer default_debug_qconfig
        default_dynamic_qconfig default_dynamic_quant_observer default_eval_fn default_fake_quant
        default_fixed_qparams_range_0to1_fake_quant default_fixed_qparams_range_neg1to1_fake_quant
        default_float_qparams_observer default_fused_act_fake_quant
        default_fused_per_channel_wt_fake_quant default_fused_wt_fake_quant
        default_histogram_fake_quant default_histogram_observer default_observer
        default_per_channel_qconfig default_per_channel_weight_fake_quant
        default_per_channel_weight_observer default_placeholder_observer default_qat_qconfig
        default_qat_qconfig_v2 default_qconfig default_weight_fake_quant default_weight_observer
        default_weight_only_qconfig disable_fake_quant disable_observer enable_fake_quant
        enable_observer float16_dynamic_qconfig float16_static_qconfig
        float_qparams_weight_only_qconfig fuse_conv_bn fuse_conv_bn_jit fuse_conv_bn_relu
        fuse_linear_bn fuse_modules get_default_compare_output_module_list
        get_default_dynamic_quant_module_mappings get_default_float_to_quantized_operator_mappings
        get_default_qat_module_mappings get_default_qat_qconfig get_default_qconfig
        get_default_qconfig_propagation_list get_default_static_quant_module_mappings
        get_dynamic_quant_module_class get_fuser_method get_observer_state_dict
        get_quantized_operator get_static_quant_module_class load_observer_state_dict
        no_observer_set per_channel_dynamic_qconfig prepare prepare_dynamic_jit prepare_jit
        prepare_qat propagate_qconfig_ qconfig_equals quantize quantize_dynamic quantize_dynamic_jit
        quantize_jit quantize_qat script_qconfig script_qconfig_dict swap_module
    """,
    "quantization.observer": """
        HistogramObserver MinMaxObserver MovingAverageMinMaxObserver
        MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase PerChannelMinMaxObserver
        PlaceholderObserver RecordingObserver default_debug_observer
        default_dynamic_quant_observer default_float_qparams_observer
        default_histogram_observer default_observer default_per_channel_weight_observer
        default_placeholder_observer default_weight_observer get_observer_state_dict
        load_observer_state_dict
    """,
    "quantization.fake_quantize": """
        FakeQuantize FakeQuantizeBase FixedQParamsFakeQuantize FusedMovingAvgObsFakeQuantize
        default_fake_quant default_fixed_qparams_range_0to1_fake_quant
        default_fixed_qparams_range_neg1to1_fake_quant default_fused_act_fake_quant
        default_fused_per_channel_wt_fake_quant default_fused_wt_fake_quant
        default_histogram_fake_quant default_per_channel_weight_fake_quant
        default_weight_fake_quant disable_fake_quant disable_observer enable_fake_quant
        enable_observer
    """,
    "nn.quantized": """
        BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
        DeQuantize Dropout ELU Embedding EmbeddingBag FXFloatFunctional FloatFunctional GroupNorm
        Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM LayerNorm LeakyReLU Linear
        MaxPool2d MultiheadAttention PReLU QFunctional Quantize ReLU6 Sigmoid Softmax
    """,
    "nn.qat": """
        Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear
    """,
    "nn.quantizable": """
        LSTM LSTMCell MultiheadAttention
    """,
    "nn.intrinsic": """
        BNReLU2d BNReLU3d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d
        ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearReLU
    """,
    "nn.intrinsic.quantized": """
        BNReLU2d BNReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearReLU
    """,
    "nn.attention.flex_attention": """
        AuxOutput AuxRequest BlockMask FlexKernelOptions GetAttrKey Tensor TreeSpec and_masks
        create_block_mask create_mask flex_attention flex_attention_hop noop_mask or_masks
        setup_compilation_env tree_flatten tree_map_only tree_unflatten
    """,
    "nn.attention.bias": """
        CausalBias CausalVariant SDPAParams can_use_efficient_attention can_use_flash_attention
        causal_lower_right causal_upper_left is_flash_attention_available
    """,
    "fx.graph_module": "reduce_package_graph_module",
    "fx.proxy": "MetaProxy",
    "fx.passes.split_module": "split_module_simple",
    "fx.passes.tools_common": "FxNetAccFusionsFinder",
    "fx.experimental.optimization": """
        MklSubgraph UnionFind gen_mkl_autotuner modules_to_mkldnn optimize_for_inference reset_modules
        use_mkl_length
    """,
    "fx.experimental.proxy_tensor": """
        BackwardState DecompositionInterpreter FakeScriptObject FakeTensor FakeTensorMode
        FunctionalTensor GraphModule HigherOrderOperator Module OpOverload OpaqueBase
        PreDispatchTorchFunctionMode Proxy ProxyTorchDispatchMode PythonKeyTracer R SymBool SymInt
        SymNode T Tensor Thunk TorchDispatchMode TorchFunctionMetadataMode TorchFunctionMode
        TraceableWrapperSubclass Tracer U WeakIdKeyDictionary WeakTensorKeyDictionary
        autograd_would_have_decomposed count decompose disable_autocast_cache
        disable_proxy_modes_tracing dispatch_trace enable_python_dispatcher extract_val
        fake_signature fast_detach fetch_object_proxy fetch_sym_proxy get_innermost_proxy_mode
        get_isolated_graphmodule get_plain_tensors get_proxy_mode get_proxy_slot get_reconstruct_fn
        get_torch_dispatch_modes handle_sym_dispatch has_proxy_slot is_fake is_opaque_reference_type
        is_opaque_value is_opaque_value_type is_sparse_any is_sym_node make_fx
        maybe_disable_thunkify maybe_enable_thunkify maybe_handle_decomp no_default proxy_call
        py_sym_types selective_decompose set_meta set_original_aten_op set_proxy_slot should_hoist
        snapshot_fake thunkify trace_structured track_tensor track_tensor_tree
        unset_fake_temporarily wrap_key wrapper_and_args_for_make_fx
    """,
    "fx.experimental.symbolic_shapes": """
        AggressiveGuardFreeMode CURRENT_NODE_KEY CallMethodKey CapturedTraceback CeilToInt CleanDiv
        Constraint ConstraintViolationError ConvertIntKey CppPrinter DimConstraints DimDynamic
        DivideByKey DynamicDimConstraintPrinter EqualityConstraint FakeScriptObject FakeTensorMeta
        FloorDiv FloorToInt InnerTensorKey IntTrueDiv IsNonOverlappingAndDenseIndicator LazyString
        LoggingShapeGuardPrinter Max Mod OpaqueBase OrderedSet PendingUnbackedSymbolNotFound
        PropagateUnbackedSymInts PythonMod PythonPrinter RelaxedUnspecConstraint RuntimeAssert
        SHAPEENV_EVENT_KEY SLoc SYMPY_INTERP ShapeEnv ShapeEnvEvent ShapeEnvSettings ShapeGuard
        ShapeGuardPrinter ShapeGuardPythonPrinter SingletonInt Source Specialization
        StatefulSymbolicContext StatelessSymbolicContext StrictMinMaxConstraint
        SubclassSymbolicContext SymBool SymExprPrinter SymFloat SymInt SymIntEqByExpr
        SymIntSymbolicContext SymNode SymPyValueRangeAnalysis SymT SymbolicContext TracingContext
        TrackedFake TruncToInt ValueRangeError ValueRanges ValueRangesSLoc bind_symbols bound_sympy
        canonicalize_bool_expr cast_symbool_to_symint_guardless check_consistent
        compute_unbacked_bindings create_contiguous dtrace_structured error eval_guards
        eval_is_non_overlapping_and_dense find_symbol_binding_fx_nodes format_frame
        fx_placeholder_targets fx_placeholder_vals get_unwrapped has_guarding_hint int_oo
        is_accessor_node is_batchedtensor is_gradtrackingtensor is_opaque_value is_sparse_any
        is_symbol_binding_fx_node is_traceable_wrapper_subclass log_lru_cache_stats lru_cache
        make_symbol rebind_unbacked record_shapeenv_event replay_shape_env_events
        resolve_unbacked_bindings safe_expand shape_env_check_state_equal signpost_event
        symbol_is_type trace_structured try_solve uninteresting_files
    """,
    "export": """
        Constraint CustomDecompTable PassResult
    """,
    "export.dynamic_shapes": """
        Constraint refine_dynamic_shapes_from_suggested_fixes
    """,
    "package": """
        Directory EmptyMatchError GlobGroup Importer ObjMismatchError ObjNotFoundError
        OrderedImporter PackageExporter PackageImporter PackagingError is_from_package
        sys_importer
    """,
    "monitor": """
        Aggregation COUNT Event EventHandlerHandle MAX MEAN MIN STAT_EVENT SUM Stat
        TYPE_CHECKING TensorboardEventHandler VALUE data_value_t log_event
        register_event_handler unregister_event_handler
    """,
    "sparse": """
        BFloat16Tensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor
        LongTensor ShortTensor SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT
        SparseSemiStructuredTensorCUTLASS Tensor addmm as_sparse_gradcheck
        check_sparse_tensor_invariants log_softmax mm sampled_addmm softmax spdiags spsolve sum
        to_sparse_semi_structured
    """,
    "nested": """
        DType Device SymInt Tensor as_nested_tensor masked_select narrow nested_tensor
        nested_tensor_from_jagged to_padded_tensor
    """,
    "utils.cpp_extension": """
        BuildExtension CUDAExtension CppExtension ExtensionVersioner FileBaton
        JIT_EXTENSION_VERSIONER SyclExtension TorchVersion Version check_compiler_is_gcc
        check_compiler_ok_for_platform get_compiler_abi_compatibility_and_version get_cxx_compiler
        get_default_build_root include_paths is_ninja_available library_paths load load_inline
        remove_extension_h_precompiler_headers verify_ninja_availability
    """,
    "utils.flop_counter": """
        FlopCounterMode ModuleTracker TorchDispatchMode addmm_flop baddbmm_flop bmm_flop
        conv_backward_flop conv_flop conv_flop_count convert_num_with_suffix convert_to_percent_str
        get_shape get_suffix_str mm_flop normalize_tuple register_flop_formula sdpa_backward_flop
        sdpa_backward_flop_count sdpa_flop sdpa_flop_count shape_wrapper tree_flatten tree_map
        tree_unflatten
    """,
    "utils.bundled_inputs": """
        InflatableArg ListType MAX_RAW_TENSOR_SIZE T TupleType
        augment_many_model_functions_with_bundled_inputs augment_model_with_bundled_inputs
        bundle_inputs bundle_large_tensor bundle_randn wrap_cpp_module
    """,
    "utils.mobile_optimizer": """
        LintCode MobileOptimizerType generate_mobile_module_lints optimize_for_mobile
    """,
    "utils.throughput_benchmark": """
        ExecutionStats ThroughputBenchmark format_time
    """,
    "utils.module_tracker": """
        ModuleTracker register_module_forward_hook register_module_forward_pre_hook
        register_multi_grad_hook tree_flatten
    """,
    "utils.mkldnn": """
        MkldnnBatchNorm MkldnnConv1d MkldnnConv2d MkldnnConv3d MkldnnLinear MkldnnPrelu to_mkldnn
    """,
    "utils.data.datapipes": "",
    "distributed": """
        AllToAllOptions AllreduceCoalescedOptions AllreduceOptions BackendConfig BarrierOptions
        BroadcastOptions BuiltinCommHookType DebugLevel DeviceMesh FileStore GatherOptions
        GradBucket GroupName HashStore Logger PrefixStore ProcessGroupGloo RankType ReduceOptions
        ReduceScatterOptions Reducer ScatterOptions Store TCPStore breakpoint get_debug_level
        get_default_backend_for_device init_device_mesh log new_subgroups
        new_subgroups_by_enumeration record_comm reduce_op register_rendezvous_handler rendezvous
        set_debug_level set_debug_level_from_env shrink_group split_group supports_complex
        timedelta
    """,
    "distributed.nn": """
        Function ReduceOp RemoteModule all_gather all_reduce all_to_all all_to_all_single
        broadcast gather group reduce reduce_scatter scatter
    """,
    "distributed.tensor": """
        DTensor DeviceMesh Partial Placement Replicate Shard distribute_module distribute_tensor
        empty full init_device_mesh ones rand randn zeros
    """,
    "distributed.fsdp": """
        BackwardPrefetch CPUOffload CPUOffloadPolicy DataParallelMeshDims FSDPModule FlatParameter
        FullOptimStateDictConfig FullStateDictConfig FullyShardedDataParallel
        LocalOptimStateDictConfig LocalStateDictConfig MixedPrecision MixedPrecisionPolicy
        OffloadPolicy OptimStateDictConfig OptimStateKeyType ShardedOptimStateDictConfig
        ShardedStateDictConfig ShardingStrategy StateDictConfig StateDictSettings StateDictType
        UnshardHandle fully_shard register_fsdp_forward_method share_comm_ctx
    """,
    "distributed.device_mesh": """
        C10dBackend DeviceMesh GroupName OpaqueBase ProcessGroup get_backend get_process_group_ranks
        get_rank get_world_size init_device_mesh init_process_group is_available is_initialized
        new_group not_none split_group
    """,
    "distributed.algorithms": """
        Join JoinHook Joinable
    """,
    "distributed.optim": """
        PostLocalSGDOptimizer ZeroRedundancyOptimizer as_functional_optim
    """,
    "distributed.pipelining": """
        Pipe PipelineStage Schedule1F1B ScheduleDualPipeV ScheduleGPipe ScheduleInterleaved1F1B
        ScheduleInterleavedZeroBubble ScheduleLoopedBFS ScheduleZBVZeroBubble SplitPoint
        build_stage pipe_split pipeline
    """,
    "distributed.rpc": """
        AllGatherStates RemoteProfilerManager RpcAgent Store TensorPipeAgent enable_gil_profiling
        method_factory new_method
    """,
    "distributed.checkpoint": """
        BytesStorageMetadata CheckpointException ChunkStorageMetadata DefaultLoadPlanner
        DefaultSavePlanner FileSystemReader FileSystemWriter HuggingFaceStorageReader
        HuggingFaceStorageWriter LoadPlan LoadPlanner Metadata QuantizedHuggingFaceStorageReader
        ReadItem SavePlan SavePlanner StorageReader StorageWriter TensorStorageMetadata WriteItem
        async_save load load_sharded_optimizer_state_dict load_state_dict save
        save_state_dict
    """,
    "distributed.distributed_c10d": """
        AllToAllOptions AllgatherOptions AllreduceCoalescedOptions AllreduceOptions BackendConfig
        BarrierOptions BroadcastOptions DebugLevel GatherOptions GroupName PrefixStore
        ProcessGroupGloo ReduceOptions ReduceScatterOptions ScatterOptions Store get_debug_level
        get_default_backend_for_device handle_torch_function has_torch_function is_mpi_available
        is_nccl_available is_torchelastic_launched is_ucc_available is_xccl_available
        new_subgroups new_subgroups_by_enumeration not_none record_comm reduce_op
        register_rendezvous_handler rendezvous set_pytorch_distributed_envs_from_justknobs
        shrink_group split_group supports_complex
    """,
    "distributed.utils": """
        Any Callable Container Optional OrderedDict PackedSequence Q R S T TypeVar overload
    """,
    "distributed.tensor.parallel": """
        ColwiseParallel ParallelStyle PrepareModuleInput PrepareModuleInputOutput
        PrepareModuleOutput RowwiseParallel SequenceParallel loss_parallel parallelize_module
    """,
    "nn.parallel": """
        DistributedDataParallelCPU data_parallel gather parallel_apply replicate scatter
    """,
    "nn.parallel.distributed": """
        Function Join JoinHook Joinable RRef ReduceOp Variable gather scatter_kwargs tree_flatten
        tree_unflatten
    """,
    "multiprocessing.reductions": """
        SharedCache rebuild_cuda_tensor rebuild_event rebuild_nested_tensor rebuild_sparse_compressed_tensor
        rebuild_sparse_coo_tensor rebuild_storage_filename rebuild_typed_storage_child reduce_event
        reduce_nested_tensor reduce_sparse_tensor reduce_typed_storage_child shared_cache storage_from_cache
    """,
    "cuda": """
        AcceleratorError BFloat16Storage BoolStorage ByteStorage CUDAPluggableAllocator CharStorage
        ComplexDoubleStorage ComplexFloatStorage CudaError DeferredCudaCallError DoubleStorage
        FloatStorage GreenContext HalfStorage IntStorage LongStorage MemPool OutOfMemoryError
        ShortStorage caching_allocator_alloc caching_allocator_delete caching_allocator_disabled
        caching_allocator_enable change_current_allocator check_error classproperty clock_rate
        cudaStatus cudart current_blas_handle current_solver_handle default_generators
        device_memory_used get_allocator_backend get_arch_list get_gencode_flags
        get_per_process_memory_fraction get_stream_from_external get_sync_debug_mode has_half
        has_magma host_memory_stats host_memory_stats_as_nested_dict ipc_collect is_tf32_supported
        list_gpu_processes max_memory_cached memory_cached memory_snapshot
        memory_stats_as_nested_dict memory_summary memory_usage power_draw
        reset_accumulated_host_memory_stats reset_accumulated_memory_stats reset_max_memory_cached
        reset_peak_host_memory_stats set_per_process_memory_fraction set_sync_debug_mode temperature
        use_mem_pool utilization
    """,
    "cuda.nvtx": """
        mark range range_end range_pop range_push range_start
    """,
    "cuda.nccl": """
        all_gather all_reduce broadcast init_rank is_available reduce reduce_scatter unique_id
        version
    """,
    "cuda.tunable": """
        enable get_filename get_max_tuning_duration get_max_tuning_iterations get_results
        get_rotating_buffer_size get_validators is_enabled mgpu_tune_gemm_in_file
        read_file record_untuned_enable record_untuned_is_enabled set_filename
        set_max_tuning_duration set_max_tuning_iterations set_numerical_check_tolerances
        set_rotating_buffer_size tune_gemm_in_file tuning_enable tuning_is_enabled
    """,
    "cuda.jiterator": """
        Callable Tensor
    """,
    "cuda.memory": """
        CUDAPluggableAllocator MemPool caching_allocator_alloc caching_allocator_delete
        caching_allocator_disabled caching_allocator_enable change_current_allocator
        get_allocator_backend get_per_process_memory_fraction host_memory_stats
        host_memory_stats_as_nested_dict is_initialized list_gpu_processes max_memory_cached
        memory_cached memory_snapshot memory_stats_as_nested_dict memory_summary
        reset_accumulated_host_memory_stats reset_accumulated_memory_stats reset_max_memory_cached
        reset_peak_host_memory_stats set_per_process_memory_fraction use_mem_pool
    """,
    "cuda.profiler": """
        check_error cudart profile start stop
    """,
    "cuda.comm": """
        broadcast broadcast_coalesced gather reduce_add reduce_add_coalesced scatter
    """,
    "mtia": """
        DeferredMtiaCallError Event MTIAGraph Stream StreamContext Tensor
        attach_out_of_memory_observer current_device current_stream default_stream device
        device_count empty_cache get_device_capability get_device_properties get_rng_state
        get_rng_state_all graph graph_pool_handle init initial_seed is_available is_bf16_supported
        is_fbcode is_initialized is_prod manual_seed manual_seed_all max_memory_allocated
        memory_allocated memory_stats record_memory_history reset_peak_memory_stats seed seed_all
        set_device set_rng_state set_rng_state_all set_stream snapshot stream synchronize
    """,
    "xpu": """
        Event MemPool Stream StreamContext XPUGraph XPUPluggableAllocator can_device_access_peer
        change_current_allocator clock_rate current_device current_stream
        default_generators device device_memory_used device_of empty_cache get_arch_list
        get_device_capability get_device_name get_device_properties get_gencode_flags
        get_per_process_memory_fraction get_rng_state get_rng_state_all
        get_stream_from_external graph graph_pool_handle init initial_seed
        is_bf16_supported is_current_stream_capturing is_tf32_supported
        make_graphed_callables manual_seed manual_seed_all max_memory_allocated
        max_memory_reserved mem_get_info memory_allocated memory_reserved memory_snapshot
        memory_stats memory_stats_as_nested_dict memory_usage power_draw
        reset_accumulated_memory_stats reset_peak_memory_stats seed seed_all set_device
        set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream stream
        synchronize temperature use_mem_pool utilization
    """,
    "mps": """
        Event Tensor compile_shader current_allocated_memory driver_allocated_memory empty_cache
        get_rng_state load_metallib manual_seed recommended_max_memory seed
        set_per_process_memory_fraction set_rng_state synchronize
    """,
    "cpu": """
        Event StreamContext current_stream get_capabilities
    """,
    "profiler.itt": """
        is_available mark range range_pop range_push
    """,
    "autograd.profiler": """
        DeviceType EnforceUnique Future KinetoStepTracker MemRecordsAcc ProfilerActivity
        ProfilerConfig ProfilerState emit_itt emit_nvtx load_nvprof parse_nvprof_trace
    """,
    "autograd.profiler_util": """
        DeviceType EventList EventMetadata FormattedTimesMixin FunctionEvent FunctionEventAvg
        Interval Kernel MemRecordsAcc StringTable
    """,
    "sparse.semi_structured": """
        SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT
        SparseSemiStructuredTensorCUTLASS fallback_dispatcher semi_sparse_addmm semi_sparse_clone
        semi_sparse_detach semi_sparse_indices semi_sparse_linear semi_sparse_mm
        semi_sparse_scaled_mm semi_sparse_t semi_sparse_to semi_sparse_to_copy semi_sparse_values
        semi_sparse_view sparse_semi_structured_from_dense_cutlass
        sparse_semi_structured_to_dense_cutlass to_sparse_semi_structured
    """,
    "masked.maskedtensor": """
        MaskedTensor is_masked_tensor
    """,
    "jit.mobile": """
        LiteScriptModule validate_map_location
    """,
    "jit.quantized": """
        QuantizedGRU QuantizedGRUCell QuantizedLSTM QuantizedLSTMCell QuantizedLinear
        QuantizedLinearFP16 QuantizedRNNBase QuantizedRNNCell QuantizedRNNCellBase
        quantize_linear_modules quantize_rnn_cell_modules quantize_rnn_modules
    """,
    "utils.data": """
        DFIterDataPipe DataChunk IterDataPipe MapDataPipe argument_validation
        guaranteed_datapipes_determinism non_deterministic runtime_validation
        runtime_validation_disabled
    """,
}  # fmt: skip

# Functions whose answer is known though what they ask about is not there.
ANSWERS: Final = {
    "onnx.is_in_onnx_export": False,
    "distributed.is_mpi_available": False,
    "distributed.is_nccl_available": False,
    "distributed.is_torchelastic_launched": False,
    "distributed.is_ucc_available": False,
    "distributed.is_xccl_available": False,
    "utils._triton.has_triton": False,
    "utils._triton.has_triton_package": False,
}

# What only marks or registers a function for what is absent: a decorator gives it back as it is.
MARKERS: Final = """
    onnx.register_custom_op_symbolic onnx.unregister_custom_op_symbolic
    onnx.symbolic_helper.parse_args onnx.symbolic_helper.quantized_args
    onnx.utils.register_custom_op_symbolic onnx.utils.unregister_custom_op_symbolic
    utils.data.functional_datapipe
"""

# Modules that are no part of PyTorch's interface, but that programs mention: whatever they are asked for,
# there is a placeholder.
PRIVATE: Final = """
    _awaits _classes _compile _custom_op _custom_ops _decomp _dispatch _dynamo _export _functorch _guards
    _higher_order_ops _inductor _lazy _library _logging _meta_registrations _numpy _ops _prims _prims_common
    _python_dispatcher _refs _sources _subclasses _tensor_str onnx._constants onnx._flags onnx._globals
    fx.experimental._config fx.experimental.accelerator_partitioner fx.experimental.const_fold
    fx.experimental.debug fx.experimental.graph_gradual_typechecker fx.experimental.merge_matmul
    fx.experimental.meta_tracer fx.experimental.normalize fx.experimental.partitioner_utils
    fx.experimental.schema_type_annotation fx.experimental.sym_node fx.experimental.unification
    fx.experimental.validator fx.passes.backends fx.passes.dialect fx.passes.fake_tensor_prop
    fx.passes.graph_drawer fx.passes.graph_manipulation fx.passes.graph_transform_observer
    fx.passes.net_min_base fx.passes.param_fetch fx.passes.pass_manager fx.passes.reinplace
    fx.passes.runtime_assert fx.passes.split_utils fx.passes.splitter_base fx.tensor_type
    onnx._internal onnx._type_utils onnx.ops onnx.testing onnx.verification utils._content_store
    utils._contextlib utils._foreach_utils utils._mode_utils utils._python_dispatch utils._stats
    utils._traceback utils._triton utils._typing_utils utils.data._utils
    onnx.symbolic_opset7 onnx.symbolic_opset8 onnx.symbolic_opset9 onnx.symbolic_opset10
    onnx.symbolic_opset11 onnx.symbolic_opset12 onnx.symbolic_opset13 onnx.symbolic_opset14
    onnx.symbolic_opset15 onnx.symbolic_opset16 onnx.symbolic_opset17 onnx.symbolic_opset18
    onnx.symbolic_opset19 onnx.symbolic_opset20
"""
