// A page of Tippe's as one file that needs nothing else: the page's own text with data put into it.
//
// A page is built from viewer/ and is part of the program. Data go where the page has its mark:
// JSON, or blocks of bytes that the page unpacks when it needs them. The page finds them by their
// names.
//
//     tpPageFile file;
//     if (openPageFile("export", "out.html", tpReplayPage(), &file)) {
//         putPageText(&file, "head", json);
//         putPageBlock(&file, "frames", "0 64", bytes, size);
//         done = closePageFile("export", &file);
//     }

#ifndef TIPPE_APP_PAGE_FILE_H
#define TIPPE_APP_PAGE_FILE_H

#include <stddef.h>

#include "output_file.h"

// The text of a page, in two parts between which data may stand.
typedef struct tpPage {
    const unsigned char* text;
    size_t size; // 0: this build has no page
    size_t mark; // where data go
} tpPage;

tpPage tpReplayPage(void);  // shows a run
tpPage tpComparePage(void); // shows a comparison

// Whether this build has the page; says so where it has not.
bool hasPage(const char* command, tpPage page);

typedef struct tpPageFile {
    tpPage page;
    tpOutputFile output;
    bool failed; // out of memory or a write that failed; closing tells
} tpPageFile;

// On failure prints the reason to standard error and returns false.
bool openPageFile(const char* command, const char* path, tpPage page, tpPageFile* file);

// JSON that has no '<' in it (writeQuoted of run_data.h sees to that).
void putPageText(tpPageFile* file, const char* name, const char* json);

// Bytes, packed: `about` is handed to the page with them. Words of `wordSize` bytes pack best when
// they are shuffled, which is undone by the page.
void putPageBlock(tpPageFile* file, const char* name, const char* about, const void* bytes,
                  size_t size, int wordSize);

bool closePageFile(const char* command, tpPageFile* file);

#endif
