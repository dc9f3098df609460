// Texts with the place of their fault marked by '@', so that a test shows where its error belongs.

#ifndef TIPPE_TESTS_SCENE_MARKED_TEXT_H
#define TIPPE_TESTS_SCENE_MARKED_TEXT_H

#include <string.h>

#include "tippe/scene.h"

// Copies `marked` without its '@' and tells the place where that stood, 0:0 if there is none.
// Returns the length of the copy.
static inline size_t takeMark(const char* marked, char* text, tpScenePlace* place) {
    size_t length = 0;
    tpScenePlace here = { 1, 1, 0 };
    *place = (tpScenePlace){ 0, 0, 0 };
    for (const char* c = marked; *c != '\0'; ++c) {
        if (*c == '@') {
            *place = here;
            continue;
        }
        text[length++] = *c;
        if (*c == '\n') {
            here.line += 1;
            here.column = 1;
        } else if (((unsigned char)*c & 0xC0) != 0x80) {
            here.column += 1;
        }
    }
    text[length] = '\0';
    return length;
}

#endif
