// Calls of the system that the test of power cuts writes down: what stands in their place, and the
// calls themselves.

#ifndef TIPPE_TESTS_RECORDING_WRAPPED_CALLS_H
#define TIPPE_TESTS_RECORDING_WRAPPED_CALLS_H

#include <sys/types.h>

ssize_t __wrap_pwrite(int file, const void* bytes, size_t size, off_t offset);
int __wrap_ftruncate(int file, off_t length);
int __wrap_fsync(int file);
int __wrap_fdatasync(int file);
int __wrap_unlink(const char* path);
int __wrap_rename(const char* from, const char* to);
int __wrap_link(const char* from, const char* to);
int __wrap_open(const char* path, int flags, ...);

ssize_t __real_pwrite(int file, const void* bytes, size_t size, off_t offset);
int __real_ftruncate(int file, off_t length);
int __real_fsync(int file);
int __real_fdatasync(int file);
int __real_unlink(const char* path);
int __real_rename(const char* from, const char* to);
int __real_link(const char* from, const char* to);
int __real_open(const char* path, int flags, ...);

#endif
