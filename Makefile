# wavetail: build, test, demonstrate. Everything made lives under build/.

CONF ?= release
PREFIX ?= /usr/local
V ?= 0
B := build/$(CONF)
Q := $(if $(filter 1,$(V)),,@)

CC := $(if $(filter environment command line,$(origin CC)),$(CC),gcc)
CXX := $(if $(filter environment command line,$(origin CXX)),$(CXX),g++)
CLANG ?= clang
NVCC ?= $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
CUDA_INCLUDE ?= $(firstword $(dir $(wildcard /usr/local/cuda/include/cuda_occupancy.h \
                  /usr/local/cuda/targets/x86_64-linux/include/cuda_occupancy.h)))

PKGS := libconfig libzstd jansson cairo
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) check 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lcsv -lm
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null)

OPT_release := -O3 -DNDEBUG
OPT_debug := -O0
OPT_asan := -O1 -fsanitize=address -fno-omit-frame-pointer
OPT_ubsan := -O1 -fsanitize=undefined,float-cast-overflow -fno-sanitize-recover=all
ifeq ($(OPT_$(CONF)),)
$(error CONF=$(CONF) is not one of: release debug asan ubsan)
endif

# Results must not depend on the optimiser: no contraction, no reassociation.
CFLAGS := -std=c11 -D_GNU_SOURCE -g $(OPT_$(CONF)) -ffp-contract=off -fopenmp -Wall -Wextra -Wshadow \
          -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wno-missing-field-initializers \
          -Werror -Isim $(PKG_CFLAGS)
PATHS := -DWT_SOURCE_CONFIGS='"$(CURDIR)/configs"' -DWT_INSTALLED_CONFIGS='"$(PREFIX)/share/wavetail/configs"' \
         -DWT_SOURCE_ROOT='"$(CURDIR)"'
CUDA_TEST_FLAGS := $(if $(CUDA_INCLUDE),-DHAVE_CUDA_OCCUPANCY -isystem $(CUDA_INCLUDE))

SIM_SRC := $(wildcard sim/*/*.c)
TOOL_SRC := $(wildcard tools/wavetail/*.c)
TEST_SRC := $(wildcard tests/*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)
SIM_OBJ := $(SIM_SRC:%.c=$(B)/%.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(B)/%.o)
TEST_OBJ := $(TEST_SRC:%.c=$(B)/%.o)
BENCH_OBJ := $(BENCH_SRC:%.c=$(B)/%.o)
LIB := $(B)/libwavetail.a
WAVETAIL := $(B)/wavetail

# The view: the only part that knows SDL. Without SDL it is left out.
VIEW_SRC := $(wildcard tools/view/*.c)
VIEW_OBJ := $(VIEW_SRC:%.c=$(B)/%.o)
HAVE_SDL := $(shell pkg-config --exists sdl2 SDL2_ttf 2>/dev/null && echo yes)
SDL_CFLAGS := $(shell pkg-config --cflags sdl2 SDL2_ttf 2>/dev/null)
SDL_LIBS := $(shell pkg-config --libs sdl2 SDL2_ttf 2>/dev/null)
VIEW := $(if $(HAVE_SDL),$(B)/wavetail-view)
# Its parts without SDL, which the tests ask directly.
VIEW_MODEL_OBJ := $(patsubst %,$(B)/tools/view/%.o,density run smstate scenario origin playback keys)

# `wavetail sweep` under mpirun: the only part that knows MPI. Without mpicc it is left out, and nothing else needs it.
MPICC := $(shell command -v mpicc 2>/dev/null)
SWEEP_MPI := $(if $(MPICC),$(B)/wavetail-sweep-mpi)
SWEEP_MPI_OBJ := $(B)/tools/mpi/main.o $(patsubst %,$(B)/tools/wavetail/%.o,sweep_main sweep_plot common progress)

.DEFAULT_GOAL := all
.PHONY: all view help setup check check-opt bench demo warp-table calibrate-h200 validate validate-halves whatif-table gpu fuzz install \
        clean FORCE
.DELETE_ON_ERROR:
.SECONDARY: $(BENCH_OBJ)

all: $(LIB) $(WAVETAIL) $(SWEEP_MPI) view gpu ## build the library, the command and, where nvcc is, gpu_ref

help: ## show this list
	@awk -F':.*## ' '/^[a-z0-9_-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "Options: CONF=release|debug|asan|ubsan  V=1 (show commands)  PREFIX=/usr/local  -j N"

setup: ## install what the build needs (Debian packages)
	$(Q)tools/setup.sh

$(LIB): $(SIM_OBJ)
	@echo "  AR      $@"
	$(Q)rm -f $@ && ar rcs $@ $^

$(WAVETAIL): $(TOOL_OBJ) $(LIB)
	@echo "  LINK    $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(PKG_LIBS)

ifeq ($(HAVE_SDL),)
view:
	@echo "tools/view: SDL2 or SDL2_ttf not found, skipped (tools/setup.sh installs them)"
else
view: $(VIEW) ## build the view where SDL2 is
endif

$(B)/wavetail-view: $(VIEW_OBJ) $(LIB)
	@echo "  LINK    $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(SDL_LIBS) $(PKG_LIBS)

$(B)/wavetail-sweep-mpi: $(SWEEP_MPI_OBJ) $(LIB)
	@echo "  MPICC   $@"
	$(Q)OMPI_CC="$(CC)" mpicc $(CFLAGS) -o $@ $^ $(PKG_LIBS)

$(B)/tools/mpi/%.o: tools/mpi/%.c Makefile
	@mkdir -p $(@D)
	@echo "  MPICC   $<"
	$(Q)OMPI_CC="$(CC)" mpicc $(CFLAGS) -Itools/wavetail -MMD -MP -c -o $@ $<

$(B)/wavetail-check: $(TEST_OBJ) $(VIEW_MODEL_OBJ) $(LIB)
	@echo "  LINK    $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(CHECK_LIBS) $(PKG_LIBS)

$(B)/bench-%: $(B)/tests/bench/%.o $(LIB)
	@echo "  LINK    $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(PKG_LIBS)

$(B)/tests/%.o: EXTRA = $(PATHS) $(CUDA_TEST_FLAGS) -Itests -Itools/view
$(B)/sim/gpu/%.o: EXTRA = $(PATHS)
$(B)/sim/observe/html_page.o $(B)/sim/study/lesson.o: EXTRA = $(PATHS)
$(B)/sim/observe/html_page.o build/fuzz/sim/observe/html_page.o: sim/observe/page.html $(wildcard sim/observe/page_*.js)
$(B)/tools/view/%.o: EXTRA = $(SDL_CFLAGS) -Itools/view
$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<

# The installed configs' place is compiled in: another PREFIX makes those objects anew.
$(filter $(B)/sim/gpu/% $(B)/sim/study/lesson.o,$(SIM_OBJ)): $(B)/prefix
$(B)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' > $@

# The parts of gpu_ref that are plain C++ are tested where there is a C++ compiler.
HAVE_CXX := $(if $(shell command -v $(CXX) 2>/dev/null),$(B)/capture-host)

check: $(WAVETAIL) $(SWEEP_MPI) $(VIEW) $(B)/wavetail-check $(HAVE_CXX) ## run every test (SUITE=name for one suite)
	$(Q)LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0 WAVETAIL=$(CURDIR)/$(WAVETAIL) \
	  $(if $(VIEW),WAVETAIL_VIEW=$(CURDIR)/$(VIEW)) $(if $(HAVE_CXX),CAPTURE_HOST=$(CURDIR)/$(HAVE_CXX)) \
	  $(if $(SUITE),CK_RUN_SUITE=$(SUITE)) $(B)/wavetail-check

check-opt: ## check that -O0 and -O3 give the same bytes
	$(Q)$(MAKE) --no-print-directory CONF=debug build/debug/wavetail
	$(Q)$(MAKE) --no-print-directory CONF=release build/release/wavetail
	$(Q)tests/optimisation.sh build/debug/wavetail build/release/wavetail

bench: $(BENCH_SRC:tests/bench/%.c=$(B)/bench-%) ## compare speeds within one run
	$(Q)for b in $^; do $$b || exit 1; done

# Fuzzing: clang's libFuzzer, without OpenMP; what it finds stays in build/fuzz.
FUZZ_SECONDS ?= 30
FUZZ_CFLAGS := -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
               -Wall -Wextra -Wno-unknown-pragmas -Wno-missing-field-initializers -Isim $(PKG_CFLAGS) $(PATHS)
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)
FUZZ_LIB := build/fuzz/libwavetail.a

build/fuzz/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CLANG   $<"
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

$(FUZZ_LIB): $(SIM_SRC:%.c=build/fuzz/%.o)
	$(Q)rm -f $@ && ar rcs $@ $^

$(FUZZ_BIN): build/fuzz/%: build/fuzz/tests/fuzz/%.o $(FUZZ_LIB)
	@echo "  LINK    $@"
	$(Q)$(CLANG) -fsanitize=fuzzer,address,undefined -o $@ $^ $(PKG_LIBS)

ifeq ($(shell command -v $(CLANG) 2>/dev/null),)
fuzz:
	@echo "fuzz: $(CLANG) not found; install clang"; exit 1
else
fuzz: $(FUZZ_BIN) ## fuzz every reader (FUZZ_SECONDS=30 each; needs clang)
	$(Q)for f in $(FUZZ_SRC:tests/fuzz/%.c=%); do \
	  mkdir -p build/fuzz/found/$$f tests/fuzz/corpus/$$f; \
	  dict=; [ -f tests/fuzz/$$f.dict ] && dict=-dict=tests/fuzz/$$f.dict; \
	  echo "  FUZZ    $$f, $(FUZZ_SECONDS) s"; \
	  build/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
	    -print_final_stats=1 -artifact_prefix=build/fuzz/$$f- $$dict build/fuzz/found/$$f tests/fuzz/corpus/$$f || exit 1; \
	done
endif

DEMO_TRACE := traces/h200/spin20k_b256.r0.csv.zst

demo: $(WAVETAIL) ## replay a captured trace; the pictures and the summary go to build/demo
	$(Q)mkdir -p build/demo
	$(Q)$(WAVETAIL) replay $(DEMO_TRACE) --svg build/demo/timeline.svg --png build/demo/timeline.png \
	  > build/demo/summary.txt
	$(Q)cat build/demo/summary.txt
	@echo "The SMs' timeline and its tail: build/demo/timeline.svg, build/demo/timeline.png"

H200_FIT := $(sort $(wildcard traces/h200/fit/*.zst))
H200_TEST := $(sort $(wildcard traces/h200/test/*/*.zst))

calibrate-h200: $(WAVETAIL) ## write configs/gpus/h200.cfg anew from traces/h200/fit
	$(Q)$(WAVETAIL) calibrate --base _h200-base -o configs/gpus/h200.cfg $(H200_FIT)

validate: $(WAVETAIL) ## the table of errors on traces/h200/test, which nothing was fitted to
	$(Q)$(WAVETAIL) validate $(H200_TEST)

validate-halves: $(WAVETAIL) ## configs calibrated on half of the traces, tested on the other half
	$(Q)tests/halves.sh $(WAVETAIL)

whatif-table: $(WAVETAIL) ## what `wavetail whatif` predicts against what was measured
	$(Q)tests/whatif_table.sh $(WAVETAIL) traces/h200/whatif

warp-table: $(WAVETAIL) ## simulate every profiled kernel from its SASS, beside Nsight Compute's counters (minutes)
	$(Q)tests/warp_table.sh $(WAVETAIL) fit traces/ncu/h200 traces/ncu/mixes \
	  test traces/ncu/families traces/ncu/unseen heldout traces/ncu/heldout further traces/ncu/further

# gpu_ref: CUDA for every compute capability that this nvcc knows, 7.5 to 12.0. The capture program's files without
# CUDA are C++ of their own, so that they are tested where there is no nvcc.
NVCC_FLAGS := -std=c++17 -O2 -arch=all-major -DWAVETAIL_TRACE_ZSTD -Xcompiler -Wall,-Wextra
CXXFLAGS := -std=c++17 -g -DWAVETAIL_TRACE_ZSTD -Wall -Wextra -Wshadow -Werror
CAPTURE_CU := $(wildcard gpu_ref/capture/*.cu)
CAPTURE_CPP := $(wildcard gpu_ref/capture/*.cpp)
CAPTURE_OBJ := $(CAPTURE_CU:gpu_ref/%.cu=build/gpu/obj/%.o) $(CAPTURE_CPP:gpu_ref/%.cpp=build/gpu/obj/%.host.o)
CAPTURE_DEPS := gpu_ref/wavetail_trace.cuh $(wildcard gpu_ref/capture/*.h) Makefile

ifeq ($(NVCC),)
gpu: ## build the CUDA programs of gpu_ref where nvcc is
	@echo "gpu_ref: nvcc not found, skipped"
else
gpu: build/gpu/capture build/gpu/example build/gpu/profile
endif

build/gpu/obj/%.o: gpu_ref/%.cu $(CAPTURE_DEPS)
	@mkdir -p $(@D)
	@echo "  NVCC    $<"
	$(Q)$(NVCC) $(NVCC_FLAGS) -c -o $@ $<

build/gpu/obj/%.host.o: gpu_ref/%.cpp $(CAPTURE_DEPS)
	@mkdir -p $(@D)
	@echo "  CXX     $<"
	$(Q)$(CXX) $(CXXFLAGS) -O2 -c -o $@ $<

build/gpu/capture: $(CAPTURE_OBJ)
	@echo "  LINK    $@"
	$(Q)$(NVCC) -arch=all-major -o $@ $^ -lzstd

build/gpu/example: build/gpu/obj/example.o
	@echo "  LINK    $@"
	$(Q)$(NVCC) -arch=all-major -o $@ $^ -lzstd

build/gpu/profile: $(patsubst gpu_ref/%.cu,build/gpu/obj/%.o,$(wildcard gpu_ref/profile/*.cu))
	@echo "  LINK    $@"
	$(Q)$(NVCC) -arch=all-major -o $@ $^

$(patsubst gpu_ref/%.cu,build/gpu/obj/%.o,$(wildcard gpu_ref/profile/*.cu)): gpu_ref/profile/kernels.h

# What of gpu_ref runs without a GPU, for the tests.
CAPTURE_HOST := $(B)/capture-host
CAPTURE_HOST_OBJ := $(CAPTURE_CPP:%.cpp=$(B)/%.o) $(B)/tests/capture_host.o

$(CAPTURE_HOST_OBJ): $(B)/%.o: %.cpp $(CAPTURE_DEPS)
	@mkdir -p $(@D)
	@echo "  CXX     $<"
	$(Q)$(CXX) $(CXXFLAGS) $(OPT_$(CONF)) -Igpu_ref -c -o $@ $<

$(CAPTURE_HOST): $(CAPTURE_HOST_OBJ)
	@echo "  LINK    $@"
	$(Q)$(CXX) $(CXXFLAGS) $(OPT_$(CONF)) -o $@ $^ -lzstd

SHARE := $(DESTDIR)$(PREFIX)/share/wavetail
HEADERS := $(wildcard sim/*/*.h)

install: $(WAVETAIL) $(SWEEP_MPI) $(VIEW) $(LIB) ## install the command, library, headers and configs under PREFIX
	$(Q)install -D -t $(DESTDIR)$(PREFIX)/bin $(WAVETAIL) $(SWEEP_MPI) $(VIEW)
	$(Q)install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib $(LIB)
	$(Q)for h in $(HEADERS:sim/%=%); do \
	  install -D -m 644 sim/$$h $(DESTDIR)$(PREFIX)/include/wavetail/$$h || exit 1; done
	$(Q)for f in $(wildcard configs/*/*.cfg configs/*/*/*.cfg configs/*/*/*.wtp); do install -D -m 644 $$f $(SHARE)/$$f || exit 1; done
	$(Q)install -D -m 644 -t $(SHARE) LICENSE

clean: ## remove everything built
	rm -rf build

-include $(wildcard build/fuzz/*/*/*.d) $(SIM_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(SWEEP_MPI_OBJ:.o=.d) $(VIEW_OBJ:.o=.d) \
         $(TEST_OBJ:.o=.d) $(BENCH_OBJ:.o=.d)
