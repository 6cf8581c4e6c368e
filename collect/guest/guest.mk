# libgtpreload.so: what runs inside the traced program. Never sanitized: it is preloaded into plain programs. It links nothing
# but libc and must need no symbol of it newer than GLIBC_2.17 (tests/cli/collect/guest_symbols.sh).
GUEST_SRC   := $(sort $(wildcard collect/guest/*/*.c)) formats/cuda/cuda_api.c formats/cuda/cuda_cbid.c formats/python/python_layout.c formats/python/python_text.c
GUEST_GEN   := $(BUILD)/gen/wrappers.c
GUEST_OBJ   := $(patsubst %.c,$(BUILD)/guest/%.o,$(GUEST_SRC)) $(BUILD)/guest/wrappers.o
GUEST_FLAGS := -O2 -g -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector -fno-omit-frame-pointer -fno-builtin-malloc -U_FORTIFY_SOURCE

$(BUILD)/gen/gen_wrappers: collect/guest/gen_wrappers.c formats/cuda/cuda_api.c formats/cuda/cuda_api.def formats/cuda/cuda_api.h
	@mkdir -p $(@D)
	$(HOSTCC) -std=gnu11 -I. -Wall -Wextra -O1 $(filter %.c,$^) -o $@
$(GUEST_GEN): $(BUILD)/gen/gen_wrappers
	$< > $@
$(BUILD)/guest/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(STRICT) $(GUEST_FLAGS) -c $< -o $@
# 700 wrappers: small is fast here, and the stubs of plain ones fit a cache line each
$(BUILD)/guest/wrappers.o: $(GUEST_GEN)
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(GUEST_FLAGS) -Os -falign-functions=32 -c $< -o $@
$(BUILD)/libgtpreload.so: $(GUEST_OBJ)
	$(CC) -shared -Wl,-soname,libgtpreload.so -Wl,-Bsymbolic -Wl,-z,relro,-z,now,-z,defs $^ -o $@

# The same code as part of a (sanitized) test program, which stands in for the traced one. The wrappers are large: optimized,
# they take three times as long to compile.
HOSTED_OBJ  := $(patsubst %.c,$(BUILD)/hosted/%.o,$(filter-out formats/%,$(GUEST_SRC))) $(BUILD)/hosted/wrappers.o
$(BUILD)/hosted/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(CFLAGS) $(SANFLAGS) -DGT_HOSTED -c $< -o $@
$(BUILD)/hosted/wrappers.o: $(GUEST_GEN)
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(TEST_CFLAGS) $(SANFLAGS) -DGT_HOSTED -c $< -o $@
EXTRA_test_guest_hosted := $(HOSTED_OBJ)
EXTRA_test_guest_events := $(HOSTED_OBJ)
EXTRA_bench_unwind := $(HOSTED_OBJ)
EXTRA_test_unwind := $(HOSTED_OBJ)
EXTRA_test_recent_stacks := $(HOSTED_OBJ)

# What the guest's tests run: a tiny driver, programs that reach it by every way, libraries that ask dlsym who they are.
FAKE := $(BUILD)/guest/fake
$(FAKE)/libcuda.so.1: tests/unit/collect/guest/fake_cuda.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -w -shared -fPIC -Wl,-Bsymbolic -Wl,-soname,libcuda.so.1 $< -o $@
$(FAKE)/deep/libguestfifth.so: tests/unit/collect/guest/guest_third.c
	@mkdir -p $(@D)
	$(CC) -shared -fPIC -DWHICH=5 $< -o $@
# A thread without Python, for tests/cli/collect/autograd.sh.
$(FAKE)/libautograd.so: tests/unit/collect/guest/autograd_engine.c
	@mkdir -p $(@D)
	$(CC) -shared -fPIC -O1 -g $< -pthread -o $@
$(FAKE)/libguestfourth.so: tests/unit/collect/guest/guest_third.c
	@mkdir -p $(@D)
	$(CC) -shared -fPIC -DWHICH=4 -Wl,-soname,libguestfourth.so $< -o $@
$(FAKE)/libguestthird.so: tests/unit/collect/guest/guest_third.c $(FAKE)/deep/libguestfifth.so
	@mkdir -p $(@D)
	$(CC) -shared -fPIC -DWHICH=3 -Wl,-soname,libguestthird.so '-Wl,-rpath,$$ORIGIN/deep' $< -ldl -o $@
$(FAKE)/linked: tests/unit/collect/guest/guest_prog.c $(FAKE)/libcuda.so.1
	$(CC) -O1 -g -DLINKED $< $(FAKE)/libcuda.so.1 '-Wl,-rpath,$$ORIGIN' -pthread -ldl -o $@
$(FAKE)/unlinked: tests/unit/collect/guest/guest_prog.c $(FAKE)/libguestthird.so $(FAKE)/libguestfourth.so
	$(CC) -O1 -g $< -Wl,--no-as-needed $(FAKE)/libguestthird.so $(FAKE)/libguestfourth.so '-Wl,-rpath,$$ORIGIN' -pthread -ldl -o $@
$(FAKE)/nvtx: tests/unit/collect/guest/nvtx_prog.c samples/cu.h
	@mkdir -p $(@D)
	$(CC) -I. -I$(BUILD)/gen -O1 -g $< -pthread -ldl -o $@
$(FAKE)/payload: tests/unit/collect/guest/payload_prog.c collect/guest/nvtx/guest_nvtx.h
	@mkdir -p $(@D)
	$(CC) -I. -O1 -g -DBY_HAND $< -ldl -o $@
$(FAKE)/nccl: tests/unit/collect/guest/nccl_prog.c collect/guest/nvtx/guest_nvtx.h samples/cu.h
	@mkdir -p $(@D)
	$(CC) -I. -I$(BUILD)/gen -O1 -g $< -ldl -o $@
$(FAKE)/profiler: tests/unit/collect/guest/profiler_prog.c samples/cu.h
	@mkdir -p $(@D)
	$(CC) -I. -I$(BUILD)/gen -O1 -g $< -pthread -ldl -o $@
$(FAKE)/probes: tests/unit/collect/guest/probes_prog.c samples/cu.h
	@mkdir -p $(@D)
	$(CC) -I. -I$(BUILD)/gen -O1 -g $< -pthread -ldl -o $@
$(FAKE)/graphs: tests/unit/collect/guest/graphs_prog.c samples/cu.h
	@mkdir -p $(@D)
	$(CC) -I. -I$(BUILD)/gen -O1 -g $< -pthread -ldl -o $@
$(FAKE)/memory: tests/unit/collect/guest/memory_prog.c samples/cu.h
	@mkdir -p $(@D)
	$(CC) -I. -I$(BUILD)/gen -O1 -g $< -pthread -ldl -o $@
$(FAKE)/damage: tests/unit/collect/damage_prog.c tests/unit/collect/damage.h collect/ipc/ring.h collect/ipc/ring_events.h samples/cu.h
	@mkdir -p $(@D)
	$(CC) -I. -I$(BUILD)/gen -O1 -g $< -pthread -ldl -o $@
$(FAKE)/events: tests/unit/collect/guest/events_prog.c samples/cu.h
	@mkdir -p $(@D)
	$(CC) -I. -I$(BUILD)/gen -O1 -g $< -pthread -ldl -o $@
# The guest's code in a library for Python programs, which compare its frames with their own. Not -Bsymbolic:
# the guest is not preloaded there, so the library takes pthread_create and sigaction from libc, not from the guest.
$(BUILD)/guest/python_lines.o: collect/recorder/python_lines.c
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(STRICT) $(GUEST_FLAGS) -c $< -o $@
$(FAKE)/libpythonstacks.so: tests/unit/collect/guest/python_stacks.c $(GUEST_OBJ) $(BUILD)/guest/python_lines.o
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(GUEST_FLAGS) -shared $(filter %.c %.o,$^) -pthread -o $@
$(FAKE)/python-embedded: tests/unit/collect/guest/python_embedded.c
	@mkdir -p $(@D)
	$(CC) -O1 -g $< -pthread -ldl -o $@
units: $(FAKE)/libpythonstacks.so $(FAKE)/python-embedded
benches: $(FAKE)/libpythonstacks.so
$(FAKE)/libpythonimage.so $(FAKE)/libpythonimage-old.so: tests/unit/collect/guest/python_image.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -w -shared -fPIC $(if $(filter %-old.so,$@),-DOLD) $< -o $@
EXTRA_test_python_frames := $(HOSTED_OBJ)
EXTRA_test_python_damage := $(HOSTED_OBJ)
EXTRA_test_remote_python := $(HOSTED_OBJ)
$(BUILD)/unit/test_python_frames $(BUILD)/unit/test_python_damage $(BUILD)/unit/test_remote_python: | $(FAKE)/libpythonimage.so $(FAKE)/libpythonimage-old.so
# A library of C++ where there is a compiler for it; two versions of a library that is closed.
$(FAKE)/libunwindcalls.so: tests/unit/collect/guest/unwind_calls.cc
	@mkdir -p $(@D)
	! command -v $(CXX) >/dev/null || $(CXX) -O2 -g -fPIC -fomit-frame-pointer -shared $< -o $@
$(FAKE)/libunwindcalls-fp.so: tests/unit/collect/guest/unwind_calls.cc
	@mkdir -p $(@D)
	! command -v $(CXX) >/dev/null || $(CXX) -O1 -g -fPIC -fno-omit-frame-pointer -shared $< -o $@
# What tests/cli/collect/stacks_gdb.sh compares.
$(FAKE)/launch_depths: tests/unit/collect/guest/launch_depths.c samples/cu.h
	@mkdir -p $(@D)
	$(CC) -I. -O2 -g -fomit-frame-pointer $< -pthread -ldl -o $@
units: $(FAKE)/launch_depths $(FAKE)/libunwindcalls-fp.so
$(FAKE)/libunwindplugin%.so: tests/unit/collect/guest/unwind_plugin.c
	@mkdir -p $(@D)
	$(CC) -shared -fPIC -DFRAME=$* $< -o $@
$(BUILD)/unit/test_unwind $(BUILD)/unit/test_recent_stacks: | $(FAKE)/libunwindcalls.so $(FAKE)/libunwindplugin272.so $(FAKE)/libunwindplugin4064.so
$(BUILD)/unit/test_guest: | $(FAKE)/damage $(FAKE)/libautograd.so $(FAKE)/events $(FAKE)/graphs $(FAKE)/memory $(FAKE)/probes $(FAKE)/profiler $(FAKE)/nccl $(FAKE)/nvtx $(FAKE)/payload $(FAKE)/linked $(FAKE)/unlinked $(BUILD)/libgtpreload.so
$(BUILD)/bench/bench_guest: | $(FAKE)/linked $(FAKE)/probes $(BUILD)/libgtpreload.so
$(BUILD)/unit/test_guest_hosted: | $(FAKE)/libcuda.so.1
$(BUILD)/unit/test_guest_events: | $(BUILD)/sim/libcuda.so.1
