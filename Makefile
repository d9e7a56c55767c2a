# dpe: build, test, install. `make help` lists the targets.
#
#	make SANITIZE=1 …	with address and undefined behaviour sanitizers, in a folder of its own
#	make TINY=1		with tiny limits and allocations that fail on demand, in a folder of its own
#	make CC=clang …		with another compiler
#	make V=1 …		shows the commands

VERSION := 0.1.0
PREFIX ?= /usr/local
CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
CLANG ?= clang
# Ubuntu's bpftool is a script that only runs the one for the running kernel, which is not needed.
BPFTOOL ?= $(or $(lastword $(sort $(wildcard /usr/lib/linux-tools/*/bpftool))),\
	$(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool))
SUDO_FREE := $(shell id -u)

ifdef SANITIZE
BUILD ?= build-sanitize
MODE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
DPE := $(BUILD)/dpe
else ifdef TINY
BUILD ?= build-tiny
MODE := -O0 -DDPE_TINY
DPE := $(BUILD)/dpe
else
BUILD ?= build
# Objects hold code for the linker to optimise across files, and code as it is, for users who link
# the library without that.
LTO := $(if $(findstring clang,$(CC)),,-flto=auto -ffat-lto-objects)
# Small structures are filled by plain stores: string instructions take longer to begin than those do.
STORES := unrolled_loop:512:noalign,libcall:-1:noalign
STORES := $(if $(findstring clang,$(CC)),,-mmemset-strategy=$(STORES) -mmemcpy-strategy=$(STORES))
MODE := -O2 $(LTO) $(STORES)
DPE := dpe
# Where members lie side by side, one store each takes fewer instructions than combining them in a vector register.
$(addprefix $(BUILD)/,event/%.o stabilizer/%.o recognizer/%.o): MODE := -O3 -fno-tree-slp-vectorize $(LTO) $(STORES)
endif

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

CFLAGS ?= -g
# Tests have records with their words behind them, which only clang warns of.
RECORDS := $(if $(findstring clang,$(CC)),-Wno-gnu-variable-sized-type-not-at-end)
# Warnings are errors in tests alone: a newer compiler or newer headers warn of what they did not before.
WERROR ?=
test test-long: export WERROR := -Werror -Wno-error=deprecated-declarations
WARNINGS = -Wall -Wextra $(WERROR)
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE $(WARNINGS) $(RECORDS) $(MODE) -I. -Iinclude -I$(BUILD) $(CFLAGS)
VERSION_FLAGS := -DDPE_VERSION='"$(VERSION)"' -DDPE_DATADIR='"$(PREFIX)/share/dpe"' \
	-DDPE_LIBDIR='"$(PREFIX)/lib/dpe"'
CORE_LIBS := -lbabeltrace2 -lexpat -lisal -lcjson -lpcre2-8
LIVE_LIBS := -lbpf -ldw -lelf -lZydis -liberty
CLI_LIBS := -lncursesw -ltinfo -lm

CORE_ROOMS := base event dpe-lang stabilizer recognizer
# What runs inside the target, and what runs in the kernel, are programs of their own.
sources = $(shell find $(1) -name '*.c' -not -path 'probes/inside/*' -not -path 'explore/sched/*' -not -name '*.bpf.c' | sort)
GENERATED := $(BUILD)/dpe-lang/syntax/grammar.c $(BUILD)/dpe-lang/syntax/grammar.h $(BUILD)/dpe-lang/syntax/lexer.c \
	$(BUILD)/dpe-lang/syntax/lexer.h $(BUILD)/probes/kernel/bpf/programs.skel.h
core_src := $(call sources,$(CORE_ROOMS))
core_obj := $(core_src:%.c=$(BUILD)/%.o) $(BUILD)/dpe-lang/syntax/grammar.o $(BUILD)/dpe-lang/syntax/lexer.o
live_obj := $(patsubst %.c,$(BUILD)/%.o,$(call sources,probes))
view_obj := $(patsubst %.c,$(BUILD)/%.o,$(call sources,view)) $(BUILD)/view/embed.o
explore_obj := $(patsubst %.c,$(BUILD)/%.o,$(call sources,explore))
cli_obj := $(patsubst %.c,$(BUILD)/%.o,$(call sources,cli))
test_src := $(shell find tests -name 'test_*.c' | sort)
test_bin := $(test_src:%.c=$(BUILD)/%)
targets := $(patsubst tests/probes/targets/%.c,$(BUILD)/targets/%,$(wildcard tests/probes/targets/*.c)) \
	$(patsubst tests/probes/targets/%.cc,$(BUILD)/targets/%,$(wildcard tests/probes/targets/*.cc))
EXPLORED := $(patsubst tests/explore/programs/%.c,%,$(wildcard tests/explore/programs/*.c))
explored := $(EXPLORED:%=$(BUILD)/explored/%) $(EXPLORED:%=$(BUILD)/explored/%-fixed)
EXAMPLE_SRC := $(filter-out examples/library/%,$(wildcard examples/*/*.c))
examples := $(foreach c,$(EXAMPLE_SRC),$(BUILD)/examples/$(basename $(notdir $(c))))
bench_bin := $(patsubst %.c,$(BUILD)/%,$(wildcard bench/*.c))
LIBDPE := $(BUILD)/libdpe.a
LIBPROBES := $(BUILD)/libdpe-probes.a
PRELOAD := $(BUILD)/libdpe-pthread.so
PRELOAD_MEMORY := $(BUILD)/libdpe-mem.so
PRELOAD_SCHED := $(BUILD)/libdpe-sched.so

.PHONY: all always help deps test-deps demo tiny test test-long bench check install clean tests examples
.DELETE_ON_ERROR:
.SECONDARY:

all: $(DPE) $(PRELOAD) $(PRELOAD_MEMORY) $(PRELOAD_SCHED)

help:
	@echo 'make            the command, ./dpe'
	@echo 'make deps       installs what building needs (Debian, as root)'
	@echo 'make test-deps  installs what testing needs as well'
	@echo 'make demo       a race in a producer-consumer program, found live (as root)'
	@echo 'make test       all tests; live ones need root and BPF'
	@echo 'make test-long  the same, and random rules against the reference semantics'
	@echo 'make bench      speed, as ratios; PARTS=explore: only that part of bench/run'
	@echo 'make check      the rules of the tree: who includes whom, headers that compile alone'
	@echo 'make install    to $$DESTDIR$$PREFIX ($(PREFIX))'

# ---- what a new machine lacks ------------------------------------------------------------------

# bpftool is a package of its own in Debian, and in Ubuntu from 24.10 on.
BUILD_PACKAGES = gcc libc6-dev linux-libc-dev clang bison flex \
	$(shell apt-cache policy bpftool | grep -q 'Candidate: [0-9]' && echo bpftool || echo linux-tools-generic) libbpf-dev libelf-dev libdw-dev libzydis-dev \
	libiberty-dev libcjson-dev libpcre2-dev libexpat1-dev libisal-dev libncurses-dev libbabeltrace2-dev uthash-dev pkg-config
TEST_PACKAGES := g++ libtbb-dev libglib2.0-dev tmux babeltrace2 lttng-tools liblttng-ust-dev llvm libclang-rt-dev libomp-dev libcmocka-dev python3 procps gdb strace pigz pbzip2 bzip2 xz-utils zstd redis-server \
	memcached dwz musl-tools gcc-multilib systemtap-sdt-dev libcap2-bin rustc golang-go valgrind qemu-user chromium chromium-driver \
	python3-selenium zsh

deps: PACKAGES := $(BUILD_PACKAGES)
test-deps: PACKAGES := $(TEST_PACKAGES)
deps test-deps:
	@missing=; for p in $(PACKAGES); do \
		dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; \
	done; \
	test -n "$$missing" || exit 0; \
	echo "installing$$missing"; \
	if test $(SUDO_FREE) -ne 0; then echo "make $@: installing needs root" >&2; exit 1; fi; \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >$${TMPDIR:-/tmp}/dpe-$@.log 2>&1 \
		|| { cat $${TMPDIR:-/tmp}/dpe-$@.log >&2; exit 1; }

# ---- building ------------------------------------------------------------------------------------

$(BUILD)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(filter cli/%,$<),$(VERSION_FLAGS)) -MMD -MP -c $< -o $@

# The page's files, as they are.
$(BUILD)/view/embed.o: view/embed.S $(wildcard view/page/*)
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -c $< -o $@

# What generators write is not ours to keep free of warnings.
$(BUILD)/dpe-lang/%.o: $(BUILD)/dpe-lang/%.c
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-unused-function -Wno-unused-but-set-variable -Wno-sign-compare \
		-MMD -MP -c $< -o $@

$(BUILD)/dpe-lang/syntax/grammar.c $(BUILD)/dpe-lang/syntax/grammar.h &: dpe-lang/syntax/grammar.y
	$(call say,BISON,$<)
	@mkdir -p $(@D)
	$(Q)bison -Wall -Werror=conflicts-sr -Werror=conflicts-rr --no-lines \
		--header=$(BUILD)/dpe-lang/syntax/grammar.h -o $(BUILD)/dpe-lang/syntax/grammar.c $<

$(BUILD)/dpe-lang/syntax/lexer.c $(BUILD)/dpe-lang/syntax/lexer.h &: dpe-lang/syntax/lexer.l
	$(call say,FLEX,$<)
	@mkdir -p $(@D)
	$(Q)flex --noline --header-file=$(BUILD)/dpe-lang/syntax/lexer.h -o $(BUILD)/dpe-lang/syntax/lexer.c $<

$(BUILD)/probes/kernel/bpf/%.bpf.o: probes/kernel/bpf/%.bpf.c $(wildcard probes/kernel/bpf/*.h) probes/limits.h
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -std=gnu17 -O2 -g $(WARNINGS) -Wno-unused-parameter \
		-D__TARGET_ARCH_x86 $(filter -DDPE_TINY,$(MODE)) -I. -Iinclude -idirafter /usr/include/$(shell $(CC) -print-multiarch) -c $< -o $@

$(BUILD)/probes/kernel/bpf/%.skel.h: $(BUILD)/probes/kernel/bpf/%.bpf.o
	$(call say,SKEL,$<)
	@test -n "$(BPFTOOL)" || { echo "bpftool is missing: run 'make deps'" >&2; exit 1; }
	$(Q)$(BPFTOOL) gen skeleton $< name dpe_bpf > $@

# Generated headers must be there before the first compilation finds out who needs them.
$(core_obj) $(live_obj): | $(GENERATED)

# The names of the linked files, without the folder, which has several names: libraries and programs are linked again after
# one is added or removed.
PARTS_LIST := $(BUILD)/parts
LINKED = $(filter %.o %.a,$^)
$(PARTS_LIST): export PARTS_NAMES = $(sort $(patsubst $(BUILD)/%,%,$(core_obj) $(live_obj) $(view_obj) $(explore_obj) $(cli_obj)) $(PRELOAD_SRC) $(MEMORY_SRC) $(SCHED_SRC))
$(PARTS_LIST): always
	+@mkdir -p $(@D) && { printenv PARTS_NAMES | cmp -s - $@ || printenv PARTS_NAMES >$@; }

$(LIBDPE): $(core_obj) $(PARTS_LIST)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LINKED)

$(LIBPROBES): $(live_obj) $(PARTS_LIST)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LINKED)

# Allocations, and updates of maps, of what is linked with these fail on demand.
FAILING := $(BUILD)/tests/failing_malloc.o
FAILING_UPDATES := $(BUILD)/tests/failing_updates.o

$(DPE): $(cli_obj) $(explore_obj) $(view_obj) $(if $(TINY),$(FAILING) $(FAILING_UPDATES)) $(LIBPROBES) $(LIBDPE) $(PARTS_LIST)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(LINKED) $(CLI_LIBS) $(LIVE_LIBS) $(CORE_LIBS) -o $@

# Becomes a part of other programs: never with sanitizers. Initialised before all others.
PRELOAD_SRC := $(addprefix probes/inside/,library.c call_filter.c exit_wait.c ring_writer.c callers.c pthread_wrappers.c)
PRELOAD_FLAGS = -std=gnu17 -D_GNU_SOURCE $(WARNINGS) -O2 -g $(filter -DDPE_TINY,$(MODE)) -I. -Iinclude -fPIC -fvisibility=hidden \
	-ftls-model=initial-exec -fno-omit-frame-pointer -fno-stack-protector -fexceptions -shared \
	-Wl,-z,initfirst,-z,now,-z,nodelete,-z,defs

$(PRELOAD): $(PRELOAD_SRC) $(PARTS_LIST) $(wildcard probes/inside/*.h) $(wildcard probes/kernel/bpf/frame_*.h) probes/limits.h
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PRELOAD_FLAGS) $(filter %.c,$^) -o $@

# It has 128-bit atomic operations, and a memcpy of its own, which must not be made of itself.
# clang makes no such calls of loops without builtins.
NO_LOOP_CALLS := $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)
MEMORY_SRC := $(addprefix probes/inside/,memory_hooks.c call_hooks.c seen_code.c ignored_memory.c atomic_hooks.c libc_hooks.c mapping_hooks.c string_hooks.c scan_hooks.c fortified_hooks.c \
	openmp.c gomp_wrappers.c libomp_tool.c runtime.c tbb.c kernel_order.c transfer_hooks.c once_routines.c container_hooks.c annotations.c result_hooks.c system_hooks.c \
	text_hooks.c thread_starts.c)
$(PRELOAD_MEMORY): $(PRELOAD_SRC) $(MEMORY_SRC) $(PARTS_LIST) $(wildcard probes/inside/*.h) $(wildcard probes/kernel/bpf/frame_*.h) probes/limits.h
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PRELOAD_FLAGS) -mcx16 -fno-builtin -fno-optimize-sibling-calls $(NO_LOOP_CALLS) \
		-Wl,-soname,$(@F) $(filter %.c,$^) -o $@

# It has 128-bit atomic operations, and a strlen of its own, which must not be made of itself.
SCHED_SRC := $(wildcard explore/sched/*.c)
$(PRELOAD_SCHED): $(SCHED_SRC) $(PARTS_LIST) $(wildcard explore/sched/*.h) explore/limits.h
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PRELOAD_FLAGS) -mcx16 -fno-builtin $(NO_LOOP_CALLS) -Wl,-soname,$(@F) \
		$(filter %.c,$^) -o $@

# ---- tests, examples, benchmarks ------------------------------------------------------------------

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(LIBPROBES) $(LIBDPE)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -fno-lto $(LDFLAGS) $< $(LIBPROBES) $(LIBDPE) $(LIVE_LIBS) $(CORE_LIBS) -lcmocka -lm -o $@

# With ThreadSanitizer, which the library's users may have too: it needs a library of its own.
tsan_obj := $(core_obj:$(BUILD)/%=$(BUILD)/tsan/%) $(BUILD)/tsan/tests/library/test_threads.o
TSAN_FLAGS = -std=gnu17 -D_GNU_SOURCE $(WARNINGS) -O0 -g -fsanitize=thread -I. -Iinclude -I$(BUILD)

$(BUILD)/tsan/%.o: %.c | $(GENERATED)
	$(call say,TSAN,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TSAN_FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/tsan/dpe-lang/%.o: $(BUILD)/dpe-lang/%.c
	$(call say,TSAN,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TSAN_FLAGS) -Wno-unused-function -Wno-unused-but-set-variable -Wno-sign-compare \
		-MMD -MP -c $< -o $@

$(BUILD)/tests/library/test_threads: $(tsan_obj) $(PARTS_LIST)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TSAN_FLAGS) $(LINKED) $(CORE_LIBS) -o $@

# Targets are observed, not tested: never with sanitizers.
$(BUILD)/targets/%: TARGET_MODE := -O1
$(BUILD)/targets/inlined: TARGET_MODE := -O2
# Without a dynamic linker, whose own probe is executed out of line.
$(BUILD)/targets/placement: TARGET_MODE := -O1 -static
$(BUILD)/targets/%: tests/probes/targets/%.c $(wildcard tests/probes/targets/*.h)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -g $(TARGET_MODE) -pthread $< -o $@

$(BUILD)/targets/%: tests/probes/targets/%.cc
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -g $(TARGET_MODE) -pthread $< -o $@

# Programs to explore: each is wrong, and with -DFIXED correct; their accesses are reported to the library that is loaded.
define explored_rule
$(BUILD)/explored/%$(1): tests/explore/programs/%.c tests/explore/programs/common.h | $(PRELOAD_MEMORY)
	$$(call say,CC,$$<)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) -g -O1 -Wall -Wextra -fsanitize=thread $(2) -c $$< -o $$@.o
	$$(Q)$$(CC) $$@.o -pthread -L$(BUILD) -ldpe-mem -Wl,-rpath,'$$$$ORIGIN/..' -o $$@
endef
$(eval $(call explored_rule,-fixed,-DFIXED))
$(eval $(call explored_rule,,))

define example_rule
$(BUILD)/examples/$(basename $(notdir $(1))): $(1)
	$$(call say,CC,$$<)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) -g -O1 $$(WARNINGS) -pthread $$< -o $$@
endef
$(foreach c,$(EXAMPLE_SRC),$(eval $(call example_rule,$(c))))

$(BUILD)/bench/%: $(BUILD)/bench/%.o $(LIBDPE)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $< $(LIBDPE) $(CORE_LIBS) -lm -o $@

$(BUILD)/bench/nothing: $(BUILD)/bench/nothing.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $< -lbpf -o $@

$(BUILD)/tests/library/test_out_of_memory: $(BUILD)/tests/library/test_out_of_memory.o $(FAILING) $(LIBDPE)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -fno-lto $(LDFLAGS) $^ $(CORE_LIBS) -lcmocka -o $@

$(BUILD)/tests/explore/%: $(BUILD)/tests/explore/%.o $(explore_obj) $(LIBPROBES) $(LIBDPE) $(PARTS_LIST)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -fno-lto $(LDFLAGS) $(LINKED) $(LIVE_LIBS) $(CORE_LIBS) -lcmocka -lm -o $@

# The command, many times in one process.
MANY := $(BUILD)/tests/conformance/many_commands
$(MANY): $(MANY).o $(filter-out $(BUILD)/cli/main.o,$(cli_obj)) $(explore_obj) $(view_obj) $(LIBPROBES) $(LIBDPE) $(PARTS_LIST)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -fno-lto $(LDFLAGS) $(LINKED) $(CLI_LIBS) $(LIVE_LIBS) $(CORE_LIBS) -o $@

tests: $(test_bin) $(MANY) $(targets) $(explored) examples
examples: $(examples)

demo: all examples
	@examples/producer-consumer/demo ./$(DPE) $(BUILD)/examples

tiny:
	@$(MAKE) --no-print-directory -j2 TINY=1 LTO= all

test: all tests tiny check
	@tests/sabotage --quick $(BUILD)
	@DPE=./$(DPE) CC='$(CC)' tests/run $(BUILD)

test-long: all tests tiny check
	@$(MAKE) --no-print-directory BUILD=build-clang SANITIZE=1 CC=clang LTO= all tests
	@tests/sabotage $(BUILD)
	@DPE=./$(DPE) CC='$(CC)' DPE_UNSTEADY=fail tests/run --long $(BUILD)

bench: all $(bench_bin)
	@bench/run ./$(DPE) $(BUILD) $(PARTS)

check: $(GENERATED)
	@tools/circles
	@tools/bpf_stacks $(BUILD)/probes/kernel/bpf/programs.bpf.o
	@tools/check $(BUILD) '$(CC)'

# ---- installing ------------------------------------------------------------------------------------

PUBLIC := $(wildcard include/dpe/*.h)
# Users of the library get plain code, whichever compiler they have.
NO_LTO := -R '.gnu.lto_*' -R '.gnu.debuglto_*' -N '__gnu_lto_*'
OBJCOPY ?= objcopy

install: all $(LIBDPE) $(LIBPROBES)
	install -Dm755 $(DPE) $(DESTDIR)$(PREFIX)/bin/dpe
	install -Dm755 -t $(DESTDIR)$(PREFIX)/lib/dpe $(PRELOAD) $(PRELOAD_MEMORY) $(PRELOAD_SCHED)
	install -Dm644 docs/dpe.1 $(DESTDIR)$(PREFIX)/share/man/man1/dpe.1
	install -Dm644 cli/completion/dpe.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/dpe
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/zsh/site-functions cli/completion/_dpe
	install -d $(DESTDIR)$(PREFIX)/share/dpe
	install -m644 dpe-lang/std/*.dpe $(DESTDIR)$(PREFIX)/share/dpe/
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/dpe/gdb cli/gdb/dpe.py cli/gdb/explore.py
	for f in $$(find editors -type f); do \
		install -Dm644 $$f $(DESTDIR)$(PREFIX)/share/dpe/$$f || exit 1; done
	install -d $(DESTDIR)$(PREFIX)/lib
	for lib in $(LIBDPE) $(LIBPROBES); do \
		$(OBJCOPY) -w $(NO_LTO) $$lib $(DESTDIR)$(PREFIX)/lib/$${lib##*/} || exit 1; done
	install -Dm644 -t $(DESTDIR)$(PREFIX)/include/dpe $(PUBLIC)
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	for pc in libdpe libdpe-probes; do \
		sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g' -e 's|@LIBS@|$(LIVE_LIBS)|g' tools/pkgconfig/$$pc.pc.in \
			> $(DESTDIR)$(PREFIX)/lib/pkgconfig/$$pc.pc || exit 1; done

clean:
	rm -rf build build-clang build-sanitize build-tiny dpe

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
