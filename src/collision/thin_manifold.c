#include "collision/thin_manifold.h"

#include <math.h>

// Points whose gaps differ by less than this part of the manifold's extent are as near as each
// other.
static const double nearPart = 0.01;

enum { mostPoints = 32 }; // of which four are chosen by what they span

typedef struct Choice {
    const tpContactPoint* points;
    int count;
    bool isOpen[mostPoints]; // may be chosen
    bool isChosen[mostPoints];
    int chosen;
} Choice;

static void choose(Choice* choice, int k) {
    if (k >= 0) {
        choice->isChosen[k] = true;
        choice->isOpen[k] = false;
        choice->chosen += 1;
    }
}

static int farthestFrom(const Choice* choice, tpVec3 place) {
    int best = -1;
    double most = -1.0;
    for (int k = 0; k < choice->count; ++k) {
        double distance = tpLengthSquared(tpSub(choice->points[k].pointA, place));
        if (choice->isOpen[k] && distance > most) {
            most = distance;
            best = k;
        }
    }
    return best;
}

// The point that is farthest from the line through two, on the side that `sign` says.
static int farthestBeside(const Choice* choice, int a, int b, double sign) {
    tpVec3 along = tpSub(choice->points[b].pointA, choice->points[a].pointA);
    tpVec3 across = tpScale(sign, tpCross(choice->points[a].normal, along));
    int best = -1;
    double most = 0.0;
    for (int k = 0; k < choice->count; ++k) {
        double side = tpDot(across, tpSub(choice->points[k].pointA, choice->points[a].pointA));
        if (choice->isOpen[k] && side > most) {
            most = side;
            best = k;
        }
    }
    return best;
}

static tpVec3 middleOf(const Choice* choice) {
    tpVec3 sum = tpZeroVec3();
    for (int k = 0; k < choice->count; ++k) {
        sum = tpAdd(sum, choice->points[k].pointA);
    }
    return tpScale(1.0 / choice->count, sum);
}

// The four open points that span the most.
static void chooseCorners(Choice* choice) {
    int a = farthestFrom(choice, middleOf(choice));
    choose(choice, a);
    int b = farthestFrom(choice, choice->points[a].pointA);
    choose(choice, b);
    int c = farthestBeside(choice, a, b, 1.0);
    choose(choice, c);
    choose(choice, farthestBeside(choice, a, b, -1.0));
}

// Rims -------------------------------------------------------------------------------------------

// A foot that is a hull has many corners, which lie on no plane: four that span the most may leave
// out the lowest one, and the foot sinks until they carry it. The lowest corner stays here, and
// those that are the lowest ones if the hull tilts a little to one of these sides. Sides are
// along no edge of an upright box, so that each of four corners of a sole is the lowest for one.
enum { sideCount = 4 };
static const double sides[sideCount][2] = {
    { 0.96, 0.28 }, { -0.28, 0.96 }, { -0.96, -0.28 }, { 0.28, -0.96 }
};

static int lowestTilted(const tpContactPoint* points, int count, tpVec3 tilt) {
    int best = 0;
    double least = INFINITY;
    for (int k = 0; k < count; ++k) {
        double gap = points[k].gap - tpDot(tilt, tpSub(points[k].pointA, points[0].pointA));
        best = gap < least ? k : best;
        least = gap < least ? gap : least;
    }
    return best;
}

static int thinRim(tpContactPoint* points, int count) {
    tpVec3 x, y;
    tpMakeTangents(points[0].normal, &x, &y);
    int list[1 + sideCount] = { lowestTilted(points, count, tpZeroVec3()) };
    for (int k = 0; k < sideCount; ++k) {
        tpVec3 side = tpAdd(tpScale(sides[k][0], x), tpScale(sides[k][1], y));
        list[1 + k] = lowestTilted(points, count, tpScale(TP_RIM_TILT, side));
    }
    // In their order, each once.
    int kept = 0;
    for (int k = 0; k < count; ++k) {
        bool isChosen = false;
        for (int i = 0; i <= sideCount; ++i) {
            isChosen = isChosen || list[i] == k;
        }
        if (isChosen) {
            points[kept++] = points[k];
        }
    }
    return kept;
}

int tpThinManifold(tpContactPoint* points, int count) {
    if (count <= tp_thinPoints) {
        return count;
    }
    if (count > mostPoints) {
        return thinRim(points, count);
    }
    Choice choice = { .points = points, .count = count };
    double least = points[0].gap, extent = 0.0;
    for (int k = 1; k < count; ++k) {
        least = points[k].gap < least ? points[k].gap : least;
        double distance = tpLengthSquared(tpSub(points[k].pointA, points[0].pointA));
        extent = distance > extent ? distance : extent;
    }
    int near = 0;
    double limit = least + nearPart * sqrt(extent);
    for (int k = 0; k < count; ++k) {
        choice.isOpen[k] = points[k].gap <= limit;
        near += choice.isOpen[k] ? 1 : 0;
    }
    if (near >= tp_thinPoints) {
        chooseCorners(&choice);
    } else {
        // All that are near, and of the rest those farthest from the first of them.
        tpVec3 place = points[0].pointA;
        for (int k = 0; k < count; ++k) {
            place = choice.isOpen[k] && choice.chosen == 0 ? points[k].pointA : place;
            if (choice.isOpen[k]) {
                choose(&choice, k);
            } else {
                choice.isOpen[k] = true;
            }
        }
        while (choice.chosen < tp_thinPoints) {
            int k = farthestFrom(&choice, place);
            choose(&choice, k);
            place = points[k].pointA;
        }
    }
    int kept = 0;
    for (int k = 0; k < count; ++k) {
        if (choice.isChosen[k]) {
            points[kept++] = points[k];
        }
    }
    return kept;
}

void tpSortByGap(tpContactPoint* points, int count) {
    for (int i = 1; i < count; ++i) {
        tpContactPoint point = points[i];
        int j = i;
        for (; j > 0 && points[j - 1].gap > point.gap; --j) {
            points[j] = points[j - 1];
        }
        points[j] = point;
    }
}
