# What differs between processors assembles for each of them, also on a machine that is only one.
. "$SRC/tests/lib.sh"

cat >arch.c <<'END'
#include "formats/arch.h"
uint64_t ticks(void);
uint64_t ticks(void)
{
	gt_cpu_pause();
	return gt_ticks();
}
void *hook(void *a, const char *b);
void *hook(void *a, const char *b) { return b ? a : 0; }
void *real = 0;
GT_TAIL_JUMP(jump, hook, real);
END
for target in x86_64 aarch64; do
	if ! command -v clang >/dev/null; then skip "assembles-$target" "no clang here to compile for another processor"; continue; fi
	check "assembles-$target" clang --target=$target-linux-gnu -ffreestanding -std=gnu11 -Wall -Wextra -Werror -O2 -fPIC -I"$SRC" -c arch.c
done
