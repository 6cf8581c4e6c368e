#!/bin/bash
# collectives.sh PORTABLE-TARBALL OUT: runs torch_collectives.py on two GPUs under gtcollect and compares gtanalyze's report
# "collectives" with what the program prints: kernels, bytes and the late rank of each communicator. A second recording without
# NCCL's ranges must match the same kernels by time. Prints PASS and FAIL lines; exit status 1: something failed. Takes a minute.
here=$(cd "$(dirname "$0")" && pwd) out=$2
mkdir -p /tmp/gt "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-$(uname -m)/bin:$PATH
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}

record() { # NAME EVENTS ROUNDS
	timeout 100 gtcollect -q -f -e "$2" -o "$out/$1.zst" -- python3 "$here/torch_collectives.py" "$3" >"$out/$1.log" 2>&1 ||
		{ echo "FAIL record $1"; tail -n 8 "$out/$1.log"; }
	gtanalyze collectives "$out/$1.zst" >"$out/$1.txt" 2>&1
	gtanalyze --top 0 --format json collectives "$out/$1.zst" >"$out/$1.json" 2>/dev/null
}

record collectives api,gpu,nvtx 50
record without-nvtx api,gpu 30
cat "$out/collectives.txt"
python3 -c 'import torch; print("NCCL", torch.cuda.nccl.version(), "PyTorch", torch.__version__)'
python3 - "$out" <<'P'
import collections, json, sys

failed = 0


def check(name, good, *details):
    global failed
    good = bool(good)
    failed += not good
    print("PASS" if good else "FAIL", name, *details)


def read(name):
    said = [json.loads(line) for line in open(f"{sys.argv[1]}/{name}.log") if line.startswith('{"rank"')]
    try:
        report = json.load(open(f"{sys.argv[1]}/{name}.json"))
    except ValueError:
        report = {"collectives_names": {"rows": []}, "collectives": {"rows": []}}
    check(f"{name}: both ranks ran, and the report has rows", len(said) == 2 and report["collectives"]["rows"])
    return {s["rank"]: s["groups"] for s in said}, report["collectives_names"]["rows"], report["collectives"]["rows"]


said, rows, gpus = read("collectives")
by = collections.defaultdict(lambda: collections.defaultdict(list))  # communicator, then device, which is the rank
for row in rows:
    by[row["communicator"]][row["device"]].append(row)
check("three communicators are known", len(by) == 3 and None not in by, {c: {d: sum(r["count"] for r in v) for d, v in of.items()} for c, of in by.items()})
counts = collections.Counter(sum(r["count"] for r in of.get(0, [])) for of in by.values())
for i, group in enumerate(said.get(0, [])):
    name = group["group"]
    # the communicators are distinguished by their numbers of kernels
    mine = [of for c, of in by.items() if c and sum(r["count"] for r in of.get(0, [])) == group["count"]]
    check(f"{name}: one communicator has {group['count']} kernels on rank 0", len(mine) == 1, dict(counts))
    if len(mine) != 1:
        continue
    for rank in 0, 1:
        of, expected = mine[0].get(rank, []), said.get(rank, said[0])[i]
        total = {k: sum(r[k] or 0 for r in of) for k in ("count", "matched", "message_bytes", "last", "caused_ns")}
        check(f"{name}, rank {rank}: kernels", total["count"] == expected["count"], total["count"], "program:", expected["count"])
        check(f"{name}, rank {rank}: all are matched", total["matched"] == total["count"], total["matched"])
        check(f"{name}, rank {rank}: bytes", total["message_bytes"] == expected["bytes"], total["message_bytes"], "program:", expected["bytes"])
        if rank == expected["late_rank"]:
            late = sum((r["late_mean_ns"] or 0) * (r["last"] or 0) for r in of) / max(total["last"], 1) / 1e6
            # the first call of a communicator also connects the ranks
            check(f"{name}: rank {rank} arrives last", total["last"] >= 0.9 * total["count"], total["last"], "of", total["count"])
            check(f"{name}: it is late by about {expected['late_ms']} ms", 0.6 * expected["late_ms"] < late < 4 * expected["late_ms"], f"{late:.2f} ms")
    groups = {r["group"] for of in mine[0].values() for r in of}
    check(f"{name}: the streams of both ranks are one group", len(groups) == 1, groups)

said, rows, gpus = read("without-nvtx")
check("without NCCL's ranges there is no communicator", rows and not any(r["communicator"] or r["message_bytes"] for r in rows))
for gpu in gpus:
    expected = sum(g["count"] for g in said.get(gpu["device"], []))
    check(f"without NCCL's ranges, rank {gpu['device']}: kernels", gpu["count"] == expected, gpu["count"], "program:", expected)
    check(f"without NCCL's ranges, rank {gpu['device']}: 9 of 10 are matched by time", (gpu["matched"] or 0) >= 0.9 * expected, gpu["matched"])
print("FAIL" if failed else "PASS", "collectives:", failed, "checks failed")
sys.exit(failed != 0)
P
