// Pages with data in them. A block is shuffled (all first bytes of its words, then all second ones,
// as HDF5 does before it packs), deflated and written in base64, which any HTML can hold.

#include "page_file.h"

#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "page_assets.h"

static const char markWords[] = "<!--TIPPE-DATA-->";

static tpPage makePage(const unsigned char* text, size_t size) {
    tpPage page = { text, size, 0 };
    size_t length = sizeof(markWords) - 1;
    for (size_t i = 0; i + length <= size && page.mark == 0; ++i) {
        page.mark = memcmp(text + i, markWords, length) == 0 ? i : 0;
    }
    return page;
}

tpPage tpReplayPage(void) {
    return makePage(tp_replayHtml, tp_replayHtmlSize);
}

tpPage tpComparePage(void) {
    return makePage(tp_compareHtml, tp_compareHtmlSize);
}

bool hasPage(const char* command, tpPage page) {
    if (page.size == 0) {
        fprintf(stderr,
                "tippe %s: this program was built without its page; install nodejs and npm and "
                "build again\n",
                command);
    }
    return page.size > 0;
}

static void put(tpPageFile* file, const void* bytes, size_t size) {
    if (!file->failed) {
        file->failed = !putOutput(&file->output, bytes, size);
    }
}

static void putWords(tpPageFile* file, const char* words) {
    put(file, words, strlen(words));
}

bool openPageFile(const char* command, const char* path, tpPage page, tpPageFile* file) {
    *file = (tpPageFile){ .page = page };
    if (!hasPage(command, page) || !openOutput(command, path, &file->output)) {
        return false;
    }
    put(file, page.text, page.mark);
    return true;
}

static void putTagStart(tpPageFile* file, const char* name, const char* type) {
    putWords(file, "\n<script type=\"");
    putWords(file, type);
    putWords(file, "\" data-tippe=\"");
    putWords(file, name);
}

void putPageText(tpPageFile* file, const char* name, const char* json) {
    putTagStart(file, name, "application/json");
    putWords(file, "\">");
    putWords(file, json);
    putWords(file, "</script>");
}

static void putBase64(tpPageFile* file, const unsigned char* bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4096];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? bytes[i + 2] : 0);
        line[used++] = digits[bits >> 18];
        line[used++] = digits[bits >> 12 & 63];
        line[used++] = left > 1 ? digits[bits >> 6 & 63] : '=';
        line[used++] = left > 2 ? digits[bits & 63] : '=';
        if (used == sizeof(line)) {
            put(file, line, used);
            used = 0;
        }
    }
    put(file, line, used);
}

static void shuffle(const unsigned char* from, unsigned char* to, size_t size, size_t wordSize) {
    size_t words = size / wordSize;
    for (size_t i = 0; i < words; ++i) {
        for (size_t k = 0; k < wordSize; ++k) {
            to[k * words + i] = from[i * wordSize + k];
        }
    }
    memcpy(to + words * wordSize, from + words * wordSize, size - words * wordSize);
}

void putPageBlock(tpPageFile* file, const char* name, const char* about, const void* bytes,
                  size_t size, int wordSize) {
    tpAllocator allocator = tpDefaultAllocator();
    uLongf packedSize = compressBound((uLong)size);
    size_t roomSize = packedSize;
    unsigned char* shuffled = tpAllocate(&allocator, size + 1);
    unsigned char* packed = tpAllocate(&allocator, roomSize);
    if (shuffled != NULL && packed != NULL && !file->failed) {
        shuffle(bytes, shuffled, size, (size_t)wordSize);
        file->failed = compress2(packed, &packedSize, shuffled, (uLong)size, 6) != Z_OK;
        char words[64];
        putTagStart(file, name, "text/plain");
        putWords(file, "\" data-about=\"");
        putWords(file, about);
        snprintf(words, sizeof(words), "\" data-word=\"%d\">", wordSize);
        putWords(file, words);
        putBase64(file, packed, packedSize);
        putWords(file, "</script>");
    } else {
        file->failed = true;
    }
    tpRelease(&allocator, shuffled, size + 1);
    tpRelease(&allocator, packed, roomSize);
}

bool closePageFile(const char* command, tpPageFile* file) {
    size_t mark = file->page.mark;
    put(file, file->page.text + mark, file->page.size - mark);
    if (file->failed && file->output.failure == 0) {
        fprintf(stderr, "tippe %s: out of memory\n", command);
        discardOutput(&file->output);
        return false;
    }
    return commitOutput(command, &file->output);
}
