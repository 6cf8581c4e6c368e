#!/bin/bash
# autograd_stacks.sh PORTABLE-TARBALL OUT: kernels of PyTorch's backward pass have the lines of their forward calls. The program
# (autograd_stacks.py) knows the line of each call. Prints PASS and FAIL lines; exit status 1: something failed.
. "$(dirname "$0")/ebpf_helpers.sh"

gtcollect -q -f -e api,gpu,nvtx -o "$out/autograd.zst" -- python3 "$here/autograd_stacks.py" "$out/lines.txt" >"$out/autograd.txt" 2>&1
check "the program ends well" test $? -eq 0
gtexport --jsonl -f -o "$out/autograd.jsonl" "$out/autograd.zst" 2>/dev/null
gtanalyze --no-pager stacks --top 0 --format tsv "$out/autograd.zst" >"$out/stacks.tsv" 2>/dev/null
python3 - "$out/stacks.tsv" "$out/lines.txt" <<'E'
import collections, csv, re, sys

want = dict(line.split() for line in open(sys.argv[2]))
rows = list(csv.reader(open(sys.argv[1]), delimiter="\t"))
stack, operations = rows[0].index("stack"), rows[0].index("operations")
got, linked, native = collections.defaultdict(collections.Counter), 0, 0
for r in rows[1:]:
    n = int(r[operations] or 0)
    mark = re.search(r"\[backward of ([^\]]*)\] < forward \(\S*:(\d+)\)", r[stack])
    if mark:
        got[mark[2]][mark[1]] += n
        linked += n
    elif "[backward of " in r[stack]:
        print("FAIL a backward kernel outside of forward():", n, r[stack][:300])
    elif r[stack].endswith("[native only]"):
        native += n
for line, name in want.items():
    print(f"{'PASS' if got.get(line) else 'FAIL'} line {line} ({name}) has backward kernels: {dict(got.get(line, {}))}")
print(f"kernels with the line of their forward call: {linked}; native only: {native}")
sys.exit(not all(got.get(line) for line in want))
E
[ $? -eq 0 ] || failed=1
gtanalyze --no-pager kernels --by line --top 16 "$out/autograd.zst" 2>/dev/null | tail -n 20
python3 "$here/autograd_check.py" "$out/autograd.jsonl" || failed=1
exit $failed
