#!/bin/bash
# nccl.sh PORTABLE-TARBALL OUT: runs torch_nccl.py on all GPUs of the machine under gtcollect, and
# in another run under torch.profiler. Checks that all kernels are joined, and that the counts of
# each name are equal, including NCCL's. Leaves OUT/nccl.zst and prints gt's report of the devices.
out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /tmp/gt "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-$(uname -m)/bin:$PATH
timeout 100 gtcollect -f -o "$out/nccl.zst" -- python3 "$here/torch_nccl.py" "${STEPS:-50}" 2>&1 | grep -vi warn | tail -n 6
timeout 100 python3 "$here/torch_nccl.py" "${STEPS:-50}" /tmp/nccl-seen 2>&1 | grep -E '^rank|Error' | tail -n 4
gtanalyze gpu streams "$out/nccl.zst" | head -n 50
gtanalyze metadata "$out/nccl.zst" | grep -E '^ *gpu_'
gtanalyze kernels --top 0 --format json "$out/nccl.zst" >/tmp/nccl.json
python3 - /tmp/nccl.json /tmp/nccl-seen.* <<'P'
import collections, ctypes, json, sys

cxa = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
cxa.restype = ctypes.c_void_p


def demangled(name):
    out = cxa(name.encode(), None, None, ctypes.byref(ctypes.c_int()))
    return ctypes.string_at(out).decode() if out else name


ours, theirs = collections.Counter(), collections.Counter()
for row in json.load(open(sys.argv[1]))["kernels"]["rows"]:
    ours[demangled(row["name"])] += row["count"]
for path in sys.argv[2:]:
    for line in open(path):
        n, name = line.rstrip("\n").split(" ", 1)
        theirs[demangled(name)] += int(n)
print("NCCL's kernels:", {k[:60]: v for k, v in ours.items() if "nccl" in k.lower()})
differ = {k: (ours[k], theirs[k]) for k in ours.keys() | theirs.keys() if ours[k] != theirs[k]}
print(f"{sum(ours.values())} kernels by gt, {sum(theirs.values())} by torch.profiler "
      f"(which begins after NCCL's start); {len(differ)} names differ")
for name, (a, b) in sorted(differ.items())[:20]:
    print(f"  {a} {b} {name[:120]}")
P
