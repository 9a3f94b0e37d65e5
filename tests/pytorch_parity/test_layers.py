"""Layers compared with PyTorch: `repr`, initial parameters, results in training and evaluation, state."""

import re

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

INPUTS = {"v": (2, 4), "s": (2, 4, 6), "i": (2, 4, 6, 6), "d": (2, 4, 6, 6, 6)}
LAYERS = r"""
RNN(6,3)|s
RNN(6,3,2,'relu',bidirectional=True)|s
RNN(6,3,nonlinearity='relu',bias=False)|s
LSTM(6,5,2,bidirectional=True,batch_first=True)|s
LSTM(6,5,proj_size=2)|s
LSTM(4,5)|v
GRU(6,3,num_layers=2)|s
GRU(4,3,bias=False)|v
RNNCell(4,3)|v
RNNCell(4,3,nonlinearity='relu',bias=False)|v
LSTMCell(4,3)|v
GRUCell(4,3)|v
Linear(4,3)|v
Linear(4,3,bias=False)|v
Identity(3)|v
Bilinear(4,4,3)|v,v
Conv1d(4,8,3)|s
Conv2d(4,8,3,padding=1,groups=2)|i
Conv2d(4,8,3,padding='same')|i
Conv2d(4,8,3,padding=1,padding_mode='reflect')|i
Conv2d(4,8,(3,1),stride=2,bias=False)|i
Conv3d(4,2,3)|d
ConvTranspose1d(4,2,3)|s
ConvTranspose2d(4,2,3,stride=2,padding=1,output_padding=1)|i
ConvTranspose3d(4,2,3)|d
BatchNorm1d(4)|v
BatchNorm1d(4)|s
BatchNorm2d(4)|i
BatchNorm2d(4,momentum=None)|i
BatchNorm2d(4,track_running_stats=False)|i
BatchNorm2d(4,affine=False)|i
BatchNorm3d(4)|d
BatchNorm2d(4)|v
InstanceNorm1d(4)|s
InstanceNorm2d(4,affine=True,track_running_stats=True)|i
InstanceNorm3d(4)|d
LayerNorm(4)|v
LayerNorm((4,6))|s
GroupNorm(2,4)|i
RMSNorm(4)|v
LocalResponseNorm(2)|i
CrossMapLRN2d(2,alpha=0.5)|i
CrossMapLRN2d(3,alpha=0.5,beta=0.6,k=2)|i
CrossMapLRN2d(5,alpha=0.5)|i
ReLU()|v
ReLU(True)|v
ReLU6()|v
SELU()|v
SiLU()|v
Mish()|v
Hardsigmoid()|v
Hardswish()|v
Hardswish(True)|v
Sigmoid()|v
Tanh()|v
Tanhshrink()|v
Softsign()|v
LogSigmoid()|v
CELU()|v
ELU(0.5,True)|v
LeakyReLU(.1)|v
Threshold(.1,2)|v
GELU()|v
GELU("tanh")|v
GLU()|v
Hardshrink()|v
Softshrink()|v
Softplus()|v
Softmax(1)|v
Softmax()|v
LogSoftmax(1)|v
Softmin(1)|v
Softmax2d()|i
Hardtanh()|v
Hardtanh(2,1)|v
PReLU()|v
PReLU(4)|i
Dropout()|v
Dropout(inplace=True)|v
Dropout1d()|s
Dropout2d()|i
Dropout3d()|d
AlphaDropout()|v
FeatureAlphaDropout()|i
Dropout(2)|v
Flatten()|i
Unflatten(1,(2,2))|v
PixelShuffle(2)|i
PixelUnshuffle(2)|i
ChannelShuffle(2)|i
CosineSimilarity()|v,v
PairwiseDistance()|v,v
Unfold(3)|i
Fold((6,6),2)|torch.randn(2,16,25)
Upsample(scale_factor=2)|i
Upsample(size=3,mode="bilinear")|i
UpsamplingNearest2d(scale_factor=2)|i
UpsamplingBilinear2d(size=(3,3))|i
MaxPool1d(2)|s
MaxPool2d(2)|i
MaxPool2d(2,return_indices=True)|i
MaxPool3d(2)|d
AvgPool1d(2)|s
AvgPool2d(2)|i
AvgPool3d(2)|d
AdaptiveAvgPool1d(3)|s
AdaptiveAvgPool2d((3,None))|i
AdaptiveAvgPool3d(3)|d
AdaptiveMaxPool1d(3)|s
AdaptiveMaxPool2d(3,True)|i
AdaptiveMaxPool3d(3)|d
FractionalMaxPool2d(2,output_size=(3,3))|i
TripletMarginWithDistanceLoss(swap=True)|v,v,v
TripletMarginWithDistanceLoss(margin=-1.)|v,v,v
AdaptiveLogSoftmaxWithLoss(8,20,[5,10],div_value=2.,head_bias=True)|torch.randn(3,8),torch.tensor([1,7,15])
AdaptiveLogSoftmaxWithLoss(8,20,[5])|torch.randn(8),torch.tensor(7)
AdaptiveLogSoftmaxWithLoss(8,20,[5])|torch.randn(3,8),torch.tensor([1,7,25])
AdaptiveLogSoftmaxWithLoss(8,20,[5,5])|v
LinearCrossEntropyLoss(3,5,out_features=(2,),bias=True)|torch.randn(2,3),torch.tensor([[1,0],[4,3]])
LinearCrossEntropyLoss(3,5,weight=torch.ones(5)*2,label_smoothing=.1)|torch.randn(2,3),torch.tensor([1,4])
MultiheadAttention(6,2)|s,s,s
MultiheadAttention(6,3,bias=False,batch_first=True)|s,s,s
MultiheadAttention(6,3,add_bias_kv=True,add_zero_attn=True)|s,s,s
MultiheadAttention(4,2,kdim=6,vdim=6)|torch.randn(3,4,4),torch.randn(5,4,6),torch.randn(5,4,6)
MultiheadAttention(6,4)|s,s,s
MultiheadAttention(6,2)|torch.randn(3,6),torch.randn(4,6),torch.randn(4,6),torch.tensor([False,True,False,True])
MultiheadAttention(6,2)|torch.randn(3,6),torch.randn(4,6),torch.randn(3,6)
TransformerEncoderLayer(6,2,8,dropout=0.)|s
TransformerEncoderLayer(6,2,8,dropout=0.,norm_first=True,activation='gelu',batch_first=True,bias=False)|s
TransformerEncoderLayer(6,2,8,activation='tanh')|s
TransformerDecoderLayer(6,2,8,dropout=0.)|s,s
TransformerDecoderLayer(6,3,8,dropout=0.,norm_first=True,activation='gelu',batch_first=True)|s,s
TransformerEncoder(nn.TransformerEncoderLayer(6,2,8,dropout=0.),2,nn.LayerNorm(6))|s
TransformerEncoder(nn.TransformerEncoderLayer(6,2,8,dropout=0.),2)|s,torch.zeros(2,2)
TransformerDecoder(nn.TransformerDecoderLayer(6,2,8,dropout=0.),2)|s,s
Transformer(6,2,1,2,8,dropout=0.)|s,s
Transformer(6,2,1,1,8,dropout=0.,batch_first=True)|s,torch.randn(2,3,6)
Transformer(6,2,1,1,8,dropout=0.)|s,torch.randn(2,3,6)
Transformer(6,2,1,1,8,dropout=0.)|s,torch.randn(2,4,7)
FractionalMaxPool2d((2,3),output_ratio=.5,return_indices=True)|i
FractionalMaxPool3d(2,output_size=3)|d
FractionalMaxPool2d(2)|i
FractionalMaxPool2d(2,output_ratio=1.5)|i
EmbeddingBag(5,3)|torch.tensor([[1,2],[3,4]])
EmbeddingBag(5,3,mode='max',padding_idx=1)|torch.tensor([[1,2],[3,4]])
EmbeddingBag(5,3,mode='sum',include_last_offset=True)|torch.tensor([1,2,3,4]),torch.tensor([0,3,4])
EmbeddingBag(5,3,max_norm=.5)|torch.tensor([[1,2],[3,4]])
MultiLabelMarginLoss()|v,torch.tensor([[1,2,-1,0],[0,-1,2,2]])
MultiLabelSoftMarginLoss()|v,torch.ones(2,4)
MultiMarginLoss(p=2,margin=.5)|v,torch.tensor([1,0])
CTCLoss()|s,torch.tensor([[1,2],[3,4],[1,1],[2,2]]),torch.tensor([2,2,2,1]),torch.tensor([2,1,1,1])
CTCLoss(blank=1,reduction='sum',zero_infinity=True)|s,torch.tensor([[0,2],[3,4],[0,0],[2,2]]),torch.tensor([2,2,2,1]),torch.tensor([2,1,1,1])
GaussianNLLLoss()|v,v,torch.ones(2,4)
Upsample(scale_factor=1.5,mode="bicubic",recompute_scale_factor=True)|i
Upsample(size=(7,3),mode="nearest-exact")|i
Upsample(scale_factor=(2,3.))|i
MaxUnpool1d(2)|torch.randn(1,1,2),torch.tensor([[[0,2]]])
MaxUnpool3d(2)|torch.randn(1,1,1,1,1),torch.tensor([[[[[3]]]]])
MaxUnpool2d(2)|torch.randn(1,1,2,2),torch.tensor([[[[0,2],[8,10]]]])
Embedding(5,3)|torch.tensor([[1,2],[3,4]])
Embedding(5,3,padding_idx=1)|torch.tensor([[1,2],[3,4]])
Embedding(5,3,max_norm=1.0)|torch.tensor([[1,2],[3,4]])
ConstantPad1d(1,2.)|s
ConstantPad2d(1,2.)|i
ConstantPad3d(1,2.)|d
ZeroPad1d(1)|s
ZeroPad2d((1,2,0,1))|i
ReflectionPad1d(1)|s
ReflectionPad2d(1)|i
ReflectionPad3d(1)|d
ReplicationPad1d(1)|s
ReplicationPad2d(1)|i
ReplicationPad3d(1)|d
CircularPad1d(1)|s
CircularPad2d(1)|i
CircularPad3d(1)|d
L1Loss()|v,v
L1Loss(reduction='none')|v,v
L1Loss(size_average=False)|v,v
MSELoss()|v,v
SoftMarginLoss()|v,v
NLLLoss()|v,torch.tensor([1,0])
CrossEntropyLoss()|v,torch.tensor([1,0])
CrossEntropyLoss(torch.ones(4)*2,label_smoothing=.1)|v,torch.tensor([1,0])
PoissonNLLLoss()|v,v
KLDivLoss()|v,torch.rand(2,4)
KLDivLoss(reduction='batchmean')|v,torch.rand(2,4)
BCELoss()|torch.rand(2,4),torch.rand(2,4)
BCEWithLogitsLoss()|v,torch.rand(2,4)
HingeEmbeddingLoss()|v,v
SmoothL1Loss()|v,v
HuberLoss()|v,v
CosineEmbeddingLoss()|v,v,torch.ones(2)
MarginRankingLoss()|torch.randn(2),torch.randn(2),torch.ones(2)
TripletMarginLoss()|v,v,v
"""


def arguments(t, text):
    """Yield the arguments of a text: letters are normal tensors of the shapes above, others are evaluated."""
    for part in re.findall(r"torch\.\w+\((?:[^()]|\([^()]*\))*\)|[vsid]", text):
        yield t.randn(*INPUTS[part]) if part in INPUTS else eval(part, {"torch": t})


def numbers(value):
    return [numbers(v) for v in value] if isinstance(value, tuple) else value.tolist()


def outcomes(t, line):
    """Return the `repr`, state and results of a layer, or the error."""
    constructor, _, text = line.partition("|")
    t.manual_seed(3)
    try:
        layer = eval(f"nn.{constructor}", {"nn": t.nn, "torch": t})
        found = [repr(layer), state(layer)]
        args = list(arguments(t, text))
        found += [numbers(layer(*args)), state(layer), numbers(layer.eval()(*args))]
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    return found


def state(layer):
    return [(name, tensor.tolist()) for name, tensor in layer.state_dict().items()]


def close(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-5 + 1e-4 * abs(b) or (a != a and b != b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(close, a, b))
    return a == b


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LAYERS.strip().splitlines())
def test_as_pytorch(line):
    """A layer with the same seed has PyTorch's `repr`, parameters and results."""
    ours, theirs = outcomes(ts, line), outcomes(torch, line)
    for one, other in zip(ours, theirs, strict=True):
        assert close(one, other)


# Layers that PyTorch does not compile, either.
NOT_SCRIPTED = (
    "FractionalMaxPool2d(2)|",
    "MultiheadAttention(6,4)",
    "TripletMarginWith",
    "AdaptiveLog",
    "LinearCross",
    "TransformerEncoderLayer(6,2,8,activation='tanh'",
    "FractionalMaxPool2d(2,output_ratio=1",
    "Threshold(.1,2)",
    "Dropout(2)",
    "Hardtanh(2,1)",
    "AdaptiveAvgPool2d((3,None))",
)
SCRIPTED = [line for line in LAYERS.strip().splitlines() if not line.startswith(NOT_SCRIPTED)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", [line for line in SCRIPTED if line != "BatchNorm2d(4)|v"])
def test_scripted(line):
    """A scripted layer has the results of the eager layer."""
    constructor, _, text = line.partition("|")
    layer = eval(f"nn.{constructor}", {"nn": ts.nn, "torch": ts}).eval()
    args = list(arguments(ts, text))
    ts.manual_seed(4)
    try:
        expected = numbers(layer(*[arg.clone() for arg in args]))
    except (AssertionError, RuntimeError):
        pytest.skip("refused in Python, too")
    scripted = ts.jit.script(layer)
    ts.manual_seed(4)
    assert close(numbers(scripted(*args)), expected)
