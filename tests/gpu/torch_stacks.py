# torch_stacks.py FILE: launches kernels from all kinds of Python code, and writes each stack of Python at a launch, as the program
# itself reads it, to FILE with the number of launches: "COUNT<tab>FRAME < FRAME ...", innermost first. Each operation launches one
# kernel and stands on the line on which the stack is read.
import asyncio
import collections
import functools
import sys

import torch

x = torch.ones(1 << 16, device="cuda")
x.add_(1)
torch.cuda.synchronize()
stacks = collections.Counter()


def note():
    frame, text = sys._getframe(1), []
    while frame:
        code = frame.f_code
        text.append("%s (%s:%d)" % (code.co_qualname, "/".join(code.co_filename.split("/")[-2:]), frame.f_lineno))
        frame = frame.f_back
    stacks[" < ".join(text)] += 1


def plain():
    note(), x.add_(1)


def recursion(depth):
    return recursion(depth - 1) if depth else (note(), x.mul_(0.5))


def generator():
    for i in range(3):
        yield (note(), x.add_(i))


async def coroutine(depth):
    if depth:
        await coroutine(depth - 1)
    else:
        await asyncio.sleep(0)
        note(), x.add_(1)


class Layer(torch.nn.Module):
    def forward(self, y):
        return (note(), y.add_(1))[1]


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(Layer(), Layer())
        self.layers.register_forward_hook(self.hook)

    def hook(self, module, given, result):
        note(), x.mul_(0.5)

    def forward(self, y):
        with torch.no_grad():
            return self.layers(y)


class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        return (note(), y.add_(1))[1]


@functools.lru_cache(maxsize=1)
def cached(i):
    note(), x.add_(i)


def one_round(i):
    plain()
    recursion(i % 40)
    list(generator())
    asyncio.run(coroutine(i % 4))
    network(x)
    Function.apply(x)
    cached(i)
    sorted([2, 1], key=lambda k: (note(), x.add_(k)) and k)
    exec("\n" * (i % 5) + "note(), x.add_(1)", globals())


network = Network()
for i in range(200):
    one_round(i)
torch.cuda.synchronize()
with open(sys.argv[1], "w") as f:
    f.write("".join("%d\t%s\n" % (n, s) for s, n in sorted(stacks.items())))
