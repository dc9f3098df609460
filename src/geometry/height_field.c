// Height fields: the grid answers for the cells under a box or along a ray.

#include "geometry/height_field.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/shape_parts.h"

static tpResult checkInput(int columns, int rows, double spacingX, double spacingY,
                           const double* heights, tpError* error) {
    if (columns < 2 || rows < 2) {
        return tpError_Set(error, tp_badInput,
                           "a height field needs at least 2 columns and 2 rows, not %d and %d",
                           columns, rows);
    }
    if (rows > INT_MAX / 2 / columns) {
        return tpError_Set(error, tp_badInput,
                           "a height field of %d columns and %d rows is too large", columns, rows);
    }
    if (!(spacingX > 0.0) || !(spacingY > 0.0) || !isfinite(spacingX) || !isfinite(spacingY)) {
        return tpError_Set(error, tp_badInput,
                           "spacing must be positive and finite, not %.9g and %.9g m", spacingX,
                           spacingY);
    }
    for (int i = 0; i < columns * rows; ++i) {
        if (!isfinite(heights[i])) {
            return tpError_Set(error, tp_badInput, "the height at column %d, row %d is not finite",
                               i % columns, i / columns);
        }
    }
    return tp_success;
}

tpResult tpCreateHeightField(const tpAllocator* allocator, int columns, int rows, double spacingX,
                             double spacingY, const double* heights, tpHeightField** out,
                             tpError* error) {
    *out = NULL;
    tpResult result = checkInput(columns, rows, spacingX, spacingY, heights, error);
    if (result != tp_success) {
        return result;
    }
    size_t count = (size_t)columns * (size_t)rows;
    size_t head = (sizeof(tpHeightField) + 63) & ~(size_t)63;
    size_t byteCount = head + count * sizeof(double);
    tpHeightField* field = tpAllocate(allocator, byteCount);
    if (field == NULL) {
        return tpError_OutOfMemory(error);
    }
    double* copy = (double*)((unsigned char*)field + head);
    memcpy(copy, heights, count * sizeof(double));
    double low = heights[0], high = heights[0];
    for (size_t i = 1; i < count; ++i) {
        low = fmin(low, heights[i]);
        high = fmax(high, heights[i]);
    }
    field->columns = columns;
    field->rows = rows;
    field->spacingX = spacingX;
    field->spacingY = spacingY;
    field->corner = tpMakeVec3(-0.5 * (columns - 1) * spacingX, -0.5 * (rows - 1) * spacingY, 0.0);
    field->heights = copy;
    field->bounds = (tpBounds){ tpMakeVec3(field->corner.x, field->corner.y, low),
                                tpMakeVec3(-field->corner.x, -field->corner.y, high) };
    field->allocator = *allocator;
    field->byteCount = byteCount;
    atomic_init(&field->references, 1);
    *out = field;
    return tp_success;
}

tpHeightField* tpRetainHeightField(tpHeightField* field) {
    atomic_fetch_add_explicit(&field->references, 1, memory_order_relaxed);
    return field;
}

void tpReleaseHeightField(tpHeightField* field) {
    if (field != NULL &&
        atomic_fetch_sub_explicit(&field->references, 1, memory_order_acq_rel) == 1) {
        tpAllocator allocator = field->allocator;
        tpRelease(&allocator, field, field->byteCount);
    }
}

// The solid reaches down without end: bounds are infinite wherever the turned -z axis leads.
static tpBounds fieldBounds(const tpGeometry* geometry, tpPose pose) {
    tpBounds b = tpTransformBounds(geometry->heightField->bounds, pose);
    tpVec3 down = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, -1.0));
    const double level = 1e-12; // what rounding of a rotation leaves
    double parts[3] = { down.x, down.y, down.z };
    double* lower[3] = { &b.lower.x, &b.lower.y, &b.lower.z };
    double* upper[3] = { &b.upper.x, &b.upper.y, &b.upper.z };
    for (int k = 0; k < 3; ++k) {
        if (parts[k] > level) {
            *upper[k] = HUGE_VAL;
        } else if (parts[k] < -level) {
            *lower[k] = -HUGE_VAL;
        }
    }
    return b;
}

static double fieldRadius(const tpGeometry* geometry, tpVec3 point) {
    (void)geometry;
    (void)point;
    return HUGE_VAL;
}

// It is solid all the way down: only its sides can be left.
static double fieldInnerRadius(const tpGeometry* geometry) {
    tpVec3 extent = tpSub(geometry->heightField->bounds.upper, geometry->heightField->bounds.lower);
    return 0.25 * fmin(extent.x, extent.y);
}

static const void* sharedField(const tpGeometry* geometry) {
    return geometry->heightField;
}

static void retainField(const tpGeometry* geometry) {
    tpRetainHeightField(geometry->heightField);
}

static void releaseField(tpGeometry* geometry) {
    tpReleaseHeightField(geometry->heightField);
    geometry->heightField = NULL;
}

const tpShapeClass tp_heightFieldClass = {
    .name = "heightfield",
    .kind = tp_heightFieldKind,
    .shared = sharedField,
    .retain = retainField,
    .release = releaseField,
    .bounds = fieldBounds,
    .radius = fieldRadius,
    .innerRadius = fieldInnerRadius,
};

tpResult tpMakeHeightField(const tpAllocator* allocator, int columns, int rows, double spacingX,
                           double spacingY, const double* heights, tpPose pose, tpGeometry* out,
                           tpError* error) {
    tpResult result = tpCheckShapePose(pose, error);
    tpHeightField* field;
    if (result == tp_success) {
        result = tpCreateHeightField(allocator, columns, rows, spacingX, spacingY, heights, &field,
                                     error);
    }
    if (result == tp_success) {
        *out = (tpGeometry){ .type = tp_heightFieldShape, .pose = pose, .heightField = field };
    }
    return result;
}

// Triangles -----------------------------------------------------------------------------------

static int32_t triangleAt(const tpHeightField* field, int32_t column, int32_t row, int32_t half) {
    if (column < 0 || row < 0 || column >= field->columns - 1 || row >= field->rows - 1) {
        return -1;
    }
    return 2 * (row * (field->columns - 1) + column) + half;
}

// Corners (0,0), (1,0), (1,1) of the cell, or (0,0), (1,1), (0,1).
void tpHeightField_Corners(const tpHeightField* field, int32_t index, tpTriangle* triangle) {
    int32_t cell = index / 2;
    int32_t column = cell % (field->columns - 1), row = cell / (field->columns - 1);
    const int offsets[2][3][2] = { { { 0, 0 }, { 1, 0 }, { 1, 1 } },
                                   { { 0, 0 }, { 1, 1 }, { 0, 1 } } };
    for (int k = 0; k < 3; ++k) {
        int32_t c = column + offsets[index % 2][k][0], r = row + offsets[index % 2][k][1];
        triangle->corners[k] = tpHeightField_Point(field, c, r);
        triangle->vertices[k] = r * field->columns + c;
    }
    tpVec3 a = triangle->corners[0];
    triangle->normal =
        tpNormalize(tpCross(tpSub(triangle->corners[1], a), tpSub(triangle->corners[2], a)));
}

void tpHeightField_AddNeighbors(const tpHeightField* field, int32_t index, tpTriangle* triangle) {
    int32_t cell = index / 2;
    int32_t column = cell % (field->columns - 1), row = cell / (field->columns - 1);
    if (index % 2 == 0) { // edges: lower side, right side, diagonal
        triangle->neighbors[0] = triangleAt(field, column, row - 1, 1);
        triangle->neighbors[1] = triangleAt(field, column + 1, row, 1);
        triangle->neighbors[2] = index + 1;
    } else { // edges: diagonal, upper side, left side
        triangle->neighbors[0] = index - 1;
        triangle->neighbors[1] = triangleAt(field, column, row + 1, 0);
        triangle->neighbors[2] = triangleAt(field, column - 1, row, 0);
    }
    for (int k = 0; k < 3; ++k) {
        triangle->edges[k] = tp_convexEdge;
        if (triangle->neighbors[k] >= 0) {
            tpTriangle neighbor;
            tpHeightField_Corners(field, triangle->neighbors[k], &neighbor);
            tpVec3 edge = tpSub(triangle->corners[(k + 1) % 3], triangle->corners[k]);
            triangle->edges[k] = (uint8_t)tpClassifyEdge(edge, triangle->normal, neighbor.normal);
        }
    }
}

// The cells that [low, high] overlaps, the last one excluded, along one direction of the grid.
static void cellRange(double low, double high, double corner, double spacing, int32_t cellCount,
                      int32_t range[2]) {
    double first = ceil((low - corner) / spacing) - 1.0; // touching counts
    double last = floor((high - corner) / spacing) + 1.0;
    range[0] = first > 0.0 ? (first < cellCount ? (int32_t)first : cellCount) : 0;
    range[1] = last < cellCount ? (last > 0.0 ? (int32_t)last : 0) : cellCount;
}

void tpHeightField_StartQuery(const tpHeightField* field, tpTriangleQuery* query) {
    cellRange(query->bounds.lower.x, query->bounds.upper.x, field->corner.x, field->spacingX,
              field->columns - 1, query->columns);
    cellRange(query->bounds.lower.y, query->bounds.upper.y, field->corner.y, field->spacingY,
              field->rows - 1, query->rows);
    query->column = query->columns[0];
    query->row = query->columns[0] < query->columns[1] ? query->rows[0] : query->rows[1];
    query->half = 0;
}

// The top of a triangle: it is found where the box reaches below it.
static double topOf(const tpHeightField* field, int32_t column, int32_t row, int32_t half) {
    const double* h = field->heights + row * field->columns + column;
    return fmax(h[0], fmax(h[field->columns + 1], half == 0 ? h[1] : h[field->columns]));
}

int32_t tpHeightField_NextTriangle(const tpHeightField* field, tpTriangleQuery* query) {
    while (query->row < query->rows[1]) {
        int32_t column = query->column, row = query->row, half = query->half;
        query->half ^= 1;
        if (half == 1 && ++query->column == query->columns[1]) {
            query->column = query->columns[0];
            ++query->row;
        }
        if (query->bounds.lower.z <= topOf(field, column, row, half)) {
            return triangleAt(field, column, row, half);
        }
    }
    return -1;
}

bool tpHeightField_IsBelow(const tpHeightField* field, tpVec3 p) {
    double x = (p.x - field->corner.x) / field->spacingX;
    double y = (p.y - field->corner.y) / field->spacingY;
    if (!(x >= 0.0 && y >= 0.0 && x <= field->columns - 1 && y <= field->rows - 1)) {
        return false;
    }
    int32_t column = (int32_t)fmin(floor(x), field->columns - 2);
    int32_t row = (int32_t)fmin(floor(y), field->rows - 2);
    int32_t half = x - column >= y - row ? 0 : 1;
    tpTriangle triangle;
    tpHeightField_Corners(field, triangleAt(field, column, row, half), &triangle);
    return tpDot(triangle.normal, tpSub(p, triangle.corners[0])) < 0.0;
}

// Rays ----------------------------------------------------------------------------------------

// The part of the ray over the area of the field, and the outward normal of the side where it comes
// in (zero if it starts over the field).
static bool clipRay(const tpHeightField* field, tpVec3 origin, tpVec3 direction, double* near,
                    double* far, tpVec3* side) {
    *side = tpZeroVec3();
    double o[2] = { origin.x, origin.y }, d[2] = { direction.x, direction.y };
    double low[2] = { field->bounds.lower.x, field->bounds.lower.y };
    double high[2] = { field->bounds.upper.x, field->bounds.upper.y };
    for (int k = 0; k < 2; ++k) {
        if (d[k] == 0.0) {
            if (o[k] < low[k] || o[k] > high[k]) {
                return false;
            }
            continue;
        }
        double a = (low[k] - o[k]) / d[k], b = (high[k] - o[k]) / d[k];
        if (fmin(a, b) > *near) {
            *near = fmin(a, b);
            double sign = d[k] > 0.0 ? -1.0 : 1.0;
            *side = k == 0 ? tpMakeVec3(sign, 0.0, 0.0) : tpMakeVec3(0.0, sign, 0.0);
        }
        *far = fmin(*far, fmax(a, b));
    }
    return *near <= *far;
}

static int32_t castAtCell(const tpHeightField* field, int32_t column, int32_t row, tpVec3 origin,
                          tpVec3 direction, double limit, double* t) {
    int32_t best = -1;
    for (int half = 0; half < 2; ++half) {
        int32_t index = triangleAt(field, column, row, half);
        tpTriangle triangle;
        double hit;
        if (index < 0) {
            continue;
        }
        tpHeightField_Corners(field, index, &triangle);
        if (tpCastRayAtTriangle(triangle.corners, origin, direction, limit, &hit) &&
            (best < 0 || hit < *t)) {
            *t = hit;
            best = index;
        }
    }
    return best;
}

// One direction of the walk through the grid [Amanatides87].
typedef struct Walk {
    int32_t cell, step;
    double next, delta; // ray parameter at the next border, and between borders
} Walk;

static Walk startWalk(double origin, double direction, double start, double corner, double spacing,
                      int32_t cellCount) {
    double place = (origin + start * direction - corner) / spacing;
    double cell = fmin(fmax(floor(place), 0.0), cellCount - 1);
    Walk walk = { (int32_t)cell, direction > 0.0 ? 1 : -1, HUGE_VAL, HUGE_VAL };
    if (direction != 0.0) {
        double border = corner + spacing * (cell + (direction > 0.0 ? 1.0 : 0.0));
        walk.next = (border - origin) / direction;
        walk.delta = spacing / fabs(direction);
    }
    return walk;
}

int32_t tpHeightField_CastRay(const tpHeightField* field, tpVec3 origin, tpVec3 direction,
                              double limit, double* t) {
    double near = 0.0, far = limit;
    tpVec3 side;
    if (!clipRay(field, origin, direction, &near, &far, &side)) {
        return -1;
    }
    Walk x = startWalk(origin.x, direction.x, near, field->corner.x, field->spacingX,
                       field->columns - 1);
    Walk y =
        startWalk(origin.y, direction.y, near, field->corner.y, field->spacingY, field->rows - 1);
    // Rounding can put a hit at a border into the cell beside: one cell more is looked at before a
    // hit counts, and the nearest is kept.
    int32_t best = -1;
    double reach = limit;
    while (x.cell >= 0 && x.cell < field->columns - 1 && y.cell >= 0 && y.cell < field->rows - 1) {
        double hit;
        int32_t found = castAtCell(field, x.cell, y.cell, origin, direction, reach, &hit);
        if (found >= 0 && (best < 0 || hit < reach)) {
            best = found;
            reach = hit;
        }
        double next = fmin(x.next, y.next);
        if (next > far || (best >= 0 && next > reach)) {
            break;
        }
        if (x.next <= y.next) {
            x.cell += x.step;
            x.next += x.delta;
        } else {
            y.cell += y.step;
            y.next += y.delta;
        }
    }
    *t = reach;
    return best;
}

bool tpHeightField_CastRayAtSides(const tpHeightField* field, tpVec3 origin, tpVec3 direction,
                                  double limit, double* t, tpVec3* normal) {
    double far = limit;
    *t = 0.0;
    if (!clipRay(field, origin, direction, t, &far, normal) || *t == 0.0) {
        return false;
    }
    // Onto the border exactly, which rounding may have missed by a hair.
    tpVec3 p = tpMulAdd(origin, *t, direction);
    p.x = fmin(fmax(p.x, field->bounds.lower.x), field->bounds.upper.x);
    p.y = fmin(fmax(p.y, field->bounds.lower.y), field->bounds.upper.y);
    return tpHeightField_IsBelow(field, p);
}
