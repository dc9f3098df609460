# Installation: find_package(tippe) gives tippe::tippe (core) and tippe::tippe_io; pkg-config gives tippe.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/tippe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(installed tippe tippe_options tippe_dependencies)
if(NOT TIPPE_CORE_ONLY)
    list(APPEND installed tippe_io)
    install(TARGETS tippe_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
