# inject_loop.py STEPS FILE [count]: a training loop with the same kernels in each step. Writes a line to FILE after every tenth
# step, waits for the GPU there, and then for 20 ms. Prints the results at the end with all digits; with `count` also how many kernels
# ten steps have (torch.profiler, after the loop).
import sys, time
import torch

steps, path = int(sys.argv[1]), sys.argv[2]
torch.manual_seed(1)
torch.use_deterministic_algorithms(True)
net = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
x = torch.randn(256, 512, device="cuda")
y = torch.randn(256, 512, device="cuda")


def ten_steps():
    for _ in range(10):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    return loss


with open(path, "w", buffering=1) as f:
    for step in range(0, steps, 10):
        loss = ten_steps()
        f.write(f"{step + 10}\n")
        time.sleep(0.02)
weights = sum(p.double().sum() for p in net.parameters())
print("loss", loss.item().hex(), "weights", float(weights).hex())
if sys.argv[3:] == ["count"]:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        ten_steps()
    work = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    print("kernels", sum(1 for e in work if not e.name.startswith(("Memcpy", "Memset"))))
