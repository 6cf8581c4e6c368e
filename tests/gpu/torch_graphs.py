# Training with a CUDA graph: a whole step (forward, backward, optimizer) is captured and replayed.
# Usage: torch_graphs.py [STEPS]
import sys

import torch

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(8) for m in (torch.nn.Linear(512, 512), torch.nn.ReLU())]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
data = torch.randn(32, 128, 512).pin_memory()
x = torch.zeros(128, 512, device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = (model(x) - x).square().mean()
    loss.backward()
    optimizer.step()
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for i in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for i in range(steps):
    x.copy_(data[i % len(data)], non_blocking=True)
    graph.replay()
torch.cuda.synchronize()
print(f"{steps} replays, {loss.item():.6f}")
