"""Detectors: anchors and boxes, suppression, regions, heads, matching, losses and tracks."""

import math
from collections import OrderedDict
from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.pytorch_parity.models import Case, call

CASES = {}


# Boxes
def box_area(boxes: Tensor) -> Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def box_iou(a: Tensor, b: Tensor) -> Tensor:
    low = torch.max(a[:, None, :2], b[:, :2])
    high = torch.min(a[:, None, 2:], b[:, 2:])
    sides = (high - low).clamp(min=0)
    shared = sides[:, :, 0] * sides[:, :, 1]
    return shared / (box_area(a)[:, None] + box_area(b) - shared)


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """Non-maximum suppression with vectorized rows."""
    order = torch.argsort(scores, descending=True)
    kept: List[int] = []
    while order.numel() > 0:
        best = order[0]
        kept.append(int(best))
        if order.numel() == 1:
            break
        rest = order[1:]
        overlaps = box_iou(boxes[best].unsqueeze(0), boxes[rest])[0]
        order = rest[overlaps <= threshold]
    return torch.tensor(kept, dtype=torch.int64, device=boxes.device)


@torch.jit._script_if_tracing
def batched_nms(boxes: Tensor, scores: Tensor, groups: Tensor, threshold: float) -> Tensor:
    if boxes.numel() == 0:
        return torch.empty((0,), dtype=torch.int64, device=boxes.device)
    offsets = groups.to(boxes) * (boxes.max() + torch.tensor(1).to(boxes))
    return nms(boxes + offsets[:, None], scores, threshold)


def clip_boxes(boxes: Tensor, size: Tuple[int, int]) -> Tensor:
    height, width = size
    xs = boxes[..., 0::2].clamp(min=0, max=width)
    ys = boxes[..., 1::2].clamp(min=0, max=height)
    return torch.stack((xs, ys), dim=boxes.dim()).reshape(boxes.shape)


def random_boxes(count: int, size: float = 64.0) -> Tensor:
    low = torch.rand(count, 2) * size * 0.7
    return torch.cat([low, low + 2 + torch.rand(count, 2) * size * 0.3], 1)


# Box operations: several kinds of overlap, suppression by scalar loops, soft suppression.
class BoxFormat(Enum):
    CORNERS = "xyxy"
    SIZES = "xywh"
    CENTRES = "cxcywh"


class Boxes(nn.Module):
    def __init__(self, format: BoxFormat, sigma: float = 0.5):
        super().__init__()
        self.format = format
        self.sigma = sigma

    def corners(self, boxes: Tensor) -> Tensor:
        if self.format == BoxFormat.CORNERS:
            return boxes
        if self.format == BoxFormat.SIZES:
            return torch.cat([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], -1)
        cx, cy, w, h = boxes.unbind(-1)
        return torch.stack([cx - 0.5 * w, cy - 0.5 * h, cx + 0.5 * w, cy + 0.5 * h], dim=-1)

    @torch.jit.export
    def generalised(self, a: Tensor, b: Tensor) -> Tensor:
        iou = box_iou(a, b)
        low, high = torch.minimum(a[:, None, :2], b[:, :2]), torch.maximum(a[:, None, 2:], b[:, 2:])
        hull = (high - low).prod(-1)
        union = (box_area(a)[:, None] + box_area(b)) / (1 + iou)
        return iou - (hull - union) / hull

    @torch.jit.export
    def soft(self, boxes: Tensor, scores: Tensor) -> Tuple[Tensor, List[int]]:
        scores = scores.clone()
        alive = torch.ones_like(scores, dtype=torch.bool)
        order: List[int] = []
        for _ in range(scores.numel()):
            best = int(torch.where(alive, scores, torch.full_like(scores, -1.0)).argmax())
            alive[best] = False
            order.append(best)
            overlap = box_iou(boxes[best : best + 1], boxes).squeeze(0)
            scores = torch.where(alive, scores * torch.exp(-(overlap**2) / self.sigma), scores)
        return scores, order

    @torch.jit.export
    def by_numbers(self, boxes: List[List[float]], scores: List[float], threshold: float) -> List[int]:
        order = [i for _, i in sorted([(-s, i) for i, s in enumerate(scores)])]
        kept: List[int] = []
        for i in order:
            good = True
            for j in kept:
                a, b = boxes[i], boxes[j]
                w = min(a[2], b[2]) - max(a[0], b[0])
                h = min(a[3], b[3]) - max(a[1], b[1])
                if w <= 0 or h <= 0:
                    continue
                shared = w * h
                whole = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
                if shared / whole > threshold:
                    good = False
                    break
            if good:
                kept += [i]
        return kept

    def forward(self, boxes: Tensor, scores: Tensor, threshold: float = 0.5) -> Tuple[Tensor, Tensor]:
        corners = self.corners(boxes)
        return corners, nms(corners, scores, threshold)


def box_calls():
    boxes, scores = random_boxes(24), torch.rand(24)
    return [
        call(boxes, scores), call(boxes, scores, 0.2), call(boxes, random_boxes(5), method="generalised"),
        call(boxes, scores, method="soft"), call(boxes.tolist(), scores.tolist(), 0.3, method="by_numbers"),
    ]  # fmt: skip


for _format in BoxFormat:
    CASES[f"boxes_{_format.value}"] = Case(
        lambda format=_format: Boxes(BoxFormat(format.value)), box_calls, ("script",)
    )


# SSD: default boxes, a head per level, decoding, non-maximum suppression per class.
class DefaultBoxes(nn.Module):
    def __init__(self, ratios: List[List[int]], low: float = 0.2, high: float = 0.9):
        super().__init__()
        self.ratios = ratios
        count = len(ratios)
        self.scales = [low + (high - low) * k / (count - 1.0) for k in range(count)] + [1.0]
        self._pairs = self._generate(count)

    def _generate(self, count: int, dtype: torch.dtype = torch.float32) -> List[Tensor]:
        found: List[Tensor] = []
        for k in range(count):
            s, between = self.scales[k], math.sqrt(self.scales[k] * self.scales[k + 1])
            pairs = [[s, s], [between, between]]
            for ratio in self.ratios[k]:
                root = math.sqrt(ratio)
                pairs.extend([[s * root, s / root], [s / root, s * root]])
            found.append(torch.as_tensor(pairs, dtype=dtype))
        return found

    def per_place(self) -> List[int]:
        return [2 + 2 * len(r) for r in self.ratios]

    def _grid(self, sizes: List[List[int]], image: List[int]) -> Tensor:
        boxes = []
        for k, size in enumerate(sizes):
            y = (torch.arange(0, size[0]) + 0.5) / size[0]
            x = (torch.arange(0, size[1]) + 0.5) / size[1]
            shift_y, shift_x = torch.meshgrid(y.to(torch.float32), x.to(torch.float32), indexing="ij")
            shifts = torch.stack(
                (shift_x.reshape(-1), shift_y.reshape(-1)) * len(self._pairs[k]), dim=-1
            ).reshape(-1, 2)
            pairs = self._pairs[k].repeat((size[0] * size[1]), 1)
            boxes.append(torch.cat((shifts, pairs), dim=1))
        return torch.cat(boxes, dim=0)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}(ratios={self.ratios})"

    def forward(self, image: Tensor, maps: List[Tensor]) -> Tensor:
        sizes = [m.shape[-2:] for m in maps]
        boxes = self._grid(sizes, image.shape[-2:])
        scale = torch.tensor([image.shape[-1], image.shape[-2]])
        return torch.cat(
            [(boxes[:, :2] - 0.5 * boxes[:, 2:]) * scale, (boxes[:, :2] + 0.5 * boxes[:, 2:]) * scale], -1
        )


class BoxCoder:
    """Encode boxes as offsets and decode them; a script class."""

    def __init__(self, weights: Tuple[float, float, float, float], clip: float = math.log(1000.0 / 16)):
        self.weights = weights
        self.clip = clip

    def decode(self, codes: Tensor, boxes: Tensor) -> Tensor:
        sizes = boxes[:, 2:] - boxes[:, :2]
        centres = boxes[:, :2] + 0.5 * sizes
        wx, wy, ww, wh = self.weights
        dx, dy = codes[:, 0::4] / wx, codes[:, 1::4] / wy
        dw, dh = (
            torch.clamp(codes[:, 2::4] / ww, max=self.clip),
            torch.clamp(codes[:, 3::4] / wh, max=self.clip),
        )
        x, y = dx * sizes[:, 0, None] + centres[:, 0, None], dy * sizes[:, 1, None] + centres[:, 1, None]
        w, h = torch.exp(dw) * sizes[:, 0, None], torch.exp(dh) * sizes[:, 1, None]
        return torch.stack((x - w * 0.5, y - h * 0.5, x + w * 0.5, y + h * 0.5), dim=2).flatten(1)


class SSD(nn.Module):
    __annotations__ = {"coder": BoxCoder}

    def __init__(self, classes: int = 4):
        super().__init__()
        self.anchors = DefaultBoxes([[2], [2, 3]])
        self.coder = BoxCoder(weights=(10.0, 10.0, 5.0, 5.0))
        self.classes = classes
        self.trunk = nn.Sequential(
            OrderedDict([("a", nn.Conv2d(3, 8, 3, 4, 1)), ("b", nn.Conv2d(8, 8, 3, 2, 1))])
        )
        counts = self.anchors.per_place()
        self.scores = nn.ModuleList([nn.Conv2d(8, n * classes, 3, padding=1) for n in counts])
        self.offsets = nn.ModuleList([nn.Conv2d(8, n * 4, 3, padding=1) for n in counts])

    def flat(self, x: Tensor, columns: int) -> Tensor:
        n, _, h, w = x.shape
        return x.view(n, -1, columns, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, columns)

    def forward(self, images: Tensor) -> List[Dict[str, Tensor]]:
        maps: List[Tensor] = []
        x = images
        for layer in self.trunk:
            x = layer(x).relu()
            maps.append(x)
        scores, offsets = [], []
        for i, (score, offset) in enumerate(zip(self.scores, self.offsets)):
            scores.append(self.flat(score(maps[i]), self.classes))
            offsets.append(self.flat(offset(maps[i]), 4))
        all_scores, all_offsets = torch.cat(scores, 1), torch.cat(offsets, 1)
        anchors = self.anchors(images, maps)
        found: List[Dict[str, Tensor]] = []
        for chances, codes in zip(F.softmax(all_scores, dim=-1), all_offsets):
            boxes = clip_boxes(self.coder.decode(codes, anchors), (images.shape[-2], images.shape[-1]))
            picked_boxes, picked_scores, picked_labels = [], [], []
            for label in range(1, self.classes):
                good = chances[:, label] > 0.3
                best, index = chances[good, label].topk(min(int(good.sum()), 10))
                picked_boxes.append(boxes[good][index])
                picked_scores.append(best)
                picked_labels.append(torch.full_like(best, fill_value=label, dtype=torch.int64))
            b, s, l = (
                torch.cat(picked_boxes, dim=0),
                torch.cat(picked_scores, dim=0),
                torch.cat(picked_labels, dim=0),
            )
            kept = batched_nms(b, s, l, 0.45)[:8]
            found.append({"boxes": b[kept], "scores": s[kept], "labels": l[kept]})
        return found


CASES["ssd"] = Case(
    SSD, lambda: [call(torch.randn(2, 3, 32, 32)), call(torch.randn(1, 3, 48, 40))], ("script", "freeze")
)


# FCOS: images of several sizes in a list, optional targets, losses in training and detections in evaluation.
class ImageList(NamedTuple):
    tensors: Tensor
    sizes: List[Tuple[int, int]]


def batched(images: List[Tensor], divisor: int = 8) -> ImageList:
    sizes: List[Tuple[int, int]] = []
    largest = [0, 0, 0]
    for image in images:
        for i, n in enumerate(image.shape):
            largest[i] = max(largest[i], n)
        sizes.append((image.shape[-2], image.shape[-1]))
    for i in (1, 2):
        largest[i] = int(math.ceil(float(largest[i]) / divisor) * divisor)
    batch = images[0].new_full([len(images)] + largest, 0)
    for i in range(len(images)):
        image = images[i]
        batch[i, : image.shape[0], : image.shape[1], : image.shape[2]].copy_(image)
    return ImageList(batch, sizes)


def focal_loss(
    x: Tensor, target: Tensor, alpha: float = 0.25, gamma: float = 2, reduction: str = "none"
) -> Tensor:
    p = torch.sigmoid(x)
    ce = F.binary_cross_entropy_with_logits(x, target, reduction="none")
    p_t = p * target + (1 - p) * (1 - target)
    loss = ce * ((1 - p_t) ** gamma)
    if alpha >= 0:
        loss = (alpha * target + (1 - alpha) * (1 - target)) * loss
    if reduction == "none":
        pass
    elif reduction == "mean":
        loss = loss.mean()
    elif reduction == "sum":
        loss = loss.sum()
    else:
        raise ValueError(
            f"Invalid Value for arg 'reduction': '{reduction} \n Supported reduction modes: 'none', 'mean', 'sum'"
        )
    return loss


class FCOS(nn.Module):
    def __init__(self, classes: int = 3, strides: Tuple[int, ...] = (4, 8)):
        super().__init__()
        self.classes, self.strides = classes, strides
        self.levels = nn.ModuleList([nn.Conv2d(3, 6, 3, 4, 1), nn.Conv2d(6, 6, 3, 2, 1)])
        self.head = nn.ModuleDict(
            {"cls": nn.Conv2d(6, classes, 1), "reg": nn.Conv2d(6, 4, 1), "ctr": nn.Conv2d(6, 1, 1)}
        )

    def centres(self, maps: List[Tensor]) -> Tuple[Tensor, Tensor]:
        points: List[Tensor] = []
        strides: List[Tensor] = []
        for i, m in enumerate(maps):
            stride = self.strides[0] if i == 0 else self.strides[1]
            ys = torch.arange(m.shape[-2]) * stride + stride // 2
            xs = torch.arange(m.shape[-1]) * stride + stride // 2
            grid = torch.cartesian_prod(ys, xs).flip(1)
            points.append(grid.to(m.dtype))
            strides.append(torch.full((grid.size(0), 1), float(stride)))
        return torch.cat(points), torch.cat(strides)

    def losses(
        self, targets: List[Dict[str, Tensor]], outputs: Dict[str, Tensor], points: Tensor
    ) -> Dict[str, Tensor]:
        total, count = torch.zeros(()), 0
        for i, target in enumerate(targets):
            boxes, labels = target["boxes"], target["labels"]
            sides = torch.cat(
                [points[:, None] - boxes[None, :, :2], boxes[None, :, 2:] - points[:, None]], -1
            )
            inside = sides.amin(-1) > 0
            areas = box_area(boxes)[None].repeat(points.size(0), 1)
            areas[~inside] = float("inf")
            least, which = areas.min(1)
            wanted = torch.zeros_like(outputs["cls"][i])
            positive = torch.isfinite(least)
            wanted[positive, labels[which[positive]]] = 1.0
            total = total + focal_loss(outputs["cls"][i], wanted, reduction="sum")
            count += int(positive.sum())
        return {"classification": total / max(1, count), "positive": torch.tensor(count)}

    def forward(
        self, images: List[Tensor], targets: Optional[List[Dict[str, Tensor]]] = None
    ) -> Tuple[Dict[str, Tensor], List[Dict[str, Tensor]]]:
        if self.training:
            if targets is None:
                torch._assert(False, "targets should not be none when in training mode")
            else:
                for target in targets:
                    boxes = target["boxes"]
                    if isinstance(boxes, torch.Tensor):
                        torch._assert(
                            len(boxes.shape) == 2 and boxes.shape[-1] == 4,
                            f"Expected a tensor of shape [N, 4], got {boxes.shape}.",
                        )
        batch = batched(images)
        maps: List[Tensor] = []
        x = batch.tensors
        for level in self.levels:
            x = F.relu(level(x))
            maps.append(x)
        parts: Dict[str, List[Tensor]] = {"cls": [], "reg": [], "ctr": []}
        for m in maps:
            for name, layer in self.head.items():
                parts[name].append(layer(m).flatten(2).transpose(1, 2))
        outputs = {name: torch.cat(tensors, dim=1) for name, tensors in parts.items()}
        points, strides = self.centres(maps)
        if self.training:
            assert targets is not None
            return self.losses(targets, outputs, points), []
        found: List[Dict[str, Tensor]] = []
        for index in range(len(images)):
            scores = torch.sqrt(outputs["cls"][index].sigmoid() * outputs["ctr"][index].sigmoid()).flatten()
            best, where = scores.topk(12)
            place = torch.div(where, self.classes, rounding_mode="floor")
            sides = F.relu(outputs["reg"][index][place]) * strides[place] + strides[place]
            boxes = torch.cat([points[place] - sides[:, :2], points[place] + sides[:, 2:]], 1)
            boxes = clip_boxes(boxes, batch.sizes[index])
            kept = batched_nms(boxes, best, where % self.classes, 0.6)
            found.append({"boxes": boxes[kept], "scores": best[kept], "labels": (where % self.classes)[kept]})
        return {}, found


def listed_images():
    return [torch.randn(3, 30, 32), torch.randn(3, 21, 40)]


def targets():
    return [
        {"boxes": random_boxes(3, 30.0), "labels": torch.tensor([0, 2, 1])},
        {"boxes": random_boxes(1, 20.0), "labels": torch.tensor([1])},
    ]


CASES["fcos"] = Case(
    FCOS, lambda: [call(listed_images()), call(listed_images()[:1], None)], ("script", "freeze")
)
CASES["fcos_training"] = Case(FCOS, lambda: [call(listed_images(), targets())], ("script",), training=True)


# Regions: proposals of several levels, aligned crops written with gathers, masks pasted into the image.
class AnchorGenerator(nn.Module):
    __annotations__ = {"cells": List[Tensor]}

    def __init__(self, sizes=((8,), (16,)), ratios=(0.5, 1.0, 2.0)):
        super().__init__()
        self.sizes = sizes
        self.cells = [self.cell(s, ratios) for s in sizes]

    def cell(self, scales: List[int], ratios: List[float]) -> Tensor:
        heights = torch.sqrt(torch.as_tensor(ratios))
        ws = ((1 / heights)[:, None] * torch.as_tensor(scales)[None, :]).view(-1)
        hs = (heights[:, None] * torch.as_tensor(scales)[None, :]).view(-1)
        return (torch.stack([-ws, -hs, ws, hs], dim=1) / 2).round()

    def forward(self, grids: List[List[int]], strides: List[List[int]]) -> List[Tensor]:
        anchors = []
        torch._assert(len(grids) == len(self.cells), "as many grids as cells")
        for size, stride, cell in zip(grids, strides, self.cells):
            xs = torch.arange(0, size[1], dtype=torch.int32) * stride[1]
            ys = torch.arange(0, size[0], dtype=torch.int32) * stride[0]
            y, x = torch.meshgrid(ys, xs, indexing="ij")
            shifts = torch.stack((x.reshape(-1), y.reshape(-1), x.reshape(-1), y.reshape(-1)), dim=1)
            anchors.append((shifts.view(-1, 1, 4) + cell.view(1, -1, 4)).reshape(-1, 4))
        return anchors


def neighbours(v: Tensor, limit: int) -> Tuple[Tensor, Tensor, Tensor]:
    v = v.clamp(0, limit - 1)
    low = v.floor().long()
    return low, (low + 1).clamp(max=limit - 1), v - low


def roi_align(features: Tensor, boxes: Tensor, scale: float, size: int, samples: int = 2) -> Tensor:
    """Return the bilinear means of an image's features inside of boxes."""
    boxes = boxes * scale - 0.5
    steps = (torch.arange(size * samples, dtype=boxes.dtype) + 0.5) / (size * samples)
    x0, x1, dx = neighbours(boxes[:, 0:1] + steps * (boxes[:, 2:3] - boxes[:, 0:1]), features.shape[2])
    y0, y1, dy = neighbours(boxes[:, 1:2] + steps * (boxes[:, 3:4] - boxes[:, 1:2]), features.shape[1])
    dy, dx = dy[:, :, None], dx[:, None, :]
    a, b = features[:, y0[:, :, None], x0[:, None, :]], features[:, y0[:, :, None], x1[:, None, :]]
    c, d = features[:, y1[:, :, None], x0[:, None, :]], features[:, y1[:, :, None], x1[:, None, :]]
    sampled = a * (1 - dy) * (1 - dx) + b * (1 - dy) * dx + c * dy * (1 - dx) + d * dy * dx
    return F.avg_pool2d(sampled.transpose(0, 1), samples)


class LevelMapper:
    def __init__(self, low: int, high: int, size: int = 16):
        self.low = low
        self.high = high
        self.size = size

    def __call__(self, boxes: Tensor) -> Tensor:
        levels = torch.floor(self.low + torch.log2(torch.sqrt(box_area(boxes)) / self.size) + 1e-6)
        return (torch.clamp(levels, min=self.low, max=self.high).to(torch.int64) - self.low).to(torch.int64)


class RegionHeads(nn.Module):
    """Boxes, labels and masks of proposals, each from the level for its size."""

    mapper: LevelMapper

    def __init__(self, width: int, classes: int):
        super().__init__()
        self.mapper = LevelMapper(0, 1)
        self.fc = nn.Sequential(nn.Flatten(start_dim=1), nn.Linear(width * 9, 16), nn.ReLU())
        self.box_score, self.box_offset = nn.Linear(16, classes), nn.Linear(16, classes * 4)
        self.mask = nn.Sequential(nn.ConvTranspose2d(width, 6, 2, 2), nn.ReLU(), nn.Conv2d(6, classes, 1))

    def pool(self, levels: Dict[str, Tensor], boxes: Tensor, size: int) -> Tensor:
        which = self.mapper(boxes)
        names = [name for name in levels.keys()]
        result = torch.zeros((boxes.shape[0], levels[names[0]].shape[0], size, size))
        for i, name in enumerate(names):
            index = torch.where(which == i)[0]
            if index.numel() > 0:
                result[index] = roi_align(levels[name], boxes[index], 0.25 / (1 << i), size)
        return result

    def paste(self, mask: Tensor, box: Tensor, height: int, width: int) -> Tensor:
        x0, y0, x1, y1 = [int(v) for v in box.round()]
        w, h = max(x1 - x0, 1), max(y1 - y0, 1)
        mask = F.interpolate(mask.expand(1, 1, -1, -1), size=(h, w), mode="bilinear", align_corners=False)[0][
            0
        ]
        image = torch.zeros((height, width), dtype=mask.dtype)
        right, low = min(x0 + w, width), min(y0 + h, height)
        image[max(y0, 0) : low, max(x0, 0) : right] = mask[
            max(y0, 0) - y0 : low - y0, max(x0, 0) - x0 : right - x0
        ]
        return image

    def forward(
        self, levels: Dict[str, Tensor], proposals: List[Tensor], size: Tuple[int, int]
    ) -> List[Dict[str, Tensor]]:
        results: List[Dict[str, Tensor]] = []
        for boxes in proposals:
            features = self.fc(self.pool(levels, boxes, 3))
            chances = F.softmax(self.box_score(features), -1)
            score, label = chances[:, 1:].max(-1)
            kept = batched_nms(boxes, score, label, 0.5)
            boxes, score, label = boxes[kept], score[kept], label[kept] + 1
            masks = self.mask(self.pool(levels, boxes, 4)).sigmoid()
            masks = masks[torch.arange(masks.size(0)), label][:, None]
            if len(kept) > 0:
                pasted = torch.stack(
                    [self.paste(m[0], b, size[0], size[1]) for m, b in zip(masks, boxes)], dim=0
                )[:, None]
            else:
                pasted = masks.new_empty((0, 1, size[0], size[1]))
            results.append({"boxes": boxes, "labels": label, "scores": score, "masks": pasted > 0.5})
        return results


class MaskRCNN(nn.Module):
    def __init__(self, width: int = 6):
        super().__init__()
        self.levels = nn.ModuleDict(
            {"0": nn.Conv2d(3, width, 3, 4, 1), "1": nn.Conv2d(width, width, 3, 2, 1)}
        )
        self.anchors = AnchorGenerator()
        self.objectness, self.deltas = nn.Conv2d(width, 3, 1), nn.Conv2d(width, 12, 1)
        self.heads = RegionHeads(width, 4)
        self.coder = BoxCoder((1.0, 1.0, 1.0, 1.0))
        self._has_warned = False

    @torch.jit.unused
    def eager_outputs(
        self, losses: Dict[str, Tensor], found: List[Dict[str, Tensor]]
    ) -> Union[Dict[str, Tensor], List[Dict[str, Tensor]]]:
        return losses if self.training else found

    def proposals(self, image: Tensor, levels: List[Tensor]) -> Tensor:
        height, width = image.shape[-2], image.shape[-1]
        grids = [list(m.shape[-2:]) for m in levels]
        strides = [[height // g[0], width // g[1]] for g in grids]
        boxes, scores, numbers = [], [], []
        for i, (m, anchors) in enumerate(zip(levels, self.anchors(grids, strides))):
            score = self.objectness(m).permute(1, 2, 0).reshape(-1)
            deltas = self.deltas(m).view(3, 4, m.shape[-2], m.shape[-1]).permute(2, 3, 0, 1).reshape(-1, 4)
            top, index = score.topk(min(20, score.shape[0]), dim=0)
            decoded = clip_boxes(self.coder.decode(deltas[index], anchors[index]), (height, width))
            boxes.append(decoded)
            scores.append(top)
            numbers.append(torch.full((top.shape[0],), i, dtype=torch.int64))
        b, s, n = torch.cat(boxes), torch.sigmoid(torch.cat(scores)), torch.cat(numbers)
        ws, hs = b[:, 2] - b[:, 0], b[:, 3] - b[:, 1]
        keep = torch.where((ws >= 1.0) & (hs >= 1.0))[0]
        b, s, n = b[keep], s[keep], n[keep]
        return b[batched_nms(b, s, n, 0.7)[:12]]

    def forward(self, images: Tensor) -> Tuple[Dict[str, Tensor], List[Dict[str, Tensor]]]:
        losses: Dict[str, Tensor] = {}
        found: List[Dict[str, Tensor]] = []
        for image in images:
            levels: Dict[str, Tensor] = OrderedDict()
            x = image
            for name, conv in self.levels.items():
                x = torch.relu(conv(x[None])[0])
                levels[name] = x
            boxes = self.proposals(image, list(levels.values()))
            found += self.heads(levels, [boxes], (image.shape[-2], image.shape[-1]))
        return losses, found


CASES["mask_rcnn"] = Case(
    MaskRCNN, lambda: [call(torch.randn(2, 3, 32, 40)), call(torch.randn(1, 3, 48, 32))], ("script",)
)


# YOLO: a grid for each head, cached between calls of equal size.
class YOLOHead(nn.Module):
    grid: List[Tensor]

    def __init__(
        self, classes: int = 3, anchors: Tuple[Tuple[int, ...], ...] = ((4, 6, 8, 5), (12, 16, 20, 14))
    ):
        super().__init__()
        self.columns = 5 + classes
        self.count = len(anchors)
        self.per_place = len(anchors[0]) // 2
        self.grid = [torch.zeros(1) for _ in range(self.count)]
        self.register_buffer("anchors", torch.tensor(anchors).float().view(self.count, -1, 2))
        self.register_buffer("stride", torch.tensor([4.0, 8.0]))
        self.conv = nn.ModuleList([nn.Conv2d(8, self.columns * self.per_place, 1) for _ in range(self.count)])

    def _make_grid(self, nx: int, ny: int) -> Tensor:
        yv, xv = torch.meshgrid([torch.arange(ny), torch.arange(nx)], indexing="ij")
        return torch.stack((xv, yv), 2).expand((1, self.per_place, ny, nx, 2)).float() - 0.5

    def forward(self, maps: List[Tensor]) -> Tuple[Tensor, List[Tensor]]:
        z: List[Tensor] = []
        out = [m for m in maps]
        for i, conv in enumerate(self.conv):
            y = conv(maps[i])
            bs, _, ny, nx = y.shape
            y = y.view(bs, self.per_place, self.columns, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
            out[i] = y
            if self.grid[i].shape[2:4] != y.shape[2:4] if self.grid[i].dim() == 5 else True:
                self.grid[i] = self._make_grid(nx, ny)
            xy, wh, conf = y.sigmoid().split((2, 2, self.columns - 4), 4)
            xy = (xy * 2 + self.grid[i]) * self.stride[i]
            wh = (wh * 2) ** 2 * self.anchors[i].view(1, self.per_place, 1, 1, 2)
            z.append(torch.cat((xy, wh, conf), 4).view(bs, self.per_place * nx * ny, self.columns))
        return torch.cat(z, 1), out

    @torch.jit.export
    def detections(self, prediction: Tensor, least: float = 0.25) -> List[Tensor]:
        output = [torch.zeros((0, 6))] * prediction.shape[0]
        candidates = prediction[..., 4] > least
        for xi, x in enumerate(prediction):
            x = x[candidates[xi]]
            if not x.shape[0]:
                continue
            x = x.clone()
            x[:, 5:] *= x[:, 4:5]
            corners = torch.cat((x[:, :2] - x[:, 2:4] / 2, x[:, :2] + x[:, 2:4] / 2), 1)
            i, j = torch.where(x[:, 5:] > least)
            rows = torch.cat((corners[i], x[i, j + 5, None], j[:, None].float()), 1)
            kept = batched_nms(rows[:, :4], rows[:, 4], j, 0.45)
            output[xi] = rows[kept]
        return output


def yolo_calls():
    prediction = torch.cat([torch.rand(2, 40, 4) * 30, torch.rand(2, 40, 4)], -1)
    maps = [torch.randn(2, 8, 6, 5), torch.randn(2, 8, 3, 3)]
    return [
        call(maps),
        call(maps),
        call([maps[1], maps[0]]),
        call(prediction, method="detections"),
        call(prediction, 0.99, method="detections"),
    ]


CASES["yolo"] = Case(YOLOHead, yolo_calls, ("script", "freeze"), attributes=("grid",))


# DETR: sinusoidal position encodings, queries, boxes of the last and of earlier layers.
class DETR(nn.Module):
    def __init__(self, width: int = 16, queries: int = 5):
        super().__init__()
        self.width = width
        self.conv = nn.Conv2d(3, width, 8, 8)
        self.encoder = nn.TransformerEncoderLayer(width, 2, 24, dropout=0.1)
        self.decoder = nn.ModuleList(
            [nn.TransformerDecoderLayer(width, 2, 24, dropout=0.1) for _ in range(2)]
        )
        self.queries = nn.Embedding(queries, width)
        self.label = nn.Linear(width, 4)
        self.box = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))

    def waves(self, mask: Tensor) -> Tensor:
        there = ~mask
        y = there.cumsum(1, dtype=torch.float32)
        x = there.cumsum(2, dtype=torch.float32)
        scale = 2 * math.pi
        y = y / (y[:, -1:, :] + 1e-6) * scale
        x = x / (x[:, :, -1:] + 1e-6) * scale
        half = self.width // 2
        steps = torch.arange(half, dtype=torch.float32)
        steps = 100 ** (2 * torch.div(steps, 2, rounding_mode="floor") / half)
        px, py = x[:, :, :, None] / steps, y[:, :, :, None] / steps
        px = torch.stack((px[:, :, :, 0::2].sin(), px[:, :, :, 1::2].cos()), dim=4).flatten(3)
        py = torch.stack((py[:, :, :, 0::2].sin(), py[:, :, :, 1::2].cos()), dim=4).flatten(3)
        return torch.cat((py, px), dim=3).permute(0, 3, 1, 2)

    def forward(self, images: Tensor, mask: Tensor) -> Tuple[Dict[str, Tensor], List[Dict[str, Tensor]]]:
        x = self.conv(images)
        mask = F.interpolate(mask[None].float(), size=x.shape[-2:]).to(torch.bool)[0]
        source = (x + self.waves(mask)).flatten(2).permute(2, 0, 1)
        memory = self.encoder(source, src_key_padding_mask=mask.flatten(1))
        target = self.queries.weight.unsqueeze(1).repeat(1, images.size(0), 1)
        each: List[Tensor] = []
        for layer in self.decoder:
            target = layer(target, memory, memory_key_padding_mask=mask.flatten(1))
            each.append(target.transpose(0, 1))
        states = torch.stack(each)
        labels, boxes = self.label(states), self.box(states).sigmoid()
        aux = [{"pred_logits": a, "pred_boxes": b} for a, b in zip(labels[:-1], boxes[:-1])]
        return {"pred_logits": labels[-1], "pred_boxes": boxes[-1]}, aux


def padded_images():
    mask = torch.zeros(2, 32, 40, dtype=torch.bool)
    mask[1, 24:] = True
    mask[1, :, 32:] = True
    return [call(torch.randn(2, 3, 32, 40), mask)]


CASES["detr"] = Case(DETR, padded_images, ("script",))


# CenterNet: peaks of a heat map, with classes and sizes.
class CenterNet(nn.Module):
    def __init__(self, classes: int = 3):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU())
        self.heads = nn.ModuleDict()
        for name, width in {"heat": classes, "size": 2, "offset": 2}.items():
            self.heads[name] = nn.Conv2d(8, width, 1)

    def gathered(self, x: Tensor, index: Tensor) -> Tensor:
        x = x.permute(0, 2, 3, 1).contiguous().view(x.size(0), -1, x.size(1))
        return x.gather(1, index.unsqueeze(2).expand(index.size(0), index.size(1), x.size(2)))

    def forward(self, images: Tensor, k: int = 6) -> Tensor:
        x = self.trunk(images)
        heat = self.heads["heat"](x).sigmoid_()
        heat = heat * (F.max_pool2d(heat, (3, 3), stride=1, padding=1) == heat).float()
        batch, _, height, width = heat.size()
        scores, index = torch.topk(heat.view(batch, -1), k)
        labels = (index / (height * width)).int()
        index = index % (height * width)
        ys, xs = (index // width).float(), (index % width).float()
        offset = self.gathered(self.heads["offset"](x), index)
        size = F.softplus(self.gathered(self.heads["size"](x), index))
        xs, ys = xs.unsqueeze(-1) + offset[..., 0:1], ys.unsqueeze(-1) + offset[..., 1:2]
        boxes = torch.cat(
            [
                xs - size[..., 0:1] / 2,
                ys - size[..., 1:2] / 2,
                xs + size[..., 0:1] / 2,
                ys + size[..., 1:2] / 2,
            ],
            dim=2,
        )
        return torch.cat([boxes, scores.unsqueeze(-1), labels.unsqueeze(-1).float()], dim=2)


CASES["centernet"] = Case(
    CenterNet, lambda: [call(torch.randn(2, 3, 16, 20)), call(torch.randn(1, 3, 24, 16))], traced_calls=1
)


# Tracks: objects with state between calls, matched greedily by overlap.
class Track:
    def __init__(self, number: int, box: Tensor, label: str):
        self.number = number
        self.box = box
        self.velocity = torch.zeros(4)
        self.label = label
        self.missed = 0
        self.history: List[Tuple[float, float]] = []

    def predict(self) -> Tensor:
        return self.box + self.velocity

    def update(self, box: Tensor):
        self.velocity = 0.5 * self.velocity + 0.5 * (box - self.box)
        self.box = box
        self.missed = 0
        self.history.append((float(box[0]), float(box[1])))

    def __str__(self) -> str:
        return "{} {}".format(self.label, self.number)


class Tracker(nn.Module):
    tracks: List[Track]

    def __init__(self, patience: int = 1):
        super().__init__()
        self.tracks = []
        self.patience = patience
        self.following = 0

    def forward(self, boxes: Tensor, labels: List[str]) -> Dict[str, Tensor]:
        taken: Dict[int, int] = {}
        if len(self.tracks) > 0 and boxes.size(0) > 0:
            overlap = box_iou(torch.stack([t.predict() for t in self.tracks]), boxes)
            while bool(overlap.max() > 0.2):
                where = int(overlap.argmax())
                row, column = where // overlap.size(1), where % overlap.size(1)
                taken[column] = row
                overlap[row, :] = -1.0
                overlap[:, column] = -1.0
        for track in self.tracks:
            track.missed += 1
        for i in range(boxes.size(0)):
            if i in taken:
                self.tracks[taken[i]].update(boxes[i])
            else:
                self.tracks.append(Track(self.following, boxes[i], labels[i]))
                self.following += 1
        alive: List[Track] = []
        for track in self.tracks:
            if track.missed <= self.patience:
                alive.append(track)
        self.tracks = alive
        return {t.label + "#" + str(t.number): t.box for t in self.tracks}

    @torch.jit.export
    def histories(self) -> Dict[int, List[Tuple[float, float]]]:
        return {t.number: t.history for t in self.tracks}


def frames():
    start, step = random_boxes(4), torch.tensor([2.0, 1.0, 2.0, 1.0])
    names = ["cat", "dog", "cat", "bird"]
    moving = [call(start + step * i, names) for i in range(3)]
    return [
        *moving,
        call(start[:2] + step * 3, names[:2]),
        call(torch.zeros(0, 4), [""]),
        call(start[1:] + step, names[1:]),
        call(method="histories"),
    ]


CASES["tracker"] = Case(Tracker, frames, ("script",), attributes=("following",))
