# Shared by the tests of hostile traces: a memory limit of 256 MiB for programs, and all reports of one file.
A=$B/gtanalyze X=$B/gtexport json=$B/unit/test_hostile_traces
bounded() { ([ -n "$SAN" ] || ulimit -v 270000; exec "$@"); }	# KiB; the limit is on the address space, which is larger than the memory in use
reports=$("$A" --list --format tsv | tail -n +2 | cut -f 1)

# reported FORMAT: writes all reports to r.FORMAT.1, r.FORMAT.2 ... and errors to err; five reports at a time, because their memory adds up
reported() {
	: >err
	n=0
	echo $reports | xargs -n 5 >fives
	while read -r some; do
		n=$((n + 1))
		bounded "$A" --top 0 --format $1 $some n.zst >r.$1.$n 2>>err || case $? in 3 | 4) ;; *) false ;; esac || echo "exit status $?: $some" >>err
		[ -s r.$1.$n ] || echo "nothing: $some" >>err
	done <fives
}
all_json() { for j in r.json.*; do "$json" json $j || return; done; }

everything() {	# everything NAME FILE: all reports and formats, of the file and of its native copy
	e=$1
	want "$e-native" 0 bounded "$X" --native -f -o n.zst "$2"
	check "$e-zstd" zstd -qt n.zst
	want "$e-default" 0 bounded "$A" "$2"
	reported json;	check "$e-json" test ! -s err
	check "$e-is-json" all_json
	for f in text csv $([ -n "$SAN" ] || echo tsv); do # the code of tsv is that of csv
		reported $f
		check "$e-$f" test -z "$([ $f = text ] && cat err || grep -v '^gtanalyze: n.zst: ' err)"
	done
	for f in chrome folded flame speedscope jsonl native; do want "$e-$f" 0 bounded "$X" --$f -f -o x.$f n.zst; done
	check "$e-chrome-is-json" "$json" json x.chrome
	check "$e-speedscope-is-json" "$json" json x.speedscope
	[ ! -s x.jsonl ] || check "$e-jsonl-is-json" "$json" jsonl x.jsonl
	"$A" --format csv top "$2" >1.csv; "$A" --format csv top x.native >2.csv
	same "$e-copies-are-equal" 1.csv 2.csv
}
