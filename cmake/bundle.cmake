# Libraries of the system as part of what is built: for wheels, which run where those are not installed.
#
# Debian's archives are made for programs, not for shared libraries: they reach stdin, stdout and stderr of the C
# library in a way that only a program may. Those three names are the only obstacle. A copy of each archive asks
# for names of our own instead, which bundled_streams.c keeps.

find_program(TIPPE_OBJCOPY NAMES objcopy llvm-objcopy)
add_library(tippe_bundled_streams STATIC ${CMAKE_CURRENT_LIST_DIR}/bundled_streams.c)

# A copy of lib<name>.a that a shared library can take, into `result`; empty where there is none.
function(tippe_bundle result)
    set(${result} "" PARENT_SCOPE)
    foreach(name ${ARGN})
        find_library(TIPPE_ARCHIVE_${name} NAMES lib${name}.a)
        if(TIPPE_ARCHIVE_${name} AND TIPPE_OBJCOPY)
            set(copy ${CMAKE_BINARY_DIR}/bundle/lib${name}.a)
            file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/bundle)
            execute_process(COMMAND ${TIPPE_OBJCOPY} --redefine-sym stdin=tp_bundledInput
                --redefine-sym stdout=tp_bundledOutput --redefine-sym stderr=tp_bundledErrors
                ${TIPPE_ARCHIVE_${name}} ${copy} RESULT_VARIABLE failure)
            if(NOT failure)
                set(${result} ${copy} PARENT_SCOPE)
                return()
            endif()
        endif()
    endforeach()
endfunction()

# zlib for the program, as the imported target ZLIB::ZLIB.
macro(tippe_bundle_zlib)
    tippe_bundle(bundled_zlib z)
    if(bundled_zlib AND TARGET ZLIB::ZLIB)
        set_target_properties(ZLIB::ZLIB PROPERTIES IMPORTED_LOCATION ${bundled_zlib}
            IMPORTED_LOCATION_RELEASE ${bundled_zlib})
        set_target_properties(ZLIB::ZLIB PROPERTIES INTERFACE_LINK_LIBRARIES tippe_bundled_streams)
    endif()
endmacro()

# HDF5 with what it packs data with, in place of HDF5_C_LIBRARIES; left as it is where an archive is missing.
macro(tippe_bundle_hdf5)
    tippe_bundle(bundled_hdf5 hdf5_serial hdf5)
    tippe_bundle(bundled_sz sz)
    tippe_bundle(bundled_aec aec)
    tippe_bundle(bundled_z z)
    if(bundled_hdf5 AND bundled_sz AND bundled_aec AND bundled_z)
        set(HDF5_C_LIBRARIES ${bundled_hdf5} ${bundled_sz} ${bundled_aec} ${bundled_z} tippe_bundled_streams
            ${CMAKE_DL_LIBS} m)
    else()
        message(STATUS "no archives of HDF5: the shared library is used")
    endif()
endmacro()
