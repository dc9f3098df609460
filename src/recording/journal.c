#include "recording/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct journalHeader {
    char magic[8];
    uint64_t pageCount;
    uint64_t bodyHash;   // of the pages, in order
    uint64_t headerHash; // of the fields above
} journalHeader;

static const char magic[8] = { 'T', 'i', 'p', 'p', 'e', 'J', '2', '\n' };

// FNV-1a over words of eight bytes, with shifts so that high bits reach low ones.
uint64_t tpHashBytes(const void* bytes, size_t size) {
    const unsigned char* at = bytes;
    uint64_t hash = 0xcbf29ce484222325u;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 32;
    }
    for (; size > 0; --size, ++at) {
        hash = (hash ^ *at) * 0x100000001b3u;
    }
    return hash ^ (hash >> 29);
}

// The hash of pages in order, one page further.
static uint64_t chainHash(uint64_t hash, const tpJournalPage* page) {
    return (hash ^ tpHashBytes(page, sizeof(*page))) * 0x9e3779b97f4a7c15u;
}

static journalHeader makeHeader(const tpJournalPage* pages, int count) {
    journalHeader header = { .pageCount = (uint64_t)count };
    memcpy(header.magic, magic, sizeof(magic));
    for (int i = 0; i < count; ++i) {
        header.bodyHash = chainHash(header.bodyHash, &pages[i]);
    }
    header.headerHash = tpHashBytes(&header, offsetof(journalHeader, headerHash));
    return header;
}

void tpJournalPage_NoteOld(tpJournalPage* page, const unsigned char* bytes) {
    for (int i = 0; i < tp_sectorsInPage; ++i) {
        page->oldHashes[i] = tpHashBytes(bytes + (size_t)i * tp_sectorSize, tp_sectorSize);
    }
}

static bool writeJournal(int journal, const char* path, const tpJournalPage* pages, int count,
                         bool sync) {
    journalHeader header = makeHeader(pages, count);
    size_t bodySize = (size_t)count * sizeof(tpJournalPage);
    return tpWriteAll(journal, &header, sizeof(header), 0) &&
           tpWriteAll(journal, pages, bodySize, sizeof(header)) &&
           (!sync || (fsync(journal) == 0 && tpSyncDirectoryOf(path)));
}

static bool copyPages(int file, const tpJournalPage* pages, int count, bool sync) {
    for (int i = 0; i < count; ++i) {
        if (!tpWriteAll(file, pages[i].bytes, tp_pageSize, pages[i].offset)) {
            return false;
        }
    }
    return !sync || fdatasync(file) == 0;
}

bool tpJournal_Apply(int file, const char* journalPath, const tpJournalPage* pages, int count,
                     bool sync) {
    // What lies behind the last state must be there before a page refers to it.
    if (sync && fdatasync(file) != 0) {
        return false;
    }
    if (count == 0) {
        return true;
    }
    // Always a new file: a link that somebody has put there is not followed.
    int journal = open(journalPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (journal < 0) {
        return false;
    }
    // The lock tells a repair that this process is still alive and at work.
    bool written =
        tpLockFile(journal, false) && writeJournal(journal, journalPath, pages, count, sync);
    bool applied = written && copyPages(file, pages, count, sync);
    int reason = errno;
    // A complete journal whose pages could not all be copied stays: it is what completes the file.
    if (!written || applied) {
        unlink(journalPath);
    }
    close(journal);
    errno = reason;
    return applied;
}

tpJournalState tpJournal_GetState(const char* journalPath) {
    int journal = open(journalPath, O_RDONLY | O_CLOEXEC);
    if (journal < 0) {
        return errno == ENOENT ? tp_noJournal : tp_journalLeft;
    }
    bool isBusy = !tpLockFile(journal, true);
    close(journal);
    return isBusy ? tp_journalBusy : tp_journalLeft;
}

static bool readHeader(int journal, journalHeader* header) {
    struct stat status;
    if (fstat(journal, &status) != 0 || (uint64_t)status.st_size < sizeof(*header) ||
        !tpReadAll(journal, header, sizeof(*header), 0)) {
        return false;
    }
    uint64_t bodySize = (uint64_t)status.st_size - sizeof(*header);
    return memcmp(header->magic, magic, sizeof(magic)) == 0 &&
           header->headerHash == tpHashBytes(header, offsetof(journalHeader, headerHash)) &&
           header->pageCount <= bodySize / sizeof(tpJournalPage);
}

// The page's bytes are in the file already, or it still holds what they replace. A page that was
// being written when the machine died is partly one, partly the other, sector by sector.
static bool pageBelongs(int file, const tpJournalPage* page) {
    unsigned char current[tp_pageSize];
    if (!tpReadAll(file, current, tp_pageSize, page->offset)) {
        return false;
    }
    for (int i = 0; i < tp_sectorsInPage; ++i) {
        size_t at = (size_t)i * tp_sectorSize;
        if (tpHashBytes(current + at, tp_sectorSize) != page->oldHashes[i] &&
            memcmp(current + at, page->bytes + at, tp_sectorSize) != 0) {
            return false;
        }
    }
    return true;
}

static bool readPage(int journal, uint64_t index, tpJournalPage* page) {
    return tpReadAll(journal, page, sizeof(*page),
                     sizeof(journalHeader) + index * sizeof(tpJournalPage));
}

static tpReplay replay(int file, int journal) {
    journalHeader header;
    if (!readHeader(journal, &header)) {
        return tp_replayNothing;
    }
    // First look at all of it. One page that matches is enough to know the file by.
    tpJournalPage page;
    uint64_t hash = 0;
    bool belongs = false;
    for (uint64_t i = 0; i < header.pageCount; ++i) {
        if (!readPage(journal, i, &page)) {
            return tp_replayFailed;
        }
        hash = chainHash(hash, &page);
        belongs = belongs || pageBelongs(file, &page);
    }
    if (hash != header.bodyHash) {
        return tp_replayNothing;
    }
    if (!belongs) {
        return tp_replayWrongFile;
    }
    for (uint64_t i = 0; i < header.pageCount; ++i) {
        if (!readPage(journal, i, &page) ||
            !tpWriteAll(file, page.bytes, tp_pageSize, page.offset)) {
            return tp_replayFailed;
        }
    }
    return fdatasync(file) == 0 ? tp_replayDone : tp_replayFailed;
}

tpReplay tpJournal_Replay(const char* filePath, const char* journalPath) {
    int journal = open(journalPath, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (journal < 0) {
        return errno == ENOENT ? tp_replayNothing : tp_replayFailed;
    }
    int file = open(filePath, O_RDWR | O_CLOEXEC);
    tpReplay outcome = tp_replayFailed;
    if (file >= 0) {
        // A run that is alive holds the file, also between its journals.
        outcome = tpLockFile(file, false) && tpLockFile(journal, false) ? replay(file, journal)
                                                                        : tp_replayBusy;
    }
    int reason = errno;
    if (outcome == tp_replayDone || outcome == tp_replayNothing) {
        unlink(journalPath);
    }
    if (file >= 0) {
        close(file);
    }
    close(journal);
    errno = reason;
    return outcome;
}
