# A file as an array of bytes in C: cmake -DINPUT=file -DOUTPUT=file.c -DNAME=name -P embed.cmake
file(READ ${INPUT} digits HEX)
string(REGEX REPLACE "(................................)" "\\1\n" digits "${digits}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${digits}")
get_filename_component(source ${INPUT} NAME)
file(WRITE ${OUTPUT} "// Made from ${source}.\n\n#include <stddef.h>\n\nextern const unsigned char ${NAME}[];\nextern const size_t ${NAME}Size;\n\nconst unsigned char ${NAME}[] = {\n${bytes}\n};\nconst size_t ${NAME}Size = sizeof(${NAME});\n")
