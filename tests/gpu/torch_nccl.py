# Data-parallel training on all GPUs of this machine, one process per GPU, gradients averaged by
# NCCL. Usage: torch_nccl.py [STEPS [FILE]]: with FILE under torch.profiler; FILE.RANK gets
# "KERNELS NAME" lines of the profiled kernels.
import collections
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
profile = sys.argv[2] if len(sys.argv) > 2 else ""


def train(rank, world):
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[m for _ in range(4) for m in (torch.nn.Linear(1024, 1024), torch.nn.ReLU())]).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(256, 1024, device="cuda")
    for i in range(steps):
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    y = torch.full((1 << 20,), float(rank + 1), device="cuda")
    for i in range(10):
        dist.all_reduce(y)
    torch.cuda.synchronize()
    return loss.item(), y[0].item()


def run(rank, world):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517", RANK=str(rank), WORLD_SIZE=str(world))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world, device_id=torch.device("cuda", rank))
    if profile:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as p:
            result = train(rank, world)
        seen = collections.Counter(e.name() for e in p.profiler.kineto_results.events() if str(e.device_type()) == "DeviceType.CUDA" and
                                   not e.name().startswith(("Memcpy", "Memset")) and not e.is_user_annotation())
        with open(f"{profile}.{rank}", "w") as f:
            f.writelines(f"{n} {name}\n" for name, n in sorted(seen.items()))
    else:
        result = train(rank, world)
    dist.destroy_process_group()
    print(f"rank {rank} of {world}: {steps} steps, loss {result[0]:.6f}, sum {result[1]:g}", flush=True)


if __name__ == "__main__":
    world = torch.cuda.device_count()
    mp.spawn(run, args=(world,), nprocs=world)
