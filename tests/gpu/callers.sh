#!/bin/bash
# callers.sh FUNCTION LIBCUDA COMMAND [ARGS]: the libraries that call a function of the driver
# while a program runs under gtcollect. The kernel records the return address of each call (a
# uprobe on the function's first instruction); the loader reports the address of each library, also
# of those that are unloaded later. Prints "CALLS LIBRARY" lines. Calls from gt's library were
# recorded; all others were not. The kernel counts the calls of all processes: for one outside the
# program it prints the command and the process that started it. Needs root and tracefs, like
# uprobes.sh.
function=$1 lib=$2
shift 2
UT=/sys/kernel/tracing
W=$(mktemp -d)
[ -e $UT/uprobe_events ] || mount -t tracefs nodev $UT || exit 1
offset=$(python3 - "$function" "$lib" <<'P'
import subprocess, sys
name, lib = sys.argv[1:]
run = lambda *a: subprocess.run(["readelf", "-W", *a, lib], capture_output=True, text=True).stdout.splitlines()
at = next(int(f[1], 16) for f in map(str.split, run("--dyn-syms")) if len(f) > 7 and f[3] == "FUNC" and f[7].split("@")[0] == name)
for f in map(str.split, run("-l")):
    if f[:1] == ["LOAD"] and int(f[2], 16) <= at < int(f[2], 16) + int(f[4], 16):
        print(hex(at - int(f[2], 16) + int(f[1], 16)))
P
)
echo >$UT/trace
echo "p:gtcaller/call $(readlink -f "$lib"):$offset from=+0(%sp):x64" >>$UT/uprobe_events || exit 1
for event in gtcaller sched/sched_process_fork sched/sched_process_exec; do echo 1 >$UT/events/$event/enable || exit 1; done
echo 1 >$UT/tracing_on
gtcollect -q -f -o "$W/trace.zst" -- env LD_DEBUG=files LD_DEBUG_OUTPUT="$W/loaded" "$@" >/dev/null
echo 0 >$UT/tracing_on
python3 - $UT/trace "$W"/loaded.* <<'P'
import collections, re, sys
places = []
for path in sys.argv[2:]:
    name = "?"
    for line in open(path, errors="replace"):
        of = re.search(r"file=(\S+) .*generating link map", line)
        at = re.search(r"base: 0x([0-9a-f]+)\s+size: 0x([0-9a-f]+)", line)
        name = of[1].rsplit("/", 1)[-1] if of else name
        if at:
            places.append((int(at[1], 16), int(at[2], 16), name))
count, parent, runs = collections.Counter(), {}, {}


def history(pid):
    line = []
    while pid and len(line) < 8:
        line.append(runs.get(pid, "a process that ran before" if pid not in parent else
                             "a copy of its parent"))
        pid = parent.get(pid)
    return ", started by ".join(line)


for line in open(sys.argv[1]):
    if line.startswith("#"):
        continue
    pid = re.match(r"\s*.+?-(\d+)\s+\[", line)[1]
    fork = re.search(r"sched_process_fork: .*child_pid=(\d+)", line)
    run = re.search(r"sched_process_exec: filename=(\S+)", line)
    at = re.search(r"from=0x([0-9a-f]+)", line)
    if fork:
        parent[fork[1]] = pid
        runs.pop(fork[1], None)
    if run:
        runs[pid] = run[1]
    if at:
        who = {name for base, size, name in places if base <= int(at[1], 16) < base + size}
        count[" or ".join(sorted(who)) or "another process: " + history(pid)] += 1
for name, n in count.most_common():
    print(n, name)
P
gtanalyze top --top 0 --match "$function" "$W/trace.zst" | tail -n 1
for event in gtcaller sched/sched_process_fork sched/sched_process_exec; do echo 0 >$UT/events/$event/enable; done
echo "-:gtcaller/call" >>$UT/uprobe_events
rm -rf "$W"
