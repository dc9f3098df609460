// The one ruler: how deep bodies overlap in poses that an engine has left: ruler SCENE POSES
//
// Our own collider in double precision looks at every frame. Prints one line of JSON: the deepest
// overlap of the run, the mean over frames of each frame's mean and deepest overlap (over pairs
// that overlap), and how high the highest centre stands at the end.

#include "scene_bodies.h"

#include "overlap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    FILE* file = argc == 3 ? fopen(argv[2], "rb") : NULL;
    if (file == NULL) {
        fprintf(stderr, "ruler SCENE POSES\n");
        return 2;
    }
    BenchScene scene = openBenchScene(argv[1], "free-flight", 1);
    tpCollider* ruler = makeOverlapRuler(scene.world);
    size_t numbers = 7 * (size_t)scene.bodyCount;
    double* frame = calloc(numbers, sizeof(double));
    tpPose* poses = calloc((size_t)scene.bodyCount, sizeof(tpPose));
    double worst = 0.0, deepSum = 0.0, meanSum = 0.0, top = -INFINITY;
    int frames = 0, lost = 0;
    while (ruler != NULL && fread(frame, sizeof(double), numbers, file) == numbers) {
        top = -INFINITY;
        for (int i = 0; i < scene.bodyCount; ++i) {
            const double* p = frame + 7 * (size_t)i;
            poses[i].position = tpMakeVec3(p[0], p[1], p[2]);
            poses[i].rotation = tpNormalizeQuat((tpQuat){ p[3], p[4], p[5], p[6] });
            double turn = tpDotQQ(poses[i].rotation, poses[i].rotation);
            if (!tpIsFiniteVec3(poses[i].position) || !(fabs(turn - 1.0) < 1e-6)) {
                poses[i] = scene.bodies[i].pose;
                ++lost;
            }
            top = scene.bodies[i].isFixed ? top : fmax(top, poses[i].position.y);
        }
        double deepest, mean;
        if (!measureOverlap(ruler, poses, &deepest, &mean)) {
            fprintf(stderr, "out of memory\n");
            return 3;
        }
        worst = fmax(worst, deepest);
        deepSum += deepest;
        meanSum += mean;
        ++frames;
    }
    double count = frames > 0 ? frames : 1;
    printf("{\"frames\": %d, \"penetration_max\": %.6g, \"penetration_deepest_mean\": %.6g, "
           "\"penetration_mean\": %.6g, \"top\": %.6g, \"lost\": %d}\n",
           frames, worst, deepSum / count, meanSum / count, frames > 0 ? top : 0.0, lost);
    free(frame);
    free(poses);
    tpDestroyCollider(ruler);
    closeBenchScene(&scene);
    fclose(file);
    return 0;
}
