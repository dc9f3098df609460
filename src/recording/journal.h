// A redo journal: changes of a file that take effect together or not at all.
//
// A change is a set of whole pages. They are first written to a journal beside the file, with a
// checksum over all of them, then copied into the file, then the journal is removed. A process that
// dies before the journal is complete leaves the file untouched; one that dies later leaves a
// journal that tpJournal_Replay copies again, as often as it is asked.
//
//     header | page | page | ...     header: magic, count, checksum
//                                    page:   offset in the file, hashes of what it replaces, bytes
//
// With `sync` the same holds if the machine dies. Three things are forced to disk, each before the
// next one begins: what the file got behind its last state, the journal with its name, the pages in
// the file. The removal of the journal is not waited for: one that comes back holds the pages that
// the file has, until the next journal takes its name.

#ifndef TIPPE_SRC_RECORDING_JOURNAL_H
#define TIPPE_SRC_RECORDING_JOURNAL_H

#include "base/part_file.h"

enum {
    tp_pageSize = 4096,
    tp_sectorSize = 512, // what a disk writes whole or not at all
    tp_sectorsInPage = tp_pageSize / tp_sectorSize
};

typedef struct tpJournalPage {
    uint64_t offset; // in the file, a multiple of the page size
    // of the bytes that were there, to recognise the file again
    uint64_t oldHashes[tp_sectorsInPage];
    unsigned char bytes[tp_pageSize];
} tpJournalPage;

typedef enum tpReplay {
    tp_replayNothing,   // there is no journal, or an incomplete one, which was removed
    tp_replayDone,      // the file was completed
    tp_replayWrongFile, // the journal belongs to another file; nothing was changed
    tp_replayBusy,      // a running process holds the journal
    tp_replayFailed     // reading or writing failed, errno says why
} tpReplay;

uint64_t tpHashBytes(const void* bytes, size_t size);

// Fills in `oldHashes` from the bytes of a page as it is in the file.
void tpJournalPage_NoteOld(tpJournalPage* page, const unsigned char* bytes);

// Changes `file` through a journal at `journalPath`, where no file may be. False with errno on
// failure: with the journal gone the file is as it was, with the journal there it takes a replay to
// complete it. One writer at a time: the caller holds the lock of the file.
bool tpJournal_Apply(int file, const char* journalPath, const tpJournalPage* pages, int count,
                     bool sync);

// Whether there is a journal, and if so whether a running process is at work on it.
typedef enum tpJournalState { tp_noJournal, tp_journalLeft, tp_journalBusy } tpJournalState;
tpJournalState tpJournal_GetState(const char* journalPath);

tpReplay tpJournal_Replay(const char* filePath, const char* journalPath);

#endif
