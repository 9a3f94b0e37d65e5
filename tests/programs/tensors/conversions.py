"""`to`, `cpu` and `type` return the tensor itself if nothing changes."""

import ts


def main():
    x = ts.arange(3)
    y = x.to(ts.float64)
    print(
        y.dtype == ts.float64, x.to(y).dtype == y.dtype, x.to(x.device, ts.int32).dtype == ts.int32
    )  # expect: True True True
    y.add_(1)
    x.cpu().add_(1)
    x.to(x, copy=True).add_(1)
    print(int(x.sum()), float(y.sum()))  # expect: 6 6. (python: 6 6.0)
    print(x.device == y.device, x.device != ts.device("meta"), x.device.type)  # expect: True True cpu
    print(x.device.index is None, ts.device("cuda", 1).index, x.to("meta").is_meta)  # expect: True 1 True
    z = ts.ones([2])
    z.requires_grad_()
    print(z.requires_grad, z.detach().requires_grad, z.data.requires_grad)  # expect: True False False
    z.data.mul_(3)
    print(float(z.sum()))  # expect: 6. (python: 6.0)
