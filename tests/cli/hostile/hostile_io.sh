# gtanalyze and gtexport with input that is not a trace, invalid options, or an output that cannot be written: each gives an error that
# names the cause. None ends silently or hangs.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze X=$B/gtexport
T="timeout 60"

cp "$SRC/tests/golden/v1.zst" t.zst
head -c 50 t.zst >cut.zst
"$X" --jsonl -o t.jsonl t.zst
says() { name=$1; shift; if grep -qF -- "$1" want.err; then ok "$name"; else fail "$name" "stderr: $(head -n 2 want.err | cut -c 1-200)"; fi; }

# ---- invalid input files ----
mkdir folder; : >empty; mkfifo pipe; printf '{' >brace; head -c 5000 /dev/zero >zeros
for f in missing folder empty brace zeros cut.zst /dev/null /dev/zero /dev/full /proc/self/mem ''; do
	for tool in "$A" "$X --jsonl -o -"; do
		n=${tool##*/}; n="input-$(echo "$f" | tr / _)-${n%% *}"
		want "$n" 1 $T $tool "$f"
		says "$n-is-named" ": $f: "
		check "$n-prints-nothing" test ! -s want.out
		check "$n-in-one-line" test "$(wc -l <want.err)" -eq 1
	done
done
cat t.zst >pipe & want input-pipe 0 $T "$X" --jsonl -o - pipe; wait
same input-pipe-is-read t.jsonl want.out
printf '' >pipe & want input-pipe-empty 1 $T "$A" pipe; wait
if [ "$(id -u)" -ne 0 ]; then
	cp t.zst secret; chmod 000 secret; want input-unreadable 1 "$A" secret; says input-unreadable-is-reported "Permission denied"
else skip input-unreadable "root may read everything"; fi
odd=$(printf 'a\nb\033[31m')
want input-odd-name 1 "$A" "$odd"; check input-odd-name-is-harmless sh -c '! grep -q "$(printf "\033")" want.err && [ "$(wc -l <want.err)" -eq 1 ]'

# ---- invalid options ----
for o in '--top -1' '--top 99999999999999999999' '--top 1e3' '--from -1' '--from 1x' '--from 99999999999s' '--from 5s --to 1s' '--from 1s --to 1s' \
	'--pid abc' '--pid 18446744073709551615' '-j 0' '-j 100000' '--format xml' '--top' '--nonsense'; do
	want "option $o" 2 "$A" $o t.zst
done
for o in '--from -1s' '--from 5s --to 1s' '--tid x' '--cost all'; do want "export-option $o" 2 "$X" --folded -o - $o t.zst; done
want option-all-rows 0 "$A" --top 4294967295 t.zst
want option-behind-the-end 0 "$A" --from 9223372000s t.zst
want option-many-threads 0 "$A" -j 1024 t.zst

# ---- outputs that cannot be created ----
for o in no/such/folder/x folder '' ; do
	want "output-$o-gtanalyze" 1 "$A" -f -o "$o" t.zst;			says "output-$o-gtanalyze-message" 'cannot write'
	want "output-$o-gtexport" 1 "$X" --chrome -f -o "$o" t.zst;		says "output-$o-gtexport-message" 'cannot write'
done
until_no_reader() { while (echo) 2>/dev/null; do sleep 0.01; done; }
for command in "$A t.zst" "$A t.jsonl" "$A --format json t.zst" "$A --format csv t.zst" "$A --list" "$A --help" "$X --help" "$A --version" \
	"$A --completion bash" "$X --chrome -o - t.zst" "$X --folded -o - t.zst" "$X --jsonl -o - t.zst" "$X --native -o - t.zst" \
	"$X --native -o - t.jsonl" "$B/gtcollect --doctor" "$B/gtcollect --help"; do
	n=${command#"$B"/} failure=1
	case $n in gtcollect*) failure=125 ;; esac
	status=0; $command >&- 2>want.err || status=$?
	check "closed: $n" test $status -eq $failure
	says "closed-message: $n" 'standard output: Bad file descriptor'
	(until_no_reader; status=0; $command 2>want.err || status=$?; echo $status >status) | :	# SIGPIPE, without a message
	while [ ! -s status ]; do sleep 0.05; done
	check "pipe: $n" test "$(cat status)" -eq 141; rm status
	check "pipe-is-quiet: $n" sh -c '! grep -qE "cannot write|Broken pipe" want.err'
	(trap '' PIPE; until_no_reader; status=0; $command 2>want.err || status=$?; echo $status >status) | :	# with SIGPIPE ignored
	while [ ! -s status ]; do sleep 0.05; done
	check "ignored-pipe: $n" test "$(cat status)" -eq $failure; rm status
	says "ignored-pipe-message: $n" 'cannot write standard output: Broken pipe'
	[ -w /dev/full ] || continue
	status=0; $command >/dev/full 2>want.err || status=$?
	check "full: $n" test $status -eq $failure
	says "full-message: $n" 'standard output: No space left'
done

# ---- an output never overwrites an input ----
cp t.zst keep.zst; ln t.zst link.zst
for o in t.zst ./t.zst link.zst; do
	want "onto-itself-$o" 1 "$A" -f -o "$o" t.zst;			says "onto-itself-$o-message" 'is also the input'
	want "onto-itself-native-$o" 1 "$X" --native -f -o "$o" t.zst
done
want onto-the-second 1 "$A" -f -o t.zst keep.zst t.zst
status=0; "$A" t.zst >>t.zst 2>want.err || status=$?;	check onto-stdout test $status -eq 1
status=0; "$X" --jsonl -o - - <t.zst >>t.zst 2>want.err || status=$?;	check stdin-onto-stdout test $status -eq 1
same nothing-was-written keep.zst t.zst

# ---- closed standard streams: no opened file gets their numbers ----
"$X" --jsonl -f -o out.jsonl cut.zst 2>&- || :
"$X" --native -f -o out.zst t.jsonl 0<&- >&- 2>&-;	check all-closed test $? -eq 0
check all-closed-is-whole zstd -qt out.zst
"$X" --jsonl -f -o out.jsonl out.zst 2>&-
same all-closed-is-equal t.jsonl out.jsonl
want stdin-closed 1 sh -c 'exec "$0" - <&-' "$A"

# ---- no temporary folder for an import ----
want no-temporary-folder 1 env TMPDIR="$PWD/missing" "$A" t.jsonl;	says no-temporary-folder-message missing
want own-format-needs-none 0 env TMPDIR="$PWD/missing" "$A" t.zst
