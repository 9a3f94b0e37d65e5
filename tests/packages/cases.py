"""Small models of packages that were written for PyTorch, with random weights and inputs.

A case is a function that returns a module and its keyword arguments, and imports `torch`, which may be `ts`.
"""

import torch
from torch import nn

CASES = {}


def case(package, *, script=None, train=False):
    """Declare a case; `script`: mode in which PyTorch compiles it ("trace", "script"); `train`: compare training."""

    def declare(function):
        CASES[function.__name__] = (function, package, script, train)
        return function

    return declare


def ramp(*shape, lo=-1.0, hi=1.0):
    """Return evenly spaced numbers from `lo` to `hi`, equal in both libraries."""
    return torch.linspace(lo, hi, torch.Size(shape).numel()).reshape(shape)


def tokens(*shape):
    return torch.arange(torch.Size(shape).numel()).reshape(shape)


class Function(nn.Module):
    """Module without weights that calls a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


# ---------------------------------------------------------------- language


@case("transformers", script="trace")
def bert():
    from transformers import BertConfig, BertModel

    sizes = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    return BertModel(BertConfig(vocab_size=50, **sizes)), {"input_ids": tokens(2, 6)}


@case("transformers", train=True)
def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=1)
    return GPT2LMHeadModel(config), {"input_ids": tokens(2, 6)}


@case("transformers")
def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
    return LlamaForCausalLM(LlamaConfig(vocab_size=50, **sizes)), {"input_ids": tokens(2, 6)}


@case("transformers")
def whisper():
    from transformers import WhisperConfig, WhisperModel

    config = WhisperConfig(
        vocab_size=60, num_mel_bins=8, encoder_layers=1, encoder_attention_heads=2, decoder_layers=1, d_model=16,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_source_positions=20,
        max_target_positions=20, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    return WhisperModel(config), {"input_features": ramp(1, 8, 40), "decoder_input_ids": torch.tensor([[1, 5, 7]])}


@case("x_transformers", script="trace", train=True)
def x_transformer():
    from x_transformers import Decoder, TransformerWrapper

    layers = Decoder(dim=32, depth=2, heads=4)
    return TransformerWrapper(num_tokens=50, max_seq_len=16, attn_layers=layers), {"x": tokens(2, 6)}


@case("local_attention")
def local_transformer():
    from local_attention import LocalTransformer

    model = LocalTransformer(num_tokens=50, dim=32, depth=2, max_seq_len=32, local_attn_window_size=8)
    return model, {"x": tokens(1, 16)}


@case("performer_pytorch")
def performer():
    from performer_pytorch import Performer

    return Performer(dim=32, depth=1, heads=2, dim_head=16), {"x": ramp(2, 8, 32)}


@case("rotary_embedding_torch", script="trace")
def rotary_embedding():
    from rotary_embedding_torch import RotaryEmbedding

    model = RotaryEmbedding(dim=8)
    return Function(model.rotate_queries_or_keys), {"t": ramp(1, 2, 6, 16)}


# ---------------------------------------------------------------- audio and physics


@case("julius", script="script")
def julius_resample():
    import julius

    return julius.ResampleFrac(4, 3), {"x": ramp(2, 200)}


@case("e3nn", train=True)
def e3nn_tensor_product():
    from e3nn import o3

    product = o3.FullyConnectedTensorProduct("2x0e+1x1o", "1x0e+1x1o", "2x0e+2x1o")
    return product, {"x": ramp(3, 5), "y": ramp(3, 4)}


# ---------------------------------------------------------------- vision


@case("transformers", script="trace")
def hugging_vit():
    from transformers import ViTConfig, ViTModel

    sizes = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    return ViTModel(ViTConfig(image_size=32, patch_size=8, **sizes)), {"pixel_values": ramp(2, 3, 32, 32)}


@case("timm", script="script")
def timm_resnet():
    import timm

    return timm.create_model("resnet18"), {"x": ramp(1, 3, 64, 64)}


@case("timm", script="trace")
def timm_vit():
    import timm

    return timm.create_model("vit_tiny_patch16_224", img_size=64), {"x": ramp(1, 3, 64, 64)}


@case("torchvision", script="script")
def torchvision_mobilenet():
    import torchvision

    return torchvision.models.mobilenet_v3_small(), {"x": ramp(1, 3, 64, 64)}


@case("torchvision", script="trace")
def torchvision_transforms():
    from torchvision.transforms import functional as T

    def run(x):
        return torch.stack([T.hflip(x), T.adjust_brightness(x, 0.5), T.rotate(x, 90), T.gaussian_blur(x, [3, 3], [1.0, 1.0])])

    return Function(run), {"x": ramp(3, 16, 16, lo=0.0)}


@case("segmentation_models_pytorch", script="trace")
def segmentation_unet():
    import segmentation_models_pytorch as smp

    return smp.Unet("resnet18", encoder_weights=None), {"x": ramp(1, 3, 64, 64)}


@case("vit_pytorch", script="trace", train=True)
def vit():
    from vit_pytorch import ViT

    model = ViT(image_size=32, patch_size=8, num_classes=10, dim=32, depth=2, heads=4, mlp_dim=64)
    return model, {"img": ramp(1, 3, 32, 32)}


@case("efficientnet_pytorch", script="trace")
def efficientnet():
    from efficientnet_pytorch import EfficientNet

    return EfficientNet.from_name("efficientnet-b0"), {"inputs": ramp(1, 3, 64, 64)}


@case("monai", script="trace", train=True)
def monai_unet():
    from monai.networks.nets import UNet

    model = UNet(spatial_dims=2, in_channels=1, out_channels=2, channels=(4, 8, 16), strides=(2, 2))
    return model, {"x": ramp(1, 1, 32, 32)}


@case("open_clip", script="trace")
def clip_tower():
    import open_clip

    model = open_clip.model.VisionTransformer(
        image_size=32, patch_size=8, width=32, layers=2, heads=4, mlp_ratio=2.0, output_dim=16
    )
    return model, {"x": ramp(1, 3, 32, 32)}


@case("denoising_diffusion_pytorch", script="trace")
def denoising_unet():
    from denoising_diffusion_pytorch import Unet

    return Unet(dim=8, dim_mults=(1, 2), flash_attn=False), {"x": ramp(1, 3, 16, 16), "time": torch.tensor([3])}


@case("diffusers")
def diffusers_unet():
    from diffusers import UNet2DModel

    model = UNet2DModel(
        sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    return model, {"sample": ramp(1, 3, 16, 16), "timestep": torch.tensor([3])}


@case("kornia", script="trace")
def kornia_filters():
    import kornia

    def run(x):
        blurred = kornia.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5))
        return torch.cat([blurred, kornia.filters.sobel(x), kornia.geometry.transform.rotate(x, torch.tensor([30.0]))])

    return Function(run), {"x": ramp(1, 3, 16, 16)}


@case("lpips", script="trace")
def lpips_distance():
    import lpips

    model = lpips.LPIPS(pretrained=False, net="alex", pnet_rand=True, verbose=False)
    return model, {"in0": ramp(1, 3, 64, 64), "in1": ramp(1, 3, 64, 64).flip(3)}


@case("pytorch_fid")
def inception():
    from pytorch_fid.inception import fid_inception_v3  # noqa: F401  it loads weights; the blocks are its own
    from pytorch_fid.inception import FIDInceptionA

    return FIDInceptionA(8, pool_features=4), {"x": ramp(1, 8, 16, 16)}


# ---------------------------------------------------------------- numerics


@case("einops", script="trace")
def einops_functions():
    from einops import rearrange, reduce, repeat

    def run(x):
        return rearrange(x, "b (h k) -> h b k", h=2), reduce(x, "b c -> b", "max"), repeat(x, "b c -> b c n", n=2)

    return Function(run), {"x": ramp(2, 4)}


@case("zuko", train=True)
def zuko_flow():
    import zuko

    class LogProb(nn.Module):
        def __init__(self):
            super().__init__()
            self.flow = zuko.flows.NSF(3, 2, transforms=2, hidden_features=(8, 8))

        def forward(self, x, c):
            return self.flow(c).log_prob(x)

    return LogProb(), {"x": ramp(2, 3), "c": ramp(2, 2)}


@case("normflows", script="trace")
def planar_flow():
    import normflows

    return normflows.flows.Planar((4,)), {"z": ramp(2, 4)}


@case("gpytorch")
def gpytorch_kernel():
    import gpytorch

    kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    class Dense(nn.Module):
        def __init__(self):
            super().__init__()
            self.kernel = kernel

        def forward(self, x):
            return self.kernel(x).to_dense()

    return Dense(), {"x": ramp(6, 1)}


@case("torchdiffeq")
def ode():
    from torchdiffeq import odeint

    return Function(lambda x: odeint(lambda t, y: -y * t, x, torch.linspace(0, 1, 5))), {"x": ramp(3, lo=1.0, hi=2.0)}


@case("torchsde")
def sde():
    import torchsde

    class Deterministic(nn.Module):
        noise_type, sde_type = "diagonal", "ito"

        def f(self, t, y):
            return -y

        def g(self, t, y):
            return torch.zeros_like(y)

    def run(x):
        brownian = torchsde.BrownianInterval(0.0, 1.0, size=(2, 3), entropy=0)
        return torchsde.sdeint(Deterministic(), x, torch.linspace(0, 1, 3), bm=brownian, dt=0.1, method="euler")

    return Function(run), {"x": ramp(2, 3)}


@case("entmax", script="trace")
def entmax_functions():
    import entmax

    return Function(lambda x: torch.cat([entmax.sparsemax(x, 1), entmax.entmax15(x, 1)])), {"x": ramp(2, 4)}


@case("geoopt", script="trace")
def poincare_ball():
    import geoopt

    ball = geoopt.PoincareBall()
    return Function(lambda x: torch.cat([ball.expmap0(x), ball.mobius_add(x * 0.1, x * 0.2)])), {"x": ramp(2, 4, lo=-0.5, hi=0.5)}


@case("vector_quantize_pytorch")
def vector_quantize():
    from vector_quantize_pytorch import VectorQuantize

    return VectorQuantize(dim=8, codebook_size=16), {"x": ramp(2, 6, 8)}


@case("torchmetrics", script="trace")
def metrics():
    import torchmetrics.functional as metrics

    def run(x):
        return torch.stack([
            metrics.mean_squared_error(x, x * 2), metrics.pearson_corrcoef(x[0], x[1]), metrics.r2_score(x[0], x[1]),
            metrics.cosine_similarity(x, x * 2 + 1),
        ])  # fmt: skip

    return Function(run), {"x": ramp(2, 4)}


@case("torch_geometric")
def graph_network():
    from torch_geometric.nn import GCNConv

    return GCNConv(4, 3), {"x": ramp(5, 4), "edge_index": torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])}


@case("axial_positional_embedding", script="trace")
def axial_embedding():
    from axial_positional_embedding import AxialPositionalEmbedding

    return AxialPositionalEmbedding(dim=8, axial_shape=(4, 4)), {"x": ramp(1, 16, 8)}


@case("product_key_memory")
def product_keys():
    from product_key_memory import PKM

    return PKM(dim=16, heads=2, num_keys=8, topk=4, dim_head=8), {"x": ramp(1, 6, 16)}


@case("colt5_attention")
def coordinate_descent():
    from colt5_attention import topk

    return Function(lambda x: topk(x, 2).values), {"x": ramp(1, 8)}


@case("lion_pytorch", train=True)
def lion():
    """Return a model trained by `optimizer_of`."""
    return nn.Linear(4, 3), {"input": ramp(5, 4)}


def optimizer_of(name, parameters):
    """Return the optimizer of a package, or SGD."""
    if name == "lion":
        from lion_pytorch import Lion

        return Lion(parameters, lr=1e-2)
    return torch.optim.SGD(parameters, lr=1e-2)
