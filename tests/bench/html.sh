# gtexport --html of a million events: four copies of a recording of a training loop of PyTorch. Times and size of the file; and, where
# chromium and build/consumers (make check-consumers) are installed, the time from the start of loading it to its first picture, and
# between two pictures while it moves, medians.
R=$SRC/samples/recorded/h200-train.zst
cat "$R" "$R" "$R" "$R" >million.zst
once() {	# wall time, processor time: s
	read -r begin _ </proc/uptime
	"$B/gtexport" --html -f -o million.html million.zst || exit 1
	read -r end _ </proc/uptime
	times >times # in a pipe it would be another shell's
	awk -v wall="$(awk "BEGIN { print $end - $begin }")" 'NR == 2 { gsub(/[ms]/, " "); print wall, $1 * 60 + $2 + $3 * 60 + $4 }' times
}
for i in 1 2 3; do (once); done >all
sort -n all | sed -n '2s/ .*//p' | sed 's/.*/html_million_s & s/'
sort -n -k 2 all | sed -n '2s/.* //p' | sed 's/.*/html_million_cpu_s & s/'
echo "html_million_mb $(awk "BEGIN { print $(wc -c <million.html) / 1e6 }") MB"
if command -v chromium >/dev/null && [ -d "$B/consumers/node_modules" ]; then
	NODE_PATH=$B/consumers/node_modules node "$SRC/tests/consumers/bench_html.js" million.html
fi
