"""Messages for operands of different dtypes. The expected texts are those of PyTorch on the CPU."""

import pytest

import ts

F = ts.nn.functional
f, d, h, b, l = ts.float32, ts.float64, ts.float16, ts.bfloat16, ts.int64
bool_, c = ts.bool, ts.complex64
M1_M2 = "expected m1 and m2 to have the same dtype, but got: "
ONEDNN = " should be the same or input should be a MKLDNN tensor and {} is a dense tensor"
MIXED = "mixed dtype (CPU): "


def z(*shape, dtype=f):
    return ts.zeros(shape, dtype=dtype)


def conv2d(x, weight, bias=None, batch=1, kernel=3, groups=1):
    shift = None if bias is None else z(4, dtype=bias)
    weights = z(4, 2 // groups, kernel, kernel, dtype=weight)
    return F.conv2d(z(batch, 2, 5, 5, dtype=x), weights, shift, groups=groups)


def conv_transpose2d(x, weight, bias=None, batch=1):
    shift = None if bias is None else z(3, dtype=bias)
    return F.conv_transpose2d(z(batch, 2, 5, 5, dtype=x), z(2, 3, 3, 3, dtype=weight), shift)


def layer_norm(x, weight, bias):
    scale = None if weight is None else z(3, dtype=weight)
    return F.layer_norm(z(2, 3, dtype=x), [3], scale, z(3, dtype=bias))


CASES = {
    # convolutions: the sizes decide whether PyTorch computes a float32 convolution by oneDNN
    "conv": [
        (lambda: conv2d(f, d), "expected scalar type Float but found Double"),
        (lambda: conv2d(d, f, batch=2), "expected scalar type Double but found Float"),
        (lambda: conv2d(h, f, batch=2), "expected scalar type Half but found Float"),
        (lambda: conv2d(f, l), "expected scalar type Float but found Long"),
        (lambda: conv2d(f, d, batch=2),
         "Input type (torch.FloatTensor) and weight type (torch.DoubleTensor)" + ONEDNN.format("weight")),
        (lambda: conv2d(f, b, kernel=4),
         "Input type (torch.FloatTensor) and weight type (CPUBFloat16Type)" + ONEDNN.format("weight")),
        (lambda: conv2d(f, bool_, groups=2),
         "Input type (torch.FloatTensor) and weight type (CPUBoolType)" + ONEDNN.format("weight")),
        (lambda: conv2d(b, f),
         "Input type (CPUBFloat16Type) and weight type (torch.FloatTensor)" + ONEDNN.format("weight")),
        (lambda: conv2d(c, f),
         "Input type (CPUComplexFloatType) and weight type (torch.FloatTensor) should be the same"),
        (lambda: conv2d(f, f, d), "Input type (float) and bias type (double) should be the same"),
        (lambda: conv2d(f, d, d), "Input type (float) and bias type (double) should be the same"),
        (lambda: F.conv1d(z(1, 2, 5), z(3, 2, 4, dtype=d)), "expected scalar type Float but found Double"),
        (lambda: F.conv1d(z(1, 2, 20480), z(3, 2, 3, dtype=d)),
         "Input type (torch.FloatTensor) and weight type (torch.DoubleTensor)" + ONEDNN.format("weight")),
        (lambda: conv_transpose2d(f, d), "expected scalar type Float but found Double"),
        (lambda: conv_transpose2d(f, f, d, batch=2),
         "Input type (torch.FloatTensor) and bias type (torch.DoubleTensor)" + ONEDNN.format("bias")),
        (lambda: conv_transpose2d(l, l, f), "result type Float can't be cast to the desired output type Long"),
    ],
    # products
    "matmul": [
        (lambda: ts.mm(z(2, 3), z(3, 2, dtype=d)), M1_M2 + "float != double"),
        (lambda: ts.mm(z(2, 3, dtype=bool_), z(3, 2, dtype=d)), M1_M2 + "bool != double"),
        (lambda: z(4, 2, 3) @ z(3, 2, dtype=l), M1_M2 + "float != long int"),
        (lambda: z(4, 2, 3) @ z(4, 3, 2, dtype=l), "expected scalar type Float but found Long"),
        (lambda: z(2, 3) @ z(4, 3, 2, dtype=h), "expected scalar type Float but found Half"),
        (lambda: z(2, 3) @ z(4, 2, 3, dtype=h).mT, M1_M2 + "c10::Half != float"),
        (lambda: z(2, 3) @ z(3, dtype=d), "addmv input tensors must have the same dtype, but got Double, Float, and Double"),
        (lambda: z(4, 2, 3) @ z(3, dtype=d),
         "addmv input tensors must have the same dtype, but got Double, Float, and Double"),
        (lambda: z(3) @ z(3, dtype=d), "dot : expected both vectors to have same dtype, but found Float and Double"),
        (lambda: ts.bmm(z(4, 2, 3), z(4, 3, 2, dtype=d)), "expected scalar type Float but found Double"),
        (lambda: ts.addmm(z(2, 2), z(2, 3), z(3, 2, dtype=d)), "self and mat2 must have the same dtype, but got Float and Double"),
        (lambda: ts.addmm(z(2, 2), z(2, 3, dtype=d), z(3, 2)), "mat1 and mat2 must have the same dtype, but got Double and Float"),
        (lambda: ts.addbmm(z(2, 2), z(4, 2, 3, dtype=d), z(4, 3, 2)),
         "mat1 and mat2 must have the same dtype, but got Double and Float"),
        (lambda: ts.addmv(z(2), z(2, 3, dtype=d), z(3)),
         "addmv input tensors must have the same dtype, but got Float, Double, and Float"),
        (lambda: ts.baddbmm(z(4, 2, 2), z(4, 2, 3, dtype=d), z(4, 3, 2)),
         "Input dtypes must be the same, got: input float, batch1: double, batch2: float"),
        (lambda: ts.baddbmm(z(4, 2, 2), z(4, 2, 3), z(4, 3, 2, dtype=d)), "expected scalar type Float but found Double"),
        (lambda: F.linear(z(2, 3), z(4, 3, dtype=d)), M1_M2 + "float != double"),
        (lambda: F.linear(z(2, 3), z(4, 3), z(4, dtype=d)), "self and mat2 must have the same dtype, but got Double and Float"),
        (lambda: F.linear(z(2, 3), z(4, 3, dtype=d), z(4, dtype=d)),
         "mat1 and mat2 must have the same dtype, but got Float and Double"),
        (lambda: ts.einsum("ij,jk->ik", z(2, 3), z(3, 2, dtype=d)), "expected scalar type Float but found Double"),
        (lambda: ts.linalg.cross(z(3), z(3, dtype=d)), "expected scalar type Float but found Double"),
        (lambda: ts.cdist(z(2, 3), z(2, 3, dtype=d)), "expected scalar type Float but found Double"),
        (lambda: F.bilinear(z(2, 3), z(2, 3, dtype=d), z(2, 3, 3)),
         "All tensors must have the same dtype, got input1: float, input2: double, weight: float"),
        (lambda: F.scaled_dot_product_attention(z(1, 2, 3, 4), z(1, 2, 3, 4, dtype=d), z(1, 2, 3, 4)),
         "Expected query, key, and value to have the same dtype, but got query.dtype: float key.dtype: double and "
         "value.dtype: float instead."),
    ],
    # shapes that do not match
    "shapes": [
        (lambda: z(2, 3) @ z(2), "size mismatch, got input (2), mat (2x3), vec (2)"),
        (lambda: z(4, 2, 3) @ z(2), "size mismatch, got input (8), mat (8x3), vec (2)"),
        (lambda: z(3) @ z(2, 3), "mat1 and mat2 shapes cannot be multiplied (1x3 and 2x3)"),
        (lambda: z(4, 2, 3) @ z(2, 3), "mat1 and mat2 shapes cannot be multiplied (8x3 and 2x3)"),
        (lambda: z(4, 2, 3).mT @ z(4, 3),
         "Expected size for first two dimensions of batch2 tensor to be: [4, 2] but got: [4, 4]."),
        (lambda: z(2, 3) @ z(4, 2, 3),
         "Expected size for first two dimensions of batch2 tensor to be: [4, 3] but got: [4, 2]."),
    ],
    # normalization and embedding
    "normalization": [
        (lambda: layer_norm(f, f, d), "expected scalar type Float but found Double"),
        (lambda: layer_norm(f, d, f), MIXED + "expect parameter to have scalar type of Float"),
        (lambda: layer_norm(f, None, d), MIXED + "expect parameter to have scalar type of Float"),
        (lambda: layer_norm(d, f, f), MIXED + "all inputs must share same datatype."),
        (lambda: layer_norm(h, h, f), "expected scalar type Half but found Float"),
        (lambda: layer_norm(h, f, h), MIXED + "expect parameter to have scalar type of Float"),
        (lambda: F.group_norm(z(2, 4, 3), 2, z(4, dtype=d), z(4)), MIXED + "expect parameter to have scalar type of Float"),
        (lambda: F.batch_norm(z(2, 3), z(3), z(3, dtype=d)), "expected scalar type Float but found Double"),
        (lambda: F.batch_norm(z(2, 3, dtype=d), z(3), z(3)), MIXED + "all inputs must share same datatype."),
        (lambda: F.embedding(z(3, dtype=b), z(4, 2)),
         "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
         "CPUBFloat16Type instead (while checking arguments for embedding)"),
    ],
    # losses, pointwise operators, indices
    "others": [
        (lambda: F.binary_cross_entropy(z(3, dtype=l), z(3)), "Found dtype Float but expected Long"),
        (lambda: F.kl_div(z(3, dtype=l), z(3, dtype=c)), "kl_div: Complex inputs not supported."),
        (lambda: F.cosine_similarity(z(1, 3), z(1, 3, dtype=c)),
         "expected common dtype to be floating point, yet common dtype is ComplexFloat"),
        (lambda: F.pairwise_distance(z(1, 3), z(1, 3, dtype=bool_)),
         "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
         "the `~` or `logical_not()` operator instead."),
        (lambda: F.prelu(z(1, 3, dtype=l), z(3)), "prelu: Type promoting not supported. Got Long and Float"),
        (lambda: ts.lerp(z(3, dtype=l), z(3), 0.5), "expected dtype long int for `end` but got dtype float"),
        (lambda: ts.lerp(z(3, dtype=b), z(3), 0.5), "expected dtype c10::BFloat16 for `end` but got dtype float"),
        (lambda: ts.polar(z(3, dtype=h), z(3)),
         "Expected object of scalar type Half but got scalar type Float for second argument"),
        (lambda: ts.isin(z(3), z(3, dtype=bool_)), "Unsupported input type encountered for isin(): Bool"),
        (lambda: ts.index_add(z(3), 0, ts.arange(3), z(3, dtype=d)),
         "index_add_(): self (Float) and source (Double) must have the same scalar type"),
        (lambda: ts.index_add(z(3), 0, z(3, dtype=bool_), z(3)),
         "index_add_(): Expected dtype int32/int64 for index but got: Bool"),
        (lambda: ts.index_copy(z(3), 0, ts.arange(3), z(3, dtype=d)),
         "index_copy_(): self and source expected to have the same dtype, but got (self) Float and (source) Double"),
        (lambda: ts.masked_scatter(z(3), z(3, dtype=bool_), z(3, dtype=d)),
         "masked_scatter: expected self and source to have same dtypes but gotFloat and Double"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("call, message", [
    pytest.param(*case, id=f"{name}{i}") for name, cases in CASES.items() for i, case in enumerate(cases)
])  # fmt: skip
def test_message(call, message):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("call, kernel", [
    (lambda: ts.mm(z(2, 3, dtype=bool_), z(3, 2, dtype=bool_)), "addmm_impl_cpu_"),
    (lambda: z(2, 3, dtype=bool_) @ z(3, dtype=bool_), "addmv_impl_cpu"),
    (lambda: z(3, dtype=bool_) @ z(3, dtype=bool_), "dot"),
    (lambda: z(4, 2, 3, dtype=bool_) @ z(4, 3, 2), "bmm"),
    (lambda: ts.einsum("ij,jk->ik", z(2, 3, dtype=bool_), z(3, 2, dtype=bool_)), "bmm"),
    (lambda: ts.searchsorted(z(3, dtype=bool_), z(3, dtype=bool_)), "searchsorted_out_cpu"),
    (lambda: ts.clamp(z(3, dtype=bool_), z(3, dtype=bool_), z(3, dtype=bool_)), "clamp_cpu"),
    (lambda: ts.addcmul(z(3, dtype=bool_), z(3, dtype=bool_), z(3, dtype=bool_)), "addcmul_cpu_out"),
])  # fmt: skip
def test_bool_is_not_supported(call, kernel):
    with pytest.raises(NotImplementedError) as caught:
        call()
    assert str(caught.value) == f"\"{kernel}\" not implemented for 'Bool'"


@pytest.mark.parametrize("call, dtype", [
    (lambda: conv_transpose2d(f, f, d), f),
    (lambda: ts.einsum("i,i->i", z(3), z(3, dtype=d)), d),
    (lambda: ts.einsum("i,j->ij", z(3, dtype=bool_), z(2, dtype=bool_)), bool_),
    (lambda: layer_norm(h, f, f), h),
    (lambda: F.binary_cross_entropy_with_logits(z(3), z(3, dtype=h)), h),
    (lambda: ts.dist(z(3), z(3, dtype=l)), f),
    (lambda: ts.clamp(z(3, dtype=bool_), z(3), z(3)), f),
    (lambda: ts.clamp(z(3, dtype=bool_), min=z(3, dtype=bool_)), bool_),
    (lambda: ts.addcmul(z(3, dtype=bool_), z(3), z(3)), f),
    (lambda: ts.addcdiv(z(3, dtype=l), z(3), z(3) + 1), f),
    (lambda: ts.searchsorted(z(3, dtype=bool_), z(3)), l),
])  # fmt: skip
def test_mixed_dtypes_are_supported(call, dtype):
    assert call().dtype == dtype


def test_einsum_checks_dtypes_on_each_call():
    """A cached contraction path does not skip the check."""
    for dtype in (f, bool_, f):
        operands = z(2, 3, dtype=dtype), z(3, 2, dtype=dtype)
        if dtype == bool_:
            with pytest.raises(NotImplementedError):
                ts.einsum("ij,jk->ik", *operands)
        else:
            assert ts.einsum("ij,jk->ik", *operands).shape == (2, 2)


@pytest.mark.parametrize("dtypes", [(ts.half, ts.half), (ts.float32, ts.float64), (ts.bfloat16, ts.half)])
def test_cdist_of_empty_tensors(dtypes):
    """`cdist` does not check the dtypes of empty tensors. The result has the dtype of the first tensor."""
    for first, second in (((0, 3), (4, 3)), ((2, 0), (4, 0)), ((0, 2, 3), (4, 3))):
        x1, x2 = ts.ones(first, dtype=dtypes[0]), ts.ones(second, dtype=dtypes[1])
        for result in (ts.cdist(x1, x2), ts.ops.aten._cdist_forward(x1, x2, 2.0, None)):
            assert result.dtype == dtypes[0] and result.equal(ts.zeros(*first[:-1], 4, dtype=dtypes[0]))
