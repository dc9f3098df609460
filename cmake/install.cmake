# Installation: find_package(tippe) gives tippe::tippe (core) and tippe::tippe_io (files); pkg-config
# gives tippe and tippe_io.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/tippe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS tippe ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(NOT TIPPE_CORE_ONLY)
    install(TARGETS tippe_io ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(TARGETS tippe_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/tippe)
    install(FILES app/completion/tippe.bash RENAME tippe
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
endif()

# What a program that links the static libraries has to link beside them, by absolute name.
set(TIPPE_LINK_LIBRARIES)
if(TIPPE_QHULL)
    list(APPEND TIPPE_LINK_LIBRARIES ${TIPPE_QHULL_LIBRARY})
endif()
if(NOT TIPPE_CORE_ONLY)
    set(TIPPE_IO_LINK_LIBRARIES ${HDF5_C_LIBRARIES})
endif()
list(JOIN TIPPE_LINK_LIBRARIES " " TIPPE_LINK_LINE)
list(JOIN TIPPE_IO_LINK_LIBRARIES " " TIPPE_IO_LINK_LINE)

set(packages ${CMAKE_INSTALL_LIBDIR}/cmake/tippe)
configure_package_config_file(cmake/tippe-config.cmake.in ${CMAKE_BINARY_DIR}/tippe-config.cmake
    INSTALL_DESTINATION ${packages}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tippe-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tippe-config.cmake ${CMAKE_BINARY_DIR}/tippe-config-version.cmake
    DESTINATION ${packages})

configure_file(cmake/tippe.pc.in ${CMAKE_BINARY_DIR}/tippe.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tippe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(NOT TIPPE_CORE_ONLY)
    configure_file(cmake/tippe_io.pc.in ${CMAKE_BINARY_DIR}/tippe_io.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/tippe_io.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
