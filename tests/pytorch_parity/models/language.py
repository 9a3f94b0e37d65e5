"""Language: transformers of many kinds, decoding, tokenization and text."""

import math
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.pytorch_parity.models import Case, call

CASES = {}


def tokens(*shape, high=40):
    return torch.randint(0, high, shape)


# T5: bucketed relative positions, layers of two kinds, a cache for each, greedy decoding.
class T5Attention(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool, biased: bool):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.o = nn.Linear(width, width, bias=False)
        self.bias: Optional[nn.Embedding] = nn.Embedding(8, heads) if biased else None

    @staticmethod
    def bucket(relative: Tensor, bidirectional: bool, buckets: int = 8, most: int = 20) -> Tensor:
        found = torch.zeros_like(relative)
        if bidirectional:
            buckets = buckets // 2
            found += (relative > 0).to(torch.long) * buckets
            relative = torch.abs(relative)
        else:
            relative = -torch.min(relative, torch.zeros_like(relative))
        exact = buckets // 2
        large = exact + (torch.log(relative.float() / exact) / math.log(most / exact) * (buckets - exact)).to(
            torch.long
        )
        large = torch.min(large, torch.full_like(large, buckets - 1))
        found += torch.where(relative < exact, relative, large)
        return found

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.shape[0], -1, self.heads, x.shape[-1] // self.heads).transpose(1, 2)

    def forward(
        self, x: Tensor, memory: Optional[Tensor] = None, bias: Optional[Tensor] = None
    ) -> Tuple[Tensor, Optional[Tensor]]:
        source = x if memory is None else memory
        scores = torch.matmul(self.split(self.q(x)), self.split(self.k(source)).transpose(3, 2))
        if bias is None and self.bias is not None:
            n, m = scores.shape[-2:]
            relative = torch.arange(m)[None, :] - torch.arange(n)[:, None]
            bias = (
                self.bias(self.bucket(relative, bidirectional=not self.causal))
                .permute([2, 0, 1])
                .unsqueeze(0)
            )
            if self.causal:
                bias = bias + torch.full((n, m), -3.0e38).triu(1)
        if bias is not None and memory is None:
            scores = scores + bias
        y = torch.matmul(F.softmax(scores.float(), dim=-1).type_as(scores), self.split(self.v(source)))
        return self.o(y.transpose(1, 2).contiguous().flatten(2)), bias


class T5Block(nn.Module):
    def __init__(self, width: int, heads: int, decoder: bool, first: bool):
        super().__init__()
        self.own = T5Attention(width, heads, decoder, first)
        self.cross = T5Attention(width, heads, False, False) if decoder else None
        self.norms = nn.ModuleList([nn.RMSNorm(width) for _ in range(3)])
        self.wi, self.wg, self.wo = nn.Linear(width, 24), nn.Linear(width, 24), nn.Linear(24, width)

    def forward(
        self, x: Tensor, memory: Optional[Tensor], bias: Optional[Tensor]
    ) -> Tuple[Tensor, Optional[Tensor]]:
        y, bias = self.own(self.norms[0](x), None, bias)
        x = x + y
        if self.cross is not None:
            y, _ = self.cross(self.norms[1](x), memory)
            x = x + y
        y = self.norms[2](x)
        return x + self.wo(F.gelu(self.wg(y), approximate="tanh") * self.wi(y)), bias


class T5(nn.Module):
    def __init__(self, words: int = 40, width: int = 16, heads: int = 2):
        super().__init__()
        self.shared = nn.Embedding(words, width)
        self.encoder = nn.ModuleList([T5Block(width, heads, False, i == 0) for i in range(2)])
        self.decoder = nn.ModuleList([T5Block(width, heads, True, i == 0) for i in range(2)])
        self.scale = width**-0.5

    @torch.jit.export
    def encode(self, source: Tensor) -> Tensor:
        x = self.shared(source)
        bias: Optional[Tensor] = None
        for block in self.encoder:
            x, bias = block(x, None, bias)
        return x

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encode(source)
        x = self.shared(target)
        bias: Optional[Tensor] = None
        for block in self.decoder:
            x, bias = block(x, memory, bias)
        return F.linear(x * self.scale, self.shared.weight)

    @torch.jit.export
    def greedy(self, source: Tensor, end: int = 1, most: int = 6) -> List[List[int]]:
        out = torch.zeros(source.size(0), 1, dtype=torch.long)
        done = torch.zeros(source.size(0), dtype=torch.bool)
        for _ in range(most):
            following = self.forward(source, out)[:, -1].argmax(-1).masked_fill(done, end)
            out = torch.cat([out, following[:, None]], 1)
            done |= following == end
            if done.all():
                break
        found: List[List[int]] = []
        for row in out:
            ids: List[int] = row.tolist()
            found.append(ids[1:])
        return found


CASES["t5"] = Case(
    T5,
    lambda: [
        call(tokens(2, 7), tokens(2, 4)),
        call(tokens(2, 5), method="greedy"),
        call(tokens(1, 25), method="encode"),
    ],
    ("script",),
)


# Transformer-XL: memory of earlier segments, relative positions by a shift.
class RelativeAttention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.qkv, self.r, self.o = (
            nn.Linear(width, 3 * width, bias=False),
            nn.Linear(width, width, bias=False),
            nn.Linear(width, width, bias=False),
        )
        self.u, self.v = (
            nn.Parameter(torch.randn(heads, self.size) * 0.1),
            nn.Parameter(torch.randn(heads, self.size) * 0.1),
        )

    def shifted(self, x: Tensor) -> Tensor:
        padded = torch.cat(
            [
                x.new_zeros((x.size(0), 1) + x.shape[2:])
                if torch.jit.is_tracing()
                else torch.zeros_like(x[:, :1]),
                x,
            ],
            dim=1,
        )
        return padded.view(x.size(1) + 1, x.size(0), x.size(2), x.size(3))[1:].view_as(x)

    def forward(self, x: Tensor, places: Tensor, memory: Tensor) -> Tensor:
        n, b = x.size(0), x.size(1)
        q, k, v = torch.chunk(self.qkv(torch.cat([memory, x], 0)), 3, dim=-1)
        q = q[-n:].view(n, b, self.heads, self.size)
        m = k.size(0)
        k, v = k.view(m, b, self.heads, self.size), v.view(m, b, self.heads, self.size)
        r = self.r(places).view(m, self.heads, self.size)
        content = torch.einsum("ibnd,jbnd->ijbn", (q + self.u, k))
        place = self.shifted(torch.einsum("ibnd,jnd->ijbn", q + self.v, r))
        scores = (content + place).mul_(1 / (self.size**0.5))
        hidden = torch.triu(torch.ones(n, m), diagonal=1 + m - n)[:, :, None, None] > 0
        weights = F.softmax(scores.float().masked_fill(hidden, -1e30).type_as(scores), dim=1)
        return self.o(torch.einsum("ijbn,jbnd->ibnd", weights, v).contiguous().view(n, b, -1))


class TransformerXL(nn.Module):
    def __init__(self, words: int = 40, width: int = 12, memory: int = 6):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList([RelativeAttention(width, 3) for _ in range(2)])
        self.norm = nn.LayerNorm(width)
        self.kept = memory
        self.register_buffer("rate", 1 / (10000 ** (torch.arange(0.0, width, 2.0) / width)))

    def forward(self, ids: Tensor, memories: Optional[List[Tensor]] = None) -> Tuple[Tensor, List[Tensor]]:
        x = self.embed(ids)
        if memories is None:
            memories = [x.new_empty(0, x.size(1), x.size(2))] * len(self.layers)
        length = x.size(0) + memories[0].size(0)
        angles = torch.outer(torch.arange(length - 1, -1, -1.0), self.rate)
        places = torch.cat([angles.sin(), angles.cos()], dim=-1)
        found: List[Tensor] = []
        for i, layer in enumerate(self.layers):
            memory = memories[i]
            with torch.no_grad():
                found.append(torch.cat([memory, x])[-self.kept :].detach())
            x = self.norm(x + layer(x, places, memory))
        return x, found


CASES["transformer_xl"] = Case(
    TransformerXL,
    lambda: [call(tokens(5, 2)), call(tokens(4, 2), [torch.randn(6, 2, 12) for _ in range(2)])],
    ("script", "freeze"),
)


# A decoder with complex rotary embeddings, grouped queries, a cache in buffers, named adapters and beams.
class CachedAttention(nn.Module):
    def __init__(self, width: int, heads: int, groups: int, longest: int, batch: int):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.wq, self.wo = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.wkv = nn.Linear(width, 2 * groups * self.size, bias=False)
        self.register_buffer("cache", torch.zeros(2, batch, groups, longest, self.size), persistent=False)

    def rotated(self, x: Tensor, turns: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.float().reshape(x.shape[0], x.shape[1], x.shape[2], -1, 2))
        return torch.view_as_real(pairs * turns.view(1, x.shape[1], 1, -1)).flatten(3).type_as(x)

    def forward(self, x: Tensor, start: int, turns: Tensor) -> Tensor:
        b, n, _ = x.shape
        q = self.rotated(self.wq(x).view(b, n, self.heads, self.size), turns).transpose(1, 2)
        k, v = self.wkv(x).view(b, n, 2, self.groups, self.size).unbind(2)
        k = self.rotated(k, turns)
        self.cache[0, :b, :, start : start + n] = k.transpose(1, 2)
        self.cache[1].index_copy_(
            2,
            torch.arange(start, start + n),
            F.pad(v.transpose(1, 2), [0, 0, 0, 0, 0, 0, 0, self.cache.size(1) - b]),
        )
        keys, values = self.cache[0, :b, :, : start + n], self.cache[1, :b, :, : start + n]
        shared = self.heads // self.groups
        keys, values = keys.repeat_interleave(shared, dim=1), values.repeat_interleave(shared, dim=1)
        mask = torch.full((n, n), float("-inf")).triu(1) if n > 1 else None
        if mask is not None:
            mask = torch.hstack([torch.zeros((n, start)), mask]).type_as(q)
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        return self.wo(y.transpose(1, 2).flatten(2))


class Beam:
    def __init__(self, score: float, ids: List[int]):
        self.score = score
        self.ids = ids

    def __lt__(self, other: "Beam") -> bool:
        return self.score < other.score


class Adapter(nn.Module):
    def __init__(self, width: int, rank: int, scale: float):
        super().__init__()
        self.a, self.b, self.scale = (
            nn.Parameter(torch.randn(rank, width) * 0.1),
            nn.Parameter(torch.randn(width, rank) * 0.1),
            scale,
        )

    def forward(self, x: Tensor) -> Tensor:
        return (x @ self.a.t() @ self.b.T) * self.scale


class Decoder(nn.Module):
    def __init__(self, words: int = 30, width: int = 16, heads: int = 4, longest: int = 24, batch: int = 4):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.attention = nn.ModuleList([CachedAttention(width, heads, 2, longest, batch) for _ in range(2)])
        self.adapters = nn.ModuleDict({"english": Adapter(width, 2, 1.0), "german": Adapter(width, 3, 0.5)})
        self.norms = nn.ModuleList([nn.RMSNorm(width, eps=1e-5) for _ in range(3)])
        self.gate, self.up, self.down = (
            nn.Linear(a, b, bias=False) for a, b in ((width, 24), (width, 24), (24, width))
        )
        rates = 1.0 / (10000.0 ** (torch.arange(0, 4, 2)[:2].float() / 4))
        angles = torch.outer(torch.arange(longest, dtype=torch.float32), rates)
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def forward(self, ids: Tensor, start: int = 0, language: str = "english") -> Tensor:
        x = self.embed(ids)
        turns = self.turns[start : start + ids.size(1)]
        for i, (layer, norm) in enumerate(zip(self.attention, self.norms)):
            x = x + layer(norm(x), start, turns)
            y = F.silu(self.gate(x)) * self.up(x)
            x = x + self.down(y)
            for name, adapter in self.adapters.items():
                if name == language:
                    x = x + adapter(x)
        return F.linear(self.norms[-1](x), self.embed.weight)

    @torch.jit.export
    def sampled(self, prompt: List[int], steps: int, temperature: float, top_p: float) -> List[int]:
        ids = torch.tensor([prompt])
        logits = self.forward(ids, 0, "english")[:, -1]
        found = prompt[:]
        for i in range(steps):
            chances, order = torch.sort(torch.softmax(logits / temperature, dim=-1), dim=-1, descending=True)
            beyond = torch.cumsum(chances, dim=-1) - chances > top_p
            chances[beyond] = 0.0
            chances.div_(chances.sum(dim=-1, keepdim=True))
            chosen = torch.gather(order, -1, torch.multinomial(chances, num_samples=1))
            found.append(int(chosen.item()))
            logits = self.forward(chosen, len(prompt) + i, "english")[:, -1]
        return found

    @torch.jit.export
    def beams(
        self, prompt: List[int], width: int, steps: int, penalty: float = 0.6
    ) -> List[Tuple[float, List[int]]]:
        alive = [Beam(0.0, prompt)]
        done: List[Beam] = []
        for _ in range(steps):
            candidates: List[Beam] = []
            for beam in alive:
                chances = F.log_softmax(self.forward(torch.tensor([beam.ids]), 0, "english")[0, -1], dim=-1)
                values, places = chances.topk(width)
                for j in range(width):
                    candidates.append(Beam(beam.score + values[j].item(), beam.ids + [int(places[j])]))
            candidates.sort()
            alive = []
            for beam in candidates[-width:]:
                if beam.ids[-1] == 3:
                    beam.score /= ((5 + len(beam.ids)) / 6) ** penalty
                    done.append(beam)
                else:
                    alive.append(beam)
            if len(alive) == 0:
                break
        done.extend(alive)
        done.sort(reverse=True)
        return [(beam.score, beam.ids) for beam in done]


CASES["decoder"] = Case(
    Decoder,
    lambda: [
        call(tokens(2, 5, high=30)), call(tokens(2, 1, high=30), 5), call(tokens(1, 4, high=30), 0, "german"),
        call([4, 7, 9], 6, 0.9, 0.8, method="sampled", seed=4), call([1, 2], 3, 4, method="beams"),
    ],
    ("script",),
)  # fmt: skip


# Decoding: a conditional random field; best-path and prefix decoding of CTC, with strings as keys.
class CRF(nn.Module):
    transitions: nn.Parameter

    def __init__(self, labels: int = 5):
        super().__init__()
        self.transitions = nn.Parameter(torch.randn(labels, labels) * 0.5)
        self.start, self.end = (
            nn.Parameter(torch.randn(labels) * 0.1),
            nn.Parameter(torch.randn(labels) * 0.1),
        )

    def normaliser(self, scores: Tensor, mask: Tensor) -> Tensor:
        total = self.start + scores[:, 0]
        for i in range(1, scores.size(1)):
            following = torch.logsumexp(
                total.unsqueeze(2) + self.transitions + scores[:, i].unsqueeze(1), dim=1
            )
            total = torch.where(mask[:, i].unsqueeze(1), following, total)
        return torch.logsumexp(total + self.end, dim=1)

    def path(self, scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
        rows = torch.arange(scores.size(0))
        total = self.start[labels[:, 0]] + scores[rows, 0, labels[:, 0]]
        for i in range(1, scores.size(1)):
            step = self.transitions[labels[:, i - 1], labels[:, i]] + scores[rows, i, labels[:, i]]
            total = total + step * mask[:, i]
        last = labels.gather(1, (mask.long().sum(1) - 1).unsqueeze(1)).squeeze(1)
        return total + self.end[last]

    def forward(self, scores: Tensor, labels: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        if mask is None:
            mask = torch.ones_like(labels, dtype=torch.bool)
        return (self.normaliser(scores, mask) - self.path(scores, labels, mask)).mean()

    @torch.jit.export
    def decode(self, scores: Tensor, lengths: List[int]) -> List[Tuple[List[int], float]]:
        found: List[Tuple[List[int], float]] = []
        for b, length in enumerate(lengths):
            best = self.start + scores[b, 0]
            back: List[Tensor] = []
            for i in range(1, length):
                value, place = (best.unsqueeze(1) + self.transitions).max(dim=0)
                best = value + scores[b, i]
                back.append(place)
            best = best + self.end
            tags = [int(best.argmax())]
            for place in back[::-1]:
                tags.append(int(place[tags[-1]]))
            tags.reverse()
            found.append((tags, float(best.max())))
        return found


def crf_calls():
    scores, labels, mask = torch.randn(2, 6, 5), tokens(2, 6, high=5), torch.ones(2, 6, dtype=torch.bool)
    mask[1, 4:] = False
    return [call(scores, labels), call(scores, labels, mask), call(scores, [6, 4], method="decode")]


CASES["crf"] = Case(CRF, crf_calls, ("script", "freeze"))
CASES["crf_traced"] = Case(CRF, lambda: crf_calls()[:1], ("trace",))


class Hypothesis(NamedTuple):
    text: str
    score: float
    times: List[int]


class CTCDecoder(nn.Module):
    alphabet: List[str]

    def __init__(self, alphabet: str = "_abc '", bonus: float = 0.3):
        super().__init__()
        self.alphabet = list(alphabet)
        self.bonus = bonus
        self.model: Dict[str, float] = {"ab": -0.1, "a": -0.5, "cab": -0.2}

    @torch.jit.export
    def greedy(self, logits: Tensor) -> List[str]:
        texts: List[str] = []
        for row in logits.argmax(-1):
            ids = torch.unique_consecutive(row)
            texts.append("".join([self.alphabet[int(i)] for i in ids[ids != 0]]))
        return texts

    @staticmethod
    def sum_logs(a: float, b: float) -> float:
        if a == -math.inf:
            return b
        if b == -math.inf:
            return a
        high = max(a, b)
        return high + math.log(math.exp(a - high) + math.exp(b - high))

    def word_score(self, text: str) -> float:
        words = text.strip().split(" ")
        last = words[-1] if len(words) > 0 else ""
        return self.model.get(last, -2.0) if last in self.model else -3.0

    def forward(self, logits: Tensor, width: int = 4) -> List[Hypothesis]:
        chances: List[List[float]] = logits.log_softmax(-1).tolist()
        beams: Dict[str, Tuple[float, float]] = {"": (0.0, -math.inf)}
        times: Dict[str, List[int]] = {"": torch.jit.annotate(List[int], [])}
        for t, row in enumerate(chances):
            following: Dict[str, Tuple[float, float]] = {}
            for prefix, (blank, other) in beams.items():
                for i, chance in enumerate(row):
                    if i == 0:
                        b, o = following.get(prefix, (-math.inf, -math.inf))
                        following[prefix] = (self.sum_logs(b, self.sum_logs(blank, other) + chance), o)
                        continue
                    letter = self.alphabet[i]
                    longer = prefix + letter
                    if prefix.endswith(letter):
                        b, o = following.get(prefix, (-math.inf, -math.inf))
                        following[prefix] = (b, self.sum_logs(o, other + chance))
                        gain = blank + chance
                    else:
                        gain = self.sum_logs(blank, other) + chance
                    if letter == " ":
                        gain += self.bonus * self.word_score(prefix)
                    b, o = following.get(longer, (-math.inf, -math.inf))
                    following[longer] = (b, self.sum_logs(o, gain))
                    if longer not in times:
                        times[longer] = times[prefix] + [t]
            ranked = [(self.sum_logs(b, o), prefix) for prefix, (b, o) in following.items()]
            ranked.sort(reverse=True)
            beams.clear()
            for _, prefix in ranked[:width]:
                beams[prefix] = following[prefix]
        found: List[Hypothesis] = []
        for prefix, (b, o) in beams.items():
            found.append(Hypothesis(prefix, self.sum_logs(b, o), times[prefix]))
        return found


CASES["ctc_decoder"] = Case(
    CTCDecoder,
    lambda: [
        call(torch.randn(8, 6)),
        call(torch.randn(5, 6), 2),
        call(torch.randn(3, 12, 6), method="greedy"),
    ],
    ("script", "freeze"),
)


# Text: normalization, subword tokenization, and token ids.
class Tokenizer(nn.Module):
    vocabulary: Dict[str, int]
    merges: Dict[str, int]

    def __init__(self):
        super().__init__()
        pieces = [
            "[PAD]",
            "[UNK]",
            "the",
            "cat",
            "##s",
            "sat",
            "on",
            "un",
            "##believ",
            "##able",
            "a",
            "mat",
            "!",
            ",",
            "##e",
            "low",
            "##er",
        ]
        self.vocabulary = {piece: i for i, piece in enumerate(pieces)}
        self.merges = {"l o": 0, "lo w": 1, "e r": 2, "n e": 3, "ne w": 4}
        self.embed = nn.EmbeddingBag(len(pieces), 6, mode="mean", padding_idx=0)

    def cleaned(self, text: str) -> str:
        out = ""
        for c in text.lower():
            if c in "!,.?":
                out += " " + c + " "
            elif c.isalnum():
                out += c
            else:
                out += " "
        return " ".join(out.split())

    def wordpieces(self, word: str) -> List[str]:
        pieces: List[str] = []
        start = 0
        while start < len(word):
            end = len(word)
            found = ""
            while end > start:
                piece = word[start:end]
                if start > 0:
                    piece = "##" + piece
                if piece in self.vocabulary:
                    found = piece
                    break
                end -= 1
            if len(found) == 0:
                return ["[UNK]"]
            pieces.append(found)
            start = end
        return pieces

    @torch.jit.export
    def bpe(self, word: str) -> List[str]:
        parts = list(word)
        while len(parts) > 1:
            best, where = 1000, -1
            for i in range(len(parts) - 1):
                rank = self.merges.get(parts[i] + " " + parts[i + 1], 1000)
                if rank < best:
                    best, where = rank, i
            if where < 0:
                break
            parts = parts[:where] + [parts[where] + parts[where + 1]] + parts[where + 2 :]
        return parts

    @torch.jit.export
    def report(self, text: str, width: int) -> str:
        words = text.split(",")
        lines = [
            "{}".format(i).rjust(4) + "|" + w.strip().ljust(width, ".") + "|" + w.upper().center(width)
            for i, w in enumerate(words)
        ]
        head = "%d words, %s" % (len(words), words[0].title())
        return (
            "\n".join([head] + lines)
            + f"\n{len(text)} {text.count('a')} {text.find('b')} {text.replace('a', 'o').rstrip('!')}"
        )

    def forward(self, texts: List[str]) -> Tuple[List[List[str]], Tensor]:
        pieces: List[List[str]] = []
        longest = 0
        for text in texts:
            found: List[str] = []
            for word in self.cleaned(text).split(" "):
                found.extend(self.wordpieces(word))
            pieces.append(found)
            longest = max(longest, len(found))
        ids = torch.zeros((len(texts), longest), dtype=torch.long)
        for i, row in enumerate(pieces):
            ids[i, : len(row)] = torch.tensor([self.vocabulary[piece] for piece in row])
        return pieces, self.embed(ids)


CASES["tokenizer"] = Case(
    Tokenizer,
    lambda: [
        call(["The cats sat on a mat!", "Unbelievable, lower zebra"]), call("newlower", method="bpe"), call("x", method="bpe"),
        call("apple, banana,cab!", 12, method="report"),
    ],
    ("script", "freeze"),
)  # fmt: skip


# Mixture of experts with an interface type, run by forked tasks; a router that counts its choices.
@torch.jit.interface
class Expert(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class GatedExpert(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(width, 10), nn.Linear(width, 10), nn.Linear(10, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.c(F.silu(self.a(x)) * self.b(x))


class LinearExpert(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) * 0.2)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight


class Experts(nn.Module):
    first: Expert

    def __init__(self, width: int = 8):
        super().__init__()
        self.gate = nn.Linear(width, 3, bias=False)
        self.first, self.second, self.third = GatedExpert(width), LinearExpert(width), GatedExpert(width)
        self.register_buffer("counts", torch.zeros(3, dtype=torch.long))

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        flat = x.flatten(0, -2)
        weights, chosen = F.softmax(self.gate(flat), dim=-1).max(-1)
        tasks = [
            torch.jit.fork(self.first.forward, flat),
            torch.jit.fork(self.second, flat),
            torch.jit.fork(self.third, flat),
        ]
        outs = torch.stack([torch.jit.wait(task) for task in tasks])
        self.counts += torch.bincount(chosen, minlength=3)
        y = outs[chosen, torch.arange(flat.size(0))] * weights.unsqueeze(-1)
        spread = -(weights * weights.log()).mean()
        return y.view(x.shape), spread


CASES["experts"] = Case(Experts, lambda: [call(torch.randn(2, 5, 8)), call(torch.randn(3, 8))], ("script",))


# State space models: a scan with input-dependent steps, and linear attention by cumulative sums.
class SelectiveScan(nn.Module):
    def __init__(self, width: int = 8, states: int = 4):
        super().__init__()
        inner = 2 * width
        self.enter, self.leave = nn.Linear(width, 2 * inner), nn.Linear(inner, width)
        self.conv = nn.Conv1d(inner, inner, 3, padding=2, groups=inner)
        self.to_steps, self.to_b, self.to_c = (
            nn.Linear(inner, inner),
            nn.Linear(inner, states),
            nn.Linear(inner, states),
        )
        self.log_a = nn.Parameter(torch.log(torch.arange(1.0, states + 1).expand(inner, -1).clone()))
        self.d = nn.Parameter(torch.ones(inner))

    def forward(self, x: Tensor) -> Tensor:
        n = x.size(1)
        y, z = self.enter(x).chunk(2, -1)
        y = F.silu(self.conv(y.transpose(1, 2))[..., :n]).transpose(1, 2)
        steps = F.softplus(self.to_steps(y))
        b, c = self.to_b(y), self.to_c(y)
        decay = torch.exp(torch.einsum("bnd,ds->bnds", steps, -torch.exp(self.log_a)))
        drive = torch.einsum("bnd,bns,bnd->bnds", steps, b, y)
        state = torch.zeros_like(drive[:, 0])
        outs: List[Tensor] = []
        for i in range(n):
            state = decay[:, i] * state + drive[:, i]
            outs.append(torch.einsum("bds,bs->bd", state, c[:, i]))
        return self.leave((torch.stack(outs, dim=1) + y * self.d) * F.silu(z))


CASES["selective_scan"] = Case(
    SelectiveScan, lambda: [call(torch.randn(2, 6, 8)), call(torch.randn(1, 6, 8))]
)


class LinearAttention(nn.Module):
    def __init__(self, width: int = 12, heads: int = 3):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        slopes = torch.tensor([2.0 ** (-8 * (i + 1) / heads) for i in range(heads)])
        self.register_buffer("slopes", slopes.view(heads, 1, 1))
        self.mixed = nn.Sequential(nn.Linear(2 * width, width), nn.Tanh())

    def parts(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = F.elu(self.parts(self.q(x))) + 1, F.elu(self.parts(self.k(x))) + 1, self.parts(self.v(x))
        sums = torch.cumsum(k.unsqueeze(-1) * v.unsqueeze(-2), dim=2)
        linear = torch.einsum("bhnd,bhnde->bhne", q, sums) / (q * k.cumsum(2)).sum(-1, keepdim=True)
        n = x.size(1)
        far = (torch.arange(n)[None, :] - torch.arange(n)[:, None]).to(x.dtype)
        near = torch.where((far <= 0) & (far > -3), far * self.slopes, torch.tensor(float("-inf")))
        local = torch.softmax(q @ k.mT / q.size(-1) ** 0.5 + near, -1) @ v
        return self.mixed(torch.cat([linear, local], -1).transpose(1, 2).flatten(2))


CASES["linear_attention"] = Case(
    LinearAttention, lambda: [call(torch.randn(2, 7, 12)), call(torch.randn(1, 4, 12))], traced_calls=1
)
CASES["linear_attention_double"] = Case(
    LinearAttention, lambda: [call(torch.randn(2, 5, 12).double())], ("script",), dtype="float64"
)
CASES["linear_attention_bfloat16"] = Case(
    LinearAttention, lambda: [call(torch.randn(2, 5, 12).bfloat16())], ("script", "freeze"), dtype="bfloat16"
)


# Text encoder with optional masks, hooks, and attributes excluded from scripts.
class Doubled:
    """Hooks that double the input and the result."""

    @staticmethod
    def before(self, inputs: Tuple[Tensor, Optional[Tensor]]) -> Tuple[Tensor, Optional[Tensor]]:
        x, mask = inputs
        return x * 2.0, mask

    @staticmethod
    def after(self, inputs: Tuple[Tensor, Optional[Tensor]], output: Tensor) -> Tensor:
        return output + inputs[0].mean()


class Pooled(nn.Module):
    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        if mask is None:
            return x.mean(1)
        weights = mask.unsqueeze(-1).to(x.dtype)
        return (x * weights).sum(1) / weights.sum(1).clamp(min=1e-9)


class SentenceEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 16, padding_idx=0)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(16, 4, 20, batch_first=True), 1, enable_nested_tensor=False
        )
        self.pooled = Pooled()
        self.pooled.register_forward_pre_hook(Doubled.before)
        self.pooled.register_forward_hook(Doubled.after)
        self.convs = nn.ModuleList([nn.Conv1d(16, 4, k) for k in (2, 3)])

    @torch.jit.ignore
    def described(self, x: Tensor) -> str:
        return f"{tuple(x.shape)} of {x.dtype}"

    def forward(self, ids: Tensor, masked: bool = True) -> Tuple[Tensor, Tensor]:
        mask = ids != 0 if masked else None
        padding = torch.logical_not(mask) if mask is not None else None
        x = self.encoder(self.embed(ids), src_key_padding_mask=padding)
        found = [F.relu(conv(x.transpose(1, 2))).max(dim=-1)[0] for conv in self.convs]
        return F.normalize(self.pooled(x, mask), dim=-1), torch.cat(found, 1)


def sentences():
    ids = tokens(2, 6) + 1
    ids[ids == 40] = 39
    ids[1, 4:] = 0
    return [call(ids), call(ids, False)]


CASES["sentences"] = Case(SentenceEncoder, sentences, ("script", "freeze"))
