# make check (set-up, build, every test), make bench, make fuzz, make lint.
# The folders of tests/unit are those of the sources; the programs of all of them are in BUILD/unit.
UNIT_SRC := $(sort $(shell find tests/unit -name 'test_*.c') tests/unit/collect/correlate/gpu_rows_prog.c tests/unit/collect/stacks_prog.c)
UNIT_SRC := $(filter-out $(if $(HAVE_BPF),,tests/unit/collect/bpf/test_%),$(UNIT_SRC))
UNIT_SRC := $(filter-out $(if $(HAVE_CURSES),,tests/unit/viewer/term/test_term%),$(UNIT_SRC))
# The tests themselves do little work: optimizing them takes longer than it saves. gold links them in half of ld's time.
TEST_CFLAGS ?= -O0 -g1
TEST_LINK := $(SANLINK) $(if $(shell $(CC) -fuse-ld=gold -Wl,--version 2>/dev/null),-fuse-ld=gold)
UNITS    := $(patsubst %.c,$(BUILD)/unit/%,$(notdir $(UNIT_SRC)))
BENCHES  := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(filter-out $(if $(HAVE_BPF),,%/bench_probed_call.c),$(wildcard tests/bench/bench_*.c)))
TARGETS  := $(filter-out $(if $(HAVE_BPF),,fuzz_usdt),$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c)))
REPLAYS  := $(addprefix $(BUILD)/replay/,$(TARGETS))
FUZZERS  := $(addprefix $(BUILD)/fuzz/,$(TARGETS))
CLANG    ?= clang
FUZZ_SECONDS ?= 60

HOST_PROGRAMS := $(addprefix $(BUILD)/host/,samples unwind unwind_stripped libunwind3.so libunwind4.so) $(BUILD)/bpf/without_bpf
units: $(UNITS) $(HOST_PROGRAMS)
# What tests/cli/collect/samples.sh samples.
$(BUILD)/host/samples: tests/unit/collect/host/samples_prog.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -fno-omit-frame-pointer $< -pthread -ldl -o $@
# What tests/cli/collect/unwind.sh samples: a program and two libraries from one file.
UNWIND_FLAGS := -O2 -g1 -fomit-frame-pointer -fno-optimize-sibling-calls
$(BUILD)/host/libunwind%.so: tests/unit/collect/host/unwind_prog.c
	@mkdir -p $(@D)
	$(CC) $(UNWIND_FLAGS) -DPART=$* -fPIC -shared -Wl,-soname,$(@F) $< -o $@
$(BUILD)/host/unwind: tests/unit/collect/host/unwind_prog.c $(BUILD)/host/libunwind1.so $(BUILD)/host/libunwind2.so
	$(CC) $(UNWIND_FLAGS) -DPART=0 -rdynamic -Wl,--no-as-needed $^ -Wl,-rpath,'$$ORIGIN' -pthread -ldl -o $@
$(BUILD)/host/unwind_stripped: $(BUILD)/host/unwind
	$(shell $(CC) -print-prog-name=strip) $< -o $@
# The kernel refuses bpf and perf events to what this runs.
$(BUILD)/bpf/without_bpf: tests/unit/collect/bpf/without_bpf_prog.c
	@mkdir -p $(@D)
	$(CC) -O1 -g $< -o $@
benches: $(BENCHES)
replays: $(REPLAYS)

check: setup
	@$(MAKE) --no-print-directory -j$$(nproc) all units replays
	@tests/run $(BUILD)

# A test of a folder above formats/ gets that folder's archive too: its includes say which. EXTRA_test_x adds objects by name.
includes  = $(shell grep -l '^\#include "$(2)' $(1))
archives  = $(if $(filter viewer,$(1)),$(BUILD)/libgtview.a $(BUILD)/libgtanalyze.a,$(BUILD)/libgt$(1).a)
archives_of = $(foreach r,viewer analyze collect,$(if $(call includes,$(1),$(r)/),$(call archives,$(r))))
define test_rule
$(1): $(2) $(EXTRA_$(notdir $(1))) $(call archives_of,$(2)) $(LIBGT)
	@mkdir -p $$(@D)
	$$(CC) $$(GTFLAGS) $(3) $$(filter %.c %.o,$$^) $$(filter %.a,$$^) $$(BPF_LIBS) $$(LIBS) $(if $(call includes,$(2),viewer/term/term.h),$(CURSES)) -ldl -o $$@
endef
$(foreach c,$(UNIT_SRC),$(eval $(call test_rule,$(BUILD)/unit/$(basename $(notdir $(c))),$(c),$$(TEST_CFLAGS) $(SANFLAGS) $(TEST_LINK))))
# These compute by themselves what they compare with.
$(addprefix $(BUILD)/unit/test_,analyze_advice_more analyze_idle lane_cells random_keys key_decoder): TEST_CFLAGS := -O1 -g1
$(foreach b,$(BENCHES),$(eval $(call test_rule,$(b),$(b:$(BUILD)/%=tests/%.c),$(CFLAGS))))

# Kernels that this machine does not run, in virtual machines: tests/vm/run says what that needs. VM_KERNELS="NAME...": these.
check-vm: portable units
	@tests/vm/run $(BUILD) $(VM_KERNELS)

# What gt writes, in the programs that read it: a browser. tests/consumers/run says what that needs. CONSUMERS="NAME...": these.
check-consumers: programs
	@tests/consumers/run $(BUILD) $(CONSUMERS)

# A gtcollect with one source more, for tests/cli/collect/source.sh.
HEARTBEAT := $(BUILD)/heartbeat/gtcollect
HEARTBEAT_SRC := collect/gtcollect.c collect/source/sources.c tests/unit/collect/source_heartbeat.c
$(HEARTBEAT): $(HEARTBEAT_SRC) $(BUILD)/libgtcollect.a $(LIBGT)
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) '-DGT_SOURCES_MORE(X)=X(heartbeat)' $(TEST_CFLAGS) $(SANFLAGS) $(SANLINK) $(WRAPS) $(filter %.c,$^) $(filter %.a,$^) $(BPF_LIBS) $(LIBS) -ldl -o $@
units: $(HEARTBEAT)

# A fuzz target is one function (LLVMFuzzerTestOneInput). make check replays its corpus with any compiler; make fuzz looks
# for new inputs with clang's libFuzzer and leaves what it finds in BUILD/fuzz/.
$(BUILD)/replay/%: tests/fuzz/%.c tests/fuzz/replay.c $(BUILD)/libgtanalyze.a $(LIBGT)
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(CFLAGS) $(SANFLAGS) $(TEST_LINK) $(filter %.c,$^) $(filter %.a,$^) $(LIBGT) \
		$(BPF_LIBS) $(LIBS) -ldl -o $@
# The fuzzers' own objects, which all of them link.
FUZZFLAGS := $(GTFLAGS) -O1 -g -fno-sanitize-recover=all
FUZZ_OBJ := $(patsubst %.c,$(BUILD)/fuzz/%.o,$(FORMATS) $(ANALYZE) $(COLLECT))
$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(FUZZFLAGS) -fsanitize=fuzzer-no-link,address,undefined -c $< -o $@
$(BUILD)/fuzz/libgt.a: $(FUZZ_OBJ)
	@rm -f $@
	@ar rcs $@ $^
$(FUZZERS): $(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/fuzz/libgt.a
	$(CLANG) $(FUZZFLAGS) -fsanitize=fuzzer,address,undefined $(filter %.c %.a,$^) \
		$(BPF_LIBS) $(LIBS) -ldl -o $@
$(BUILD)/replay/fuzz_ring $(BUILD)/replay/fuzz_usdt: $(BUILD)/libgtcollect.a
$(BUILD)/replay/fuzz_eh_frame $(BUILD)/fuzz/fuzz_eh_frame: collect/guest/stack/eh_frame.c
have_fuzzer:
	@echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return 0; }' | \
		$(CLANG) -x c -fsanitize=fuzzer - -o /dev/null 2>/dev/null || { echo "make fuzz needs clang with libFuzzer:" \
		"apt-get install clang libclang-rt-14-dev (Debian 12) or libclang-rt-18-dev (Ubuntu 24.04)"; exit 1; }
fuzz: setup have_fuzzer
	@$(MAKE) --no-print-directory -j$$(nproc) $(FUZZERS)
	@tests/fuzz/run $(BUILD)/fuzz $(FUZZ_SECONDS) $(TARGETS)

bench: setup
	@$(MAKE) --no-print-directory -s -j$$(nproc) all benches
	@tests/bench/run $(BUILD)

lint:
	@tests/lint.sh

.PHONY: check check-vm check-consumers units benches replays have_fuzzer fuzz bench lint

# With the toolkit's headers at hand our numbers are compared with them.
$(BUILD)/unit/test_guest_cupti: GTFLAGS += $(addprefix -isystem ,$(wildcard $(CUDA_HOME)/include))
