# knuckle           the core library, static or shared
# knuckle_io        scene files (expat) and replay pages, static or shared
# knuckle_inside    the core as a static library whatever BUILD_SHARED_LIBS says: the tool and the tests also use what
#                   a shared library hides. In a static build it is the core library itself.
# knuckle_scenes    the catalogue; static, not installed

# --- the core: no dependencies but libm and threads ---------------------------------------------------------------
file(GLOB_RECURSE KN_CORE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c)
set(KN_PUBLIC_INCLUDE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set(KN_CORE_LINK "")
if(NOT KN_WASM)
	set(THREADS_PREFER_PTHREAD_FLAG ON)
	find_package(Threads REQUIRED)
	set(KN_CORE_LINK Threads::Threads m)
endif()

add_library(knuckle_objects OBJECT ${KN_CORE_SOURCES})
target_include_directories(knuckle_objects PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(knuckle_objects PRIVATE knuckle_flags)
if(BUILD_SHARED_LIBS)
	target_compile_definitions(knuckle_objects PRIVATE KN_BUILD_SHARED)
endif()
# kernels for wider vectors than every machine of the kind has; the same bits, chosen at run time
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
	set_source_files_properties(${PROJECT_SOURCE_DIR}/src/solve/sweep_avx.c PROPERTIES COMPILE_OPTIONS -mavx)
	target_compile_definitions(knuckle_objects PRIVATE KN_AVX_KERNEL)
endif()

# a library made of the core's objects
function(kn_core_library NAME KIND)
	add_library(${NAME} ${KIND} $<TARGET_OBJECTS:knuckle_objects>)
	set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE C)
	target_include_directories(${NAME} PUBLIC ${KN_PUBLIC_INCLUDE})
	# vecmath.h calls sqrt inline, so users link libm as well
	target_link_libraries(${NAME} PUBLIC ${KN_CORE_LINK})
	if(KN_SANITIZE)
		target_link_options(${NAME} PUBLIC -fsanitize=${KN_SANITIZE})
	endif()
endfunction()

if(BUILD_SHARED_LIBS)
	kn_core_library(knuckle SHARED)
	kn_core_library(knuckle_inside STATIC)
	set_target_properties(knuckle PROPERTIES VERSION ${KN_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
	target_link_options(knuckle PRIVATE -Wl,--no-undefined)
else()
	kn_core_library(knuckle STATIC)
	add_library(knuckle_inside ALIAS knuckle)
endif()
add_library(knuckle::knuckle ALIAS knuckle)

# --- scene files (expat) and replay pages -------------------------------------------------------------------------
set(KN_HAVE_IO OFF)
set(KN_HAVE_MJCF OFF)
set(KN_HAVE_PAGE OFF)
file(GLOB KN_IO_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/io/*.c)
if(KN_BUILD_IO AND KN_IO_SOURCES AND NOT KN_WASM)
	set(KN_HAVE_IO ON)
	find_package(EXPAT QUIET)
	if(EXPAT_FOUND)
		set(KN_HAVE_MJCF ON)
	else()
		list(FILTER KN_IO_SOURCES EXCLUDE REGEX "/io/mjcf[^/]*$")
	endif()
	include(${PROJECT_SOURCE_DIR}/cmake/page.cmake)
endif()

function(kn_io_library NAME KIND)
	add_library(${NAME} ${KIND} ${KN_IO_SOURCES} ${KN_PAGE_SOURCE})
	if(TARGET knuckle_page)
		add_dependencies(${NAME} knuckle_page)
	endif()
	target_include_directories(${NAME} PUBLIC ${KN_PUBLIC_INCLUDE}
		PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/io)
	target_link_libraries(${NAME} PRIVATE $<BUILD_INTERFACE:knuckle_flags>)
	if(KN_HAVE_MJCF)
		target_link_libraries(${NAME} PRIVATE EXPAT::EXPAT)
	endif()
endfunction()

if(KN_HAVE_IO)
	if(BUILD_SHARED_LIBS)
		kn_io_library(knuckle_io SHARED)
		target_compile_definitions(knuckle_io PRIVATE KN_BUILD_SHARED)
		set_target_properties(knuckle_io PROPERTIES VERSION ${KN_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
		# public functions come from libknuckle.so; the few hidden helpers (text, arrays: pure functions) are copied in
		target_link_libraries(knuckle_io PUBLIC knuckle PRIVATE $<BUILD_INTERFACE:knuckle_inside>)
		target_link_options(knuckle_io PRIVATE -Wl,--no-undefined -Wl,--exclude-libs,ALL)
		kn_io_library(knuckle_io_inside STATIC)
		target_link_libraries(knuckle_io_inside PUBLIC knuckle_inside)
	else()
		kn_io_library(knuckle_io STATIC)
		target_link_libraries(knuckle_io PUBLIC knuckle)
		add_library(knuckle_io_inside ALIAS knuckle_io)
	endif()
	add_library(knuckle::io ALIAS knuckle_io)
	set_target_properties(knuckle_io PROPERTIES EXPORT_NAME io)
endif()

# --- the catalogue ------------------------------------------------------------------------------------------------
set(KN_HAVE_SCENES OFF)
file(GLOB KN_SCENE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scenes/*.c)
if(KN_SCENE_SOURCES AND (KN_BUILD_TOOL OR KN_BUILD_TESTS))
	set(KN_HAVE_SCENES ON)
	add_library(knuckle_scenes STATIC ${KN_SCENE_SOURCES})
	target_include_directories(knuckle_scenes PUBLIC ${PROJECT_SOURCE_DIR}/scenes PRIVATE ${PROJECT_SOURCE_DIR}/src)
	target_link_libraries(knuckle_scenes PUBLIC knuckle_inside PRIVATE knuckle_flags)
endif()
