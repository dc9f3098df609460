# What comes from the system's packages.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# Core: dense and sparse algebra; hulls where Qhull is there.
add_library(tippe_dependencies INTERFACE)
find_package(BLAS REQUIRED)
find_package(LAPACK REQUIRED)
find_path(TIPPE_LAPACKE_INCLUDE lapacke.h REQUIRED)
find_library(TIPPE_LAPACKE lapacke REQUIRED)
find_path(TIPPE_SUITESPARSE_INCLUDE umfpack.h PATH_SUFFIXES suitesparse REQUIRED)
foreach(part umfpack cholmod amd colamd suitesparseconfig)
    find_library(TIPPE_SUITESPARSE_${part} ${part} REQUIRED)
    list(APPEND TIPPE_SUITESPARSE_LIBRARIES ${TIPPE_SUITESPARSE_${part}})
endforeach()
target_include_directories(tippe_dependencies SYSTEM INTERFACE
    ${TIPPE_LAPACKE_INCLUDE} ${TIPPE_SUITESPARSE_INCLUDE})
target_link_libraries(tippe_dependencies INTERFACE
    ${TIPPE_SUITESPARSE_LIBRARIES} ${TIPPE_LAPACKE} LAPACK::LAPACK BLAS::BLAS Threads::Threads m)
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
    target_link_libraries(tippe_io_dependencies INTERFACE ${HDF5_C_LIBRARIES})
    target_include_directories(tippe_io_dependencies SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
endif()
if(TIPPE_TESTS AND NOT TIPPE_CORE_ONLY)
    pkg_check_modules(YAJL REQUIRED IMPORTED_TARGET yajl)
endif()
