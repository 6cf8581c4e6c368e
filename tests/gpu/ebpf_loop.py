"""A PyTorch loop whose launches are counted: on each line of standard input it makes so many steps of 50 in-place additions
(one kernel each), and prints the time of a step and the launches that it made. "annotated N": each step is an NVTX range."""
import json
import sys
import time

import torch

x = torch.zeros(1 << 16, device="cuda")
for _ in range(100):
    x.add_(1)
torch.cuda.synchronize()
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    word, number = line.split()
    begin = time.perf_counter()
    for step in range(int(number)):
        if word == "annotated":
            torch.cuda.nvtx.range_push(f"annotated step {step}")
        for _ in range(50):
            x.add_(1)
        torch.cuda.synchronize()
        if word == "annotated":
            torch.cuda.nvtx.range_pop()
    took = time.perf_counter() - begin
    print(json.dumps({"phase": word, "steps": int(number), "launches": 50 * int(number), "us": took / int(number) * 1e6, "sum": float(x[0])}), flush=True)
