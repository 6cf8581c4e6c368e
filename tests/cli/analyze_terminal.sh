# Every report on terminals of 40 to 200 columns: no table is wider, no two names look equal that are not.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze R=$SRC/samples/recorded
unset COLUMNS
reports=$("$A" --list --format tsv | sed 1d | cut -f 1 | grep -v metadata)

# at WIDTH COMMAND: what a terminal of that many columns gets.
at() { script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r'; }
if ! command -v script >/dev/null || [ "$(at 44 'stty size' | cut -d ' ' -f 2)" != 44 ]; then
	skip fits-terminals "no script(1) that gives a terminal"
	exit 0
fi
for f in h200-train h200-inference h200x2-nccl h200-mlp-calls; do
	cp "$R/$f.zst" .
	for w in 40 60 80 120 200; do
		at $w "'$A' $(echo $reports) $f.zst" >out
		is fits-$f-$w "" "$(awk -v w=$w 'length > w' out | head -n 3)"
	done
	at 80 "'$A' --top 0 ioctls $f.zst" | awk -F '  +' '/^  (ioctl|mmap|open) / { print $2 }' >names
	is fits-$f-names-differ "$(wc -l <names)" "$(sort -u names | wc -l)"
done
"$A" ioctls h200-train.zst >piped; COLUMNS=40 "$A" ioctls h200-train.zst >narrow; same piped-is-not-cut piped narrow
check fits-h200-train-names-were-there test "$(at 80 "'$A' --top 0 ioctls h200-train.zst" | grep -c '^  ioctl ')" -gt 100
check piped-has-whole-names grep -q 'ioctl RM_CONTROL NV2080_CTRL_CMD_GPU_GET_ENGINES_V2  ioctl  ' piped
