// Cylinders and single triangles of a surface, without an iteration where that is known to do.

#include "collision/cylinder_features.h"
#include "collision/mesh_query.h"

// Overlaps with edges that are known from these alone, of the cylinder's size.
static const double shallowPart = 0.1;

// In an overlap the way out is within 60 degrees of the way to the centre.
static const double outCosine = 0.5;

// A generator or a cap that is more level than this along a normal has no lowest point (a cosine).
static const double levelCosine = 1e-3, flatCosine = 1.0 - 1e-6;

static tpVec3 axisOf(const tpMeshQuery* query) {
    return tpRotate(query->pose.rotation, tpMakeVec3(0.0, 0.0, 1.0));
}

static int32_t heaviest(const double weights[3]) {
    int32_t k = weights[1] > weights[0] ? 1 : 0;
    return weights[2] > weights[k] ? 2 : k;
}

bool tpMeshQuery_NearestOfCylinder(const tpMeshQuery* query, const tpTriangle* triangle,
                                   const tpHull* hull, double height, tpClosest* out) {
    if (query->convex.type != tp_cylinderShape || query->roughness == 0.0) {
        return false;
    }
    double weights[3];
    tpVec3 below = tpNearestOnTriangle(triangle->corners, query->center, weights);
    tpVec3 towards = tpNormalize(tpSub(query->center, below));
    const tpCylinder* cylinder = &query->convex.cylinder;
    tpCylinderPlace place = { query->pose.position, axisOf(query), 0.5 * cylinder->length,
                              cylinder->radius };
    if (!tpNearestToCylinder(hull, &place, towards, outCosine, heaviest(weights), out)) {
        return false;
    }
    double shallow = shallowPart * fmin(place.radius, place.half);
    return out->distance > 0.0 || (out->distance > -shallow && out->distance >= height);
}

bool tpMeshQuery_IsCylinderTilted(const tpMeshQuery* query, tpVec3 n) {
    double cosine = fabs(tpDot(axisOf(query), n));
    return query->roughness > 0.0 && cosine > levelCosine && cosine < flatCosine;
}
