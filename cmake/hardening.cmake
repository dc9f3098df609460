# What makes mistakes in memory harder to exploit: checked stacks and string functions, addresses that are
# bound once and then read-only, programs at random places. The same for what is built, tested and installed.
# No entry of a RUNPATH may be empty or relative, or the loader would look into the current folder: CMake
# pads the one of the build tree with an empty entry unless it is the installed one from the start.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
check_pie_supported()

set(stack_flags -fstack-protector-strong -fstack-clash-protection)
if(WIN32) # mingw has its checks in a library of their own, and cannot write unwinding tables with the latter
    set(stack_flags)
endif()
foreach(flag ${stack_flags})
    string(MAKE_C_IDENTIFIER "TIPPE_HAS${flag}" has)
    check_c_compiler_flag(${flag} ${has})
    if(${has})
        target_compile_options(tippe_options INTERFACE ${flag})
    endif()
endforeach()
# Sanitizers have checks of their own; without optimisation the macro does nothing but warn.
if(NOT TIPPE_SANITIZE)
    target_compile_options(tippe_options INTERFACE
        "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>")
endif()
foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    string(MAKE_C_IDENTIFIER "TIPPE_HAS${flag}" has)
    check_linker_flag(C ${flag} ${has})
    if(${has})
        target_link_options(tippe_options INTERFACE ${flag})
    endif()
endforeach()
