# SPDX-License-Identifier: MIT
# The one Makefile. Sources are listed by layer, in the order in which the
# layers stand on each other; everything made goes below build/ (one folder per
# variant), and from the plain variant to bin/ and lib/ as well.
# `make help` lists targets and variables.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# --- variables that a caller may set ---------------------------------------

AR ?= ar
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BUILD ?= build
TLS ?= 1
FUZZ_SECONDS ?= 60
CLANG ?= clang
CLANG_FORMAT ?= clang-format
CLANG_TIDY ?= clang-tidy

LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
SBINDIR ?= $(PREFIX)/sbin
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/restdaemon
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
UNITDIR ?= $(PREFIX)/lib/systemd/system
# The daemon reads /etc/restdaemon; a prefix of one's own is left only with
# what is below it.
SYSCONFDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),/etc,$(PREFIX)/etc)

# --- variant ----------------------------------------------------------------

empty :=
space := $(empty) $(empty)
comma := ,

VARIANT := $(subst /,_,$(subst $(space),-,$(strip $(notdir $(CC)) \
	$(subst $(comma),-,$(SAN)) $(if $(filter 1,$(DEBUG)),debug) \
	$(if $(filter 1,$(COVERAGE)),coverage) \
	$(if $(filter 1,$(FUZZ)),fuzz) $(if $(filter 1,$(ANALYZE)),analyze) \
	$(if $(filter 0,$(TLS)),notls))))
B := $(BUILD)/$(VARIANT)
IS_PLAIN := $(if $(SAN)$(filter 1,$(DEBUG) $(COVERAGE) $(FUZZ) $(ANALYZE)),,$(filter \
	build,$(BUILD)))

VERSION := $(shell sed -n 's/^.define RESTD_VERSION "\(.*\)"/\1/p' \
	include/restd/version.h)
# That of this tree, not of one around it.
REVISION := $(if $(wildcard .git),$(shell git describe --always --dirty \
	2>/dev/null || echo unknown),unknown)
# Until the first release; then the major version.
SOVERSION := 0

# --- sources ----------------------------------------------------------------

LAYERS := base net codec route http plugins server
LIB_SRC := $(foreach l,$(LAYERS),$(sort $(wildcard src/$(l)/*.c)))
DAEMON_SRC := $(sort $(wildcard src/daemon/*.c))
# The only file that knows RD_REVISION and other facts of the build.
REVISION_SRC := $(wildcard src/daemon/version.c)

UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
INTEGRATION_SRC := $(sort $(wildcard tests/integration/test_*.c))
DAEMON_TEST_SRC := $(sort $(wildcard tests/daemon/test_*.c))
TEST_SRC := $(UNIT_SRC) $(INTEGRATION_SRC) $(DAEMON_TEST_SRC)
# Helpers that tests share.
SUPPORT_SRC := $(filter-out $(TEST_SRC),$(sort $(wildcard tests/unit/*.c \
	tests/integration/*.c tests/daemon/*.c tests/support/*.c)))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
DIFF_SRC := $(sort $(wildcard tests/diff/*.c))
# A peer whose library is missing is left out of the comparison.
BENCH_SRC := $(filter-out $(if $(wildcard /usr/include/microhttpd.h),,%/mhd.c), \
	$(sort $(wildcard tests/bench/*.c)))

# One program each, but for customers.c, which is a part of rest_resource.
EXAMPLE_SRC := $(filter-out %/customers.c,$(sort $(wildcard examples/*.c \
	examples/*.cpp)))

# Shared objects for the daemon's directive `module`: for users, and for tests.
MODULE_SRC := $(sort $(wildcard examples/modules/*.c tests/daemon/modules/*.c))

C_FILES := $(sort $(wildcard include/restd/*.h src/*/*.[ch] tests/*/*.[ch] \
	scripts/*.c examples/*.[ch] examples/*.cpp) $(MODULE_SRC))

objects = $(patsubst %.c,$(B)/obj/%.o,$(1))
programs = $(patsubst %.c,$(B)/$(2)%,$(notdir $(1)))

LIB_OBJ := $(call objects,$(LIB_SRC))
DAEMON_OBJ := $(call objects,$(DAEMON_SRC))
SUPPORT_OBJ := $(call objects,$(SUPPORT_SRC))

LIB_A := $(B)/lib/librestd.a
LIB_SO := $(B)/lib/librestd.so.$(VERSION)
DAEMON := $(B)/bin/restdaemon
SUPPORT_A := $(B)/libsupport.a
# The daemon without its main(), for tests/unit/test_daemon_*.c.
DAEMON_A := $(B)/libdaemon.a
UNIT := $(call programs,$(UNIT_SRC))
INTEGRATION := $(call programs,$(INTEGRATION_SRC))
DAEMON_TESTS := $(call programs,$(DAEMON_TEST_SRC))
TESTS := $(UNIT) $(INTEGRATION) $(DAEMON_TESTS)
REPLAY := $(call programs,$(FUZZ_SRC),fuzz/)
DIFF := $(call programs,$(DIFF_SRC))
BENCH := $(call programs,$(BENCH_SRC),bench/)
# And the program that README.md shows.
EXAMPLES := $(addprefix $(B)/examples/,$(basename $(notdir $(EXAMPLE_SRC))) \
	readme)
MODULES := $(addprefix $(B)/modules/,$(addsuffix .so,$(basename \
	$(notdir $(MODULE_SRC)))))

ifneq ($(words $(TESTS)),$(words $(sort $(TESTS))))
$(error two tests have the same file name)
endif

# --- flags ------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wformat=2
RD_CFLAGS := -std=c11 $(WARNINGS) -fno-omit-frame-pointer \
	-fvisibility=hidden -fno-semantic-interposition -pthread
RD_CPPFLAGS := -D_GNU_SOURCE -Iinclude -Isrc
RD_LDFLAGS := -pthread -Wl,-z,relro -Wl,-z,now
LIBS := -lev -lpcre2-8 -lz -lpthread
# The daemon alone reads files.
DAEMON_LIBS := -lconfuse
# For static links: what has a .pc file of its own, and what has none.
PC_REQUIRES := libpcre2-8$(if $(filter -lz,$(LIBS)),$(comma) zlib)
PC_LIBS := -lev -lm -lpthread
CHECK_CFLAGS = $(shell pkg-config --cflags check 2>/dev/null)
CHECK_LIBS = $(shell pkg-config --libs check 2>/dev/null || \
	echo -lcheck_pic -lrt -lm -lsubunit)

ifneq ($(filter -lz,$(LIBS)),)
RD_CPPFLAGS += -DRD_WITH_GZIP=1
endif
ifeq ($(WERROR),1)
RD_CFLAGS += -Werror
endif
ifeq ($(DEBUG),1)
RD_CPPFLAGS += -DRD_DEBUG=1
endif
ifeq ($(ANALYZE),1)
RD_CFLAGS += -fanalyzer
endif
ifeq ($(COVERAGE),1)
RD_CFLAGS += -O0 --coverage -fprofile-abs-path
RD_LDFLAGS += --coverage
endif
ifneq ($(SAN),)
RD_CFLAGS += -fsanitize=$(SAN)$(if $(filter 1,$(FUZZ)),$(comma)fuzzer-no-link)
RD_LDFLAGS += -fsanitize=$(SAN)
ifneq ($(findstring undefined,$(SAN)),)
RD_CFLAGS += -fno-sanitize-recover=all
endif
else ifneq ($(COVERAGE),1)
RD_CFLAGS += -fstack-protector-strong
# glibc warns when it is asked to fortify unoptimised code.
ifneq ($(filter -O1 -O2 -O3 -Os,$(CFLAGS)),)
RD_CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
endif

COMPILE = $(CC) $(RD_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) $(RD_CFLAGS) -MMD -MP
LINK = $(CC) $(CFLAGS) $(RD_LDFLAGS) $(LDFLAGS)

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-5s %s\n' $(1) $(2))

# --- build ------------------------------------------------------------------

.PHONY: all lib daemon tests examples FORCE
PACKAGING := $(addprefix $(B)/,librestd.pc librestdConfig.cmake \
	librestdConfigVersion.cmake)
OUTPUTS := $(LIB_A) $(LIB_SO) $(PACKAGING) $(if $(DAEMON_SRC),$(DAEMON))
all: $(OUTPUTS)
lib: $(LIB_A) $(LIB_SO)
daemon: $(DAEMON)
tests: $(TESTS) $(REPLAY) $(DIFF) $(EXAMPLES) $(MODULES)
examples: $(EXAMPLES) $(MODULES)

# A stamp holds the text that it stands for and changes only with it, so that
# what depends on it is made again when flags, sources or revision change.
stamp = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' >$@.new; \
	if cmp -s $@.new $@; then rm -f $@.new; else mv -f $@.new $@; fi

$(B)/flags: FORCE
	$(call stamp,$(COMPILE) / $(LINK))
$(B)/revision: FORCE
	$(call stamp,$(REVISION))
$(B)/sources: FORCE
	$(call stamp,$(LIB_SRC) / $(DAEMON_SRC) / $(SUPPORT_SRC))

$(B)/obj/src/%.o: src/%.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -fPIC $(EXTRA) -c -o $@ $<

$(B)/obj/tests/%.o: tests/%.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(CHECK_CFLAGS) -Itests -fPIE -c -o $@ $<

ifneq ($(REVISION_SRC),)
HASH := \#
LIBEV_VERSION = $(shell printf '%s\n' '$(HASH)include <ev.h>' \
	'EV_VERSION_MAJOR.EV_VERSION_MINOR' | $(CC) $(CPPFLAGS) -E -P - | \
	tail -n 1 | tr -d ' ')
# A time of building only where the packager gives one: builds are equal.
BUILT = $(if $(SOURCE_DATE_EPOCH),$(shell date -u -d @$(SOURCE_DATE_EPOCH) \
	+%Y-%m-%dT%H:%M:%SZ))
$(call objects,$(REVISION_SRC)): EXTRA = -DRD_REVISION='"$(REVISION)"' \
	-DRD_LIBEV='"$(LIBEV_VERSION)"' $(if $(BUILT),-DRD_BUILT='"$(BUILT)"')
$(call objects,$(REVISION_SRC)): $(B)/revision
endif

$(LIB_A): $(LIB_OBJ) $(B)/sources
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcsD $@ $(LIB_OBJ)

$(LIB_SO): $(LIB_OBJ) $(B)/sources scripts/restd.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,-soname,librestd.so.$(SOVERSION) \
		-Wl,--version-script=scripts/restd.map \
		$(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ $(LIB_OBJ) $(LIBS)
	@ln -sf $(@F) $(@D)/librestd.so.$(SOVERSION)
	@ln -sf librestd.so.$(SOVERSION) $(@D)/librestd.so

$(DAEMON): $(DAEMON_OBJ) $(LIB_A) scripts/restd.dynlist
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -pie -Wl,--dynamic-list=scripts/restd.dynlist -o $@ \
		$(DAEMON_OBJ) -Wl,--whole-archive $(LIB_A) -Wl,--no-whole-archive \
		$(LIBS) $(DAEMON_LIBS)

$(SUPPORT_A): $(SUPPORT_OBJ) $(B)/sources
	@rm -f $@
	$(Q)$(AR) rcsD $@ $(SUPPORT_OBJ)

$(DAEMON_A): $(filter-out %/main.o,$(DAEMON_OBJ)) $(B)/sources
	@rm -f $@
	$(Q)$(AR) rcsD $@ $(filter %.o,$^)

# How other builds find the library. Both files name its folders by their way
# from a root (the prefix; where the file itself is), so that the whole tree may
# be moved.
CMAKEDIR := $(LIBDIR)/cmake/librestd
below = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
from_cmake = $(shell realpath -m --relative-to='$(CMAKEDIR)' '$(1)')
SUBSTITUTE = prefix=$(PREFIX) libdir=$(call below,$(LIBDIR)) \
	includedir=$(call below,$(INCLUDEDIR)) version=$(VERSION) \
	soversion=$(SOVERSION) cmake_lib=$(call from_cmake,$(LIBDIR)) \
	cmake_include=$(call from_cmake,$(INCLUDEDIR)) \
	cmake_libs=$(subst $(space),;,$(patsubst -l%,%,$(LIBS) -lm))
$(B)/places: FORCE
	$(call stamp,$(SUBSTITUTE) $(PC_REQUIRES) $(PC_LIBS))
$(PACKAGING): $(B)/%: scripts/%.in $(B)/places
	@sed $(foreach s,$(SUBSTITUTE),-e 's|@$(subst =,@|,$(s))|') \
		-e 's|@requires@|$(PC_REQUIRES)|' -e 's|@libs@|$(PC_LIBS)|' $< >$@

# bin/ and lib/ hold what the last plain build gave, whichever the compiler.
ifneq ($(IS_PLAIN),)
PLAIN := lib/librestd.a lib/librestd.so $(if $(DAEMON_SRC),bin/restdaemon)
all: $(PLAIN)
lib: lib/librestd.a lib/librestd.so
daemon: bin/restdaemon
build/plain: FORCE
	$(call stamp,$(VARIANT))
bin/restdaemon: $(DAEMON) build/plain
	@mkdir -p bin
	@install -m 755 $(DAEMON) $@
lib/librestd.a: $(LIB_A) build/plain
	@mkdir -p lib
	@install -m 644 $(LIB_A) $@
lib/librestd.so: $(LIB_SO) build/plain
	@mkdir -p lib
	@install -m 755 $(LIB_SO) lib/
	@ln -sf librestd.so.$(VERSION) lib/librestd.so.$(SOVERSION)
	@ln -sf librestd.so.$(SOVERSION) $@
	@touch -h $@
endif

# What is made from the table of directives stands in the tree, so that it can
# be read and packed; a test tells when it is out of date.
DIRECTIVES := $(B)/directives
$(B)/obj/scripts/%.o: scripts/%.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -fPIE -c -o $@ $<
$(DIRECTIVES): $(B)/obj/scripts/directives.o $(DAEMON_A) $(LIB_A)
	$(call say,LD,$@)
	$(Q)$(LINK) -pie -o $@ $^ $(LIBS) $(DAEMON_LIBS) -lm

.PHONY: directives
CONF_MAN := docs/man/restdaemon.conf.5
directives: $(DIRECTIVES)
	@mkdir -p conf/completion
	$(DIRECTIVES) sample >conf/restdaemon.conf
	$(DIRECTIVES) bash >conf/completion/restdaemon.bash
	$(DIRECTIVES) man >$(B)/directives.man
	sed -e '/^\.\\" directives begin/r $(B)/directives.man' \
		-e '/^\.\\" directives begin/,/^\.\\" directives end/{' \
		-e '/^\.\\" directives/!d' -e '}' $(CONF_MAN) >$(B)/conf.man
	cp $(B)/conf.man $(CONF_MAN)

# --- programs of the tests ---------------------------------------------------

define test_program
$(call programs,$(1)): $(call objects,$(1)) $(SUPPORT_A) \
		$(if $(findstring /test_daemon_,$(1)),$(DAEMON_A)) $(LIB_A)
	$$(call say,LD,$$@)
	$$(Q)$$(LINK) -pie -o $$@ $$^ $$(CHECK_LIBS) $$(LIBS) \
		$(if $(findstring /test_daemon_,$(1)),$$(DAEMON_LIBS)) -lm
endef
$(foreach s,$(TEST_SRC),$(eval $(call test_program,$(s))))

# Replayed by any compiler; with FUZZ=1 libFuzzer drives the same target.
define fuzz_program
$(call programs,$(1),fuzz/): $(call objects,$(1)) \
		$(if $(findstring /fuzz_config,$(1)),$(DAEMON_A)) $(LIB_A) \
		$(if $(filter 1,$(FUZZ)),,$(call objects,tests/fuzz/replay.c))
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(LINK) $(if $(filter 1,$(FUZZ)),-fsanitize=fuzzer) -pie -o $$@ \
		$$(filter %.o,$$^) $$(filter %.a,$$^) $$(LIBS) \
		$(if $(findstring /fuzz_config,$(1)),$$(DAEMON_LIBS)) -lm
endef
$(foreach s,$(FUZZ_SRC),$(eval $(call fuzz_program,$(s))))

define plain_program
$(call programs,$(1),$(2)): $(call objects,$(1)) $(LIB_A)
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(LINK) -pie -o $$@ $(call objects,$(1)) $(LIB_A) $$(LIBS) -lm
endef
$(foreach s,$(DIFF_SRC),$(eval $(call plain_program,$(s),)))
$(foreach s,$(BENCH_SRC),$(eval $(call plain_program,$(s),bench/)))
$(B)/bench/mhd: LIBS += -lmicrohttpd

# --- examples ------------------------------------------------------------------

# Compiled as a user does it: strict, against the public headers alone.
# The C++ compiler is of the same family, as both may be given -fsanitize.
ifeq ($(origin CXX),default)
CXX := $(if $(findstring clang,$(CC)),clang++,g++)
endif
EXAMPLE_FLAGS = -Iinclude $(CPPFLAGS) -O2 -g -Wall -Wextra -Wconversion \
	$(if $(filter 1,$(WERROR)),-Werror) $(addprefix -fsanitize=,$(SAN)) \
	-MMD -MP
EXAMPLE_C := -std=c11 -D_POSIX_C_SOURCE=200809L
EX := $(B)/obj/examples
.PRECIOUS: $(EX)/%.o

$(EX)/%.o: examples/%.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(EXAMPLE_C) $(EXAMPLE_FLAGS) -fPIE -c -o $@ $<

$(EX)/%.o: examples/%.cpp $(B)/flags
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++11 $(EXAMPLE_FLAGS) -fPIE -c -o $@ $<

# README's first C block; a test cannot have its fixed port.
$(EX)/readme.c: README.md
	@mkdir -p $(@D)
	$(Q)awk '/^```c$$/ { on = 1; next } on && /^```$$/ { exit } on' $< | \
		sed 's|127\.0\.0\.1:8080|unix:readme.sock|' >$@
$(EX)/readme.o: $(EX)/readme.c $(B)/flags
	$(call say,CC,README.md)
	$(Q)$(CC) -std=c11 $(EXAMPLE_FLAGS) -fPIE -c -o $@ $<

$(B)/examples/rest_resource: $(EX)/customers.o
$(B)/examples/rest_resource: LIBS += -ljansson
$(B)/examples/%: $(EX)/%.o $(LIB_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(if $(wildcard examples/$*.cpp),$(CXX),$(CC)) $(CFLAGS) \
		$(RD_LDFLAGS) $(LDFLAGS) -pie -o $@ $(filter %.o,$^) $(LIB_A) $(LIBS)

# A module is one step; the library is in the program that loads it.
define module
$(B)/modules/$(basename $(notdir $(1))).so: $(1) $(B)/flags
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(EXAMPLE_C) $$(EXAMPLE_FLAGS) -fPIC -shared $$(LDFLAGS) \
		-o $$@ $$<
endef
$(foreach s,$(MODULE_SRC),$(eval $(call module,$(s))))

# --- running the tests -------------------------------------------------------

.PHONY: check check-unit check-integration check-daemon check-wire check-fuzz \
	check-diff check-examples asan ubsan tsan valgrind oom fuzz coverage bench

RUN_CHECKS = RD_TOP='$(CURDIR)' RD_BUILD='$(abspath $(B))' \
	RD_BIN='$(abspath $(DAEMON))' RD_SAN='$(SAN)' scripts/run-checks
# T=hist runs test_hist alone.
only = $(if $(T),$(filter $(addprefix $(B)/test_,$(T)),$(1)),$(1))
CHECK_NEEDS := $(if $(DAEMON_SRC),$(DAEMON) $(DIRECTIVES) $(MODULES)) \
	$(REPLAY) $(DIFF) $(EXAMPLES)
# Under TSan only the unit tests that start a thread, or all that T names.
ifneq ($(findstring thread,$(SAN)),)
UNIT_RUN := $(if $(T),$(UNIT),$(call programs,$(shell grep -lE \
	'pthread_create|rd_thread_|rd_log_new|rd_loop_run|restd_server_' \
	$(UNIT_SRC))))
else
UNIT_RUN := $(UNIT)
endif

# The scripts take as long as all others together, so they begin.
CHECK_RUN = $(call only,$(DAEMON_TESTS) $(INTEGRATION) $(UNIT_RUN))
check: $(CHECK_RUN) $(CHECK_NEEDS)
	@$(RUN_CHECKS) $(CHECK_RUN)
# What docs/PARITY.md promises, against what `make check` has left.
.PHONY: check-parity
check-parity: check
	@RD_BUILD='$(abspath $(B))' scripts/check-parity
check-unit: $(call only,$(UNIT_RUN))
	@$(RUN_CHECKS) $(call only,$(UNIT_RUN))
check-integration: $(call only,$(INTEGRATION)) $(CHECK_NEEDS)
	@$(RUN_CHECKS) $(call only,$(INTEGRATION))
check-daemon: $(call only,$(DAEMON_TESTS)) $(CHECK_NEEDS)
	@$(RUN_CHECKS) $(call only,$(DAEMON_TESTS))
check-wire check-fuzz check-diff check-examples: check-%: $(B)/test_scripts $(CHECK_NEEDS)
	@CK_RUN_CASE=$* CK_EXCLUDE_TAGS= $(RUN_CHECKS) $(B)/test_scripts

asan:
	@$(MAKE) --no-print-directory SAN=address,undefined check
ubsan:
	@$(MAKE) --no-print-directory SAN=undefined check
tsan:
	@$(MAKE) --no-print-directory SAN=thread check

valgrind: $(call only,$(UNIT))
	@CK_FORK=no RD_VALGRIND=1 $(RUN_CHECKS) $(call only,$(UNIT))

OOM := $(if $(wildcard tests/integration/test_oom.c),$(B)/test_oom)
oom: $(OOM)
	@$(if $(OOM),$(RUN_CHECKS) $(OOM),echo 'no tests/integration/test_oom.c'; \
		exit 1)

fuzz:
	@$(MAKE) --no-print-directory CC='$(CLANG)' FUZZ=1 \
		SAN=address,undefined fuzz-run
.PHONY: fuzz-run
fuzz-run: $(REPLAY)
	@scripts/fuzz-run $(FUZZ_SECONDS) $(REPLAY)

coverage:
	@$(MAKE) --no-print-directory COVERAGE=1 coverage-run
.PHONY: coverage-run
coverage-run:
	@find $(B) -name '*.gcda' -delete 2>/dev/null || :
	@$(MAKE) --no-print-directory check
	gcovr --root . --filter 'src/' --object-directory $(B) \
		--txt $(B)/coverage.txt --html-details $(B)/coverage.html \
		--print-summary $(B)

bench: all $(BENCH)
	@RD_TOP='$(CURDIR)' RD_BUILD='$(abspath $(B))' \
		RD_BIN='$(abspath $(DAEMON))' scripts/bench $(BENCH_ARGS)

# --- checks of the sources ---------------------------------------------------

.PHONY: lint analyze format-check format
lint: $(LIB_A) $(LIB_SO)
	@RD_BUILD='$(B)' CC='$(CC)' CLANG_FORMAT='$(CLANG_FORMAT)' \
		CLANG_TIDY='$(CLANG_TIDY)' scripts/lint $(LIB_A)

analyze:
	@$(MAKE) --no-print-directory CC=gcc ANALYZE=1 WERROR=1 lib

format-check:
	@$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)
format:
	@$(CLANG_FORMAT) -i $(C_FILES)

# --- install, package, tidy up -----------------------------------------------

.PHONY: install uninstall dist deb clean help
MAN := $(sort $(wildcard docs/man/*.[1-8]))
# Where manual page $(1) goes, and "function.3:page.3" for each function that
# has its page under another name.
man_place = $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
MAN_LINKS = $(shell scripts/man-links $(filter %.3,$(MAN)))

# What is deployed, as source:place. Of the first kind is what people edit: it
# is neither replaced when it is there nor removed when it has been changed.
# Places of programs and files in the others are those of this installation.
CONF_EDITED := conf/restdaemon.conf:$(SYSCONFDIR)/restdaemon/restdaemon.conf \
	conf/logrotate/restdaemon:$(SYSCONFDIR)/logrotate.d/restdaemon
CONF_OTHER := $(foreach u,service socket, \
	conf/systemd/restdaemon.$(u):$(UNITDIR)/restdaemon.$(u)) \
	conf/openrc/restdaemon:$(DOCDIR)/openrc/restdaemon \
	conf/sysctl.d/60-restdaemon.conf:$(DOCDIR)/60-restdaemon.conf \
	conf/completion/restdaemon.bash:$(COMPLETIONDIR)/restdaemon \
	docs/OPERATIONS.md:$(DOCDIR)/OPERATIONS.md \
	docs/tuning.md:$(DOCDIR)/tuning.md
# Only those that the tree has.
in_tree = $(foreach p,$(1),$(if $(wildcard $(firstword $(subst :, ,$(p)))),$(p)))
CONF_EDITED := $(call in_tree,$(CONF_EDITED))
CONF_OTHER := $(call in_tree,$(CONF_OTHER))
# What the unit may execute is below /usr, or where it has been put; the program
# itself looks for its file in /etc only.
CONF_SED := -e 's|/usr/sbin/restdaemon|$(SBINDIR)/restdaemon|' \
	$(if $(filter /usr/%,$(SBINDIR)),,-e 's|^ExecPaths=/usr$$|& $(SBINDIR)|') \
	$(if $(filter /etc,$(SYSCONFDIR)),,\
	-e 's|^Exec[a-zA-Z]*=$(SBINDIR)/restdaemon|& -c $(SYSCONFDIR)/restdaemon/restdaemon.conf|' \
	-e 's|restdaemon_config:=/etc|restdaemon_config:=$(SYSCONFDIR)|')

install: $(OUTPUTS)
	install -d '$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(CMAKEDIR)' \
		'$(DESTDIR)$(INCLUDEDIR)/restd' '$(DESTDIR)$(SBINDIR)' \
		$(sort $(foreach m,$(MAN),'$(dir $(call man_place,$(m)))'))
	install -m 644 $(LIB_A) '$(DESTDIR)$(LIBDIR)/'
	install -m 755 $(LIB_SO) '$(DESTDIR)$(LIBDIR)/'
	ln -sf librestd.so.$(VERSION) \
		'$(DESTDIR)$(LIBDIR)/librestd.so.$(SOVERSION)'
	ln -sf librestd.so.$(SOVERSION) '$(DESTDIR)$(LIBDIR)/librestd.so'
	install -m 644 $(B)/librestd.pc '$(DESTDIR)$(LIBDIR)/pkgconfig/'
	install -m 644 $(filter %.cmake,$(PACKAGING)) '$(DESTDIR)$(CMAKEDIR)/'
	install -m 644 include/restd/*.h '$(DESTDIR)$(INCLUDEDIR)/restd/'
	$(if $(DAEMON_SRC),install -m 755 $(DAEMON) '$(DESTDIR)$(SBINDIR)/')
	@for m in $(foreach m,$(MAN),'$(m):$(call man_place,$(m))'); do \
		install -m 644 "$${m%%:*}" "$${m#*:}" || exit 1; done
	@for m in $(MAN_LINKS); do \
		ln -sf "$${m#*:}" '$(DESTDIR)$(MANDIR)'/man3/"$${m%:*}" || exit 1; \
		done
	install -d '$(DESTDIR)$(SYSCONFDIR)/restdaemon/conf.d'
	@for c in $(foreach c,$(CONF_EDITED),'$(c)'); do \
		at='$(DESTDIR)'"$${c#*:}"; [ ! -e "$$at" ] || continue; \
		install -D -m 644 "$${c%%:*}" "$$at" || exit 1; done
	@for c in $(foreach c,$(CONF_OTHER),'$(c)'); do \
		at='$(DESTDIR)'"$${c#*:}"; mode=644; \
		[ ! -x "$${c%%:*}" ] || mode=755; \
		install -D -m $$mode "$${c%%:*}" "$$at" && \
		sed -i $(CONF_SED) "$$at" || exit 1; done

uninstall:
	rm -f '$(DESTDIR)$(LIBDIR)'/librestd.a \
		'$(DESTDIR)$(LIBDIR)'/librestd.so \
		'$(DESTDIR)$(LIBDIR)'/librestd.so.$(SOVERSION) \
		'$(DESTDIR)$(LIBDIR)'/librestd.so.$(VERSION) \
		'$(DESTDIR)$(LIBDIR)'/pkgconfig/librestd.pc \
		'$(DESTDIR)$(SBINDIR)'/restdaemon
	@rm -f $(foreach m,$(MAN),'$(call man_place,$(m))') \
		$(foreach m,$(MAN_LINKS), \
		'$(DESTDIR)$(MANDIR)/man3/$(firstword $(subst :, ,$(m)))')
	rm -rf '$(DESTDIR)$(INCLUDEDIR)/restd' '$(DESTDIR)$(CMAKEDIR)'
	@for c in $(foreach c,$(CONF_EDITED),'$(c)'); do \
		at='$(DESTDIR)'"$${c#*:}"; [ -e "$$at" ] || continue; \
		if cmp -s "$${c%%:*}" "$$at"; then rm -f "$$at"; \
		else echo "left, as it has been changed: $$at"; fi; done
	@rm -f $(foreach c,$(CONF_OTHER),'$(DESTDIR)$(lastword $(subst :, ,$(c)))')
	@for d in '$(DOCDIR)/openrc' '$(DOCDIR)' \
		'$(SYSCONFDIR)/restdaemon/conf.d' '$(SYSCONFDIR)/restdaemon'; do \
		[ ! -d '$(DESTDIR)'"$$d" ] || \
		rmdir --ignore-fail-on-non-empty '$(DESTDIR)'"$$d" || exit 1; done

# What is committed, the same bytes each time.
DIST := $(BUILD)/restdaemon-$(VERSION).tar.gz
dist:
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=restdaemon-$(VERSION)/ HEAD | \
		gzip -9n >$(DIST)
	@echo $(DIST)

# Debian's packages, from a copy of the tree as it is.
deb:
	scripts/deb $(BUILD)/deb

clean:
	rm -rf $(BUILD)/ $(if $(filter build,$(BUILD)),bin/ lib/)

help:
	@sed -n 's/^#? \{0,1\}//p' Makefile

#? Targets
#?   all                library and daemon (default)
#?   lib                lib/librestd.a, lib/librestd.so
#?   examples           build/*/examples/, build/*/modules/
#?   directives         sample file, manual page, completion from their table
#?   check              every test; Check's closing lines come last
#?   check-unit         tests/unit          check-integration  tests/integration
#?   check-daemon       tests/daemon, with all scripts as children
#?   check-wire         tests/wire          check-fuzz  replay of the corpus
#?   check-diff         verdicts against Node's HTTP server
#?   check-parity       check, then what docs/PARITY.md promises
#?   check-examples     examples, and the one in README.md
#?   asan ubsan tsan    check under ASan+UBSan, UBSan, TSan
#?   valgrind           unit tests under memcheck
#?   oom                every allocation failing in turn
#?   fuzz               libFuzzer, FUZZ_SECONDS for each target (clang)
#?   coverage           check with gcov, report by gcovr
#?   lint               scripts/check-*, formatting, clang-tidy, cppcheck, ...
#?   analyze            gcc -fanalyzer      format-check  clang-format, dry
#?   bench              builds and runs tests/bench
#?   install uninstall clean help
#?   dist               source archive      deb  Debian packages in build/deb/
#? Variables
#?   CC CXX CFLAGS CPPFLAGS LDFLAGS
#?   PREFIX=/usr/local DESTDIR= LIBDIR= SBINDIR= INCLUDEDIR= MANDIR=
#?   SYSCONFDIR= (/etc for /usr and /usr/local) UNITDIR= DOCDIR= COMPLETIONDIR=
#?   BUILD=build        where everything is made
#?   V=1                shows the commands
#?   WERROR=1           warnings are errors
#?   DEBUG=1            dearer assertions, scratch poisoned after each turn
#?   SAN=thread         or address,undefined ...: -fsanitize, a variant
#?   COVERAGE=1         a variant for gcov
#?   T=hist             check: test_hist alone; several names are possible
#?   FUZZ_SECONDS=60    BENCH_ARGS=

-include $(shell find $(B)/obj $(B)/modules -name '*.d' 2>/dev/null)
