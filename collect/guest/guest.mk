# libgtpreload.so: what runs inside the traced program. Never sanitized: it is preloaded into plain programs. It links nothing
# but libc and must need no symbol of it newer than GLIBC_2.17 (tests/cli/guest_symbols.sh).
GUEST_SRC   := $(filter-out collect/guest/gen_wrappers.c,$(wildcard collect/guest/*.c)) formats/cuda_api.c
GUEST_GEN   := $(BUILD)/gen/wrappers.c
GUEST_OBJ   := $(patsubst %.c,$(BUILD)/guest/%.o,$(GUEST_SRC)) $(BUILD)/guest/wrappers.o
GUEST_FLAGS := -O2 -g -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector -fno-builtin-malloc -U_FORTIFY_SOURCE

$(BUILD)/gen/gen_wrappers: collect/guest/gen_wrappers.c formats/cuda_api.c formats/cuda_api.def formats/cuda_api.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -I. -Wall -Wextra -O1 $(filter %.c,$^) -o $@
$(GUEST_GEN): $(BUILD)/gen/gen_wrappers
	$< > $@
$(BUILD)/guest/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(GUEST_FLAGS) -c $< -o $@
$(BUILD)/guest/wrappers.o: $(GUEST_GEN)
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(GUEST_FLAGS) -c $< -o $@
$(BUILD)/libgtpreload.so: $(GUEST_OBJ)
	$(CC) -shared -Wl,-soname,libgtpreload.so -Wl,-Bsymbolic -Wl,-z,relro,-z,defs $^ -o $@

# The same code as part of a (sanitized) test program, which stands in for the traced one.
HOSTED_OBJ  := $(patsubst %.c,$(BUILD)/hosted/%.o,$(filter-out formats/%,$(GUEST_SRC))) $(BUILD)/hosted/wrappers.o
$(BUILD)/hosted/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(CFLAGS) $(SANFLAGS) -DGT_HOSTED -c $< -o $@
$(BUILD)/hosted/wrappers.o: $(GUEST_GEN)
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(CFLAGS) $(SANFLAGS) -DGT_HOSTED -c $< -o $@
EXTRA_test_guest_hosted := $(HOSTED_OBJ)
