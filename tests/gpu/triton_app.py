# Triton: two own kernels, which Triton launches through the driver.
import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def row_sum(x, out, n, block: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, block)
    tl.store(out + row, tl.sum(tl.load(x + row * n + at, mask=at < n, other=0.0)))


x, y = torch.rand(512, 1000, device="cuda"), torch.rand(512, 1000, device="cuda")
sums = torch.empty(512, device="cuda")
for i in range(100):
    add[(triton.cdiv(x.numel(), 1024),)](x, y, x, x.numel(), block=1024)
    row_sum[(512,)](x, sums, 1000, block=1024)
torch.cuda.synchronize()
print(sums.sum().item())
