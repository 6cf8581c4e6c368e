# Other views of gtview: reports and the flame graph, one frame each (tests/screen/ has the expected frames of some).
. "$SRC/tests/lib.sh"
V=$B/gtview R=$SRC/samples/recorded
[ -x "$V" ] || { skip view-reports "gtview was not built: no ncurses"; exit 0; }
unset NO_COLOR COLUMNS LINES
views="top kernels streams gaps ioctls memory advice flame flame-gpu flame-ranges"

# A frame has the requested size and is the same in each run; --ascii prints ASCII only.
sizes="1x1 3x20 30x3 40x10 80x24 120x40"
[ -z "$SAN" ] || sizes="3x20 80x24"
for view in $views; do
	bad=
	for size in $sizes; do
		for f in h200-streams.zst h200-mlp-calls.zst; do
			"$V" --render $size --view $view "$R/$f" >a.txt 2>a.err || bad="$f of $size: $(cat a.err)"
			"$V" --render $size --view $view "$R/$f" | cmp -s - a.txt || bad="$f of $size differs the next time"
			"$V" --render $size --view $view --color --ascii "$R/$f" >b.txt
			[ "$(wc -l <a.txt)" -eq ${size#*x} ] || bad="$f of $size has $(wc -l <a.txt) lines"
			[ "$(LC_ALL=C.UTF-8 wc -L <a.txt)" -le ${size%x*} ] || bad="$f of $size is too wide"
			LC_ALL=C grep -q '[^ -~'"$(printf '\t\033')"']' b.txt && bad="$f of $size is not ASCII"
		done
	done
	is "view-reports-sizes-$view" "" "$bad"
done

# On a screen that is large enough, the view has the rows of gtanalyze with the same text.
rows() { grep -E '^  [^ (]' | sed 's/  */ /g; s/ *$//'; }
for report in top kernels streams ioctls; do
	for f in h200-train h200x2-nccl; do
		"$V" --render 1000x900 --view $report "$R/$f.zst" | rows >got.txt
		COLUMNS=1000 "$B/gtanalyze" --top 0 $report "$R/$f.zst" | sed '1,/^$/d' | rows >wanted.txt
		check "view-reports-rows-$report-$f" test "$(wc -l <wanted.txt)" -gt 1
		same "view-reports-same-$report-$f" wanted.txt got.txt
	done
done

# A report that cannot answer shows the reason in any time range; warnings about missing data come first.
want view-reports-cannot 0 "$V" --render 80x24 --view gaps "$R/h200-mlp-calls.zst"
check view-reports-cannot-message grep -q 'cannot answer: what GPUs did was not recorded' want.out
want view-reports-cannot-flame 0 "$V" --render 80x24 --view flame-gpu "$R/h200-mlp-calls.zst"
check view-reports-cannot-flame-message grep -q 'cannot answer: the visible time has no GPU work' want.out
want view-reports-nothing 0 "$V" --render 80x24 --view kernels --from 1s --to 1.1s "$R/h200-train.zst"
check view-reports-nothing-message grep -q 'nothing matched' want.out
size=$(wc -c <"$R/h200-train.zst")
cp "$R/h200-train.zst" hole.zst
printf '\377\377\377\377' | dd of=hole.zst bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
want view-reports-hole 1 "$V" --render 100x24 --view top hole.zst
says view-reports-hole-message '^gtview: hole.zst: byte [0-9]*: damaged: '
check view-reports-hole-first sh -c "sed -n 2p want.out | grep -q 'the file is damaged in 1 place'"
head -c $((size * 2 / 3)) "$R/h200-train.zst" >cut.zst
"$B/gtexport" --native -o none.zst --match nothing-has-this-name "$R/h200-streams.zst" 2>/dev/null
cat "$R/h200-streams.zst" "$R/h200-graphs.zst" >both.zst
for view in $views; do
	for f in cut none both; do want "view-reports-$f-$view" 0 "$V" --render 100x24 --view $view $f.zst; done
	want "view-reports-stdin-$view" 0 sh -c "'$V' --render 80x24 --view $view - <'$R/kineto-h200-mlp.json.gz'"
done
"$V" --render 100x24 --view streams both.zst >both.txt
check view-reports-both grep -q '^ *Recording' both.txt
