#include "recording/guarded_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include "base/memory.h"
#include "recording/journal.h"

// What the driver is told when it opens a file, and what it tells back.
typedef struct guardedConfig {
    const tpAllocator* allocator;
    int descriptor;
    const char* journalPath;
    bool sync;
    int* reason;
} guardedConfig;

typedef struct guardedFile {
    H5FD_t base; // HDF5's part; must come first
    tpAllocator allocator;
    const char* journalPath;
    bool sync;
    int file;
    haddr_t end;          // of what HDF5 has allocated
    haddr_t fileEnd;      // of what is in the file
    haddr_t committedEnd; // of the last committed state
    bool changed;         // written to since the last commit
    int failure;          // errno of the first failure, or 0
    int* closing;         // where the close tells its failure; NULL: nobody asks
    TP_ARRAY(tpJournalPage) pages;
    TP_ARRAY(int) table; // open addressing: page number -> place in `pages` plus one
} guardedFile;

static uint64_t roundUpToPage(uint64_t offset) {
    return (offset + tp_pageSize - 1) / tp_pageSize * tp_pageSize;
}

static void fail(guardedFile* guarded, int reason) {
    if (guarded->failure == 0) {
        guarded->failure = reason != 0 ? reason : EIO;
    }
}

// Pages ------------------------------------------------------------------------------------------

// The slot of a page in the table: where it is, or where it would go.
static int findSlot(const guardedFile* guarded, uint64_t offset) {
    unsigned mask = (unsigned)guarded->table.count - 1;
    unsigned slot = (unsigned)((offset / tp_pageSize) * 0x9e3779b97f4a7c15u >> 40) & mask;
    while (guarded->table.data[slot] != 0 &&
           guarded->pages.data[guarded->table.data[slot] - 1].offset != offset) {
        slot = (slot + 1) & mask;
    }
    return (int)slot;
}

static tpJournalPage* findPage(const guardedFile* guarded, uint64_t offset) {
    if (guarded->pages.count == 0) {
        return NULL;
    }
    int place = guarded->table.data[findSlot(guarded, offset)];
    return place == 0 ? NULL : &guarded->pages.data[place - 1];
}

// Keeps the table at most half full.
static bool growTable(guardedFile* guarded) {
    if (guarded->table.count >= 2 * (guarded->pages.count + 1)) {
        return true;
    }
    int count = guarded->table.count < 256 ? 256 : 2 * guarded->table.count;
    if (!TP_RESERVE(&guarded->allocator, guarded->table, count)) {
        return false;
    }
    guarded->table.count = count;
    memset(guarded->table.data, 0, (size_t)count * sizeof(int));
    for (int i = 0; i < guarded->pages.count; ++i) {
        guarded->table.data[findSlot(guarded, guarded->pages.data[i].offset)] = i + 1;
    }
    return true;
}

// The page at `offset` in memory, loaded from the file where it is not there yet.
static tpJournalPage* holdPage(guardedFile* guarded, uint64_t offset) {
    tpJournalPage* page = findPage(guarded, offset);
    if (page != NULL) {
        return page;
    }
    if (!growTable(guarded) ||
        !TP_RESERVE(&guarded->allocator, guarded->pages, guarded->pages.count + 1)) {
        return NULL;
    }
    page = &guarded->pages.data[guarded->pages.count];
    if (!tpReadAll(guarded->file, page->bytes, tp_pageSize, offset)) {
        return NULL;
    }
    page->offset = offset;
    tpJournalPage_NoteOld(page, page->bytes);
    int slot = findSlot(guarded, offset);
    guarded->table.data[slot] = ++guarded->pages.count;
    return page;
}

static void forgetPages(guardedFile* guarded) {
    guarded->pages.count = 0;
    if (guarded->table.count > 0) {
        memset(guarded->table.data, 0, (size_t)guarded->table.count * sizeof(int));
    }
}

// Calls for each page that the range [address, address + size) touches: `from` and `length` within
// the page. Written out here once for reading and writing.
typedef struct pageSpan {
    uint64_t page;
    size_t from, length;
} pageSpan;

static pageSpan spanAt(uint64_t address, size_t size) {
    pageSpan span;
    span.page = address / tp_pageSize * tp_pageSize;
    span.from = (size_t)(address - span.page);
    span.length = tp_pageSize - span.from < size ? tp_pageSize - span.from : size;
    return span;
}

static bool writePages(guardedFile* guarded, uint64_t address, size_t size,
                       const unsigned char* bytes) {
    while (size > 0) {
        pageSpan span = spanAt(address, size);
        tpJournalPage* page = holdPage(guarded, span.page);
        if (page == NULL) {
            return false;
        }
        memcpy(page->bytes + span.from, bytes, span.length);
        address += span.length;
        bytes += span.length;
        size -= span.length;
    }
    return true;
}

static void overlayPages(const guardedFile* guarded, uint64_t address, size_t size,
                         unsigned char* bytes) {
    while (size > 0 && guarded->pages.count > 0) {
        pageSpan span = spanAt(address, size);
        const tpJournalPage* page = findPage(guarded, span.page);
        if (page != NULL) {
            memcpy(bytes, page->bytes + span.from, span.length);
        }
        address += span.length;
        bytes += span.length;
        size -= span.length;
    }
}

// Commit -----------------------------------------------------------------------------------------

static void commit(guardedFile* guarded) {
    if (guarded->failure != 0 || !guarded->changed) {
        return;
    }
    // HDF5 refuses a file that is shorter than its own account of it.
    if (guarded->fileEnd < guarded->end) {
        if (ftruncate(guarded->file, (off_t)guarded->end) != 0) {
            fail(guarded, errno);
            return;
        }
        guarded->fileEnd = guarded->end;
    }
    if (!tpJournal_Apply(guarded->file, guarded->journalPath, guarded->pages.data,
                         guarded->pages.count, guarded->sync)) {
        fail(guarded, errno);
        return;
    }
    if (guarded->pages.count > 0) {
        uint64_t end = roundUpToPage(guarded->committedEnd); // the last page may reach beyond
        guarded->fileEnd = end > guarded->fileEnd ? end : guarded->fileEnd;
    }
    forgetPages(guarded);
    guarded->committedEnd = guarded->end;
    guarded->changed = false;
}

// The driver's functions -------------------------------------------------------------------------

// HDF5 opens a file that it creates twice, first to see what is there. Each time it gets a copy of
// the descriptor; a lock belongs to all of them together.
static H5FD_t* driverOpen(const char* name, unsigned flags, hid_t access, haddr_t maximum) {
    (void)name;
    (void)maximum;
    const guardedConfig* config = H5Pget_driver_info(access);
    guardedFile* guarded = tpAllocateZeroed(config->allocator, sizeof(guardedFile));
    if (guarded == NULL) {
        *config->reason = ENOMEM;
        return NULL;
    }
    guarded->file = fcntl(config->descriptor, F_DUPFD_CLOEXEC, 0);
    bool isEmptied = (flags & H5F_ACC_TRUNC) != 0;
    struct stat status;
    if (guarded->file < 0 || (isEmptied && ftruncate(guarded->file, 0) != 0) ||
        fstat(guarded->file, &status) != 0) {
        *config->reason = errno;
        if (guarded->file >= 0) {
            close(guarded->file);
        }
        tpRelease(config->allocator, guarded, sizeof(guardedFile));
        return NULL;
    }
    guarded->allocator = *config->allocator;
    guarded->journalPath = config->journalPath;
    guarded->sync = config->sync;
    guarded->fileEnd = (haddr_t)status.st_size;
    guarded->committedEnd = guarded->fileEnd;
    return &guarded->base;
}

static herr_t driverClose(H5FD_t* base) {
    guardedFile* guarded = (guardedFile*)base;
    commit(guarded);
    // What lies behind the last state is of no use to anyone.
    if (guarded->fileEnd > guarded->committedEnd &&
        ftruncate(guarded->file, (off_t)guarded->committedEnd) != 0) {
        fail(guarded, errno);
    }
    if (guarded->sync && guarded->failure == 0 && fdatasync(guarded->file) != 0) {
        fail(guarded, errno);
    }
    if (close(guarded->file) != 0) {
        fail(guarded, errno);
    }
    if (guarded->closing != NULL) {
        *guarded->closing = guarded->failure;
    }
    tpAllocator allocator = guarded->allocator;
    TP_FREE_ARRAY(&allocator, guarded->pages);
    TP_FREE_ARRAY(&allocator, guarded->table);
    tpRelease(&allocator, guarded, sizeof(guardedFile));
    return 0; // HDF5 would keep a file that failed to close
}

static herr_t driverQuery(const H5FD_t* base, unsigned long* flags) {
    (void)base;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driverGetEnd(const H5FD_t* base, H5FD_mem_t type) {
    (void)type;
    return ((const guardedFile*)base)->end;
}

static herr_t driverSetEnd(H5FD_t* base, H5FD_mem_t type, haddr_t end) {
    (void)type;
    ((guardedFile*)base)->end = end;
    return 0;
}

static haddr_t driverGetFileEnd(const H5FD_t* base, H5FD_mem_t type) {
    (void)type;
    return ((const guardedFile*)base)->fileEnd;
}

static herr_t driverGetHandle(H5FD_t* base, hid_t access, void** handle) {
    (void)access;
    *handle = base;
    return 0;
}

static herr_t driverRead(H5FD_t* base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, void* bytes) {
    (void)type;
    (void)transfer;
    guardedFile* guarded = (guardedFile*)base;
    if (!tpReadAll(guarded->file, bytes, size, address)) {
        fail(guarded, errno);
        return -1;
    }
    overlayPages(guarded, address, size, bytes);
    return 0;
}

static herr_t driverWrite(H5FD_t* base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, const void* bytes) {
    (void)type;
    (void)transfer;
    guardedFile* guarded = (guardedFile*)base;
    guarded->changed = true;
    // Up to where memory keeps the writes: the committed state, or everything after a failure.
    uint64_t border = roundUpToPage(guarded->committedEnd);
    uint64_t below = address < border ? border - address : 0;
    below = below < size ? below : size;
    if (guarded->failure == 0 && below < size) {
        if (tpWriteAll(guarded->file, (const unsigned char*)bytes + below, size - below,
                       address + below)) {
            guarded->fileEnd =
                address + size > guarded->fileEnd ? address + size : guarded->fileEnd;
        } else {
            fail(guarded, errno);
        }
    }
    size_t kept = guarded->failure == 0 ? (size_t)below : size;
    // HDF5 must not hear of a failure: it could then not even close. Without memory the write is
    // lost, which no commit will see.
    if (!writePages(guarded, address, kept, bytes)) {
        fail(guarded, ENOMEM);
    }
    return 0;
}

// HDF5 wants the file as long as what it has allocated; commit sees to that.
static herr_t driverTruncate(H5FD_t* base, hid_t transfer, hbool_t closing) {
    (void)transfer;
    (void)closing;
    guardedFile* guarded = (guardedFile*)base;
    guarded->changed = guarded->changed || guarded->end != guarded->committedEnd;
    return 0;
}

static const H5FD_class_t driverClass = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)((int)H5_VFD_RESERVED + 1),
#endif
    .name = "tippe-guarded",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(guardedConfig),
    .open = driverOpen,
    .close = driverClose,
    .query = driverQuery,
    .get_eoa = driverGetEnd,
    .set_eoa = driverSetEnd,
    .get_eof = driverGetFileEnd,
    .get_handle = driverGetHandle,
    .read = driverRead,
    .write = driverWrite,
    .truncate = driverTruncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

// For the recorder -------------------------------------------------------------------------------

hid_t tpGuardedFile_Create(int descriptor, const char* name, const char* journalPath, bool sync,
                           const tpAllocator* allocator, int* reason) {
    *reason = 0;
    guardedConfig config = { allocator, descriptor, journalPath, sync, reason };
    hid_t driver = H5FDregister(&driverClass);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    // The oldest format that will do is what every reader knows, and what the check of files
    // expects.
    if (driver >= 0 && access >= 0 && H5Pset_driver(access, driver, &config) >= 0 &&
        H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST) >= 0) {
        file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    }
    if (access >= 0) {
        H5Pclose(access);
    }
    if (driver >= 0) {
        H5FDunregister(driver); // an open file holds a reference of its own
    }
    return file;
}

static guardedFile* find(hid_t file) {
    void* handle = NULL;
    return H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 ? handle : NULL;
}

int tpGuardedFile_Commit(hid_t file) {
    guardedFile* guarded = find(file);
    if (guarded == NULL) {
        return EIO;
    }
    if (guarded->failure == 0 && H5Fflush(file, H5F_SCOPE_LOCAL) < 0) {
        fail(guarded, EIO);
    }
    commit(guarded);
    return guarded->failure;
}

int tpGuardedFile_Close(hid_t file, bool discard) {
    int failure = EIO;
    guardedFile* guarded = find(file);
    if (guarded != NULL) {
        guarded->closing = &failure;
        if (discard) {
            fail(guarded, ECANCELED);
        }
    }
    // HDF5 writes its last changes on the way; the driver commits them when it is closed.
    if (H5Fclose(file) < 0 && failure == 0) {
        failure = EIO;
    }
    return discard ? 0 : failure;
}
