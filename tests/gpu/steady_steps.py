# Programs with loops of known length, for first_page.sh: steady_steps.py MODE STEPS. The last line of the output is what
# the program itself measured: {"mode": ..., "steps": N, "step_ms": median time between the starts of its steps}.
import json
import statistics
import sys
import time

mode, steps = sys.argv[1], int(sys.argv[2])
starts = []


def finish():
    times = [b - a for a, b in zip(starts, starts[1:])]
    print(json.dumps({"mode": mode, "steps": len(starts), "step_ms": round(statistics.median(times[len(times) // 3:]) * 1e3, 4)}))


def loop(step, synchronize, mark=None):
    for i in range(steps):
        starts.append(time.perf_counter())
        if mark:
            with mark(f"step {i}"):
                step(i)
        else:
            step(i)
    synchronize()


def run_jax():
    import jax
    import jax.numpy as jnp

    def loss(w, x, y):
        for m in w:
            x = jnp.tanh(x @ m)
        return jnp.mean((x - y) ** 2)

    update = jax.jit(lambda w, x, y: [m - 0.01 * g for m, g in zip(w, jax.grad(loss)(w, x, y))])
    state = {"w": [jax.random.normal(jax.random.PRNGKey(i), (1024, 1024)) for i in range(6)]}
    x = jax.random.normal(jax.random.PRNGKey(9), (512, 1024))

    def step(i):
        state["w"] = update(state["w"], x, x)
        if i % 10 == 9:
            float(state["w"][0][0, 0])

    loop(step, lambda: jax.block_until_ready(state["w"]))


def run_torch():
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
            self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

        def forward(self, x, cache=None):
            b, t, d = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, 8, d // 8).permute(2, 0, 3, 1, 4)
            if cache is not None:
                cache[0][:, :, cache[2]:cache[2] + t], cache[1][:, :, cache[2]:cache[2] + t] = k, v
                k, v = cache[0][:, :, :cache[2] + t], cache[1][:, :, :cache[2] + t]
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=cache is None)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
            return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))

    d, dev = 512, "cuda"
    blocks = nn.ModuleList(Block(d) for _ in range(6)).to(dev).half()
    head = nn.Linear(d, 32000).to(dev).half()

    if mode == "decode":
        embed = nn.Embedding(32000, d).to(dev).half()
        caches = [[torch.zeros(4, 8, steps + 64, d // 8, device=dev, dtype=torch.half) for _ in range(2)] + [0] for _ in blocks]
        token = {"x": torch.zeros(4, 1, dtype=torch.long, device=dev)}

        @torch.no_grad()
        def step(i):
            x = embed(token["x"])
            for block, cache in zip(blocks, caches):
                x = block(x, cache)
                cache[2] += 1
            token["x"] = head(x)[:, -1:].argmax(-1)
            token["x"].sum().item()  # the server looks whether the text has ended

        loop(step, torch.cuda.synchronize)
        return

    model = nn.Sequential(*blocks, head).float()
    if mode == "compiled":
        model = torch.compile(model, mode="reduce-overhead")
    data = torch.utils.data.DataLoader([torch.randn(128, d) for _ in range(8 * steps)], batch_size=8, num_workers=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batches = iter(data)

    def step(i):
        x = next(batches).to(dev)
        optimizer.zero_grad()
        loss = model(x).float().pow(2).mean()
        loss.backward()
        optimizer.step()

    loop(step, torch.cuda.synchronize, torch.cuda.nvtx.range if mode == "marked" else None)


run_jax() if mode == "jax" else run_torch()
finish()
