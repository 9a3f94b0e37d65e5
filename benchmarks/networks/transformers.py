"""Transformers: a vision transformer, the encoder of BERT, and a decoder of the size of GPT-2."""

from typing import List, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.networks import Network


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Return (batch, length, width) as (batch, heads, length, width / heads)."""
    return x.view(x.size(0), x.size(1), heads, x.size(2) // heads).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Return (batch, heads, length, size) as (batch, length, heads * size)."""
    return x.transpose(1, 2).reshape(x.size(0), x.size(2), x.size(1) * x.size(3))


class SelfAttention(nn.Module):
    """Multi-head attention, whose queries, keys and values are computed by one linear layer."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, 2)
        q, k, v = split_heads(q, self.heads), split_heads(k, self.heads), split_heads(v, self.heads)
        return self.out(merge_heads(F.scaled_dot_product_attention(q, k, v, mask)))


def feed_forward(width: int, activation: nn.Module) -> nn.Sequential:
    """Return two linear layers with an activation and four times the width between them."""
    return nn.Sequential(nn.Linear(width, 4 * width), activation, nn.Linear(4 * width, width))


# Vision transformer (Dosovitskiy et al., 2020): layer norms precede the layers.
class VisionBlock(nn.Module):
    """Attention and feed-forward layers on normalized values."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.attention_norm = nn.LayerNorm(width, eps=1e-6)
        self.attention = SelfAttention(width, heads)
        self.inner_norm = nn.LayerNorm(width, eps=1e-6)
        self.inner = feed_forward(width, nn.GELU())

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.inner(self.inner_norm(x))


class VisionTransformer(nn.Module):
    """Classifier that reads a class token beside the patches of an image."""

    def __init__(self, side: int = 224, patch: int = 16, width: int = 384, depth: int = 12, heads: int = 6):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.class_token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*[VisionBlock(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.classifier = nn.Linear(width, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(x.size(0), -1, -1), x], 1) + self.positions
        return self.classifier(self.norm(self.blocks(x))[:, 0])


# BERT (Devlin et al., 2018): layer norms follow the layers.
class EncoderLayer(nn.Module):
    """Attention and feed-forward layers whose sums with their inputs are normalized."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.attention_norm = nn.LayerNorm(width, eps=1e-12)
        self.inner = feed_forward(width, nn.GELU())
        self.inner_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.attention_norm(x + self.attention(x, mask))
        return self.inner_norm(x + self.inner(x))


class Bert(nn.Module):
    """Encoder of token numbers, with a mask of the tokens that are not padding."""

    def __init__(
        self, vocabulary: int = 30522, context: int = 512, width: int = 768, depth: int = 12, heads: int = 12
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.segments = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList([EncoderLayer(width, heads) for _ in range(depth)])
        self.pooler = nn.Linear(width, width)

    def forward(self, tokens: Tensor, segments: Tensor, mask: Tensor) -> Tuple[Tensor, Tensor]:
        positions = torch.arange(tokens.size(1))
        x = self.norm(self.tokens(tokens) + self.positions(positions) + self.segments(segments))
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, bias)
        return x, torch.tanh(self.pooler(x[:, 0]))


def sentence(length: int, padding: int, vocabulary: int) -> List[Tensor]:
    """Return random tokens, their segments, and a mask of zeros for the padding."""
    tokens = torch.randint(vocabulary, (1, length))
    mask = (torch.arange(length) < length - padding).to(torch.int64).unsqueeze(0)
    return [tokens, torch.zeros_like(tokens), mask]


# GPT-2 (Radford et al., 2019), with a key-value cache.
class DecoderBlock(nn.Module):
    """Attention to earlier tokens and feed-forward layers, on normalized values."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.inner_norm = nn.LayerNorm(width)
        self.inner = feed_forward(width, nn.GELU(approximate="tanh"))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        """Return the output, and the cached keys and values with those of `x` appended."""
        q, k, v = self.qkv(self.attention_norm(x)).chunk(3, 2)
        keys = torch.cat([keys, split_heads(k, self.heads)], 2)
        values = torch.cat([values, split_heads(v, self.heads)], 2)
        # Several tokens are the prompt, which comes first. A single token attends to all earlier tokens.
        mixed = F.scaled_dot_product_attention(
            split_heads(q, self.heads), keys, values, is_causal=x.size(1) > 1
        )
        x = x + self.out(merge_heads(mixed))
        return x + self.inner(self.inner_norm(x)), keys, values


class Decoder(nn.Module):
    """Generates the tokens with the highest scores, in a loop over a key-value cache."""

    def __init__(
        self,
        vocabulary: int = 50257,
        context: int = 1024,
        width: int = 768,
        depth: int = 12,
        heads: int = 12,
        steps: int = 32,
    ):
        super().__init__()
        self.heads, self.steps = heads, steps
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        nn.init.normal_(self.tokens.weight, std=0.02)
        nn.init.normal_(self.positions.weight, std=0.02)
        self.blocks = nn.ModuleList([DecoderBlock(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor) -> Tuple[Tensor, Tensor]:
        """Return the prompt with the generated tokens, and the scores of the last step."""
        width = self.tokens.weight.size(1)
        empty = torch.zeros(tokens.size(0), self.heads, 0, width // self.heads)
        keys = [empty for _ in range(len(self.blocks))]
        values = [empty for _ in range(len(self.blocks))]
        new, scores, start = tokens, empty, 0
        for _ in range(self.steps):
            end = start + new.size(1)
            x = self.tokens(new) + self.positions(torch.arange(start, end))
            for index, block in enumerate(self.blocks):
                x, keys[index], values[index] = block(x, keys[index], values[index])
            scores = F.linear(self.norm(x[:, -1]), self.tokens.weight)
            new, start = scores.argmax(1, keepdim=True), end
            tokens = torch.cat([tokens, new], 1)
        return tokens, scores


NETWORKS = {
    "ViT small": Network(VisionTransformer, lambda: [torch.randn(1, 3, 224, 224)]),
    "BERT-base, 128 tokens": Network(Bert, lambda: sentence(128, 28, 30522)),
    "GPT-2, 32 tokens with a key-value cache": Network(
        Decoder, lambda: [torch.randint(50257, (1, 16))], has_loop=True
    ),
}
