# compare_stacks.py TSV EXPECTED: the Python stacks at launches in `gtanalyze stacks --format tsv` beside those of torch_stacks.py.
import collections, csv, re, sys

rows = list(csv.reader(open(sys.argv[1]), delimiter="\t"))
calls, stack = rows[0].index("calls"), rows[0].index("stack")
got = collections.Counter()
for r in rows[1:]:
    frames = [f for f in r[stack].split(" < ") if re.search(r":\d+\)$", f)]
    if len(frames) > 1:  # the warm-up is in the module itself
        got[" < ".join(frames)] += int(r[calls])
want = collections.Counter()
for line in open(sys.argv[2]):
    n, s = line.rstrip("\n").split("\t")
    want[s] += int(n)
wrong = {s for s in want | got if want[s] != got[s] and len(s.split(" < ")) > 1}
print(f"{'FAIL' if wrong or not want else 'PASS'} Python stacks at launches: {sum(want.values())} launches, {len(want)} stacks, wrong: {len(wrong)}")
for s in list(wrong)[:4]:
    print("  program", want[s], "gtcollect", got[s], s[:400])
sys.exit(bool(wrong) or not want)
