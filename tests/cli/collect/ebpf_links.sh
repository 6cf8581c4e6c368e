# serial
# Links of files in a recording of all processes: they are closed when no process maps their file any more.
. "$SRC/tests/lib.sh"
G=$B/gtcollect

if ! "$G" -q -f -o try.zst -a -e ioctl --duration 1ms >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	exit
fi
links() { readlink "/proc/$recorder/fd/"* | grep -c bpf_link; }
# start NAME: runs FOLDER/linked, of which -a records a function; it ends when the pipe NAME is closed
start() { "$1/linked" <"$2" >"$1/out" 7>&- 8>&- & }
new() { mkdir "$1" && cp "$B/bpf/functions" "$1/linked"; }

mkfifo first second
new mapped
new deleted
new kept
start mapped first
mapped=$!
exec 7>first
attach links.zst -a -e ioctl --probe linked:outer
none=$(($(links) - 1))
start deleted second
deleted=$!
start kept second
kept=$!
exec 8>second
until_it_is $((none + 3)) links
is each-file-has-a-link $((none + 3)) "$(links)"
rm mapped/linked deleted/linked
exec 8>&-
wait $deleted $kept
until_it_is $((none + 2)) links
is link-of-a-deleted-file-is-closed $((none + 2)) "$(links)"
exec 7>&-
wait $mapped
until_it_is $((none + 1)) links
is link-of-a-deleted-file-is-open-while-it-is-mapped $((none + 1)) "$(links)"

# ---- of files that still exist, 64 remain ----
mkfifo many again
for i in $(seq 70); do
	new "$i"
	[ "$i" = 70 ] && break
	start "$i" many
	last="$last $!"
done
exec 8>many
until_it_is $((none + 70)) links
start 70 again
again=$!
exec 7>again
until_it_is $((none + 71)) links
exec 7>&- 8>&-
wait $last $again
until_it_is $((none + 64)) links
is links-of-64-files-remain $((none + 64)) "$(links)"
start 70 again
again=$!
exec 8>again
echo >&8
until_it_is yes there 70/out
exec 8>&-
wait $again
detach
is program-that-is-started-again-is-recorded 20 "$(calls outer links.zst)"

# ---- the sites of USDT probes are used again ----
if [ ! -e "$B/bpf/usdt" ]; then skip usdt "the tests have no sys/sdt.h"; exit; fi
if [ -n "$SAN" ] || ! ${CC:-cc} -O2 -shared -fPIC "$SRC/tests/cli/collect/small_maps.c" -o small_maps.so 2>cc.err; then
	skip small-maps "${SAN:+a sanitized program has functions of its own}$(grep -m 1 error cc.err)"; exit
fi
new() { mkdir "$1" && cp "$B/bpf/usdt" "$1/linked"; }
new site1
new site2
mkfifo sites
start site1 sites
program=$!
exec 8>sites
# a table with space for the sites of one and a half such files
export LD_PRELOAD="$PWD/small_maps.so" SMALL_MAP=usdt_sites,20
attach sites.zst -a -e 'usdt:gt_test:*'
unset LD_PRELOAD SMALL_MAP
check one-file-has-space grep -q ' 13 places of USDT probes' sites.zst.err
one=$(links)
rm site1/linked
exec 8>&-
wait $program
until_it_is $((one - 1)) links
start site2 sites
program=$!
exec 8>sites
until_it_is $one links
is sites-are-used-again $one "$(links)"
exec 8>&-
wait $program
detach
check each-file-has-its-probes sh -c '! grep "probes could not be set" sites.zst.err'
