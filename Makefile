# gt: make, make demo, make check, make bench, make fuzz, make portable, make install PREFIX=/usr/local
# SAN=address,undefined builds everything sanitized in a folder of its own. BUILD=DIR puts a build elsewhere.
CC       ?= gcc
PREFIX   ?= /usr/local
ifdef SAN
BUILD    ?= build/san
SANFLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
else
BUILD    ?= build
endif
CFLAGS   ?= -O2 -g
GTFLAGS  := -std=gnu11 -I. -I$(BUILD)/gen -Wall -Wextra -Wshadow -Wstrict-prototypes -Wno-unused-parameter -fno-strict-aliasing -pthread -MMD -MP \
            $(if $(WERROR),-Werror)
LIBS     := -lzstd -lz -ljansson -lstdc++ -lm -pthread

FORMATS  := $(filter-out formats/gtexport.c,$(wildcard formats/*.c)) $(wildcard formats/base/*.c)
LIBGT    := $(BUILD)/libgt.a
obj       = $(patsubst %.c,$(BUILD)/%.o,$(1))

PROGRAMS := $(if $(wildcard collect/gtcollect.c),$(BUILD)/gtcollect) $(if $(wildcard formats/gtexport.c),$(BUILD)/gtexport) \
            $(if $(wildcard analyze/gtanalyze.c),$(BUILD)/gtanalyze)
GUEST    := $(if $(wildcard collect/guest/*.c),$(BUILD)/libgtpreload.so)
SIM      := $(if $(wildcard samples/simgpu/*.c),$(BUILD)/sim/libcuda.so.1)
SAMPLES  := $(patsubst samples/%.c,$(BUILD)/samples/%,$(wildcard samples/*.c))
UNITS    := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))
BENCHES  := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))

all: $(PROGRAMS) $(GUEST) $(SIM) $(SAMPLES)
units: $(UNITS)
benches: $(BENCHES)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(CFLAGS) $(SANFLAGS) -c $< -o $@

$(LIBGT): $(call obj,$(FORMATS))
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/gtexport: $(call obj,formats/gtexport.c) $(LIBGT)
	$(CC) $(SANFLAGS) $^ $(LIBS) -o $@
$(BUILD)/gtanalyze: $(call obj,$(wildcard analyze/*.c)) $(LIBGT)
	$(CC) $(SANFLAGS) $^ $(LIBS) -o $@
$(BUILD)/gtcollect: $(call obj,$(wildcard collect/*.c)) $(LIBGT)
	$(CC) $(SANFLAGS) $^ $(LIBS) -ldl -o $@

$(BUILD)/unit/%: tests/unit/%.c $(LIBGT)
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(CFLAGS) $(SANFLAGS) $< $(EXTRA_$*) $(LIBGT) $(LIBS) -o $@
$(BUILD)/bench/%: tests/bench/%.c $(LIBGT)
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(CFLAGS) $< $(LIBGT) $(LIBS) -ldl -o $@

-include collect/guest/guest.mk samples/samples.mk tests/tests.mk

clean:
	rm -rf build
.PHONY: all units benches clean
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
