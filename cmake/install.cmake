# cmake --install: headers, libraries, the tool, a CMake package (find_package(knuckle)) and pkg-config files.
# Everything is relative to its own place, so an installed tree may be moved.
if(NOT KN_WHOLE)
	return()
endif()
include(CMakePackageConfigHelpers)

set(KN_INSTALL_TARGETS knuckle)
set(KN_ABSENT_HEADERS PATTERN "io.h" EXCLUDE)
if(KN_HAVE_IO)
	list(APPEND KN_INSTALL_TARGETS knuckle_io)
	set(KN_ABSENT_HEADERS "")
endif()
install(TARGETS ${KN_INSTALL_TARGETS} EXPORT knuckle
	ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/knuckle/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/knuckle
	FILES_MATCHING PATTERN "*.h" ${KN_ABSENT_HEADERS})
if(KN_HAVE_TOOL)
	install(TARGETS knuckle_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	# where the target viewer was built
	install(DIRECTORY ${PROJECT_BINARY_DIR}/viewer DESTINATION ${CMAKE_INSTALL_DATADIR}/knuckle OPTIONAL)
	install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/knuckle/models
		FILES_MATCHING PATTERN "*.xml")
endif()
if(NOT CMAKE_INSTALL_RPATH AND BUILD_SHARED_LIBS)
	set_target_properties(${KN_INSTALL_TARGETS} PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()

# --- CMake package ------------------------------------------------------------------------------------------------
set(KN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/knuckle)
install(EXPORT knuckle NAMESPACE knuckle:: FILE knuckleTargets.cmake DESTINATION ${KN_PACKAGE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/knuckleConfig.cmake.in
	${PROJECT_BINARY_DIR}/package/knuckleConfig.cmake INSTALL_DESTINATION ${KN_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/knuckleConfigVersion.cmake
	VERSION ${KN_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/knuckleConfig.cmake ${PROJECT_BINARY_DIR}/package/knuckleConfigVersion.cmake
	DESTINATION ${KN_PACKAGE_DIR})

# --- pkg-config ---------------------------------------------------------------------------------------------------
# A static library cannot name what it needs, so a static build says it in the .pc file and plain
# `pkg-config --libs` works for both kinds. libm is public: vecmath.h calls sqrt.
file(RELATIVE_PATH KN_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" KN_PC_PREFIX "${KN_PC_PREFIX}")
set(KN_PC_LIBS "-lm -pthread")
set(KN_PC_IO_REQUIRES "")
set(KN_PC_IO_REQUIRES_PRIVATE "")
set(KN_PC_IO_NEEDS "")
if(KN_HAVE_MJCF)
	string(APPEND KN_PC_IO_NEEDS " expat")
endif()
if(KN_HAVE_TREE_JSON)
	string(APPEND KN_PC_IO_NEEDS " libcjson")
endif()
if(KN_HAVE_PNG)
	string(APPEND KN_PC_IO_NEEDS " libpng")
endif()
if(KN_HAVE_ASSIMP)
	string(APPEND KN_PC_IO_NEEDS " assimp")
endif()
if(BUILD_SHARED_LIBS)
	set(KN_PC_IO_REQUIRES_PRIVATE "${KN_PC_IO_NEEDS}")
else()
	set(KN_PC_IO_REQUIRES "${KN_PC_IO_NEEDS}")
endif()
if(BUILD_SHARED_LIBS)
	set(KN_PC_LIBS "-lm")
endif()
foreach(NAME knuckle knuckle_io)
	if(NAME STREQUAL "knuckle_io" AND NOT KN_HAVE_IO)
		continue()
	endif()
	configure_file(${PROJECT_SOURCE_DIR}/cmake/${NAME}.pc.in ${PROJECT_BINARY_DIR}/package/${NAME}.pc @ONLY)
	install(FILES ${PROJECT_BINARY_DIR}/package/${NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
