# Every report on terminals of 40 to 200 columns: no line is wider, different names are not shortened to the same text, and colours
# appear on terminals only.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze R=$SRC/samples/recorded
unset COLUMNS NO_COLOR
export TERM=xterm
reports=$("$A" --list --format tsv | sed 1d | cut -f 1)

# at WIDTH COMMAND: the text that a terminal of that width shows; coloured: including escape sequences
coloured() { script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r'; }
# text before an "erase line" (the progress of a slow run) is no longer on the terminal
plain() { sed 's/.*\x1b\[K//; s/\x1b\[[0-9]*m//g'; }
at() { coloured "$@" | plain; }
if ! command -v script >/dev/null || [ "$(at 44 'stty size' | cut -d ' ' -f 2)" != 44 ]; then
	skip fits-terminals "no script(1) that gives a terminal"
	exit 0
fi
files="h200-train h200-inference h200-graphs h200-streams h200x2-nccl h200-mlp-calls"
[ -z "$SAN" ] || files="h200-train h200x2-nccl"
for f in $files; do
	cp "$R/$f.zst" .
	for w in 40 60 80 120 200; do
		at $w "'$A' $(echo $reports) $f.zst" >out
		is fits-$f-$w "" "$(awk -v w=$w 'length > w' out | head -n 3)"
	done
	at 80 "'$A' --top 0 ioctls $f.zst" | awk -F '  +' '/^  (ioctl|mmap|open) / { print $2 }' >names
	is fits-$f-names-differ "$(wc -l <names)" "$(sort -u names | wc -l)"
done
is fits-stacks-40 "" "$(at 40 "'$A' stacks '$SRC/tests/fuzz/corpus/fuzz_import/jsonl-b/b_stacks'" | awk 'length > 40' | head -n 3)"
"$A" ioctls h200-train.zst >piped; COLUMNS=40 "$A" ioctls h200-train.zst >narrow; same piped-is-not-cut piped narrow
check fits-h200-train-names-were-there test "$(at 80 "'$A' --top 0 ioctls h200-train.zst" | grep -c '^  ioctl ')" -gt 100
long=a-rather-long-folder-in-which/there-is-another-one-with-a-long-name/and-then-one-more
mkdir -p $long; cp h200-train.zst $long
for w in 40 80; do is long-path-fits-$w "" "$(at $w "'$A' --list; '$A' --explain; '$A' --help; '$A' header $long/h200-train.zst" | awk -v w=$w 'length > w')"; done
is report-help-fits '' "$(at 80 "'$A' collectives advice query kernels --help" | awk 'length > 80')"
is wide-help-follows 1 "$(at 120 "'$A' --help" | awk 'length > 80 { n = 1 } END { print n + 0 }')"

cp "$R/h200-inference.zst" .
for w in 40 60 80; do
	is two-files-fit-$w "" "$(at $w "'$A' diff h200-train.zst h200-inference.zst; '$A' h200-train.zst h200-inference.zst" | awk -v w=$w 'length > w' | head -n 3)"
done

# Colours appear on a terminal only, and not with NO_COLOR. They do not change the layout.
colours() { if grep -q "$(printf '\033')\[" "$1"; then echo yes; else echo no; fi; }
coloured 100 "'$A' budget advice ioctls h200-train.zst" >on; is terminal-has-colours yes "$(colours on)"
coloured 100 "'$A' --color never budget advice ioctls h200-train.zst" >off; is color-never no "$(colours off)"
plain <on >on-plain; same colours-move-nothing off on-plain
coloured 100 "NO_COLOR=1 '$A' budget h200-train.zst" >off; is no-color no "$(colours off)"
coloured 100 "NO_COLOR= '$A' budget h200-train.zst" >on; is empty-no-color yes "$(colours on)"
coloured 100 "NO_COLOR=1 '$A' --color always budget h200-train.zst" >on; is always-beats-no-color yes "$(colours on)"
coloured 100 "TERM=dumb '$A' budget h200-train.zst" >off; is dumb-terminal no "$(colours off)"
coloured 100 "unset TERM; '$A' budget h200-train.zst" >off; is unknown-terminal no "$(colours off)"
for fmt in csv tsv json; do coloured 100 "'$A' --color always --format $fmt budget h200-train.zst" >off; is $fmt-has-no-colours no "$(colours off)"; done
"$A" budget h200-train.zst >in-pipe; is pipe-has-no-colours no "$(colours in-pipe)"
coloured 100 "'$A' -f -o file budget h200-train.zst" >written; is file-has-no-colours no "$(colours file)"
"$A" --color always budget h200-train.zst >on; is always-has-colours yes "$(colours on)"; plain <on >on-plain; same always-moves-nothing in-pipe on-plain
coloured 120 "'$A' --whole-run diff h200-train.zst h200-inference.zst" >on
check diff-slower-is-red grep -q "$(printf '\033\\[31mslower\033\\[0m')" on
check diff-faster-is-green grep -q "$(printf '\033\\[32mfaster\033\\[0m')" on
coloured 80 "'$A' advice h200-train.zst" >on
check advice-clean-is-green grep -q "$(printf '\033\\[32m  clean: ')" on
check piped-has-whole-names grep -q 'ioctl RM_CONTROL NV2080_CTRL_CMD_GPU_QUERY_ECC_STATUS  ioctl  ' piped
