// Prints the hash of the state of each scene after some steps, to be held against what another
// build of the core gives. Usage: scene_hash STEPS SCENE...

#include <stdio.h>
#include <stdlib.h>

#include "tippe/scene.h"
#include "tippe/world.h"

static void printHash(const char* path, int steps) {
    tpScene* scene = NULL;
    tpWorld* world = NULL;
    tpError error;
    if (tpReadScene(path, NULL, &scene, &error) != tp_success ||
        tpScene_CreateWorld(scene, NULL, 1, &world, &error) != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        printf("\n");
    } else {
        for (int k = 0; k < steps; ++k) {
            tpWorld_Step(world, scene->simulation.step);
        }
        printf("%016llx\n", (unsigned long long)tpWorld_HashState(world));
    }
    fflush(stdout);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

int main(int argumentCount, char** arguments) {
    for (int i = 2; i < argumentCount; ++i) {
        printHash(arguments[i], atoi(arguments[1]));
    }
    return 0;
}
