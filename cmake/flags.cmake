# Flags of Knuckle's own sources, kept in one interface target so that nothing leaks into a project that includes us.
add_library(knuckle_flags INTERFACE)
target_compile_features(knuckle_flags INTERFACE c_std_17)
target_compile_options(knuckle_flags INTERFACE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes)
# in instrumented code gcc's flow warnings guess wrongly
if(KN_WERROR AND NOT KN_SANITIZE)
	target_compile_options(knuckle_flags INTERFACE -Werror)
endif()
target_compile_definitions(knuckle_flags INTERFACE _GNU_SOURCE)

# the same bits everywhere: no contraction, no relaxed arithmetic, no x87 (docs/architecture.md, "Determinism")
target_compile_options(knuckle_flags INTERFACE -ffp-contract=off -fno-math-errno)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
	# gcc's straight-line vectoriser fuses a*b+-c*d patterns in spite of -ffp-contract=off where the machine has FMA
	target_compile_options(knuckle_flags INTERFACE -fno-tree-slp-vectorize)
	# vectors are passed between functions of one build only
	target_compile_options(knuckle_flags INTERFACE -Wno-psabi)
endif()
if(KN_WASM)
	# clang 14 selects wrong SIMD instructions for some straight-line vectors
	target_compile_options(knuckle_flags INTERFACE -fno-slp-vectorize)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^i.86$")
	target_compile_options(knuckle_flags INTERFACE -msse2 -mfpmath=sse)
endif()

if(KN_SANITIZE)
	target_compile_options(knuckle_flags INTERFACE
		-fsanitize=${KN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
	target_link_options(knuckle_flags INTERFACE -fsanitize=${KN_SANITIZE})
endif()

if(KN_FUZZ)
	# what is covered guides the fuzzer
	target_compile_options(knuckle_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# every target of ours: C17 without extensions, hidden unless KN_API
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
