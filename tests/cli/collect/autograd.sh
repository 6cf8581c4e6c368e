# Kernels of a backward pass, launched from a thread without Python, have the line of their forward operator, if the program's ranges
# have PyTorch's sequence numbers; else they are native only. Simulated GPU.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze py=$SRC/tests/unit/collect/guest/autograd.py
python=$(command -v /usr/bin/python3 || command -v python3 || :)
if [ -z "$python" ]; then
	skip autograd "there is no python3"
	exit
fi
line() { grep -n "# $1\$" "$py" | cut -d : -f 1; }
# lines KERNEL [BY]: the number of its launches by line
lines() { "$A" --format tsv --top 0 kernels --by "${2:-line}" --match "$1" t.zst 2>/dev/null | awk -F '\t' '$2 > 0 && $1 != "caller" { print $2, $1 }' | sort; }

want record 0 env LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -e api,gpu,nvtx -o t.zst -- "$python" "$py" "$B/guest/fake/libautograd.so" 300
lines forward >forward
is forward-lines "300 first (guest/autograd.py:$(line 'first layer')) 300 second (guest/autograd.py:$(line 'second layer'))" "$(paste -sd ' ' forward)"
lines backward >backward
is backward-has-the-lines-of-forward "300 [native only] 300 second (guest/autograd.py:$(line 'second layer')) 600 first (guest/autograd.py:$(line 'first layer'))" "$(paste -sd ' ' backward)"
is a-thread-without-python-is-native-only '300 [native only]' "$(lines copy)"
is by-function '300 [native only] 300 second (guest/autograd.py) 600 first (guest/autograd.py)' "$(lines backward function | paste -sd ' ')"
want stacks 0 "$A" --top 0 --format tsv stacks t.zst
check the-operator-is-named grep -qF "engine (libautograd.so) < start_thread (libc.so.6)" want.out
check the-mark-is-between grep -q "\[backward of aten::addmm\] < first (guest/autograd.py:$(line 'first layer')) < <module> (guest/autograd.py:" want.out
check native-only-keeps-its-frames grep -q "engine (libautograd.so).* < \[native only\]" want.out
want export 0 "$B/gtexport" --jsonl -f -o t.jsonl t.zst
check each-launch-has-the-line-of-its-number "$python" "$SRC/tests/gpu/autograd_check.py" t.jsonl 'first|second'
