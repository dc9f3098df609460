// For F_OFD_SETLK, realpath and O_NOFOLLOW.
#define _GNU_SOURCE

#include "base/part_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    mostLinks = 40,  // that lead to one file; more go in circles
    mostTries = 1000 // at a name for a part, or at a target that others replace at the same time
};

// Bytes -------------------------------------------------------------------------------------------

bool tpReadAll(int file, void* bytes, size_t size, uint64_t offset) {
    unsigned char* to = bytes;
    while (size > 0) {
        ssize_t got = pread(file, to, size, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return false;
        }
        if (got == 0) {
            memset(to, 0, size);
            return true;
        }
        to += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

bool tpWriteAll(int file, const void* bytes, size_t size, uint64_t offset) {
    const unsigned char* from = bytes;
    while (size > 0) {
        ssize_t put = pwrite(file, from, size, (off_t)offset);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno;
            return false;
        }
        from += put;
        size -= (size_t)put;
        offset += (uint64_t)put;
    }
    return true;
}

// Paths -------------------------------------------------------------------------------------------

// The length of the directory in a path with its last slash; 0: none.
static size_t directoryLength(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static bool copyPath(char* to, size_t size, const char* first, size_t firstLength,
                     const char* second) {
    int length = snprintf(to, size, "%.*s%s", (int)firstLength, first, second);
    if (length < 0 || (size_t)length >= size) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

// What the link at `path` points to, as a path from where we are. False if it is no link.
static bool readLink(char path[tp_pathCapacity]) {
    char content[tp_pathCapacity];
    ssize_t length = readlink(path, content, sizeof(content) - 1);
    if (length < 0) {
        return false;
    }
    content[length] = '\0';
    char joined[tp_pathCapacity];
    size_t directory = content[0] == '/' ? 0 : directoryLength(path);
    return copyPath(joined, sizeof(joined), path, directory, content) &&
           copyPath(path, tp_pathCapacity, joined, strlen(joined), "");
}

// The absolute path of what lies under this name in its directory, which must exist: the links of
// the directory are followed, one under the name itself is not.
static bool resolveDirectory(const char* path, char* resolved, size_t size) {
    size_t length = directoryLength(path);
    char directory[tp_pathCapacity] = ".";
    if (length > 0 && !copyPath(directory, sizeof(directory), path, length, "")) {
        return false;
    }
    char* absolute = realpath(directory, NULL);
    if (absolute == NULL) {
        return false;
    }
    bool isRoot = strcmp(absolute, "/") == 0;
    char name[tp_pathCapacity + 1];
    snprintf(name, sizeof(name), "/%s", path + length);
    bool fits = copyPath(resolved, size, absolute, isRoot ? 0 : strlen(absolute), name);
    free(absolute);
    return fits;
}

bool tpResolvePath(const char* path, char* resolved, size_t size) {
    char current[tp_pathCapacity];
    if (!copyPath(current, sizeof(current), path, strlen(path), "")) {
        return false;
    }
    for (int i = 0; readLink(current); ++i) {
        if (i == mostLinks) {
            errno = ELOOP;
            return false;
        }
    }
    return resolveDirectory(current, resolved, size);
}

bool tpSyncDirectoryOf(const char* path) {
    char directory[tp_pathCapacity] = ".";
    size_t length = directoryLength(path);
    if (length > 0 && !copyPath(directory, sizeof(directory), path, length, "")) {
        return false;
    }
    int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) {
        return errno == EACCES; // a directory that may be written to but not read
    }
    bool done = fsync(file) == 0 || errno == EINVAL; // file systems that do not know of it
    int reason = errno;
    close(file);
    errno = reason;
    return done;
}

// Locks -------------------------------------------------------------------------------------------

bool tpLockFile(int file, bool isShared) {
#ifdef F_OFD_SETLK
    // One byte far behind the end of any file, so that locks of readers elsewhere do not matter.
    struct flock lock = { .l_type = (short)(isShared ? F_RDLCK : F_WRLCK),
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)1 << 61,
                          .l_len = 1 };
    int outcome = fcntl(file, F_OFD_SETLK, &lock);
#else
    int outcome = flock(file, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB);
#endif
    if (outcome != 0 && (errno == EAGAIN || errno == EACCES)) {
        errno = EWOULDBLOCK;
        return false;
    }
    return true;
}

// Whether `path` is still the open file, and not another one or none.
static bool isStillAt(int file, const char* path) {
    struct stat held, named;
    return fstat(file, &held) == 0 && lstat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

int tpOpenInPlace(const char* path) {
    int file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    int flags = file >= 0 ? fcntl(file, F_GETFL) : -1;
    if (file >= 0 && (flags < 0 || fcntl(file, F_SETFL, flags & ~O_NONBLOCK) != 0)) {
        int reason = errno;
        close(file);
        errno = reason;
        return -1;
    }
    return file;
}

// Parts -------------------------------------------------------------------------------------------

// NAME.PID.N.part, with the NAME of the target.
static bool isPartName(const char* entry, const char* name) {
    size_t length = strlen(name);
    if (strncmp(entry, name, length) != 0) {
        return false;
    }
    int end = 0;
    long process;
    unsigned number;
    return sscanf(entry + length, ".%ld.%u.part%n", &process, &number, &end) == 2 && end > 0 &&
           entry[length + (size_t)end] == '\0';
}

static void removeIfLeft(const char* path) {
    int file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        tpLockFile(file, false) && isStillAt(file, path)) {
        unlink(path);
    }
    if (file >= 0) {
        close(file);
    }
}

// Removes the parts that processes left behind which died.
static void removeLeftParts(const char* target) {
    char directory[tp_pathCapacity], path[tp_pathCapacity];
    size_t length = directoryLength(target);
    if (!copyPath(directory, sizeof(directory), target, length, "")) {
        return;
    }
    DIR* entries = opendir(directory);
    struct dirent* entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (isPartName(entry->d_name, target + length) &&
            copyPath(path, sizeof(path), directory, length, entry->d_name)) {
            removeIfLeft(path);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

// The permissions for a part; false if something is at the target that it must not replace.
static bool chooseMode(const char* target, mode_t* mode) {
    struct stat status;
    bool exists = stat(target, &status) == 0;
    *mode = exists ? status.st_mode & 0777 : 0666;
    if (exists && !S_ISREG(status.st_mode)) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : ENOTSUP;
        return false;
    }
    return true;
}

static bool openPart(tpPartFile* part, mode_t mode) {
    removeLeftParts(part->target);
    for (unsigned i = 0; i < mostTries; ++i) {
        char ending[64];
        snprintf(ending, sizeof(ending), ".%ld.%u.part", (long)getpid(), i);
        if (!copyPath(part->path, sizeof(part->path), part->target, strlen(part->target), ending)) {
            return false;
        }
        part->file = open(part->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (part->file < 0 && errno != EEXIST) {
            return false;
        }
        // Until it is locked it may be taken for one that was left, and removed.
        if (part->file >= 0 && tpLockFile(part->file, false) && isStillAt(part->file, part->path)) {
            return true;
        }
        if (part->file >= 0) {
            close(part->file);
            part->file = -1;
        }
    }
    errno = EEXIST;
    return false;
}

bool tpPartFile_Create(tpPartFile* part, const char* target) {
    part->file = -1;
    mode_t mode;
    return tpResolvePath(target, part->target, sizeof(part->target)) &&
           chooseMode(part->target, &mode) && openPart(part, mode);
}

bool tpPartFile_CreateOver(tpPartFile* part, const char* target) {
    part->file = -1;
    mode_t mode = 0666;
    struct stat status;
    if (!resolveDirectory(target, part->target, sizeof(part->target))) {
        return false;
    }
    bool isLink = lstat(part->target, &status) == 0 && S_ISLNK(status.st_mode);
    return (isLink || chooseMode(part->target, &mode)) && openPart(part, mode);
}

void tpPartFile_Discard(tpPartFile* part) {
    if (part->file >= 0) {
        unlink(part->path);
        close(part->file);
        part->file = -1;
    }
}

bool tpPartFile_Place(tpPartFile* part) {
    bool isPlaced = (fsync(part->file) == 0 || errno == EINVAL) &&
                    rename(part->path, part->target) == 0 && tpSyncDirectoryOf(part->target);
    int reason = errno;
    if (!isPlaced) {
        unlink(part->path);
    }
    close(part->file);
    part->file = -1;
    errno = reason;
    return isPlaced;
}

// Puts the part where no file is; fails with EEXIST if one has come in the meantime.
static bool placeNew(const tpPartFile* part) {
    if (link(part->path, part->target) == 0) {
        unlink(part->path);
        return true;
    }
    // File systems without hard links: between two processes that start at once the later one wins.
    bool hasNoLinks = errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK;
    return hasNoLinks && rename(part->path, part->target) == 0;
}

// Opens the file at the target and locks it, unless it is another one by then (EAGAIN).
static int holdTarget(const char* target) {
    int file = open(target, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool isReadOnly = file < 0 && (errno == EACCES || errno == EROFS || errno == EPERM);
    if (isReadOnly) {
        file = open(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    }
    if (file < 0) {
        return -1;
    }
    int reason = 0;
    if (!tpLockFile(file, isReadOnly)) {
        reason = EWOULDBLOCK;
    } else if (!isStillAt(file, target)) {
        reason = ESTALE;
    }
    if (reason != 0) {
        close(file);
        errno = reason;
        return -1;
    }
    return file;
}

static void removeObsolete(const char* path) {
    if (path != NULL) {
        unlink(path);
    }
}

bool tpPartFile_PlaceOpen(tpPartFile* part, const char* obsolete) {
    for (int i = 0; i < mostTries; ++i) {
        int held = holdTarget(part->target);
        if (held >= 0) {
            removeObsolete(obsolete);
            // Whoever opens the target from now on finds this part, which is locked.
            bool isPlaced = rename(part->path, part->target) == 0;
            int reason = errno;
            close(held);
            errno = reason;
            return isPlaced;
        }
        if (errno == ENOENT && placeNew(part)) {
            removeObsolete(obsolete); // only now is it known that nobody else is at work here
            return true;
        }
        if (errno != EEXIST && errno != ENOENT && errno != ESTALE) {
            return false;
        }
    }
    return false;
}
