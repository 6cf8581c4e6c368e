#!/bin/bash
# stacks.sh PORTABLE-TARBALL OUT [PAIRS]: stacks of calls on a real GPU. The Python stacks at launches of a PyTorch program beside those
# that the program itself read; native stacks of the autograd thread; what stacks cost a loop that waits for the processor, and one that
# waits for the GPU (overhead.py; PAIRS 0: not measured); bytes a call. Prints PASS and FAIL lines; exit status 1: something failed.
. "$(dirname "$0")/ebpf_helpers.sh"
pairs=${3:-10}

gtcollect -q -f -e api,gpu -o "$out/stacks.zst" -- python3 "$here/torch_stacks.py" "$out/expected.txt" >"$out/stacks.txt" 2>&1
check "the program ends well" test $? -eq 0
gtanalyze --no-pager stacks --match 'cuLaunchKernel*' --top 0 --format tsv "$out/stacks.zst" >"$out/stacks.tsv" 2>"$out/stacks.err"
python3 "$here/compare_stacks.py" "$out/stacks.tsv" "$out/expected.txt" || failed=1
gtanalyze --no-pager kernels --by line --top 8 "$out/stacks.zst" 2>/dev/null | tail -n 12

gtcollect -q -f -o "$out/train.zst" -- python3 "$here/torch_train.py" 100 adam >"$out/train.txt" 2>&1
check "a training loop ends well" test $? -eq 0
gtanalyze --no-pager stacks --top 4 "$out/train.zst" 2>/dev/null | cut -c 1-900
gtanalyze --no-pager kernels --by line --top 12 "$out/train.zst" 2>/dev/null | tail -n 16
for s in none launch; do
	gtcollect -q -f -e api --stacks $s -o "$out/bytes-$s.zst" -- python3 "$here/torch_train.py" 300 adam >/dev/null 2>&1
	echo "$s: $(stat -c %s "$out/bytes-$s.zst") bytes, $(gtanalyze header --format tsv "$out/bytes-$s.zst" 2>/dev/null | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "calls") c = i } NR == 2 { print $c }') calls"
done
if [ "$pairs" -gt 0 ]; then
	for loop in mlp transformer; do
		echo "== $loop"
		timeout 170 python3 "$here/overhead.py" "$pairs" 2 $loop "gtcollect --stacks none" gtcollect | tail -n 12
	done
fi
exit $failed
