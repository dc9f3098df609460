# What comes from the system's packages.
find_package(Threads REQUIRED)

# Core: nothing but threads and the mathematics of the C library; hulls if Qhull is there.
add_library(tippe_dependencies INTERFACE)
target_link_libraries(tippe_dependencies INTERFACE Threads::Threads m)
if(TIPPE_QHULL)
    find_path(TIPPE_QHULL_INCLUDE libqhull_r/libqhull_r.h REQUIRED)
    find_library(TIPPE_QHULL_LIBRARY qhull_r REQUIRED)
    target_include_directories(tippe_dependencies SYSTEM INTERFACE ${TIPPE_QHULL_INCLUDE})
    target_link_libraries(tippe_dependencies INTERFACE ${TIPPE_QHULL_LIBRARY})
    target_compile_definitions(tippe_dependencies INTERFACE TIPPE_HAVE_QHULL=1)
endif()

# Files: HDF5. Tests hold our JSON reader to yajl.
if(NOT TIPPE_CORE_ONLY)
    add_library(tippe_io_dependencies INTERFACE)
    find_package(HDF5 REQUIRED COMPONENTS C)
    # A shared HDF5 brings its own libraries along (curl, OpenSSL); only a static one needs them named here.
    if("${HDF5_C_LIBRARIES}" MATCHES "hdf5[a-z_]*\\.(so|dylib)")
        list(FILTER HDF5_C_LIBRARIES INCLUDE REGEX "hdf5")
    endif()
    target_link_libraries(tippe_io_dependencies INTERFACE ${HDF5_C_LIBRARIES})
    target_include_directories(tippe_io_dependencies SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
endif()
if(TIPPE_TESTS AND NOT TIPPE_CORE_ONLY)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(YAJL REQUIRED IMPORTED_TARGET yajl)
endif()
