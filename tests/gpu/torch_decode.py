# torch_decode.py [TOKENS [fixed]]: a small language model (8 layers of 512, random weights) generates text in eager mode, one token at a
# time, with a cache of keys and values, for 8 requests at once. A token that would repeat three tokens of its request is forbidden: by
# loops of Python over the text so far, or (fixed) by a table that is kept up to date. Prints the tokens a second.
import sys
import time

import torch
import torch.nn.functional as F

LAYERS, WIDTH, HEADS, VOCABULARY, REQUESTS = 8, 512, 8, 8192, 8
tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 400
fixed = "fixed" in sys.argv
torch.manual_seed(0)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)
        self.norm1, self.norm2 = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)

    def forward(self, x, cache, at):
        q, k, v = self.qkv(self.norm1(x)).view(REQUESTS, 3, HEADS, WIDTH // HEADS).unbind(1)
        cache[0, :, :, at], cache[1, :, :, at] = k, v
        y = F.scaled_dot_product_attention(q.unsqueeze(2), cache[0, :, :, : at + 1], cache[1, :, :, : at + 1])
        x = x + self.out(y.reshape(REQUESTS, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def forbidden_by_search(text):
    """tokens that followed the last two tokens before"""
    last = text[-2:]
    return [text[i + 2] for i in range(len(text) - 2) if text[i : i + 2] == last]


def forbidden_by_table(table, text):
    if len(text) > 2:
        table.setdefault(tuple(text[-3:-1]), []).append(text[-1])
    return table.get(tuple(text[-2:]), [])


def sample(logits, texts, tables):
    for r, text in enumerate(texts):
        banned = forbidden_by_table(tables[r], text) if fixed else forbidden_by_search(text)
        if banned:
            logits[r, banned] = float("-inf")
    return logits.softmax(-1).multinomial(1).flatten()


@torch.no_grad()
def generate(n):
    embedding, head = torch.randn(VOCABULARY, WIDTH, device="cuda"), torch.nn.Linear(WIDTH, VOCABULARY).cuda()
    layers = [Layer().cuda() for _ in range(LAYERS)]
    caches = [torch.zeros(2, REQUESTS, HEADS, n + 1, WIDTH // HEADS, device="cuda") for _ in layers]
    token = torch.zeros(REQUESTS, dtype=torch.long, device="cuda")
    texts, tables = [[0] for _ in range(REQUESTS)], [{} for _ in range(REQUESTS)]
    for at in range(n):
        x = embedding[token]
        for layer, cache in zip(layers, caches):
            x = layer(x, cache, at)
        token = sample(head(x), texts, tables)
        for text, t in zip(texts, token.tolist()):
            text.append(t)


generate(8)
torch.cuda.synchronize()
start = time.perf_counter()
generate(tokens)
torch.cuda.synchronize()
print("%.0f tokens a second" % (REQUESTS * tokens / (time.perf_counter() - start)))
