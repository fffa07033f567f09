# Tests: every test/<layer>/test_*.c is one program and one ctest entry "<layer>/*" with the label quick, as are the facts
# that hold for all steppers, facts_*.c; test/<layer>/long_*.c likewise with the label long. Checks that need no program stand at the end.
set(KN_HAVE_TESTS OFF)
set(KN_TEST_COUNT 0)
if(NOT KN_BUILD_TESTS)
	return()
endif()
find_path(CMOCKA_INCLUDE_DIR cmocka.h)
find_library(CMOCKA_LIBRARY cmocka)
mark_as_advanced(CMOCKA_INCLUDE_DIR CMOCKA_LIBRARY)
enable_testing()

if(CMOCKA_INCLUDE_DIR AND CMOCKA_LIBRARY)
	set(KN_HAVE_TESTS ON)
endif()

# what a test may ask for: the tool, the project's own files; it runs in a folder of its own, where it may write
set(KN_TEST_ENVIRONMENT "KN_SOURCE_DIR=${PROJECT_SOURCE_DIR}" "KN_BINARY_DIR=${PROJECT_BINARY_DIR}"
	"ASAN_OPTIONS=allocator_may_return_null=1" "UBSAN_OPTIONS=print_stacktrace=1" "CC=${CMAKE_C_COMPILER}")
if(KN_HAVE_TOOL)
	list(APPEND KN_TEST_ENVIRONMENT "KN_TOOL=$<TARGET_FILE:knuckle_tool>")
endif()

function(kn_test FILE)
	get_filename_component(FOLDER ${FILE} DIRECTORY)
	get_filename_component(LAYER ${FOLDER} NAME)
	get_filename_component(BASE ${FILE} NAME_WE)
	string(REGEX REPLACE "^(test|long)_" "" SHORT ${BASE})
	if(BASE MATCHES "^long_facts_")
		set(SHORT ${BASE}) # the quick ones have the same name without
	endif()
	set(LABEL quick)
	if(BASE MATCHES "^long_")
		set(LABEL long)
	endif()

	set(TARGET ${LAYER}_${BASE})
	add_executable(${TARGET} ${FILE})
	set_target_properties(${TARGET} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
	target_include_directories(${TARGET} PRIVATE ${PROJECT_SOURCE_DIR}/test ${PROJECT_SOURCE_DIR}/src
		${PROJECT_SOURCE_DIR}/scenes ${PROJECT_SOURCE_DIR}/io ${CMOCKA_INCLUDE_DIR})
	if(KN_HAVE_SCENES)
		target_link_libraries(${TARGET} PRIVATE knuckle_scenes)
	endif()
	if(KN_HAVE_IO)
		target_link_libraries(${TARGET} PRIVATE knuckle_io_inside)
	endif()
	if(KN_HAVE_ASSIMP)
		target_compile_definitions(${TARGET} PRIVATE KN_HAVE_ASSIMP)
	endif()
	target_link_libraries(${TARGET} PRIVATE knuckle_inside knuckle_flags ${CMOCKA_LIBRARY})
	if(LAYER STREQUAL "cli" AND KN_HAVE_TOOL)
		add_dependencies(${TARGET} knuckle_tool)
	endif()

	set(SCRATCH ${PROJECT_BINARY_DIR}/test/scratch/${TARGET})
	file(MAKE_DIRECTORY ${SCRATCH})
	add_test(NAME ${LAYER}/${SHORT} COMMAND ${TARGET} WORKING_DIRECTORY ${SCRATCH})
	set_tests_properties(${LAYER}/${SHORT} PROPERTIES LABELS ${LABEL} TIMEOUT 300
		ENVIRONMENT "${KN_TEST_ENVIRONMENT}")
endfunction()

if(KN_HAVE_TESTS)
	file(GLOB KN_TEST_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/*/test_*.c
		${PROJECT_SOURCE_DIR}/test/*/facts_*.c ${PROJECT_SOURCE_DIR}/test/*/long_*.c)
	foreach(FILE IN LISTS KN_TEST_SOURCES)
		get_filename_component(FOLDER ${FILE} DIRECTORY)
		get_filename_component(LAYER ${FOLDER} NAME)
		# tests of a part that is left out are left out with it
		if((LAYER STREQUAL "io" AND NOT KN_HAVE_IO) OR (FILE MATCHES "/io/[^/]*(mjcf|urdf)" AND NOT KN_HAVE_MJCF) OR (LAYER STREQUAL "cli" AND NOT KN_HAVE_TOOL)
			OR ((LAYER STREQUAL "scenes" OR FILE MATCHES "facts_[^/]*$") AND NOT KN_HAVE_SCENES))
			continue()
		endif()
		kn_test(${FILE})
		math(EXPR KN_TEST_COUNT "${KN_TEST_COUNT} + 1")
	endforeach()
endif()

# MuJoCo as an oracle of one test, where Debian's libmujoco-dev is installed
find_library(KN_MUJOCO_LIBRARY mujoco)
find_path(KN_MUJOCO_INCLUDE mujoco/mujoco.h)
mark_as_advanced(KN_MUJOCO_LIBRARY KN_MUJOCO_INCLUDE)
if(TARGET io_test_mjcf_mujoco AND KN_MUJOCO_LIBRARY AND KN_MUJOCO_INCLUDE)
	target_compile_definitions(io_test_mjcf_mujoco PRIVATE KN_HAVE_MUJOCO)
	target_include_directories(io_test_mjcf_mujoco SYSTEM PRIVATE ${KN_MUJOCO_INCLUDE})
	target_link_libraries(io_test_mjcf_mujoco PRIVATE ${KN_MUJOCO_LIBRARY})
endif()

# scripts: they end with "N passed, N failed"; 77 means that a tool is missing
function(kn_script_test NAME LABEL)
	add_test(NAME ${NAME} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
	set_tests_properties(${NAME} PROPERTIES LABELS ${LABEL} TIMEOUT 300 SKIP_RETURN_CODE 77
		ENVIRONMENT "${KN_TEST_ENVIRONMENT}")
endfunction()
if(KN_SANITIZE)
	return()
endif()
kn_script_test(project/layers quick ${PROJECT_SOURCE_DIR}/tools/check_layers)
kn_script_test(project/headers quick ${PROJECT_SOURCE_DIR}/test/headers/check_headers)
kn_script_test(project/layer_check quick ${PROJECT_SOURCE_DIR}/test/headers/check_layers_notices)
# code and commands of the documents
if(KN_NODE AND KN_HAVE_TOOL AND KN_HAVE_MJCF AND KN_HAVE_TREE_JSON AND NOT BUILD_SHARED_LIBS)
	kn_script_test(project/docs long ${KN_NODE} ${PROJECT_SOURCE_DIR}/test/docs/docs_test.mjs)
	set_tests_properties(project/docs PROPERTIES TIMEOUT 900)
endif()
# in a browser, with the packages of apps/web
if(KN_HAVE_PAGE AND KN_HAVE_TOOL)
	kn_script_test(web/words quick ${KN_NODE} ${PROJECT_SOURCE_DIR}/test/web/words_test.mjs)
	kn_script_test(web/page long ${KN_NODE} ${PROJECT_SOURCE_DIR}/test/web/page_test.mjs)
	if(KN_HAVE_VIEWER)
		# they skip themselves where the target viewer was not built
		kn_script_test(web/engine long ${KN_NODE} ${PROJECT_SOURCE_DIR}/test/web/engine_test.mjs)
		set_property(TEST web/engine APPEND PROPERTY ENVIRONMENT "KN_ENGINE=${PROJECT_BINARY_DIR}/engine/engine.wasm")
		kn_script_test(web/viewer long ${KN_NODE} ${PROJECT_SOURCE_DIR}/test/web/viewer_test.mjs)
		kn_script_test(web/live long ${KN_NODE} ${PROJECT_SOURCE_DIR}/test/web/live_test.mjs)
		# every scene is drawn in software: a hundred seconds on an idle machine
		set_tests_properties(web/viewer web/live web/engine PROPERTIES TIMEOUT 1200)
	endif()
	kn_script_test(web/render long ${KN_NODE} ${PROJECT_SOURCE_DIR}/test/web/render_test.mjs)
	kn_script_test(web/glb long ${KN_NODE} ${PROJECT_SOURCE_DIR}/test/web/glb_test.mjs)
endif()
