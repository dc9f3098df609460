# Installation: the program with its scenes, documents, manual page and completions; the libraries, which
# find_package(tippe) gives as tippe::tippe (core) and tippe::tippe_io (files) and pkg-config as tippe and
# tippe_io. Nothing that is installed knows its place: `cmake --install BUILD --prefix ANYWHERE` will do, and
# the folder may be moved. The list of what was installed goes with it; tools/uninstall.sh reads that.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/tippe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS tippe ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tippe_shared)
    install(TARGETS tippe_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING
    PATTERN "*.md" PATTERN "*.bib" PATTERN "*.png" PATTERN "*.svg"
    PATTERN "moving" EXCLUDE) # pictures of the site
if(NOT TIPPE_CORE_ONLY)
    install(TARGETS tippe_io ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(TARGETS tippe_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/tippe)
    install(FILES docs/scene.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/tippe)
    install(FILES docs/tippe.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES app/completion/tippe.bash RENAME tippe
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES app/completion/tippe.zsh RENAME _tippe
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES app/completion/tippe.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# What a program that links the static libraries has to link beside them: by absolute name for CMake, for
# pkg-config as -L and -l.
function(tippe_link_line result)
    set(line)
    foreach(library ${ARGN})
        get_filename_component(directory ${library} DIRECTORY)
        get_filename_component(name ${library} NAME)
        if(NOT name MATCHES "^lib(.+)\\.(so|a|dylib)")
            message(FATAL_ERROR "tippe: ${library} is no library that -l finds")
        endif()
        if(NOT directory IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
            list(APPEND line -L${directory})
        endif()
        list(APPEND line -l${CMAKE_MATCH_1})
    endforeach()
    list(REMOVE_DUPLICATES line)
    list(JOIN line " " line)
    set(${result} "${line}" PARENT_SCOPE)
endfunction()

set(TIPPE_LINK_LIBRARIES)
if(TIPPE_HAVE_HDF5)
    set(TIPPE_IO_LINK_LIBRARIES ${HDF5_C_LIBRARIES})
endif()
tippe_link_line(TIPPE_LINK_LINE ${TIPPE_LINK_LIBRARIES})
tippe_link_line(TIPPE_IO_LINK_LINE ${TIPPE_IO_LINK_LIBRARIES})

set(packages ${CMAKE_INSTALL_LIBDIR}/cmake/tippe)
configure_package_config_file(cmake/tippe-config.cmake.in ${CMAKE_BINARY_DIR}/tippe-config.cmake
    INSTALL_DESTINATION ${packages}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tippe-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tippe-config.cmake ${CMAKE_BINARY_DIR}/tippe-config-version.cmake
    DESTINATION ${packages})

# The way from the pkg-config files up to the prefix.
file(RELATIVE_PATH TIPPE_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" TIPPE_UP ${TIPPE_UP})
configure_file(cmake/tippe.pc.in ${CMAKE_BINARY_DIR}/tippe.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tippe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(NOT TIPPE_CORE_ONLY)
    configure_file(cmake/tippe_io.pc.in ${CMAKE_BINARY_DIR}/tippe_io.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/tippe_io.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# What was installed, relative to the prefix; comes last.
set(TIPPE_LIST ${CMAKE_INSTALL_DATADIR}/tippe/installed_files)
install(CODE "
    set(listed \"\")
    foreach(file \${CMAKE_INSTALL_MANIFEST_FILES})
        file(RELATIVE_PATH file \"\${CMAKE_INSTALL_PREFIX}\" \"\${file}\")
        string(APPEND listed \"\${file}\\n\")
    endforeach()
    file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${TIPPE_LIST}\" \"\${listed}${TIPPE_LIST}\\n\")")
