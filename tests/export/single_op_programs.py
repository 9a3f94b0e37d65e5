"""Programs of one operator or a few, by family: an expression of `torch`, `F` and tensors x, y, z; their shapes."""

PROGRAMS = {
    "shapes": r"""
        x.t() | 3,4
        x.T | 3,4
        x.mT | 2,3,4
        x.transpose(0,1) | 3,4
        x.movedim(0,2) | 2,3,4
        x.flatten(1) | 2,3,4
        x.flatten() | 2,3,4
        x.reshape(6,4) | 2,3,4
        x.transpose(0,1).reshape(6,4) | 2,3,4
        x.transpose(0,1).contiguous() | 2,3
        x.contiguous() | 2,3
        x.unflatten(1,(2,2)) | 3,4
        x.chunk(2,1) | 3,4
        x.split(2,1) | 3,4
        x.split([1,3],1) | 3,4
        x.unbind(0) | 2,3
        x.narrow(0,1,1) | 3,4
        x.select(0,1) | 3,4
        x[0] | 3,4
        x[1:2] | 3,4
        x[:,None] | 3,4
        x[...,::2] | 3,4
        x.squeeze() | 3,1
        x.squeeze(1) | 3,1
        x.unsqueeze(1) | 3,1
        x.view(12) | 3,4
        x.view_as(y) | 3,4 | 4,3
        x.diagonal() | 3,3
        torch.diag(x) | 3,3
        torch.diag(x) | 3
        torch.diag_embed(x) | 3
        torch.stack([x,y]) | 3 | 3
        torch.cat([x,y]) | 3 | 3
        torch.hstack([x,y]) | 3 | 3
        torch.vstack([x,y]) | 3 | 3
        torch.column_stack([x,y]) | 3 | 3
        torch.tile(x,(2,)) | 3
        x.repeat(2,1) | 3
        x.repeat_interleave(2) | 3
        x.repeat_interleave(2,dim=0) | 3,2
        torch.roll(x,1) | 3,4
        torch.roll(x,1,0) | 3,4
        torch.flip(x,[0]) | 3,4
        torch.rot90(x) | 3,4
        torch.broadcast_to(x,(3,4)) | 4
        F.pixel_shuffle(x,2) | 2,4,3,3
        F.pixel_unshuffle(x,2) | 2,1,4,4
        F.channel_shuffle(x,2) | 2,4,3,3
        x.unfold(0,2,1) | 4
        x.as_strided((2,2),(1,2)) | 4
        torch.bucketize(x,y) | 3 | 4
        torch.fft.fft(x) | 4
        torch.fft.rfft(x) | 4
        torch.view_as_real(torch.complex(x,y)) | 3 | 3
        torch.block_diag(x,y) | 2,2 | 2,2
        torch.atleast_2d(x) | 3
    """,
    "arithmetic": r"""
        x.expand(3,4) | 3,1
        x.expand_as(y) | 3,1 | 3,4
        torch.maximum(x,y) | 3 | 3
        torch.where(x>0,x,y) | 3 | 3
        torch.where(x>0,x,0.) | 3
        x.clamp(0,1) | 3
        x.masked_fill(x>0,0.) | 3
        x.lerp(y,0.5) | 3 | 3
        x.addcmul(y,y) | 3 | 3
        x.addcdiv(y,y) | 3 | 3
        x.square() | 3
        x.pow(2) | 3
        2**x | 3
        x**y | 3 | 3
        x.rsqrt() | 3
        x.reciprocal() | 3
        1-x | 3
        1/x | 3
        x//2 | 3
        x%2 | 3
        x/y | 3 | 3
        -x | 3
        x.abs() | 3
        x.sign() | 3
        x.sgn() | 3
        x.frac() | 3
        x.trunc() | 3
        x.logit() | 3
        x.sinc() | 3
        x.deg2rad() | 3
        x.exp2() | 3
        x.float_power(2) | 3
        torch.logaddexp(x,y) | 3 | 3
        torch.hypot(x,y) | 3 | 3
        torch.xlogy(x,y) | 3 | 3
        torch.isclose(x,y) | 3 | 3
        torch.isfinite(x) | 3
        torch.isnan(x) | 3
        torch.isinf(x) | 3
        torch.nan_to_num(x) | 3
        torch.heaviside(x,y) | 3 | 3
        torch.special.entr(x) | 3
        torch.special.expit(x) | 3
        torch.special.log_ndtr(x) | 3
        torch.special.ndtr(x) | 3
        torch.erf(x) | 3
        torch.lgamma(x) | 3
        torch.digamma(x) | 3
        torch.cumulative_trapezoid(x) | 3
        torch.histc(x) | 3
        torch.gradient(x)[0] | 3
    """,
    "layers": r"""
        torch.meshgrid(x,y,indexing="ij") | 3 | 4
        F.conv1d(x,y,z) | 2,3,8 | 4,3,3 | 4
        F.conv2d(x,y,z) | 2,3,8,8 | 4,3,3,3 | 4
        F.conv2d(x,y,stride=2,padding=1) | 2,3,8,8 | 4,3,3,3
        F.conv2d(x,y,padding="same") | 2,3,8,8 | 4,3,3,3
        F.conv2d(x,y) | 3,8,8 | 4,3,3,3
        F.conv3d(x,y) | 2,3,4,4,4 | 4,3,3,3,3
        F.conv_transpose1d(x,y) | 2,3,8 | 3,4,3
        F.conv_transpose2d(x,y,z,stride=2) | 2,3,8,8 | 3,4,3,3 | 4
        F.max_pool1d(x,2) | 2,3,8
        F.max_pool2d(x,2) | 2,3,8,8
        F.max_pool3d(x,2) | 2,3,4,4,4
        F.avg_pool1d(x,2) | 2,3,8
        F.avg_pool2d(x,2) | 2,3,8,8
        F.avg_pool3d(x,2) | 2,3,4,4,4
        F.adaptive_avg_pool1d(x,2) | 2,3,8
        F.adaptive_avg_pool2d(x,2) | 2,3,8,8
        F.adaptive_avg_pool2d(x,1) | 2,3,8,8
        F.adaptive_avg_pool2d(x,3) | 2,3,8,8
        F.adaptive_max_pool1d(x,2) | 2,3,8
        F.adaptive_max_pool2d(x,2) | 2,3,8,8
        F.layer_norm(x,(4,),y,z) | 3,4 | 4 | 4
        F.layer_norm(x,(4,)) | 3,4
        F.group_norm(x,2,y,z) | 2,4,5 | 4 | 4
        F.instance_norm(x) | 2,4,5
        F.batch_norm(x,y,z) | 2,4,5 | 4 | 4
        F.batch_norm(x,y,z,training=True) | 2,4,5 | 4 | 4
        F.rms_norm(x,(4,),y) | 3,4 | 4
        F.dropout(x,0.5,True) | 3,4
        F.dropout(x,0.5,False) | 3,4
        F.alpha_dropout(x,0.5,True) | 3,4
        F.embedding(torch.tensor([0,2]),x) | 3,4
        F.one_hot(torch.tensor([0,2]),4)+x | 4
        F.pad(x,(1,1)) | 3,4
        F.pad(x,(1,1),mode="reflect") | 3,4
        F.pad(x,(1,1),mode="replicate") | 3,4
        F.pad(x,(1,1),mode="circular") | 2,3,4
        F.interpolate(x,scale_factor=2) | 2,3,4
        F.interpolate(x,scale_factor=2.) | 2,3,4,4
        F.interpolate(x,size=(8,8)) | 2,3,4,4
        F.interpolate(x,scale_factor=2,mode="bicubic") | 2,3,4,4
        F.unfold(x,2) | 2,3,4,4
        F.fold(x,(3,3),2) | 2,4,4
        F.grid_sample(x,y) | 2,3,4,4 | 2,5,5,2
        F.affine_grid(x,(2,3,4,4)) | 2,2,3
        F.scaled_dot_product_attention(x,y,z) | 2,2,3,4 | 2,2,5,4 | 2,2,5,4
        F.scaled_dot_product_attention(x,y,z,is_causal=True) | 2,2,3,4 | 2,2,3,4 | 2,2,3,4
        F.scaled_dot_product_attention(x,y,z) | 2,3,4 | 2,5,4 | 2,5,4
    """,
    "reductions": r"""
        torch.tril(x) | 3,3
        torch.triu(x) | 3,3
        F.normalize(x) | 3,4
        x.sum() | 3,4
        x.sum(1) | 3,4
        x.mean() | 3,4
        x.mean(1) | 3,4
        x.std() | 3,4
        x.std(1) | 3,4
        x.var() | 3,4
        x.var(1,unbiased=False) | 3,4
        torch.var_mean(x,1) | 3,4
        torch.std_mean(x,1) | 3,4
        x.norm() | 3,4
        x.norm(dim=1) | 3,4
        torch.linalg.norm(x) | 3,4
        torch.linalg.norm(x,dim=1) | 3,4
        torch.linalg.vector_norm(x) | 3,4
        x.logsumexp(1) | 3,4
        x.max(1) | 3,4
        x.max() | 3,4
        x.amax(1) | 3,4
        x.argmax(1) | 3,4
        x.prod(1) | 3,4
        x.cumsum(1) | 3,4
        x.cumprod(1) | 3,4
        x.sort(1) | 3,4
        x.argsort(1) | 3,4
        x.topk(2) | 3,4
        (x>0).all() | 3,4
        (x>0).any(1) | 3,4
        (x>0).all(1) | 3,4
        x.count_nonzero() | 3,4
        x.median() | 3,4
        x.nansum() | 3,4
        x.nanmean() | 3,4
        torch.aminmax(x,dim=1) | 3,4
        torch.diff(x) | 3,4
        torch.cov(x) | 3,4
        torch.trace(x) | 3,3
        torch.det(x) | 3,3
        torch.inverse(x) | 3,3
        torch.linalg.solve(x,y) | 3,3 | 3,2
        torch.max(x,y) | 3 | 3
        x.clamp(min=0) | 3
        x.clamp_min(0) | 3
        x.clamp_max(0) | 3
        x.detach() | 4
        torch.searchsorted(y,x) | 3 | 4
        torch.cartesian_prod(x,y) | 3 | 3
        torch.renorm(x,2,0,1.) | 3,4
        torch.logcumsumexp(x,0) | 3
    """,
    "products": r"""
        x.matmul(y) | 3 | 3
        x.matmul(y) | 3,4 | 4
        x.matmul(y) | 4 | 4,3
        x.matmul(y) | 3,4 | 4,5
        x.matmul(y) | 2,3,4 | 4,5
        x.matmul(y) | 2,3,4 | 2,4,5
        x.matmul(y) | 2,3,4 | 4
        x.matmul(y) | 6,2,3,4 | 2,4,5
        x.matmul(y) | 3,4 | 2,4,5
        x.matmul(y) | 2,2,3,4 | 2,2,4,5
        x.bmm(y) | 2,3,4 | 2,4,5
        x.mm(y) | 3,4 | 4,5
        x.mv(y) | 3,4 | 4
        x.dot(y) | 3 | 3
        torch.outer(x,y) | 3 | 4
        torch.einsum("ij,jk->ik",x,y) | 3,4 | 4,5
        torch.einsum("bhqd,bhkd->bhqk",x,y) | 2,2,3,4 | 2,2,5,4
        torch.tensordot(x,y,1) | 3,4 | 4,5
        torch.baddbmm(z,x,y) | 2,3,4 | 2,4,5 | 2,3,5
        torch.addmm(z,x,y) | 3,4 | 4,5 | 5
        torch.addr(z,x,y) | 3 | 4 | 3,4
        torch.addbmm(z,x,y) | 2,3,4 | 2,4,5 | 3,5
        torch.addmv(z,x,y) | 3,4 | 4 | 3
        torch.inner(x,y) | 3,4 | 5,4
        torch.kron(x,y) | 2,2 | 2,2
        F.linear(x,y) | 3,4 | 5,4
        F.linear(x,y,z) | 3,4 | 5,4 | 5
        F.linear(x,y) | 2,3,4 | 5,4
        F.linear(x,y,z) | 2,3,4 | 5,4 | 5
        F.linear(x,y,z) | 4 | 5,4 | 5
        F.linear(x,y) | 4 | 5,4
        F.linear(x,y,z) | 2,2,3,4 | 5,4 | 5
        F.bilinear(x,y,z) | 3,4 | 3,5 | 6,4,5
        F.interpolate(x,scale_factor=2,mode="bilinear") | 2,3,4,4
    """,
    "activations": r"""
        F.softmax(x,1) | 3,4
        F.log_softmax(x,1) | 3,4
        F.softmin(x,1) | 3,4
        F.softmax(x,1,dtype=torch.float64) | 3,4
        F.gelu(x) | 3,4
        F.gelu(x,approximate="tanh") | 3,4
        F.silu(x) | 3,4
        F.mish(x) | 3,4
        F.elu(x) | 3,4
        F.selu(x) | 3,4
        F.celu(x) | 3,4
        F.relu(x) | 3,4
        F.relu6(x) | 3,4
        F.leaky_relu(x) | 3,4
        F.prelu(x,y) | 3,4 | 4
        F.rrelu(x) | 3,4
        F.hardtanh(x) | 3,4
        F.hardswish(x) | 3,4
        F.hardsigmoid(x) | 3,4
        F.hardshrink(x) | 3,4
        F.softshrink(x) | 3,4
        F.softplus(x) | 3,4
        F.softsign(x) | 3,4
        F.tanhshrink(x) | 3,4
        F.threshold(x,0.1,20.) | 3,4
        F.glu(x) | 3,4
        F.logsigmoid(x) | 3,4
    """,
    "losses": r"""
        F.mse_loss(x,y) | 3,4 | 3,4
        F.l1_loss(x,y) | 3,4 | 3,4
        F.smooth_l1_loss(x,y) | 3,4 | 3,4
        F.huber_loss(x,y) | 3,4 | 3,4
        F.kl_div(x,y) | 3,4 | 3,4
        F.binary_cross_entropy(x,y) | 3,4 | 3,4
        F.binary_cross_entropy_with_logits(x,y) | 3,4 | 3,4
        F.cross_entropy(x,torch.tensor([0,1,2])) | 3,4
        F.cross_entropy(x,y) | 3,4 | 3,4
        F.nll_loss(x,torch.tensor([0,1,2])) | 3,4
        F.cosine_similarity(x,y) | 3,4 | 3,4
        F.pairwise_distance(x,y) | 3,4 | 3,4
        torch.cdist(x,y) | 3,4 | 5,4
    """,
    "indexing": r"""
        torch.cross(x,y,dim=1) | 2,3 | 2,3
        x.gather(0,torch.tensor([0,1])) | 3
        x.scatter(0,torch.tensor([0,1]),1.) | 3
        x.scatter_add(0,torch.tensor([0,1]),y) | 3 | 3
        x.index_select(0,torch.tensor([0,1])) | 3
        x.index_add(0,torch.tensor([0,1]),y) | 3 | 2
        x.index_copy(0,torch.tensor([0,1]),y) | 3 | 2
        x.index_fill(0,torch.tensor([0,1]),2.) | 3
        x[torch.tensor([0,1])] | 3
        x[torch.tensor([0,1])] | 3,4
        x.take(torch.tensor([0,1])) | 3,4
        torch.take_along_dim(x,torch.tensor([[0],[1],[1]]),1) | 3,4
        x.masked_select(x>0.5) | 3
        x.nonzero() | 3
    """,
    "factories": r"""
        x.to(torch.float64) | 3
        x.double() | 3
        x.type_as(y) | 3 | 3
        x.bool() | 3
        torch.zeros_like(x) | 3
        torch.ones_like(x) | 3
        torch.full_like(x,2.) | 3
        torch.empty_like(x) | 3
        torch.rand_like(x) | 3
        torch.randn_like(x) | 3
        x.new_zeros(3) | 3
        x.new_ones(3) | 3
        x.new_full((3,),2.) | 3
        x+torch.zeros(3) | 3
        x+torch.ones(3) | 3
        x+torch.full((3,),1.) | 3
        x+torch.arange(3) | 3
        x+torch.linspace(0,1,3) | 3
        x+torch.eye(3) | 3
        x+torch.rand(3) | 3
        x+torch.tensor(2.) | 3
        x+torch.tensor([1.,2.,3.]) | 3
        x.clone() | 4
        x.bernoulli() | 4
        torch.multinomial(x,1) | 4
        torch.stft(x,4,window=torch.ones(4),return_complex=True) | 16
        x.clone().expand(2,3)+1 | 3
    """,
    "writes": r"""
        x.add_(1) | 3
        x.mul_(y) | 3 | 3
        x[0].add_(1) | 3,4
        x[1:].zero_() | 3,4
        x.t().add_(1) | 3,4
        x.copy_(y) | 3 | 3
        x.clone().add_(1) | 3
        x.clone()[0].mul_(2) | 3,4
        x.view(-1)[0].fill_(1.) | 3,4
        torch.relu_(x.clone()) | 3
        x.clone().index_put_((torch.tensor([0]),),y) | 3 | 1
        x.clone().unsqueeze(0).squeeze(0).add_(1) | 3
        x.clone().diagonal().fill_(0) | 3,3
        x.clone().masked_fill_(x>0,1.) | 3
    """,
}


def programs(family):
    """Yield (expression, shapes) of a family."""
    for line in PROGRAMS[family].strip().splitlines():
        text, *shapes = (part.strip() for part in line.split(" | "))
        yield text, [tuple(int(n) for n in shape.split(",")) for shape in shapes]


def module_of(text, count, torch):
    """Return a module of a package (`torch` or `ts`) whose `forward` returns the expression."""
    names = "xyz"[:count]
    source = (
        f"class Program(torch.nn.Module):\n    def forward(self, {', '.join(names)}):\n        return {text}"
    )
    space = {"torch": torch, "F": torch.nn.functional}
    exec(source, space)
    return space["Program"]()
