# make portable: BUILD/gt-portable-ARCH.tar.gz, a tarball for any node of a cluster. Its programs
# contain zstd, zlib, jansson and SQLite (gtview also ncurses) and run on glibc 2.31 and newer. The
# preloaded library needs nothing newer than 2.17.
ARCH     := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
PORT     := $(BUILD)/portable
PORTNAME := gt-portable-$(ARCH)
PORTLIBS  = -Wl,-Bstatic $(if $(filter %/gtview,$@),$(CURSES)) $(if $(filter %/gtcollect,$@),$(BPF_LIBS)) -ldw -lelf -lzstd -lz -ljansson -lsqlite3 -Wl,-Bdynamic
PORTABLE := $(patsubst $(BUILD)/%,$(PORT)/bin/%,$(PROGRAMS)) $(if $(GUEST),$(PORT)/lib/gt/libgtpreload.so)

$(PORT)/stubs-%/done: portable/stubs.sh
	CC="$(CC)" portable/stubs.sh $(@D) $*
	@touch $@
$(PORT)/shim.o: portable/shim.c
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(CFLAGS) -fno-builtin -c $< -o $@

# Start files and libgcc come from the compiler; all symbols of the C library come from the stubs.
stubs     = $(addprefix $(PORT)/stubs-$(1)/,libpthread.so libdl.so librt.so libm.so libc.so)
port_link = $(CC) -pie -nodefaultlibs -Wl,--wrap=__libc_start_main $(WRAPS) -Wl,-z,relro,-z,now,--strip-debug $(filter %.o,$^) \
            -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(PORTLIBS) \
            -Wl,--as-needed $(PORT)/stubs-2.31/loader.so -Wl,--no-as-needed $(call stubs,2.31) -lgcc -o $@

$(PORT)/bin/gtcollect: $(call obj,collect/gtcollect.c $(COLLECT))
$(PORT)/bin/gtexport: $(call obj,analyze/gtexport.c) $(BUILD)/libgtanalyze.a
$(PORT)/bin/gtanalyze: $(call obj,analyze/gtanalyze.c $(ANALYZE))
$(PORT)/bin/gtrace: $(call obj,command/gtrace.c)
$(PORT)/bin/gtview: $(call obj,viewer/gtview.c) $(BUILD)/libgtview.a $(BUILD)/libgtanalyze.a
$(PORT)/bin/%: $(PORT)/shim.o $(LIBGT) $(PORT)/stubs-2.31/done
	@mkdir -p $(@D)
	$(port_link)

# The guest is built to need nothing newer than 2.17.
$(PORT)/lib/gt/libgtpreload.so: $(BUILD)/libgtpreload.so
	@mkdir -p $(@D)
	$(shell $(CC) -print-prog-name=objcopy) --strip-debug $< $@

# The notices of the libraries that the programs contain, from the packages that they were linked from.
NOTICES  := $(wildcard $(foreach p,libzstd-dev zlib1g-dev libjansson-dev libsqlite3-dev libncurses-dev libelf-dev libdw-dev $(if $(HAVE_BPF),libbpf-dev),/usr/share/doc/$(p)/copyright))

# All files of the tarball. The packages of packaging/ hold the same ones.
$(PORT)/complete: $(PORTABLE) $(MAN1) $(NOTICES) $(wildcard README.md NEWS.md LICENSE docs/*.md formats/TRACE_FORMAT.md)
	@rm -rf $(PORT)/share && mkdir -p $(PORT)/share/doc/gt $(PORT)/share/man/man1
	cp $(filter %.md LICENSE,$^) $(PORT)/share/doc/gt/
	cp $(MAN1) $(PORT)/share/man/man1/
	for n in $(NOTICES); do echo "==== $$n"; cat $$n; done >$(PORT)/share/doc/gt/LIBRARIES
	@touch $@
$(BUILD)/$(PORTNAME).tar.gz: $(PORT)/complete
	tar -C $(PORT) --owner=0 --group=0 --sort=name --transform='s,^,$(PORTNAME)/,' -czf $@ \
		bin $(if $(GUEST),lib) share
portable: setup | all
	@$(MAKE) --no-print-directory -j$$(nproc) $(BUILD)/$(PORTNAME).tar.gz
	@ls -l $(BUILD)/$(PORTNAME).tar.gz
# what tests/vm/run has in a machine of another architecture, but for unit tests
for_vm: $(BUILD)/$(PORTNAME).tar.gz $(BPF_TESTS) $(SIM) $(SAMPLES) $(HOST_PROGRAMS) $(FAKE)/libpythonstacks.so $(FAKE)/python-embedded
.PHONY: portable for_vm
.SECONDARY: $(PORT)/stubs-2.31/done
