# compare.py COUNTS TRACE: compares calls per function as counted by uprobes with those in the
# trace. Functions that share an address count together. Prints the differences and a last line "N
# functions agree, M differ, U uprobe hits, G recorded calls".
import json
import subprocess
import sys

counts = {}
for line in open(sys.argv[1]):
    n, names = line.split()
    counts[names] = int(n)
tables = json.loads(subprocess.run(["gtanalyze", "top", "--format", "json", "--top", "0", sys.argv[2]], capture_output=True, text=True).stdout)
rows = tables["top"]["rows"]
trace = {}
for r in rows:
    name = r["operation"]
    if name.startswith("cu"):
        trace[name] = trace.get(name, 0) + r["count"]
agree = differ = 0
left = dict(trace)
for names, n in sorted(counts.items()):
    got = sum(left.pop(x, 0) for x in names.split("="))
    if got == n:
        agree += 1
    else:
        differ += 1
        print(f"  {names}: {n} by uprobe, {got} recorded")
for name, n in sorted(left.items()):
    differ += 1
    print(f"  {name}: 0 by uprobe, {n} recorded")
print(f"{agree} functions agree, {differ} differ, {sum(counts.values())} uprobe hits, {sum(trace.values())} recorded calls")
