#include "scene_list.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/input_file.h"
#include "scene/json.h"

enum { mostDepth = 4 }; // of folders

// Where scenes may be, from the directory of the program: installed, and in the source tree of a
// program in build/<preset>/bin.
static const char* const places[] = { "../share/tippe/scenes", "../scenes", "../../../scenes" };

// The directory of the running program, without a slash at the end.
static bool findProgramDirectory(char* buffer, size_t size) {
    ssize_t length = readlink("/proc/self/exe", buffer, size - 1);
    if (length <= 0) {
        return false;
    }
    buffer[length] = '\0';
    char* slash = strrchr(buffer, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return true;
}

bool findSceneDirectory(char* buffer, size_t size) {
    char program[PATH_MAX];
    if (!findProgramDirectory(program, sizeof(program))) {
        return false;
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i) {
        int length = snprintf(buffer, size, "%s/%s", program, places[i]);
        if (length > 0 && (size_t)length < size && access(buffer, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

// Names -------------------------------------------------------------------------------------------

static bool addScene(tpSceneNames* list, const char* name, size_t length) {
    tpListedScene* items = realloc(list->items, ((size_t)list->count + 1) * sizeof(tpListedScene));
    char* copy = malloc(length + 1);
    list->items = items != NULL ? items : list->items;
    if (items == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    list->items[list->count++] = (tpListedScene){ copy, NULL };
    return true;
}

static bool endsInJson(const char* name, size_t* length) {
    static const char ending[] = ".json";
    *length = strlen(name);
    if (*length <= strlen(ending) || strcmp(name + *length - strlen(ending), ending) != 0) {
        return false;
    }
    *length -= strlen(ending);
    return true;
}

// Scenes in a folder below `root`, with those in its own folders.
static void addFolder(tpSceneNames* list, const char* root, const char* folder, int depth) {
    char path[2 * PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", root, folder);
    DIR* entries = opendir(path);
    struct dirent* entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        char name[PATH_MAX];
        size_t length;
        struct stat status;
        if (entry->d_name[0] == '.' ||
            snprintf(name, sizeof(name), "%s%s", folder, entry->d_name) >= (int)sizeof(name) - 1) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", root, name);
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode) && depth < mostDepth) {
            strcat(name, "/");
            addFolder(list, root, name, depth + 1);
        } else if (endsInJson(name, &length) && !addScene(list, name, length)) {
            break;
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

static int compareScenes(const void* a, const void* b) {
    const char* x = ((const tpListedScene*)a)->name;
    const char* y = ((const tpListedScene*)b)->name;
    bool isNestedX = strchr(x, '/') != NULL, isNestedY = strchr(y, '/') != NULL;
    return isNestedX != isNestedY ? isNestedX - isNestedY : strcmp(x, y);
}

// What they are about -----------------------------------------------------------------------------

// The first sentence of a text: up to a full stop that ends a word of some length, so that neither
// "0.5 m" nor "e. g." is taken for an end.
static size_t sentenceLength(const char* text) {
    for (const char* stop = strstr(text, ". "); stop != NULL; stop = strstr(stop + 1, ". ")) {
        if (stop - text > 2 && stop[-2] != ' ') {
            return (size_t)(stop - text);
        }
    }
    size_t length = strlen(text);
    return length > 0 && text[length - 1] == '.' ? length - 1 : length;
}

// The text of one of the scene's own keys; NULL if it has none.
static const char* findText(const char* text, size_t length, const char* wanted, tpArena* arena) {
    tpJson json;
    tpError unheard;
    size_t read;
    if (tpJson_Open(&json, "", 0, text, length, &unheard) != tp_success ||
        tpJson_Peek(&json) != tp_jsonObject) {
        return NULL;
    }
    tpJson_Enter(&json);
    while (tpJson_Next(&json)) {
        const char* key = tpJson_ReadKey(&json, arena, &read);
        if (key == NULL) {
            return NULL;
        }
        if (strcmp(key, wanted) == 0 && tpJson_Peek(&json) == tp_jsonText) {
            return tpJson_ReadText(&json, arena, &read);
        }
        tpJson_Skip(&json);
    }
    return NULL;
}

static char* readFile(const char* path, int64_t* length) {
    tpError unheard;
    FILE* file = tpOpenInput(path, length, &unheard);
    char* text = file != NULL && *length >= 0 ? malloc((size_t)*length + 1) : NULL;
    if (text != NULL && fread(text, 1, (size_t)*length, file) != (size_t)*length) {
        free(text);
        text = NULL;
    }
    if (text != NULL) {
        text[*length] = '\0';
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

// The first sentence of the description in a scene file, else its title; NULL if it has neither
// or cannot be read.
static char* readAbout(const char* path) {
    int64_t length = 0;
    char* text = readFile(path, &length);
    if (text == NULL) {
        return NULL;
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    const char* words = findText(text, (size_t)length, "about", &arena);
    words = words != NULL ? words : findText(text, (size_t)length, "name", &arena);
    size_t wordsLength = words != NULL ? sentenceLength(words) : 0;
    char* about = words != NULL ? malloc(wordsLength + 1) : NULL;
    if (about != NULL) {
        memcpy(about, words, wordsLength);
        about[wordsLength] = '\0';
    }
    tpArena_Destroy(&arena);
    free(text);
    return about;
}

tpSceneNames listScenes(bool withAbout) {
    tpSceneNames list = { NULL, 0 };
    char root[PATH_MAX];
    if (!findSceneDirectory(root, sizeof(root))) {
        return list;
    }
    addFolder(&list, root, "", 0);
    if (list.count > 0) {
        qsort(list.items, (size_t)list.count, sizeof(tpListedScene), compareScenes);
    }
    for (int i = 0; withAbout && i < list.count; ++i) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s.json", root, list.items[i].name);
        list.items[i].about = readAbout(path);
    }
    return list;
}

void releaseSceneList(tpSceneNames* list) {
    for (int i = 0; i < list->count; ++i) {
        free(list->items[i].name);
        free(list->items[i].about);
    }
    free(list->items);
    *list = (tpSceneNames){ NULL, 0 };
}

// The scenes in a folder of that name: as many as fit.
static bool nameFolder(const tpSceneNames* list, const char* word, char* buffer, size_t size) {
    size_t length = strlen(word), used = 0;
    for (int i = 0; i < list->count; ++i) {
        const char* name = list->items[i].name;
        bool isInside = strncmp(name, word, length) == 0 && name[length] == '/';
        size_t room = strlen(name) + 8;
        if (isInside && used + room < size) {
            used +=
                (size_t)snprintf(buffer + used, size - used, "%s%s", used > 0 ? ", " : "", name);
        } else if (isInside) {
            snprintf(buffer + used, size - used, ", ...");
            break;
        }
    }
    return used > 0;
}

// The scene whose name is nearest, with its folder or, if none is, without it.
static const char* nearestScene(const tpSceneNames* list, const char* word) {
    const char** names = malloc(((size_t)list->count + 1) * sizeof(const char*));
    const char* nearest = NULL;
    for (int isShort = 0; names != NULL && nearest == NULL && isShort < 2; ++isShort) {
        for (int i = 0; i < list->count; ++i) {
            const char* folder = isShort ? strrchr(list->items[i].name, '/') : NULL;
            names[i] = folder != NULL ? folder + 1 : list->items[i].name;
        }
        const char* found = tpNearestName(word, names, list->count);
        for (int i = 0; found != NULL && i < list->count && nearest == NULL; ++i) {
            nearest = names[i] == found ? list->items[i].name : NULL;
        }
    }
    free(names);
    return nearest;
}

bool suggestScene(const char* word, char* buffer, size_t size) {
    tpSceneNames list = listScenes(false);
    char plain[256];
    size_t length;
    endsInJson(word, &length);
    snprintf(plain, sizeof(plain), "%.*s", (int)(length < 255 ? length : 255), word);
    bool isNamed = nameFolder(&list, plain, buffer, size);
    const char* nearest = !isNamed ? nearestScene(&list, plain) : NULL;
    if (nearest != NULL) {
        snprintf(buffer, size, "%s", nearest);
    }
    releaseSceneList(&list);
    return isNamed || nearest != NULL;
}
