# The replay page: apps/web, built by node into one C string, so that an installed tool writes pages without node. Without
# node or its packages the string is empty and pages are left out; KN_PAGE_MISSING says why.
#
# The packages are those of apps/web/package-lock.json. They are fetched here (npm ci) where they are missing and the
# registry can be reached; ./dev does it before.
option(KN_BUILD_PAGE "Build the replay page (needs nodejs and npm)" ON)
set(KN_WEB ${PROJECT_SOURCE_DIR}/apps/web)
set(KN_PAGE_SOURCE ${PROJECT_BINARY_DIR}/page/page_template.c)
set(KN_PAGE_MISSING "")
find_program(KN_NODE NAMES node nodejs)
find_program(KN_NPM NAMES npm)
mark_as_advanced(KN_NODE KN_NPM)

# node_modules as the lock file says: npm leaves its own copy of it there
function(kn_fetch_packages)
	set(INSTALLED ${KN_WEB}/node_modules/.package-lock.json)
	if(EXISTS ${INSTALLED} AND NOT ${KN_WEB}/package-lock.json IS_NEWER_THAN ${INSTALLED})
		return()
	endif()
	if(NOT KN_NPM)
		set(KN_PAGE_MISSING "npm not found (Debian package npm)" PARENT_SCOPE)
		return()
	endif()
	message(STATUS "Fetching the packages of apps/web (npm ci)")
	execute_process(COMMAND ${KN_NPM} ci --no-audit --no-fund WORKING_DIRECTORY ${KN_WEB} TIMEOUT 180
		RESULT_VARIABLE RESULT OUTPUT_QUIET ERROR_QUIET)
	if(NOT RESULT EQUAL 0)
		set(KN_PAGE_MISSING "the packages of apps/web could not be fetched (npm ci in apps/web says why)" PARENT_SCOPE)
	endif()
endfunction()

if(NOT KN_BUILD_PAGE)
	set(KN_PAGE_MISSING "switched off (KN_BUILD_PAGE)")
elseif(NOT KN_NODE)
	set(KN_PAGE_MISSING "node not found (Debian packages nodejs and npm)")
else()
	execute_process(COMMAND ${KN_NODE} --version OUTPUT_VARIABLE KN_NODE_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
	string(REPLACE "v" "" KN_NODE_VERSION "${KN_NODE_VERSION}")
	if(KN_NODE_VERSION VERSION_LESS 18)
		set(KN_PAGE_MISSING "node ${KN_NODE_VERSION} is too old; it needs 18 or newer")
	else()
		kn_fetch_packages()
	endif()
endif()

if(KN_PAGE_MISSING)
	file(CONFIGURE OUTPUT ${KN_PAGE_SOURCE} CONTENT
		"#include \"page_template.h\"\n\nconst char knPageTemplate[] = \"\";\nconst size_t knPageTemplateSize = 0;\n")
else()
	set(KN_HAVE_PAGE ON)
	file(GLOB KN_PAGE_PARTS CONFIGURE_DEPENDS ${KN_WEB}/src/*)
	file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/page)
	add_custom_command(OUTPUT ${KN_PAGE_SOURCE} ${PROJECT_BINARY_DIR}/page/page.html
		COMMAND ${KN_NODE} ${KN_WEB}/build.mjs ${PROJECT_BINARY_DIR}/page/page.html ${KN_PAGE_SOURCE}
		DEPENDS ${KN_WEB}/build.mjs ${KN_WEB}/package-lock.json ${KN_PAGE_PARTS}
		COMMENT "Building the replay page" VERBATIM)
	add_custom_target(knuckle_page DEPENDS ${KN_PAGE_SOURCE})
endif()
