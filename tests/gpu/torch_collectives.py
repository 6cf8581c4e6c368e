# Two ranks, one process per GPU, that communicate in three groups, for collectives.sh: torch_collectives.py [ROUNDS]. In each
# round one rank begins 5 ms after the other: rank 1 in the first group, rank 0 in the second; in the third both send and receive
# at once, rank 1 later. Each rank prints a line of JSON: {"rank", "groups": [{"group", "count", "bytes", "late_rank", "late_ms"}]}:
# kernels of the group, bytes of the messages of its calls, the late rank and how late it is at least.
import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
LATE_S = 0.005


class Group:
    def __init__(self, name, handle, elements, late_rank, rounds):
        self.name, self.handle, self.late_rank, self.rounds = name, handle, late_rank, rounds
        self.x = torch.ones(elements, device="cuda")
        self.y = torch.ones(elements, device="cuda")
        self.count = self.bytes = 0

    def reduce(self, rank):
        dist.all_reduce(self.x, group=self.handle)
        self.bytes += self.x.nbytes

    def exchange(self, rank):
        other = 1 - rank
        for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, self.x, other, self.handle), dist.P2POp(dist.irecv, self.y, other, self.handle)]):
            work.wait()
        self.bytes += self.x.nbytes + self.y.nbytes

    def run(self, rank, operation):
        torch.cuda.synchronize()
        if rank == self.late_rank:
            time.sleep(LATE_S)
        operation(rank)
        self.count += 1
        torch.cuda.synchronize()


def run(rank, world):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29519", RANK=str(rank), WORLD_SIZE=str(world))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    groups = [
        Group("first", dist.new_group([0, 1]), 1 << 20, 1, rounds),
        Group("second", dist.new_group([0, 1]), 1 << 16, 0, rounds - 10),
        Group("third", dist.new_group([0, 1]), 1 << 18, 1, rounds - 20),
    ]
    for i in range(rounds):
        for group in groups:
            if i < group.rounds:
                group.run(rank, group.exchange if group.name == "third" else group.reduce)
    said = [{"group": g.name, "count": g.count, "bytes": g.bytes, "late_rank": g.late_rank, "late_ms": LATE_S * 1e3} for g in groups]
    print(json.dumps({"rank": rank, "groups": said}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if torch.cuda.device_count() < 2:
        sys.exit("two GPUs are needed")
    mp.spawn(run, args=(2,), nprocs=2)
