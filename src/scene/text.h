// Text that grows, numbers that survive being written, and the C locale around both.

#ifndef TIPPE_SRC_SCENE_TEXT_H
#define TIPPE_SRC_SCENE_TEXT_H

#include <locale.h>

#include "base/memory.h"

// strtod and printf follow the process's locale, in which a decimal point may be a comma. Between
// these two calls this thread is in the C locale, whatever the process is in.
typedef struct tpLocaleScope {
    locale_t c, before;
} tpLocaleScope;

bool tpEnterCLocale(tpLocaleScope* scope); // false: out of memory
void tpLeaveCLocale(tpLocaleScope* scope);

enum { tp_numberLength = 32 };

// The shortest of 15, 16 and 17 significant digits that reads back as the same double.
int tpPrintNumber(char buffer[tp_numberLength], double number);

typedef struct tpText {
    const tpAllocator* allocator;
    TP_ARRAY(char) bytes; // bytes.data[bytes.count] is 0 once something was added
    bool failed;          // out of memory; what was added since is lost
} tpText;

void tpText_Add(tpText* text, const char* words);
void tpText_AddBytes(tpText* text, const char* bytes, size_t length);
void tpText_Format(tpText* text, const char* format, ...) TP_PRINTF(2, 3);
void tpText_AddQuoted(tpText* text, const char* words); // as a JSON string
// The same where {formula} is filled in when it is read: { is written {{.
void tpText_AddTemplate(tpText* text, const char* words);
void tpText_AddNumber(tpText* text, double number);
void tpText_Free(tpText* text);

// Hands the text over, in a block of exactly its length and one; false if memory ran out.
bool tpText_Take(tpText* text, char** out, size_t* length);

#endif
