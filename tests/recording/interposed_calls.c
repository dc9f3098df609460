// For builds whose libraries are shared (TIPPE_ONE_LINK): calls of the system that --wrap of the
// linker does not see, because they are made in a library. The program's own functions come first
// when the loader looks for one, so that these stand in the place of the C library's.

#define _GNU_SOURCE

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wrapped_calls.h"

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
    return __wrap_pwrite(file, bytes, size, offset);
}

int ftruncate(int file, off_t length) {
    return __wrap_ftruncate(file, length);
}

int fsync(int file) {
    return __wrap_fsync(file);
}

int fdatasync(int file) {
    return __wrap_fdatasync(file);
}

int unlink(const char* path) {
    return __wrap_unlink(path);
}

int rename(const char* from, const char* to) {
    return __wrap_rename(from, to);
}

int link(const char* from, const char* to) {
    return __wrap_link(from, to);
}

int open(const char* path, int flags, ...) {
    return __wrap_open(path, flags);
}

ssize_t __real_pwrite(int file, const void* bytes, size_t size, off_t offset) {
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

int __real_ftruncate(int file, off_t length) {
    return (int)syscall(SYS_ftruncate, file, length);
}

int __real_fsync(int file) {
    return (int)syscall(SYS_fsync, file);
}

int __real_unlink(const char* path) {
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int __real_rename(const char* from, const char* to) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int __real_link(const char* from, const char* to) {
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

// All files of the test have this mode.
int __real_open(const char* path, int flags, ...) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0666);
}
