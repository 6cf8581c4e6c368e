"""The wheel's module on a real GPU: ranges in PyTorch's training loop. Prints the steps. Usage: wheel_app.py STEPS, run by
wheel.sh."""

import sys

import torch

import gtrace

model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)


@gtrace.range("load")
def load():
    return torch.randn(256, 1024).cuda()


for i in range(int(sys.argv[1])):
    with gtrace.range("step"):
        x = load()
        with gtrace.range("forward"):
            loss = model(x).square().mean()
        with gtrace.range("backward"):
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
torch.cuda.synchronize()
print(f"{sys.argv[1]} steps")
