# The house itself: its walls, what it says of its programs, and that it installs.
. "$SRC/tests/lib.sh"

check rooms "$SRC/tests/check_rooms.sh"

# The walls hold: each of these includes crosses one.
wall() {	# wall NAME FILE INCLUDE
	rm -rf house && mkdir -p house/formats/base house/collect/guest house/analyze house/viewer house/samples house/tests &&
		echo "#include $3" >"house/$2"
	if "$SRC/tests/check_rooms.sh" house >wall.out; then fail "$1" "$3 in $2 was let through"; else ok "$1"; fi
}
wall wall-base formats/base/x.c '"formats/record.h"'
wall wall-formats formats/x.c '"collect/ring.h"'
wall wall-collect collect/x.c '"analyze/analysis.h"'
wall wall-guest collect/guest/x.c '"formats/base/buf.h"'
wall wall-analyze analyze/x.c '"viewer/screen.h"'
wall wall-samples samples/x.c '"formats/record.h"'
wall door-zstd analyze/x.c '<zstd.h>'
wall door-curses formats/x.c '<ncurses.h>'
wall door-cuda collect/guest/x.c '<cuda.h>'
rm -rf house && mkdir -p house/formats house/analyze && : >house/formats/x.c && : >house/analyze/x.c
want wall-names 1 "$SRC/tests/check_rooms.sh" house

# Every page leads somewhere: relative links of all pages name files that exist.
(cd "$SRC" && for page in *.md */*.md */*/*.md; do
	[ -f "$page" ] || continue
	case $page in build*) continue ;; esac
	grep -oE '\]\([^)#:]+\)' "$page" | sed 's/^](//; s/)$//' | while read -r to; do
		[ -e "$(dirname "$page")/$to" ] || echo "$page: $to"
	done
done) >links.out
if [ -s links.out ]; then fail links "lead nowhere: $(tr '\n' ' ' <links.out)"; else ok links; fi

# Each program: --help equals the manual page, --version, completion that a shell can parse, exit status 2 on bad use.
for p in "$B"/gtcollect "$B"/gtexport "$B"/gtanalyze "$B"/gtview; do
	[ -x "$p" ] || continue
	n=${p##*/} page=$SRC/docs/${p##*/}.1.md
	"$p" --help >help.txt 2>help.err || fail "$n-help" "--help failed: $(cat help.err)"
	sed -n '/^<!-- help -->$/,/^<!-- \/help -->$/p' "$page" 2>/dev/null | sed '1,2d;$d' | sed '$d' >manual.txt
	same "$n-manual-equals-help" manual.txt help.txt
	check "$n-version" sh -c "\"$p\" --version | grep -qE '^$n [0-9]+\.[0-9]+\.[0-9]+$'"
	check "$n-completion" sh -c "\"$p\" --completion bash >c.sh && bash -n c.sh && grep -q -- --help c.sh"
	want "$n-bad-option" 2 "$p" --no-such-option
	check "$n-bad-option-says" grep -q "^$n: unknown option '--no-such-option'" want.err
	[ ! -w /dev/full ] || { "$p" --help >/dev/full 2>full.err; full=$?; check "$n-help-full-disk" test $full -ne 0; }
	[ ! -w /dev/full ] || [ "$n" = gtcollect ] || check "$n-help-full-disk-is-no-bad-use" test $full -eq 1
done

# Installed somewhere else, everything still runs from there.
if [ -n "$SAN" ]; then skip install "one build is enough"
else
	check install make -s -C "$SRC" BUILD="${B#"$SRC"/}" PREFIX=/usr DESTDIR="$PWD/root" install
	for p in root/usr/bin/*; do
		[ -x "$p" ] && check "installed-${p##*/}" "$p" --version
	done
	[ ! -f "$B/libgtpreload.so" ] || check installed-library test -f root/usr/lib/gt/libgtpreload.so
	for m in "$SRC"/docs/gt*.1.md; do
		[ -f "$m" ] || continue
		m=root/usr/share/man/man1/$(basename "$m" .md)
		check "installed-${m##*/}" grep -q '^\.SH' "$m"
	done
	left=$(make -n -s -C "$SRC" BUILD="${B#"$SRC"/}" all units replays 2>&1 | grep -v 'Nothing to be done' | head -n 1)
	if [ -z "$left" ]; then ok nothing-left-to-build; else fail nothing-left-to-build "$left"; fi
fi
