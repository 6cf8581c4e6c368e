# What tests of traces made to hurt share: programs kept to 256 MiB, and all reports of one file.
A=$B/gtanalyze X=$B/gtexport json=$B/unit/test_hostile
bounded() { ([ -n "$SAN" ] || ulimit -v 270000; exec "$@"); }	# KiB; what is mapped is more than what is used
reports=$("$A" --list --format tsv | tail -n +2 | cut -f 1)

# All reports, five at a time, for what they hold adds up: reported FORMAT leaves r.FORMAT.1, r.FORMAT.2 ... and what was said in err.
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
