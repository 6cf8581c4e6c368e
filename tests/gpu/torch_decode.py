# torch_decode.py [TOKENS [fixed]]: a small language model (8 layers of 512, random weights) generates text in eager mode, one token at a
# time, with a cache of the last 256 keys and values, for 16 requests at once, each with a text of 6,000 tokens before. A token that would
# repeat three tokens of its text is forbidden: by a loop of Python over the text so far, or (fixed) by a table that is kept up to date.
# Prints the tokens a second.
import random
import sys
import time

import torch
import torch.nn.functional as F

LAYERS, WIDTH, HEADS, VOCABULARY, REQUESTS, CACHE, PROMPT = 8, 512, 8, 8192, 16, 256, 6000
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
        cache[0, :, :, at % CACHE], cache[1, :, :, at % CACHE] = k, v
        y = F.scaled_dot_product_attention(q.unsqueeze(2), cache[0, :, :, : at + 1], cache[1, :, :, : at + 1])
        x = x + self.out(y.reshape(REQUESTS, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def forbidden_by_search(text):
    """tokens that followed the last two tokens before"""
    last = text[-2:]
    return [text[i + 2] for i in range(len(text) - 2) if text[i : i + 2] == last]


class Table(dict):
    """the tokens that followed two tokens, of a text that grows"""

    def __init__(self, text):
        for i in range(2, len(text)):
            self.add(text[i - 2 : i + 1])

    def add(self, text):
        self.setdefault(tuple(text[-3:-1]), []).append(text[-1])


def sample(logits, texts, tables):
    for r, text in enumerate(texts):
        banned = tables[r].get(tuple(text[-2:]), []) if fixed else forbidden_by_search(text)
        if banned:
            logits[r, banned] = float("-inf")
    return logits.softmax(-1).multinomial(1).flatten()


@torch.no_grad()
def generate(n):
    embedding, head = torch.randn(VOCABULARY, WIDTH, device="cuda"), torch.nn.Linear(WIDTH, VOCABULARY).cuda()
    layers = [Layer().cuda() for _ in range(LAYERS)]
    caches = [torch.zeros(2, REQUESTS, HEADS, CACHE, WIDTH // HEADS, device="cuda") for _ in layers]
    token = torch.zeros(REQUESTS, dtype=torch.long, device="cuda")
    texts = [random.choices(range(VOCABULARY), k=PROMPT) for _ in range(REQUESTS)]
    tables = [Table(text) if fixed else None for text in texts]
    for at in range(n):
        x = embedding[token]
        for layer, cache in zip(layers, caches):
            x = layer(x, cache, at)
        token = sample(head(x), texts, tables)
        for text, table, t in zip(texts, tables, token.tolist()):
            text.append(t)
            if fixed:
                table.add(text)


generate(8)
torch.cuda.synchronize()
start = time.perf_counter()
generate(tokens)
torch.cuda.synchronize()
print("%.0f tokens a second" % (REQUESTS * tokens / (time.perf_counter() - start)))
