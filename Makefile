# gt: make, make demo, make check, make check-vm, make check-consumers, make bench, make fuzz, make portable, make deb, rpm or wheel, make install PREFIX=/usr/local, make docs, make lint
# SAN=address,undefined builds everything sanitized in a folder of its own. BUILD=DIR puts a build elsewhere.
# The rules of the files that are included below stand before it.
.DEFAULT_GOAL := all
ifeq ($(origin CC),default)
CC       := gcc
endif
# for programs that the build itself runs, where $(CC) compiles for another machine: make CC=aarch64-linux-gnu-gcc HOSTCC=gcc
HOSTCC   ?= $(CC)
PREFIX   ?= /usr/local
ifneq ($(SAN),)
BUILD    ?= build/san
SANFLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer -fno-pie
# Tests start sanitized programs thousands of times. A start takes half the time if the program is not relocated, and
# contains the sanitizers (clang's always do).
SANLINK  := -fsanitize=$(SAN) -no-pie $(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan)
# Optimized more, checks take three times as long to compile, and that was most of a sanitized run.
CFLAGS   ?= -O1 -g1
else
BUILD    ?= build
endif
export CC SAN
CFLAGS   ?= -O3 -g
GTFLAGS  := -std=gnu11 -I. -I$(BUILD)/gen -Wall -Wextra -Wshadow -Wstrict-prototypes -Wno-unused-parameter -fno-strict-aliasing -pthread -MMD -MP \
            $(if $(WERROR),-Werror)
# For the programs and the guest. Tests and the simulated GPU define functions that no header declares, and pass literals as argv.
# -Wcast-qual is not used: 17 casts remain, for free() of what is const to all others and for libraries without const.
STRICT   := -Wmissing-prototypes -Wwrite-strings -Wvla
LIBS     := -Wl,--as-needed -lsqlite3 -Wl,--no-as-needed -ldw -lelf -lzstd -lz -ljansson -lm -pthread
CURSES   := -lncursesw -ltinfo
# formats/base/alloc_failure.h says what for.
WRAPS    := $(foreach f,malloc calloc realloc strdup strndup asprintf vasprintf \
            __asprintf_chk __vasprintf_chk fopen fdopen opendir fdopendir,-Wl,--wrap=$(f))

# The sources of a top folder: all below it but its program's main. What runs in the traced program is collect/guest/guest.mk's.
sources   = $(sort $(filter-out $(2),$(shell find $(1) -name '*.c' -not -path 'collect/guest/*')))
FORMATS  := $(call sources,formats)
COLLECT   = $(call sources,collect,collect/gtcollect.c collect/bpf/programs/all_bpf.c $(if $(HAVE_BPF),collect/bpf/bpf_missing.c,$(BPF_SOURCES)))
ANALYZE  := $(call sources,analyze,analyze/gtanalyze.c analyze/gtexport.c)
LIBGT    := $(BUILD)/libgt.a
include collect/bpf/bpf.mk
include formats/names/system_call_names.mk
include formats/export/html/html.mk
obj       = $(patsubst %.c,$(BUILD)/%.o,$(1))

# Only gtview needs ncurses. Without it there is no gtview, and all else is there; what of viewer/ knows no terminal is tested all the same.
HAVE_CURSES := $(shell printf '\043include <curses.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo yes)
VIEWER   := $(call sources,viewer,viewer/gtview.c $(if $(HAVE_CURSES),,viewer/term/term.c))

PROGRAMS := $(if $(wildcard collect/gtcollect.c),$(BUILD)/gtcollect) $(if $(wildcard analyze/gtexport.c),$(BUILD)/gtexport) \
            $(if $(wildcard analyze/gtanalyze.c),$(BUILD)/gtanalyze) $(BUILD)/gtrace $(if $(HAVE_CURSES),$(patsubst viewer/%.c,$(BUILD)/%,$(wildcard viewer/gtview.c)))
GUEST    := $(if $(wildcard collect/guest/guest.mk),$(BUILD)/libgtpreload.so)
SIM      := $(if $(wildcard samples/simgpu/*.c),$(BUILD)/sim/libcuda.so.1 $(BUILD)/sim/libcupti.so.13)
SAMPLES  := $(patsubst samples/%.c,$(BUILD)/samples/%,$(wildcard samples/*.c))

all: $(PROGRAMS) $(GUEST) $(SIM) $(SAMPLES) $(if $(HAVE_CURSES),,no_gtview) $(if $(HAVE_BPF),,no_bpf)
no_gtview:
	@echo "gt: gtview is not built: it needs ncurses (libncurses-dev)"

no_bpf:
	@echo "gt: gtcollect is built without eBPF (-p, -a): it needs clang and libbpf-dev"

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(if $(filter samples/%,$<),,$(STRICT)) $(CFLAGS) $(SANFLAGS) -c $< -o $@

# The archive of a top folder holds all of it but its main, so that unit tests link what they name.
$(LIBGT): $(call obj,$(FORMATS))
$(BUILD)/libgtanalyze.a: $(call obj,$(ANALYZE))
$(BUILD)/libgtcollect.a: $(call obj,$(COLLECT))
$(BUILD)/libgtview.a: $(call obj,$(VIEWER))
$(BUILD)/lib%.a:
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/gtexport: $(call obj,analyze/gtexport.c) $(BUILD)/libgtanalyze.a $(LIBGT)
	$(CC) $(SANLINK) $(WRAPS) $^ $(LIBS) -o $@
$(BUILD)/gtanalyze: $(call obj,analyze/gtanalyze.c $(ANALYZE)) $(LIBGT)
	$(CC) $(SANLINK) $(WRAPS) $^ $(LIBS) -o $@
$(BUILD)/gtview: $(call obj,viewer/gtview.c) $(BUILD)/libgtview.a $(BUILD)/libgtanalyze.a $(LIBGT)
	$(CC) $(SANLINK) $(WRAPS) $^ $(LIBS) $(CURSES) -o $@
$(BUILD)/gtcollect: $(call obj,collect/gtcollect.c $(COLLECT)) $(LIBGT)
	$(CC) $(SANLINK) $(WRAPS) $^ $(BPF_LIBS) $(LIBS) -ldl -o $@
# It reads no trace, so it links no library of the others.
$(BUILD)/gtrace: $(call obj,command/gtrace.c) $(LIBGT)
	$(CC) $(SANLINK) $(WRAPS) $^ -o $@

setup:
	@.ci/setup

# What a manual page says between its two marker lines is what --help prints.
docs: $(PROGRAMS)
	@for p in $(notdir $(PROGRAMS)); do [ ! -f docs/$$p.1.md ] || docs/put-help $(BUILD)/$$p docs/$$p.1.md; done

MAN1      = $(patsubst docs/%.1.md,$(BUILD)/man/%.1,$(wildcard docs/*.1.md))
$(BUILD)/man/%.1: docs/%.1.md docs/md2man.awk
	@mkdir -p $(@D)
	awk -f docs/md2man.awk $< >$@
man: $(MAN1)

INSTALL   = install -D -m
install: $(PROGRAMS) $(GUEST) $(MAN1)
	for p in $(PROGRAMS); do $(INSTALL) 755 $$p "$(DESTDIR)$(PREFIX)/bin/$${p##*/}" || exit 1; done
	for l in $(GUEST); do $(INSTALL) 755 $$l "$(DESTDIR)$(PREFIX)/lib/gt/$${l##*/}" || exit 1; done
	for m in $(MAN1); do $(INSTALL) 644 $$m "$(DESTDIR)$(PREFIX)/share/man/man1/$${m##*/}" || exit 1; done
	for d in README.md NEWS.md LICENSE docs/*.md formats/TRACE_FORMAT.md; do \
		[ ! -f $$d ] || $(INSTALL) 644 $$d "$(DESTDIR)$(PREFIX)/share/doc/gt/$${d##*/}" || exit 1; done

demo: setup
	@echo "== building"
	@$(MAKE) --no-print-directory -s -j$$(nproc) for_demo
	@B=$(BUILD) samples/demo.sh
# What there is to build is looked at anew, behind the set-up.
for_demo: programs $(SIM) $(BUILD)/samples/train
# What is installed, without samples and the simulated GPU.
programs: $(PROGRAMS) $(GUEST)

clean:
	rm -rf build
.PHONY: all programs no_gtview no_bpf setup docs man install demo for_demo clean
.DELETE_ON_ERROR:

-include collect/guest/guest.mk samples/samples.mk tests/tests.mk portable/portable.mk packaging/packaging.mk
-include $(shell find $(BUILD) -path $(BUILD)/vm -prune -o -name '*.d' -print 2>/dev/null)
