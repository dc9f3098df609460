#include "command_files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_file.h"

static tpNamedFile lookUp(const char* path) {
    tpNamedFile file = { .exists = false };
    struct stat status;
    bool isStandard = isStandardOutput(path);
    if ((isStandard ? fstat(STDOUT_FILENO, &status) : stat(path, &status)) == 0) {
        file.exists = true;
        file.isRegular = S_ISREG(status.st_mode);
        file.device = (uint64_t)status.st_dev;
        file.node = (uint64_t)status.st_ino;
    }
    if (isStandard || !tpResolvePath(path, file.path, sizeof(file.path))) {
        snprintf(file.path, sizeof(file.path), "%s", path);
    }
    return file;
}

// Devices and pipes may be read and written by as many as like to.
static bool isSame(const tpNamedFile* a, const tpNamedFile* b) {
    if (a->exists && b->exists) {
        return a->isRegular && b->isRegular && a->device == b->device && a->node == b->node;
    }
    return !a->exists && !b->exists && strcmp(a->path, b->path) == 0;
}

tpCommandFiles startFiles(const char* command) {
    return (tpCommandFiles){ .command = command };
}

static void complainOfTwo(tpCommandFiles* files, const tpOutputName* a, const tpOutputName* b) {
    if (a->isOwn || b->isOwn) {
        const tpOutputName* own = a->isOwn ? a : b;
        const tpOutputName* other = a->isOwn ? b : a;
        fprintf(stderr, "tippe %s: %s %s is the journal of %s; it would be overwritten\n",
                files->command, other->option, other->path, own->option);
    } else if (isStandardOutput(a->path)) {
        fprintf(stderr, "tippe %s: %s and %s both go to standard output\n", files->command,
                a->option, b->option);
    } else {
        fprintf(stderr, "tippe %s: %s and %s go to the same file %s\n", files->command, a->option,
                b->option, b->path);
    }
    files->failed = true;
}

static void addName(tpCommandFiles* files, const char* option, const char* path, bool isOwn) {
    tpOutputName* output = &files->outputs[files->outputCount];
    *output = (tpOutputName){ .path = path, .isOwn = isOwn, .file = lookUp(path) };
    snprintf(output->option, sizeof(output->option), "%s", option);
    for (int i = 0; i < files->outputCount; ++i) {
        const tpOutputName* earlier = &files->outputs[i];
        bool areBothStandard = isStandardOutput(path) && isStandardOutput(earlier->path);
        if (areBothStandard || isSame(&earlier->file, &output->file)) {
            complainOfTwo(files, earlier, output);
        }
    }
    files->outputCount += 1;
}

void addOutput(tpCommandFiles* files, const char* option, const char* path) {
    if (path != NULL && files->outputCount < mostOutputs) {
        addName(files, option, path, false);
    }
}

void addRecordingOutput(tpCommandFiles* files, const char* option, const char* path) {
    if (path == NULL) {
        return;
    }
    if (isStandardOutput(path)) {
        fprintf(stderr, "tippe %s: a recording cannot go to standard output\n", files->command);
        files->failed = true;
        return;
    }
    addOutput(files, option, path);
    snprintf(files->journal, sizeof(files->journal), "%s.journal",
             files->outputs[files->outputCount - 1].file.path);
    if (files->outputCount < mostOutputs) {
        addName(files, option, files->journal, true);
    }
}

void addInput(tpCommandFiles* files, const char* what, const char* path) {
    tpNamedFile input = lookUp(path);
    for (int i = 0; i < files->outputCount && !files->failed; ++i) {
        const tpOutputName* output = &files->outputs[i];
        if (isSame(&output->file, &input)) {
            fprintf(stderr, "tippe %s: %s %s is %s; it would be overwritten\n", files->command,
                    output->option, output->path, what);
            files->failed = true;
        }
    }
}

void addRecordingInput(tpCommandFiles* files, const char* what, const char* path) {
    char journal[tp_pathCapacity + 16], words[64];
    addInput(files, what, path);
    snprintf(journal, sizeof(journal), "%s.journal", lookUp(path).path);
    snprintf(words, sizeof(words), "the journal of %s", what);
    addInput(files, words, journal);
}

static void addSceneFile(void* context, tpSceneFileKind kind, const char* path) {
    static const char* const words[] = {
        [tp_sceneFile] = "the scene",
        [tp_includedFile] = "a file that the scene includes",
        [tp_surfaceFile] = "a mesh of the scene",
        [tp_referenceFile] = "the reference of the scene",
    };
    addInput(context, words[kind], path);
}

void addSceneInputs(tpCommandFiles* files, const tpScene* scene) {
    tpScene_VisitFiles(scene, addSceneFile, files);
}

bool canWriteFiles(tpCommandFiles* files) {
    for (int i = 0; i < files->outputCount && !files->failed; ++i) {
        const tpOutputName* output = &files->outputs[i];
        files->failed = !output->isOwn && !canWriteOutput(files->command, output->path);
    }
    return !files->failed;
}
