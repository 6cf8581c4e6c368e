# gtcollect when another user owns a folder from the environment, and when the program changes its user.
. "$SRC/tests/lib.sh"
C=$B/gtcollect S=$B/samples
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
unset XDG_RUNTIME_DIR
T="timeout 60"
library=$(readlink -f "$B/libgtpreload.so")
base=$(TMPDIR=/tmp mktemp -d)	# every user can reach this folder; the folder of the test may be private
trap 'rm -rf "$base"' EXIT
chmod 755 "$base"; mkdir "$base/own"
export TMPDIR="$base/own"
# session [VAR=VALUE...]: the parent folder of the session's folder with this environment
session() { env "$@" "$C" -q -f -o s.zst sh -c 'echo "${GT_SESSION%/gt-session-*}"'; }
# leaves NAME FOLDER [VAR=VALUE...]: ok when the session's folder is not in FOLDER
leaves() {
	l=$1 lf=$2; shift 2
	is "$l" "" "$(env "$@" "$C" -q -f -o s.zst sh -c 'ls "$0" | grep gt-session' "$lf")"
}

# ---- folders that other users can change ----
e=$base/open_to_all; mkdir -p "$e/own"; chmod 777 "$e"
leaves folder-that-all-may-write "$e" TMPDIR="$e"
leaves folder-inside-it "$e/own" TMPDIR="$e/own"
is the-next-folder-is-used "$base/own" "$(session XDG_RUNTIME_DIR="$e")"
chmod 1777 "$e"
is sticky-folder-is-used "$e" "$(session TMPDIR="$e")"
ln -s own "$base/link"
is link-is-followed-once "$base/own" "$(session TMPDIR="$base/link")"

# ---- the library is loaded from its original path ----
is library-in-its-place "$library" "$("$C" -q -f -o s.zst sh -c 'echo "${LD_PRELOAD%%:*}"')"
mkdir 'with space'; cp "$C" "$library" 'with space'
want library-in-odd-place 0 "with space/gtcollect" -q -f -o odd.zst "$S/spin_calls" -n 1000
is library-in-odd-place-records 1000 "$(calls cuCtxGetCurrent odd.zst)"

# A daemon that overwrites the memory of its environment and starts programs after gtcollect has exited.
cat >daemon.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
	char *copy[1000];
	int n = 0;

	(void)argc;
	if (fork())
		return 0;
	for (; environ[n] && n < 999; n++) {
		copy[n] = strdup(environ[n]);
		memset(environ[n], 0, strlen(environ[n]));
	}
	copy[n] = NULL;
	environ = copy;
	while (access("go", F_OK))
		usleep(10000);
	execv(argv[1], argv + 1);
	return 127;
}
END
check daemon-is-built ${CC:-cc} -o daemon daemon.c
for from in "$B" "with space"; do
	rm -f go late
	"$from/gtcollect" -q -f -o d.zst ./daemon /bin/sh -c 'ls / >/dev/null; echo done' 2>late >done
	echo >go
	until_it_is done cat done
	is "daemon-starts-cleanly-from-${from##*/}" "" "$(cat late)"
done

# ---- the environment of the program is complete, or the program is not run ----
echo 'int setenv(const char *n, const char *v, int o) { (void)n, (void)v, (void)o; return -1; }' >no.c
check no-setenv-is-built ${CC:-cc} -shared -fPIC -o no.so no.c
ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD=$PWD/no.so "$C" -q -f -o env.zst "$S/spin_calls" -n 1000 >/dev/null
is environment-does-not-depend-on-setenv 1000 "$(calls cuCtxGetCurrent env.zst)"
cat >no.c <<'END'
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int print(char **to, const char *f, va_list ap)	/* fails for a variable of the environment */
{
	int n = strncmp(f, "%s=", 3) ? vsnprintf(*to = malloc(65536), 65536, f, ap) : -1;
	return n < 0 ? *to = NULL, -1 : n;
}
int vasprintf(char **to, const char *f, va_list ap) { return print(to, f, ap); }
int __vasprintf_chk(char **to, int flag, const char *f, va_list ap) { (void)flag; return print(to, f, ap); }
END
check no-memory-is-built ${CC:-cc} -w -fno-builtin -shared -fPIC -o no.so no.c
if [ -z "$SAN" ]; then	# the sanitizer's runtime must be loaded before other libraries
	want environment-without-memory 125 env LD_PRELOAD="$PWD/no.so" "$C" -f -o env.zst sh -c 'echo >was-run'
	says environment-without-memory-message 'out of memory (environment of the program)$'
	check environment-without-memory-runs-nothing test ! -e was-run
fi

if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip another-user "needs root and setpriv"
	exit
fi

# ---- folders of another user: root with that user's environment ----
mkdir theirs
mkdir theirs/own theirs/cuda theirs/cuda/lib64; chown -R 65534 theirs; chown 0 theirs/own
leaves folder-of-another-user theirs TMPDIR="$PWD/theirs/" XDG_RUNTIME_DIR="$PWD/theirs"
leaves own-folder-inside-it theirs/own TMPDIR="$PWD/theirs/own"
ln -s "$base/own" theirs/link
is his-link-is-followed-once "$base/own" "$(session TMPDIR="$PWD/theirs/link")"
cp "$library" theirs; chown 65534 theirs/libgtpreload.so
want his-library 125 env GT_GUEST="$PWD/theirs/libgtpreload.so" "$C" -f -o g.zst true
says his-library-message 'GT_GUEST=.*: .*theirs belongs to user 65534'
cat >cupti.c <<'END'
#include <fcntl.h>
__attribute__((constructor)) static void loaded(void) { open("loaded", O_CREAT | O_WRONLY, 0600); }
END
for n in 11 12 13; do ${CC:-cc} -shared -fPIC -o theirs/cuda/lib64/libcupti.so.$n cupti.c; done
mkdir driver; cp "$B/sim/libcuda.so.1" driver
export SIMGPU_DRIVER=11080	# so that only libcupti.so.11 is searched, which the loader does not know
want his-toolkit 0 env LD_LIBRARY_PATH="$PWD/driver" CUDA_HOME="$PWD/theirs/cuda" "$C" -f -o t.zst "$S/train" -n 2
check his-toolkit-is-not-loaded test ! -e loaded
env LD_LIBRARY_PATH="$PWD/driver" CUDA_PATH="$PWD/theirs/cuda" "$C" --doctor >/dev/null
check doctor-does-not-load-it test ! -e loaded
chown -R 0 theirs
want own-toolkit 0 env LD_LIBRARY_PATH="$PWD/driver" CUDA_HOME="$PWD/theirs/cuda" "$C" -f -o t.zst "$S/train" -n 2
check own-toolkit-is-loaded test -e loaded
unset SIMGPU_DRIVER

# ---- a program that changes its user ----
open=$(TMPDIR=/tmp mktemp -d)	# a folder that the other user can reach; the build may be in /root
trap 'rm -rf "$base" "$open"' EXIT
chmod 755 "$open"; cp "$C" "$library" "$B/sim/libcuda.so.1" "$S/spin_calls" "$open"
closed=$open/closed; mkdir -m 700 "$closed"; cp "$C" "$library" "$closed"
drop="setpriv --reuid 65534 --regid 65534 --clear-groups"
for from in "$open" "$closed"; do
	n=${from##*/}; [ "$n" = closed ] || n=open
	want drop-$n 0 $T "$from/gtcollect" -f -o drop.zst env LD_LIBRARY_PATH="$open" $drop sh -c '/bin/true; "$0" -n 1000' "$open/spin_calls"
	is drop-$n-is-clean 0 "$(grep -c 'cannot be preloaded' want.err)"
	is drop-$n-is-unharmed 1 "$(grep -c '1000 calls' want.out)"
	says drop-$n-message 'no CUDA call was seen: .* user 65534'
done
want drop-partly 0 $T "$open/gtcollect" -f -o drop.zst env LD_LIBRARY_PATH="$open" sh -c '"$0" -n 500; exec '"$drop"' "$0" -n 1000' "$open/spin_calls"
says drop-partly-message '1 process (spin_calls) ran as user 65534 and was not recorded'
says drop-partly-is-in-the-last-line '1 process MISSING'
is drop-partly-has-the-rest 500 "$(calls cuCtxGetCurrent drop.zst)"
check drop-partly-is-in-the-trace sh -c '"$0/gtanalyze" header drop.zst | grep -q "1 process was not recorded: it ran as another user"' "$B"
chmod 777 "$open"
$drop env TMPDIR=/tmp LD_LIBRARY_PATH="$open" "$open/gtcollect" -q -o /dev/null sh -c 'cd "$0"; env >env; while [ ! -e go ]; do sleep 0.05; done' "$open" 2>/dev/null &
until_it_is yes there "$open/env"
want his-session 0 $T env $(sed -n '/^GT_SESSION=/p;/^LD_PRELOAD=/p' "$open/env") LD_LIBRARY_PATH="$open" GT_DEBUG=1 "$open/spin_calls" -n 1000
says his-session-is-refused 'session of another user'
echo >"$open/go"; wait $!
