# torch_host.py SECONDS: makes small work for the GPU and waits for it; between two such steps it spends known shares of the time in known
# functions. Prints "begins" when it has made one step, and at the end for each function the seconds that passed in it, by the program's
# own clock: "FUNCTION SECONDS".
import collections
import ctypes
import os
import select
import subprocess
import sys
import threading
import time
import zlib

import torch

x = torch.ones(1 << 16, device="cuda")
page = os.urandom(1 << 20)
usleep = ctypes.PyDLL(None).usleep  # keeps the GIL
go, is_held = threading.Semaphore(0), False
feeder = subprocess.Popen([sys.executable, "-c", "import sys, time\nfor l in sys.stdin: time.sleep(float(l)); print(1, flush=True)"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def tokenize(s):
    end, n = time.perf_counter() + s, 0
    while time.perf_counter() < end:
        n += 1
    return n


def compress(s):
    end = time.perf_counter() + s
    while time.perf_counter() < end:
        zlib.compress(page, 1)


def asleep(s):
    time.sleep(s)


def from_pipe(s):
    feeder.stdin.write(b"%f\n" % s)
    os.read(feeder.stdout.fileno(), 100)


def without_gil(s):
    global holds
    holds = s
    go.release()
    while not is_held:
        select.select([], [], [], 0)  # releases the GIL


def holder():
    global is_held
    while True:
        go.acquire()
        is_held = True
        usleep(int(holds * 1e6))


threading.Thread(target=holder, daemon=True).start()
shares = {tokenize: 0.030, compress: 0.010, asleep: 0.020, from_pipe: 0.015, without_gil: 0.025}
seconds = collections.Counter()


def step():
    for part, s in shares.items():
        x.add_(1)
        torch.cuda.synchronize()
        start = time.perf_counter()
        part(s)
        seconds[part.__name__] += time.perf_counter() - start
    global is_held
    is_held = False


step()
seconds.clear()
print("begins", flush=True)
end = time.perf_counter() + float(sys.argv[1])
while time.perf_counter() < end:
    step()
torch.cuda.synchronize()
feeder.stdin.close()
for name, s in seconds.items():
    print(name, "%.6f" % s)
