# gtview in a real terminal (tmux): resizing, mouse, stop and continue, signals, and a terminal that disappears.
. "$SRC/tests/lib.sh"
V=$B/gtview R=$SRC/samples/recorded
[ -x "$V" ] || { skip tmux "gtview was not built: no ncurses"; exit 0; }
command -v tmux >/dev/null || { skip tmux "no tmux"; exit 0; }
unset NO_COLOR COLUMNS LINES TMUX
export LC_ALL=C.UTF-8 TERM=xterm-256color SHELL=/bin/sh ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:detect_leaks=0"
socket=gt-$$
t() { tmux -L $socket -f /dev/null "$@"; }
trap 't kill-server 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM	# the trap of EXIT then also ends the server
t new-session -d -x 100 -y 30 'exec sh' 2>tmux.err || { skip tmux "tmux does not start: $(tail -n 1 tmux.err)"; exit 0; }
t set -g status off

shot() { t capture-pane -p; }
# seen NAME PATTERN: ok as soon as a line of the screen matches, or for "! PATTERN" when no line matches any more; waits at most a minute.
seen() {
	name=$1 no=; shift
	[ "$1" = ! ] && no=yes && shift
	for i in $(seq 600); do
		if shot | grep -q -e "$1"; then [ -z "$no" ] && break; else [ "$no" ] && break; fi
		sleep 0.1
	done
	if [ "$i" -lt 600 ]; then ok "$name"; else fail "$name" "not ${no:+gone}: '$1' in $(shot | grep . | tail -n 4 | tr '\n' '|' | cut -c 1-300)"; fi
}
type_in() { t send-keys -l "$1"; }
run() { t send-keys -l "$1"; t send-keys Enter; }
begin() { run "clear; '$V' '$R/$1'; echo left \$?"; seen "$2-begins" 'cell .* lanes'; }
sane() {	# sane NAME: the shell's terminal is restored: it echoes typed text, has line mode, and the cursor is at its old place
	run 'stty -a | tr " ;" "\n\n" | grep -E "^-?(icanon|echo|isig|icrnl|opost)$" | sort | tr "\n" " "; echo '"$1"
	seen "$1-terminal" "^echo icanon icrnl isig opost $1"
	is "$1-mouse-off" 0 "$(t display -p '#{mouse_any_flag}')"
	is "$1-screen" 0 "$(t display -p '#{alternate_on}')"
}
pid() { pgrep -P "$(t display -p '#{pane_pid}')" -f "^$V "; }		# other instances may run at the same time

run "PS1='ready$ '"; seen shell '^\([#$] \)*ready'
begin h200-train.zst start
seen whole '8.922 s'
for size in 60x15 40x10 120x40 200x12 10x3 100x30; do
	t resize-window -x ${size%x*} -y ${size#*x}
	sleep 0.3
	[ $size = 10x3 ] && continue
	seen "size-$size" 'busy\|cell\|lanes'
	is "size-$size-fits" "${size#*x}" "$(shot | wc -l)"
done
type_in www; seen zoomed 'cell 16.78 ms'
type_in "$(printf '\033[<65;60;6M')"; seen wheel-out 'cell 33.55 ms'
type_in "$(printf '\033[<64;60;6M\033[<64;60;6M')"; seen wheel-in 'cell 8.389 ms'
type_in r; seen fit 'cell 125.7 ms'
type_in ":export jsonl 'a b.jsonl'"; t send-keys Enter; seen export 'wrote .* to a b.jsonl'
check export-is-there test -s 'a b.jsonl'
is export-leaves-nothing 0 "$(ls -A | grep -c '^\.')"
type_in '?'; seen help 'zoom in, out'
t send-keys Escape; seen help-gone ! 'zoom in, out'

kill -TSTP "$(pid)"
seen stopped 'left 148'
sane stopped
run fg; seen goes-on 'cell 125.7 ms'
type_in q; seen gone ! 'cell 125.7 ms'
run 'echo back $?'; seen quit 'back 0'
sane quit

# a recording that grows: gtview shows each part, and at last that the recording is complete
all=$R/h200-train.zst n=$(wc -c <"$R/h200-train.zst")
head -c $((n / 3)) "$all" >grows.zst
exec 9>>grows.zst		# a writer still has the file open
run "clear; '$V' --follow grows.zst; echo left \$?"; seen follow-begins 'RECORDING'
seen follow-not-all ! '8.922 s'
type_in 2; seen follow-report 'whole run'
head -c $((n / 2)) "$all" | tail -c +$((n / 3 + 1)) >&9; seen follow-message 'new rows: Ctrl-L shows them'
type_in 1; seen follow-timeline 'RECORDING'
tail -c +$((n / 2 + 1)) "$all" >&9; seen follow-all '8.922 s'
seen follow-complete 'complete: the recorder closed the trace'
type_in j; seen follow-ends ! 'RECORDING'
# the file becomes empty: a key may need a block that is missing now; then gtview prints a message and exits with 1
head -c 0 "$all" >grows.zst; type_in j; type_in q; seen follow-left 'left [01]$'
exec 9>&-
head -c $((n / 3)) "$all" >grows.zst
run "clear; '$V' --follow grows.zst; echo left \$?"; seen killed-message 'the recorder ended without closing the trace\|NOT CLOSED'
type_in q; seen killed-left 'left 0'
rm -f grows.zst
run "clear; '$V' --follow grows.zst; echo left \$?"; seen waits 'waiting for the recording to begin'; : >grows.zst; sleep 0.3; seen waits-on 'waiting for the recording to begin'
cat "$all" >grows.zst; seen waited '8.922 s'
type_in q; seen waited-left 'left 0'

# Wide characters have the same width in gtview and in the terminal: the text after them is at the right column. The same holds for
# typed text.
wide="'$SRC/tests/screen/wide.json'"
run "clear; LC_ALL=C.UTF-8 '$V' $wide; echo left \$?"; seen wide-begins 'level 2 ranges.*│.*▏順伝播'
"$V" --render 100x30 "$SRC/tests/screen/wide.json" >wide.txt
for line in メインスレッド 'level 2 ranges'; do
	is "wide-${line%% *}" "$(grep "$line" wide.txt)" "$(shot | grep "$line" | sed 's/ *$//')"
done
type_in '/学習'; seen wide-typed '^find: 学習'
type_in x; t send-keys BSpace; t send-keys BSpace; seen wide-untyped '^find: 学$'
t send-keys Enter; seen wide-found '/学  1 event'
type_in q; seen wide-left 'left 0'

for signal in TERM HUP INT SEGV ABRT; do
	begin h200-streams.zst $signal
	kill -$signal "$(pid)"
	seen $signal-ends '^left\|^ready'		# a shell that receives SIGINT prints nothing after it
	sane $signal
done

begin h200-nvtx.zst closed
p=$(pid)
t kill-server
ended() { case $(ps -o stat= -p "$p") in ''|Z*) echo yes ;; esac; }	# a zombie counts as ended: its parent may collect the status later
until_it_is yes ended
is closed-ends yes "$(ended)"
