# The core, its files and the program as another build made them: only the Python extension is left to build. One build of the C
# sources serves the wheels of all versions of Python, and the sanitizer build serves the extension's tests.
foreach(library tippe tippe_io)
    add_library(${library} STATIC IMPORTED GLOBAL)
    set_target_properties(${library} PROPERTIES IMPORTED_LOCATION ${TIPPE_BUILT}/lib/lib${library}.a
        INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/include)
endforeach()
target_link_libraries(tippe_io INTERFACE tippe)
