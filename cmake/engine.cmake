# The viewer's engine: the core, the catalogue and apps/web/engine as one WebAssembly module, and the viewer page that
# carries it.
#
#   in a wasm build     target knuckle_engine: build/wasm/engine.wasm
#   in a native build   target viewer: the same module made in <build>/engine, and <build>/viewer/index.html with it inside;
#                       a static site of one file (and pictures), which `knuckle view` also serves. Not part of `all`:
#                       it compiles the core a second time. Without clang and wasi-libc it is left out.
file(GLOB KN_ENGINE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/apps/web/engine/*.c)
set(KN_HAVE_VIEWER OFF)
set(KN_SESSION_SOURCES ${KN_ENGINE_SOURCES})
list(FILTER KN_SESSION_SOURCES EXCLUDE REGEX "wasm_api")

if(KN_WASM)
	add_executable(knuckle_engine ${KN_ENGINE_SOURCES} ${PROJECT_SOURCE_DIR}/io/page_store.c
		${PROJECT_SOURCE_DIR}/io/page_bytes.c ${PROJECT_SOURCE_DIR}/apps/cli/scene_request.c
		${PROJECT_SOURCE_DIR}/apps/cli/options.c)
	set_target_properties(knuckle_engine PROPERTIES OUTPUT_NAME engine SUFFIX .wasm
		RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
	target_include_directories(knuckle_engine PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/apps/cli
		${PROJECT_SOURCE_DIR}/io ${PROJECT_SOURCE_DIR}/apps/web/engine)
	target_link_libraries(knuckle_engine PRIVATE knuckle_scenes knuckle_inside knuckle_flags)
	# a library that is called, not a program that runs; symbols are of no use in a browser
	target_link_options(knuckle_engine PRIVATE -mexec-model=reactor -Wl,-z,stack-size=1048576 -Wl,--stack-first
		-Wl,--strip-all -Wl,--gc-sections)
	return()
endif()

# compiled here too, so that a change of the core that breaks it is noticed in every build
if(KN_HAVE_SCENES AND PROJECT_IS_TOP_LEVEL)
	add_library(knuckle_session OBJECT ${KN_SESSION_SOURCES})
	target_include_directories(knuckle_session PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/apps/cli
		${PROJECT_SOURCE_DIR}/io ${PROJECT_SOURCE_DIR}/apps/web/engine ${PROJECT_SOURCE_DIR}/scenes ${PROJECT_SOURCE_DIR}/include)
	target_link_libraries(knuckle_session PRIVATE knuckle_flags)
endif()

set(KN_VIEWER_MISSING "")
find_program(KN_WASM_LD NAMES wasm-ld wasm-ld-14)
find_program(KN_CLANG NAMES clang)
find_path(KN_WASI_INCLUDE stdlib.h PATHS /usr/include/wasm32-wasi NO_DEFAULT_PATH)
mark_as_advanced(KN_WASM_LD KN_CLANG KN_WASI_INCLUDE)
if(NOT KN_HAVE_PAGE OR NOT KN_HAVE_SCENES)
	set(KN_VIEWER_MISSING "it needs the replay page")
elseif(NOT KN_WASM_LD OR NOT KN_CLANG OR NOT KN_WASI_INCLUDE)
	set(KN_VIEWER_MISSING "WebAssembly tools not found (Debian packages clang lld llvm wasi-libc libclang-rt-14-dev-wasm32)")
else()
	set(KN_HAVE_VIEWER ON)
	set(KN_ENGINE_BUILD ${PROJECT_BINARY_DIR}/engine)
	# always asked: its own build knows what is out of date
	add_custom_target(knuckle_engine
		COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${KN_ENGINE_BUILD} -G ${CMAKE_GENERATOR}
			--toolchain ${PROJECT_SOURCE_DIR}/cmake/wasm32-wasi.cmake -DCMAKE_BUILD_TYPE=Release
			"-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG" -DKN_BUILD_TOOL=ON -DKN_WERROR=OFF
		COMMAND ${CMAKE_COMMAND} --build ${KN_ENGINE_BUILD} --target knuckle_engine
		BYPRODUCTS ${KN_ENGINE_BUILD}/engine.wasm COMMENT "Building the viewer's engine" VERBATIM USES_TERMINAL)
	add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/viewer/index.html
		COMMAND ${KN_NODE} ${KN_WEB}/build.mjs --viewer ${PROJECT_BINARY_DIR}/viewer ${KN_ENGINE_BUILD}/engine.wasm
		DEPENDS knuckle_engine ${KN_ENGINE_BUILD}/engine.wasm ${KN_WEB}/build.mjs ${KN_WEB}/package-lock.json ${KN_PAGE_PARTS}
		COMMENT "Building the viewer" VERBATIM)
	add_custom_target(viewer DEPENDS ${PROJECT_BINARY_DIR}/viewer/index.html)
endif()
