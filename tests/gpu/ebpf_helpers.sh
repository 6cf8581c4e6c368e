# Sourced by tests/gpu/ebpf*.sh: ebpf_X.sh PORTABLE-TARBALL OUT ... Unpacks the programs, and sets here, out and failed.
here=$(cd "$(dirname "$0")" && pwd) out=$2 failed=0
mkdir -p /tmp/gt "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-$(uname -m)/bin:$PATH
check() { # NAME CONDITION...
	name=$1; shift
	if "$@"; then echo "PASS $name"; else echo "FAIL $name"; failed=1; fi
}
# says PATTERN FILE: waits until a line matches
says() { for _ in $(seq 300); do grep -q "$1" "$2" 2>/dev/null && return 0; sleep 0.1; done; echo "FAIL no '$1' in $2"; tail -n 3 "$2"; return 1; }
# start_loop: a PyTorch program, $loop, that makes as many steps as phase says; it ends when 5 is closed
start_loop() {
	mkfifo "$out/in"
	python3 "$here/ebpf_loop.py" <"$out/in" >"$out/loop.txt" 2>"$out/loop.err" &
	loop=$!
	exec 5>"$out/in"
	says ready "$out/loop.txt"
}
phase() { echo "$1 $2" >&5; says "\"phase\": \"$1\"" "$out/loop.txt"; }
