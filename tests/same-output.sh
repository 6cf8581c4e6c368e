#!/bin/sh
# tests/same-output.sh OLD_BUILD NEW_BUILD [OUT]: do the programs of two builds print the same, byte for byte?
#
# It runs each command below with the programs of both builds and compares standard output, standard error,
# exit status and the files that the command writes. The commands are every report of gtanalyze in every
# format, every export, and every view of gtview, over all recordings of the tree: samples/recorded,
# tests/golden, tests/broken, the fuzz corpora, and native copies of files of other tools.
# tests/same-output.sed changes the output of the OLD build before the comparison. It lists words that
# changed on purpose, and is empty when the old build is of the same wording.
# OUT (default: a temporary folder) keeps both outputs of each command that differs. Run it before a
# refactoring is merged. Exit status 1 if anything differs. ONLY=REGEX runs the commands that match.
SRC=$(cd "$(dirname "$0")/.." && pwd) || exit 1

one() {	# one NUMBER COMMAND: says nothing when both builds agree
	rm -rf "${W:?}/$1"
	for side in old new; do
		mkdir -p "$W/$1/$side" && cd "$W/$1/$side" || exit 1
		B=$OLD; [ $side = old ] || B=$NEW
		sh -c "$2" >out 2>err </dev/null
		echo $? >status
	done
	cd "$W/$1" || exit 1
	for f in out err; do
		if [ -s "$SRC/tests/same-output.sed" ]; then
			sed -f "$SRC/tests/same-output.sed" old/$f >old/$f.new && mv old/$f.new old/$f
		fi
	done
	if diff -rq old new >/dev/null; then rm -rf "$W/$1"
	else
		echo "$2" >command
		echo "differs ($W/$1): $2"
		diff -ar old new | head -n 4 | cut -c 1-160
	fi
}
if [ "$1" = --one ]; then B= one "$2" "$3"; exit 0; fi

OLD=$(cd "${1:?OLD_BUILD}" && pwd) && NEW=$(cd "${2:?NEW_BUILD}" && pwd) || exit 1
W=${3:-$(mktemp -d)}
mkdir -p "$W" && W=$(cd "$W" && pwd) || exit 1
export SRC OLD NEW W B= LC_ALL=C TZ=UTC NO_COLOR=1 COLUMNS=160 XDG_CACHE_HOME="$W/cache"

recordings() { ls "$SRC"/samples/recorded/*.zst "$SRC"/samples/recorded/*.json.gz "$SRC"/tests/golden/*.zst "$W"/native/*.zst; }
# kineto_twice is left out: it is an empty recording, and its time base is the moment of the import.
small() { find "$SRC/tests/broken" "$SRC/tests/fuzz/corpus" -type f ! -name '*.message' ! -name kineto_twice | sort; }
reports() { "$OLD/gtanalyze" --list | awk '/^  [a-z]/ { print $1 }' | grep -v '^query$'; }
views() { "$OLD/gtview" --help | tr '\n' ' ' | sed 's/.*first view (\([^)]*\)).*/\1/; s/,//g'; }

# Files of other tools as gt's own, made once by the old build: both builds read them.
mkdir -p "$W/native"
for f in "$SRC"/samples/recorded/*.json.gz "$SRC"/tests/fuzz/corpus/fuzz_import/*/*; do
	"$OLD/gtexport" --native -f -o "$W/native/$(basename "$f").zst" "$f" >/dev/null 2>&1 || rm -f "$W/native/$(basename "$f").zst"
done

commands() {	# one a line; $B is the build
	for p in gtrace gtcollect gtanalyze gtexport gtview; do
		printf '$B/%s --%s\n' $p help $p version
		for shell in bash zsh fish; do echo "\$B/$p --completion $shell"; done
	done
	echo '$B/gtanalyze --list'
	recordings | while read -r f; do
		for format in text csv tsv json; do
			echo "\$B/gtanalyze --format $format $f"
			for r in $(reports); do
				echo "\$B/gtanalyze --format $format --top 20 $r $f"
			done
		done
		for r in $(reports); do
			echo "\$B/gtanalyze --top 0 --from 7s $r $f"
			echo "\$B/gtanalyze --top 10 --from 1s --to 7.1s $r $f"
			echo "\$B/gtanalyze --top 10 --match '*gemm*' --match '@copy' $r $f"
			echo "\$B/gtanalyze --names full --top 10 $r $f"
		done
		for q in '' "--where 'kind==kernel'" "--where 'dur>10us' --by name,stream --agg 'count,sum(dur),p99(dur)'" \
			"--where 'kind==call && failed' --by name" "--by category,layer --agg 'count,union(dur),distinct(name)'"; do
			for format in text csv tsv json; do echo "\$B/gtanalyze --format $format query $q $f"; done
		done
		for e in chrome jsonl; do
			echo "\$B/gtexport --$e -o - $f"
			echo "\$B/gtexport --$e --from 1s --to 7s --match '*a*' -o - $f"
		done
		for cost in time count bytes; do echo "\$B/gtexport --folded --cost $cost -o - $f"; done
		# a new file has a random id, so the test compares the contents
		echo "\$B/gtexport --native -o t.zst $f; wc -c <t.zst; \$B/gtexport --jsonl t.zst; \$B/gtanalyze metadata t.zst; rm -f t.zst"
		for v in $(views); do
			for size in 160x50 80x24 40x10; do
				echo "\$B/gtview --render $size --view $v $f"
				echo "\$B/gtview --render $size --ascii --from 1s --to 7.1s --view $v $f"
			done
			echo "\$B/gtview --render 120x40 --color --view $v $f"
			echo "\$B/gtview --render 120x40 --svg --view $v $f"
		done
	done
	for r in $(reports); do echo "\$B/gtanalyze --explain $r $SRC/samples/recorded/h200-train.zst"; done
	small | while read -r f; do
		echo "\$B/gtanalyze --format json $f"
		echo "\$B/gtanalyze $f"
		echo "\$B/gtexport --jsonl -o - $f"
		echo "\$B/gtexport --chrome -o - $f"
		echo "\$B/gtview --render 80x24 $f"
	done
	set -- "$SRC"/samples/recorded/h200-train.zst "$SRC"/samples/recorded/h200-mlp-calls.zst "$SRC"/samples/recorded/h200-graphs.zst
	for format in text csv tsv json; do
		echo "\$B/gtanalyze --format $format diff $1 $2"
		echo "\$B/gtanalyze --format $format diff $1 $1"
		echo "\$B/gtanalyze --format $format $1 $3"
	done
}

commands | { if [ -n "$ONLY" ]; then grep -E -e "$ONLY"; else cat; fi; } >"$W/commands"
awk '{ printf "%d%c%s%c", NR, 0, $0, 0 }' "$W/commands" | xargs -0 -P "$(nproc)" -n 2 sh "$SRC/tests/same-output.sh" --one >"$W/differences"
rm -rf "$W/cache"
cat "$W/differences"
bad=$(grep -c '^differs ' "$W/differences")
echo "$(wc -l <"$W/commands") commands, $bad differ"
[ "$bad" -eq 0 ]
