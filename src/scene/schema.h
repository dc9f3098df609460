// What the JSON Schema and the page of the vocabulary share.

#ifndef TIPPE_SRC_SCENE_SCHEMA_H
#define TIPPE_SRC_SCENE_SCHEMA_H

#include "scene/vocabulary.h"

enum { tp_mostRecords = 64 };

// Every record that can be reached from the scene, each once, in the order of first mention;
// members of a family follow the first.
typedef struct tpRecordList {
    const tpRecord* records[tp_mostRecords];
    int count;
} tpRecordList;

void tpListRecords(tpRecordList* list);

#endif
