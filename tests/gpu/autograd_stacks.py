# autograd_stacks.py FILE: trains a small net under torch.autograd.profiler.emit_nvtx. Each layer is called on a line of its own.
# Writes "LINE NAME" of each call that creates an autograd function with kernels in the backward pass to FILE.
import inspect
import sys

import torch

torch.manual_seed(0)
width, steps = 512, 30
weights = [torch.randn(width, width, device="cuda", requires_grad=True) for _ in range(3)]
x, target = torch.randn(64, width, device="cuda"), torch.randn(64, width, device="cuda")


def forward(y):
    y = y @ weights[0]  # MmBackward0
    y = torch.tanh(y)  # TanhBackward0
    y = y @ weights[1]  # MmBackward0
    y = torch.sigmoid(y)  # SigmoidBackward0
    y = y @ weights[2]  # MmBackward0
    y = y - target  # no kernel in the backward pass
    return y.square().mean()  # PowBackward0


def step():
    loss = forward(x)
    loss.backward()
    with torch.no_grad():
        for w in weights:
            w -= 1e-4 * w.grad
            w.grad = None


step()
torch.cuda.synchronize()
with torch.autograd.profiler.emit_nvtx():
    for _ in range(steps):
        step()
torch.cuda.synchronize()
source, first = inspect.getsourcelines(forward)
with open(sys.argv[1], "w") as f:
    for i, text in enumerate(source):
        if "Backward0" in text:
            f.write("%d %s\n" % (first + i, text.rsplit("# ", 1)[1].strip()))
