// Short ways to write the tables of the vocabulary.

#ifndef TIPPE_SRC_SCENE_VOCABULARY_TABLE_H
#define TIPPE_SRC_SCENE_VOCABULARY_TABLE_H

#include <stddef.h>

#include "scene/vocabulary.h"

#define AT(type, member) .offset = (uint32_t)offsetof(type, member)
#define FIELDS(table) .fields = (table), .fieldCount = (int)(sizeof(table) / sizeof((table)[0]))
#define ONE_RECORD(record) .members = (const tpRecord* const[]){ &(record) }, .memberCount = 1

#endif
