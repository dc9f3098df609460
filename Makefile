# Two commands do everything: `make demo` and `make test`. Both install what is missing.
#
#   make         build the release preset: build/release/bin/tippe
#   make demo    turn the tippe top over, print a summary, write build/demo/tippe_top.html
#   make test    the whole test suite: gcc, clang with sanitizers, threads under the thread sanitizer
#   make PRESET  build one of dev, clang, asan, tsan
#   make board   hold every stepper, Bullet, ODE and MuJoCo against known laws (docs/board.md)
#   make figures draw the pictures of the documents from runs of our own
#   make playground      the core for WebAssembly and the playground's pages: build/playground, for any file server
#   make test-playground the playground in a browser, held to the program bit by bit (emscripten is too large for make test)
#   make pictures        draw the gallery's pictures from runs in the playground
#   make site    the documents as a site: build/site, with the playground in it where that has been made
#   make wheels  wheels of the Python package: build/wheels
#   make format  clang-format on all sources, comments wrapped at 100 columns (tools/format.py)
#   make install PREFIX=/usr/local     uninstall PREFIX=... takes it away again

PREFIX ?= /usr/local
presets := release dev clang asan tsan
quiet = log=$$(mktemp); trap 'rm -f $$log' EXIT; $(1) > $$log 2>&1 || { cat $$log; exit 1; }

.PHONY: all demo test board figures playground test-playground pictures site wheels format install uninstall clean setup-build setup-test $(presets)

all: release

setup-build:
	@tools/setup.sh build

setup-test:
	@tools/setup.sh test

release dev: setup-build
clang asan tsan: setup-test

# With tests where their packages are there.
$(presets):
	@echo "building $@ in build/$@"
	@$(call quiet,cmake --preset $@ -DTIPPE_TESTS=$$(test -f /usr/include/cmocka.h -a -d /usr/include/yajl && echo ON || echo OFF))
	@$(call quiet,cmake --build --preset $@)

demo: release
	@mkdir -p build/demo
	@echo "running scenes/tippe_top.json: a top that stands on its head after two seconds, by friction alone"
	@build/release/bin/tippe run scenes/tippe_top.json --out build/demo/tippe_top.h5 --csv build/demo/tippe_top.csv --every 10
	@build/release/bin/tippe export build/demo/tippe_top.h5 --html build/demo/tippe_top.html
	@echo "the page: build/demo/tippe_top.html"

test: setup-test
	@$(MAKE) --no-print-directory release asan tsan
	@echo "tests: release (gcc)"
	@ctest --preset release --progress -j 2
	@echo "tests: asan (clang, address and undefined-behaviour sanitizers)"
	@ctest --preset asan --progress -j 2
	@echo "tests: tsan (threads)"
	@ctest --preset tsan --progress -j 2

board: setup-build
	@bench/board/run.sh

figures: release
	@python3 tools/figures.py build/release/bin/tippe
	@tools/screenshots.sh build/release/bin/tippe docs/figures

playground:
	@tools/setup.sh playground
	@tools/playground.sh build/playground
	@echo "look at it: python3 -m http.server -d build/playground"

test-playground: setup-test playground
	@$(MAKE) --no-print-directory release
	@ctest --preset release -R '^viewer/(packages|playground)'

pictures: setup-test playground
	@cd tests/viewer && npm ci --ignore-scripts --silent
	@TIPPE_CHROMIUM=$$(command -v chromium) TIPPE_PROGRAM=build/release/bin/tippe TIPPE_SOURCE_DIR=. TIPPE_SCREENSHOTS=build/screenshots \
		TIPPE_SITE=build/playground node tests/viewer/pictures.mjs .

site:
	@tools/setup.sh site
	@tools/site/build.sh build/site
	@echo "look at it: build/site/index.html"

wheels: setup-build
	@tools/wheels.sh

format:
	@tools/format.py

install: release
	@cmake --install build/release --prefix $(PREFIX)

uninstall:
	@tools/uninstall.sh $(PREFIX)

clean:
	@rm -rf build
