# NVTX's payload extension: ranges that begin or end with a payload are ordinary ranges, and have the message that their schema defines. The
# program does the work of NVTX's header itself; a second variant is compiled with the real header.
. "$SRC/tests/lib.sh"
on_sim() { LD_LIBRARY_PATH=$B/sim "$@"; }
rows() { "$B/gtexport" --jsonl -f -o - "$1" 2>/dev/null | sed -E 's/"ts":[0-9.]*,//; s/"(pid|tid)":[0-9]*,?//g; s/,\}/}/'; }

trace() {	# trace WHICH PROGRAM: records the program and checks its ranges
	want "$1-record" 0 on_sim "$B/gtcollect" -q -f -e api,nvtx -o "$1.zst" -- "$2"
	rows "$1.zst" >all
	is "$1-order" 'B as NCCL does|B (no message)|E (no message)|E as NCCL does|B from a schema|E from a schema|B by pointer|E by pointer| (no message)| (no message)| by pointer| in place| with an end| a mere string| (no message)' \
		"$(grep -v cuInit all | sed -E 's/.*"phase":"(.)".*"name":"([^"]*)".*/\1 \2/; t; s/.*"name":"([^"]*)".*/ \1/' | tail -n +9 | paste -sd '|')"
	is "$1-none-without-an-end" 6 "$(grep -c '"phase":"E","name":"[an(]' all)"
	is "$1-details-from-the-schema" '{"domain":"payloads","category":"7","color":"0xff00ff00"}' \
		"$(grep '"phase":"B".*from a schema' all | grep -o '"details".*' | sed 's/"details"://; s/}.*/}/')"
	is "$1-domains" 1 "$(grep -c '"domain":"others"' all)"
}

trace by-hand "$B/guest/fake/payload"
echo '#include <nvtx3/nvToolsExtPayload.h>
#if NVTX_EXT_PAYLOAD_COMPATID < 0x0104
#error too old
#endif' >have.c
I=${CUDA_HOME:-/usr/local/cuda}/include
if ! ${CC:-cc} -isystem "$I" -fsyntax-only have.c 2>have.err; then skip real-header "no NVTX header with the payload extension here"
else
	check real-builds ${CC:-cc} -std=gnu11 -I"$SRC" -isystem "$I" -O1 -g "$SRC/tests/unit/collect/guest/payload_prog.c" -pthread -ldl -o real
	trace real ./real
fi
