// The files of a command, held against each other before the first of them is written: no output
// may be an input, nor another output, under whatever name or link.
//
//     tpCommandFiles files = startFiles("run");
//     addOutput(&files, "--csv", options.csv);       // all outputs first; NULL is none
//     addSceneInputs(&files, scene);                 // then what is read
//     if (!canWriteFiles(&files)) { return exitBadInput; }

#ifndef TIPPE_APP_COMMAND_FILES_H
#define TIPPE_APP_COMMAND_FILES_H

#include "base/part_file.h"
#include "tippe/scene.h"

enum { mostOutputs = 16 };

// A file by its name and, where it exists, by what the name leads to.
typedef struct tpNamedFile {
    char path[tp_pathCapacity]; // absolute, links followed; as given where that fails
    bool exists, isRegular;
    uint64_t device, node;
} tpNamedFile;

typedef struct tpOutputName {
    char option[24];  // as messages name it: --csv
    const char* path; // as it was given
    bool isOwn;       // made beside another output, not asked for
    tpNamedFile file;
} tpOutputName;

typedef struct tpCommandFiles {
    const char* command;
    tpOutputName outputs[mostOutputs];
    int outputCount;
    char journal[tp_pathCapacity + 16]; // of the recording among the outputs
    bool failed;                        // a message was printed
} tpCommandFiles;

tpCommandFiles startFiles(const char* command);

void addOutput(tpCommandFiles* files, const char* option, const char* path);
// An HDF5 recording, which has a journal beside it while it is written.
void addRecordingOutput(tpCommandFiles* files, const char* option, const char* path);

// `what` as messages name it: "the recording".
void addInput(tpCommandFiles* files, const char* what, const char* path);
// A recording, with the journal that a killed run may have left beside it.
void addRecordingInput(tpCommandFiles* files, const char* what, const char* path);
// The scene file, those it includes, its meshes and its reference.
void addSceneInputs(tpCommandFiles* files, const tpScene* scene);

// Whether nothing clashes and every output could be written now. Says what is wrong.
bool canWriteFiles(tpCommandFiles* files);

#endif
