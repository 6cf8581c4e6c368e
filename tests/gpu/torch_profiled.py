# torch.profiler in a process with another client of CUPTI. Four phases of 500 kernels and 100
# copies to the GPU: before it, during it, after it, and a second later (when cupti_client.c, if it
# is loaded, has registered again). Prints the profiler's counts of its phase; the client's log has
# the records it got in each. Usage: torch_profiled.py [FILE]: where the profiler's trace goes.
import ctypes
import json
import os
import sys
import time

import torch

trace = sys.argv[1] if len(sys.argv) > 1 else "/tmp/torch_profiled.json"
client = os.environ.get("CUDA_INJECTION64_PATH")
client = ctypes.CDLL(client) if client and "cupti_client" in client else None
x, h = torch.zeros(4096, device="cuda"), torch.zeros(4096).pin_memory()


def phase(name):
    for i in range(100):
        x.copy_(h, non_blocking=True)
        for _ in range(5):
            x.add_(1)
    torch.cuda.synchronize()
    time.sleep(0.4)
    if client and name != "during":
        mark(name)


def mark(name):
    if client:
        client.cupti_client_mark(name.encode())


x.add_(1)
torch.cuda.synchronize()
time.sleep(0.4)
mark("start")
phase("before")
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profiler:
    phase("during")
mark("during")
phase("after")
if client:
    client.cupti_client_again()
time.sleep(1)
phase("again")
profiler.export_chrome_trace(trace)
seen = [e.get("cat") for e in json.load(open(trace))["traceEvents"]]
print(f"torch.profiler saw {seen.count('kernel')} kernels {seen.count('gpu_memcpy')} copies "
          "in its phase of 500 and 100")
