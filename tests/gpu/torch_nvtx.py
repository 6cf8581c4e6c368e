# PyTorch's annotations: torch.cuda.nvtx around STEPS (20) training steps and the parts of each,
# ranges that start in one step and end in the next, marks; and emit_nvtx, which names every
# operator, around the last five steps. Prints the number of annotations. Usage: torch_nvtx.py
# [STEPS].
import sys

import torch

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
torch.manual_seed(0)
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(64, 256, device="cuda")
nvtx = torch.cuda.nvtx


def step(i):
    with nvtx.range(f"step {i}"):
        with nvtx.range("forward"):
            loss = model(x).square().mean()
        nvtx.range_push("backward")
        loss.backward()
        nvtx.range_pop()
        with nvtx.range("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        nvtx.mark("stepped")


across = None
for i in range(steps):
    if across is not None:
        nvtx.range_end(across)
    across = nvtx.range_start("across")
    if i < steps - 5:
        step(i)
    else:
        with torch.autograd.profiler.emit_nvtx():
            step(i)
nvtx.range_end(across)
torch.cuda.synchronize()
print(f"{4 * steps} pushed, {steps} started, {steps} marks")
