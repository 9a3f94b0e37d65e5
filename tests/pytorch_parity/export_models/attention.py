"""Attention: transformers and their alternatives, language models, mixtures of experts."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from tests.pytorch_parity.export_models import Case

CASES = {}
SIZES = ((2, 6), (3, 9), (5, 4))
BOTH = ((0, 1),)


def sequence(n, t):
    return (torch.randn(n, t, 8),)


def tokens(n, t):
    return (torch.randint(0, 11, (n, t)),)


class SelfAttention(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.size).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.size)
        y = torch.matmul(F.softmax(scores, dim=-1), v)
        return self.out(y.transpose(1, 2).contiguous().view(x.size(0), x.size(1), -1))


CASES["self_attention"] = Case(SelfAttention, sequence, SIZES, BOTH)


class GPTBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.qkv, self.proj = nn.Linear(8, 24), nn.Linear(8, 8)
        self.mlp = nn.Sequential(nn.Linear(8, 16), nn.GELU(approximate="tanh"), nn.Linear(16, 8), nn.Dropout(0.1))

    def forward(self, x):
        n, t, c = x.size()
        q, k, v = self.qkv(self.norm1(x)).split(c, dim=2)
        q, k, v = (y.view(n, t, 2, c // 2).transpose(1, 2) for y in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).contiguous().view(n, t, c))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(11, 8), nn.Embedding(16, 8)
        self.blocks, self.norm = nn.ModuleList(GPTBlock() for _ in range(2)), nn.LayerNorm(8)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, ids):
        t = ids.size(1)
        x = self.wte(ids) + self.wpe(torch.arange(0, t, dtype=torch.long, device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))[:, -1, :]


CASES["gpt_tied"] = Case(GPT, tokens, SIZES, BOTH)


class MaskedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = SelfAttention()
        self.register_buffer("causal", torch.tril(torch.ones(12, 12)).view(1, 1, 12, 12), persistent=False)

    def forward(self, x, padding):
        t = x.size(1)
        a = self.inner
        q, k, v = a.split(a.query(x)), a.split(a.key(x)), a.split(a.value(x))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.causal[:, :, :t, :t] == 0, float("-inf"))
        scores = scores.masked_fill(padding[:, None, None, :], -1e9)
        return a.out((F.softmax(scores, -1) @ v).transpose(1, 2).reshape(x.size(0), t, 8))


CASES["masked_attention"] = Case(
    MaskedAttention, lambda n, t: (torch.randn(n, t, 8), torch.arange(t)[None] >= 2 + torch.arange(n)[:, None]), SIZES, ((0, 1), (0, 1))
)


class ScaledDotProduct(nn.Module):
    def forward(self, q, k, v, mask):
        plain = F.scaled_dot_product_attention(q, k, v)
        masked = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.3)
        return plain, masked


CASES["scaled_dot_product"] = Case(
    ScaledDotProduct,
    lambda n, t, s: (torch.randn(n, 2, t, 4), torch.randn(n, 2, s, 4), torch.randn(n, 2, s, 4), torch.randn(t, s)),
    ((2, 6, 5), (3, 9, 4), (5, 4, 8)), ((0, 2), (0, 2), (0, 2), (0, 1)),
)  # fmt: skip


class MultiheadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


CASES["multihead"] = Case(MultiheadAttention, sequence, SIZES, BOTH)


class MultiheadWeights(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2)

    def forward(self, x, y):
        out, weights = self.attention(x, y, y)
        return out, weights


CASES["multihead_weights"] = Case(
    MultiheadWeights, lambda n, t, s: (torch.randn(t, n, 8), torch.randn(s, n, 8)), ((2, 6, 5), (3, 9, 4), (5, 4, 8)), ((0, 1), (0, 1))
)


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x):
        return self.layer(x)


CASES["encoder_layer"] = Case(EncoderLayer, sequence, SIZES, BOTH)
CASES["encoder_layer_training"] = Case(
    lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, norm_first=True, batch_first=True), sequence, SIZES, BOTH, training=True
)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        return self.encoder(x, mask=mask, is_causal=True)


CASES["encoder"] = Case(Encoder, sequence, SIZES, BOTH)


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x, memory):
        return self.layer(x, memory)


CASES["decoder_layer"] = Case(
    DecoderLayer, lambda n, t, s: (torch.randn(n, t, 8), torch.randn(n, s, 8)), ((2, 6, 5), (3, 9, 4), (5, 4, 8)), ((0, 1), (0, 1))
)


class RotaryAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24, bias=False)
        self.register_buffer("frequency", 1.0 / (100.0 ** (torch.arange(0, 4, 2).float() / 4)))

    def rotate(self, x, cos, sin):
        a, b = x[..., :2], x[..., 2:]
        return x * cos + torch.cat((-b, a), dim=-1) * sin

    def forward(self, x):
        n, t, _ = x.shape
        angles = torch.outer(torch.arange(t, dtype=torch.float32), self.frequency)
        angles = torch.cat([angles, angles], -1)
        q, k, v = self.qkv(x).view(n, t, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = self.rotate(q, angles.cos(), angles.sin()), self.rotate(k, angles.cos(), angles.sin())
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


CASES["rotary"] = Case(RotaryAttention, sequence, SIZES, BOTH)


class RelativeBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Embedding(9, 2)
        self.qk = nn.Linear(8, 16)

    def forward(self, x):
        t = x.shape[1]
        places = torch.arange(t)
        distance = (places[None, :] - places[:, None]).clamp(-4, 4) + 4
        q, k = self.qk(x).unflatten(-1, (2, 2, 4)).permute(2, 0, 3, 1, 4)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) + self.bias(distance).permute(2, 0, 1)
        return scores.softmax(-1)


CASES["relative_bias"] = Case(RelativeBias, sequence, SIZES, BOTH)


class LinearAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        memory = torch.einsum("btd,bte->bde", k, v)
        norm = 1 / (torch.einsum("btd,bd->bt", q, k.sum(1)) + 1e-6)
        return torch.einsum("btd,bde,bt->bte", q, memory, norm)


CASES["linear_attention"] = Case(LinearAttention, sequence, SIZES, BOTH)


class Perceiver(nn.Module):
    def __init__(self):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(3, 8))
        self.norm, self.attend = nn.LayerNorm(8), nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        latents = self.latents.unsqueeze(0).expand(x.shape[0], -1, -1)
        x = self.norm(x)
        return latents + self.attend(latents, x, x, need_weights=False)[0]


CASES["perceiver"] = Case(Perceiver, sequence, SIZES, BOTH)


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, 4)
        self.cls, self.position = nn.Parameter(torch.zeros(1, 1, 8)), nn.Parameter(torch.randn(1, 10, 8) * 0.02)
        self.block, self.head = GPTBlock(), nn.Linear(8, 4)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), dim=1) + self.position
        return self.head(self.block(x)[:, 0])


CASES["vision_transformer"] = Case(ViT, lambda n: (torch.randn(n, 3, 12, 12),), ((2,), (3,), (5,)), ((0,),))


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x.float() * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(x)


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.q, self.kv, self.o = RMSNorm(8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.gate, self.up, self.down = nn.Linear(8, 16), nn.Linear(8, 16), nn.Linear(16, 8)
        self.last = nn.RMSNorm(8)

    def forward(self, x):
        n, t, _ = x.shape
        y = self.norm(x)
        q = self.q(y).view(n, t, 2, 4).transpose(1, 2)
        k, v = self.kv(y).view(n, t, 2, 1, 4).permute(2, 0, 3, 1, 4)
        k, v = (z[:, :, None].expand(n, 1, 2, t, 4).reshape(n, 2, t, 4) for z in (k, v))
        mask = torch.full((t, t), float("-inf")).triu(1)
        y = ((q @ k.transpose(2, 3)) * 0.5 + mask).softmax(-1, dtype=torch.float32) @ v
        x = x + self.o(y.transpose(1, 2).reshape(n, t, -1))
        return self.last(x + self.down(F.silu(self.gate(x)) * self.up(x)))


CASES["llama"] = Case(Llama, sequence, SIZES, BOTH)


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.register_buffer("keys", torch.zeros(4, 12, 8))
        self.register_buffer("values", torch.zeros(4, 12, 8))

    def forward(self, x, place):
        q, k, v = self.qkv(x).chunk(3, -1)
        self.keys[:, place] = k
        self.values.index_copy_(1, place, v)
        seen = torch.arange(12) <= place[-1]
        return F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=seen.expand(q.shape[1], 12))


CASES["key_value_cache"] = Case(
    Cached, lambda t: (torch.randn(4, t, 8), torch.arange(t)), ((3,), (5,), (7,)), ((1,), (0,))
)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 3)
        self.w1, self.w2 = nn.Parameter(torch.randn(3, 8, 6) * 0.3), nn.Parameter(torch.randn(3, 6, 8) * 0.3)

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(-1).topk(2, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        dense = torch.zeros_like(self.gate(x)).scatter(-1, chosen, weights)
        y = torch.einsum("ntc,ech->neth", x, self.w1)
        y = torch.einsum("neth,ehc->netc", F.relu(y), self.w2)
        return (y * dense.permute(0, 2, 1).unsqueeze(-1)).sum(1)


CASES["mixture_of_experts"] = Case(Experts, sequence, SIZES, BOTH)


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.tokens = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6))
        self.channels = nn.Sequential(nn.Linear(8, 16), nn.Mish(), nn.Linear(16, 8))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


CASES["mixer"] = Case(Mixer, sequence, ((2, 6), (3, 6), (7, 6)), ((0,),))


class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8, padding_idx=0)
        self.convs = nn.ModuleList(nn.Conv1d(8, 3, k, padding=1) for k in (2, 3))

    def forward(self, ids):
        x = self.embedding(ids).transpose(1, 2)
        lengths = (ids != 0).sum(1, keepdim=True).clamp(min=1)
        pooled = [F.relu(conv(x)).max(dim=-1)[0] for conv in self.convs]
        return torch.cat([*pooled, x.sum(-1) / lengths], 1)


CASES["text_convolution"] = Case(Text, tokens, SIZES, BOTH)


class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag, self.fc = nn.EmbeddingBag(11, 4, mode="mean"), nn.Linear(4, 3)

    def forward(self, ids):
        return self.fc(self.bag(ids))


CASES["embedding_bag"] = Case(Bags, tokens, SIZES, BOTH)


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(8, 4), nn.Linear(8, 4)
        self.scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, x):
        a = F.normalize(self.left(x.mean(1)), dim=-1)
        b = F.normalize(self.right(x.amax(1)), dim=-1)
        logits = self.scale.exp() * a @ b.t()
        targets = torch.arange(x.shape[0])
        return logits, F.cross_entropy(logits, targets), F.cosine_similarity(a, b)


CASES["contrastive"] = Case(Contrast, sequence, SIZES, BOTH)
