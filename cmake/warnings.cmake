# Compiler flags shared by every target. -ffp-contract=off keeps the same bits on every compiler path:
# a fused multiply-add in one loop and not in its twin would break bit-for-bit reproducibility.
add_library(tippe_options INTERFACE)
target_compile_options(tippe_options INTERFACE
    -Wall -Wextra -Wpedantic -Wmissing-prototypes -Wstrict-prototypes -Wshadow -Wvla
    -ffp-contract=off -fno-math-errno)
if(TIPPE_WERROR)
    target_compile_options(tippe_options INTERFACE -Werror)
endif()
if(TIPPE_SANITIZE)
    target_compile_options(tippe_options INTERFACE -fsanitize=${TIPPE_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize-recover=all)
    target_link_options(tippe_options INTERFACE -fsanitize=${TIPPE_SANITIZE})
endif()
target_compile_definitions(tippe_options INTERFACE _POSIX_C_SOURCE=200809L)
if(WIN32) # formats as everywhere
    target_compile_definitions(tippe_options INTERFACE __USE_MINGW_ANSI_STDIO=1)
endif()
