"""memory_snapshot.py SNAPSHOT FIGURES: allocates and frees GPU memory with PyTorch, before and while it records the history, dumps a
snapshot, and writes what torch.cuda.memory_stats says as JSON."""
import json
import sys

import torch

before = [torch.empty(3_000_001 + i, dtype=torch.uint8, device="cuda") for i in range(5)]
torch.cuda.reset_peak_memory_stats()
torch.cuda.memory._record_memory_history()
del before[1]  # its allocation is not in the history
kept = []


def work(n):
    big = torch.empty(50_000_000 + n, dtype=torch.uint8, device="cuda")  # line: big
    for i in range(200):
        small = torch.empty(1000 + i, dtype=torch.uint8, device="cuda")
        if i % 50 == 0:
            kept.append(small)
    del big


for n in range(20):
    work(n)
side = torch.cuda.Stream()
shared = torch.empty(7_000_000, dtype=torch.uint8, device="cuda")
with torch.cuda.stream(side):
    shared.add_(1)
shared.record_stream(side)  # free_completed comes later than free_requested
del shared
torch.cuda.synchronize()
try:
    torch.empty(1 << 45, dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError:
    pass
stats = torch.cuda.memory_stats()
torch.cuda.memory._dump_snapshot(sys.argv[1])
line = next(i for i, text in enumerate(open(__file__), 1) if "# line: big" in text and "=" in text)
with open(sys.argv[2], "w") as f:
    json.dump({"peak": stats["requested_bytes.all.peak"], "live": stats["requested_bytes.all.current"],
               "rounded_peak": stats["allocated_bytes.all.peak"], "rounded_live": stats["allocated_bytes.all.current"],
               "blocks": stats["allocation.all.current"], "ooms": stats["num_ooms"], "reserved": stats["reserved_bytes.all.current"],
               "line": line, "torch": torch.__version__}, f)
