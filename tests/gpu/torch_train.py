# A typical training loop. Usage: torch_train.py [STEPS | turns] [adam | sgd | mlp | transformer];
# prints the loop's time in ms. turns: reads lines with a number of seconds, runs that long, prints
# "STEPS MS"; with TORCH_PROFILER=plain or stacks under torch.profiler, whose start and end are not in the time. adam and sgd are a small MLP and differ in the optimizer. mlp is simpler: no
# activation, its data made on the CPU for each step, and SGD. All three wait for the processor.
# transformer is large enough to wait for the GPU.
import contextlib
import os
import sys
import time

import torch

what = sys.argv[1] if len(sys.argv) > 1 else "200"
plain, large = "mlp" in sys.argv, "transformer" in sys.argv
torch.manual_seed(0)
layers = []
for _ in range(8):
    if large:
        layers += [torch.nn.TransformerEncoderLayer(1024, 16, dropout=0, batch_first=True)]
    else:
        layers += [torch.nn.Linear(1024, 1024)] + [torch.nn.ReLU()] * (not plain)
model = torch.nn.Sequential(*layers).cuda()
optimizer = (torch.optim.SGD if plain or "sgd" in sys.argv else torch.optim.Adam)(model.parameters(), lr=1e-3)
data = None if plain else torch.randn(*(8, 16, 256, 1024) if large else (64, 256, 1024)).pin_memory()


def step(i):
    x = torch.randn(64, 1024).cuda() if plain else data[i % len(data)].cuda(non_blocking=True)
    loss = model(x).square().mean() if plain else (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


for i in range(20):
    step(i)
torch.cuda.synchronize()
if what == "turns":
    profiler = os.environ.get("TORCH_PROFILER")
    for line in sys.stdin:
        with torch.profiler.profile(with_stack=profiler == "stacks") if profiler else contextlib.nullcontext():
            steps, start = 0, time.perf_counter()
            while time.perf_counter() < start + float(line):
                step(steps)
                steps += 1
            torch.cuda.synchronize()
            ms = (time.perf_counter() - start) * 1e3
        print(steps, ms, flush=True)
    sys.exit()
steps, start = int(what), time.perf_counter()
for i in range(steps):
    loss = step(i)
    if i % 20 == 0:
        loss.item()
torch.cuda.synchronize()
ms = (time.perf_counter() - start) * 1e3
print(f"{steps} steps, {ms:.3f} ms, {ms / steps:.6f} ms a step")
