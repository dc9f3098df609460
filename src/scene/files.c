#include "scene/files.h"
#include "base/assert.h"

#include <stdio.h>
#include <string.h>

#include "base/part_file.h"

bool tpJoinScenePath(const tpScene* scene, const char* name, char* path, size_t size) {
    const char* slash = strrchr(scene->path, '/');
    int directory = slash != NULL && name[0] != '/' ? (int)(slash - scene->path) + 1 : 0;
    int length = snprintf(path, size, "%.*s%s", directory, scene->path, name);
    return length >= 0 && (size_t)length < size;
}

const char* tpScene_GetPath(const tpScene* scene, tpScenePlace place) {
    TP_NEED(scene, NULL);
    return place.file > 0 && place.file < scene->fileCount ? scene->files[place.file] : scene->path;
}

typedef struct fileVisit {
    const tpScene* scene;
    tpSceneFileVisitor* visit;
    void* context;
    const char* last; // name told of; crowds of bodies name the same file again and again
} fileVisit;

static void visitName(fileVisit* visiting, tpSceneFileKind kind, const char* name) {
    char path[tp_pathCapacity];
    bool isNew = name != NULL && (visiting->last == NULL || strcmp(name, visiting->last) != 0);
    if (isNew && tpJoinScenePath(visiting->scene, name, path, sizeof(path))) {
        visiting->visit(visiting->context, kind, path);
        visiting->last = name;
    }
}

static void visitShapes(fileVisit* visiting, const tpSceneShapes* shapes) {
    for (int i = 0; i < shapes->count; ++i) {
        visitName(visiting, tp_surfaceFile, shapes->items[i].file.text);
        visitShapes(visiting, &shapes->items[i].of);
    }
}

void tpScene_VisitFiles(const tpScene* scene, tpSceneFileVisitor* visit, void* context) {
    TP_NEED(scene, );
    fileVisit visiting = { scene, visit, context, NULL };
    visit(context, tp_sceneFile, scene->path);
    for (int i = 1; i < scene->fileCount; ++i) {
        visit(context, tp_includedFile, scene->files[i]);
    }
    visitName(&visiting, tp_referenceFile, scene->reference.text);
    for (int i = 0; i < scene->bodies.count; ++i) {
        visitShapes(&visiting, &scene->bodies.items[i].shapes);
    }
}
