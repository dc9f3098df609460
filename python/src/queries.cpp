// Questions to a world: what a ray or a moving shape meets, what lies in a box or a shape, how far
// two shapes are apart. World.cast_ray and its kin (tippe/queries.py) name what comes from here.

#include <algorithm>
#include <cmath>
#include <new>

#include "bodies.h"

namespace {

// What cast_rays gives for each ray.
struct RayRow {
    double fraction, distance, point[3], normal[3];
    int32_t index, triangle;
    uint8_t isHit, startsInside, reserve[6];
};

const tpWorld* seen(nb::handle self, World*& world) {
    world = nb::cast<World*>(self);
    use(*world);
    pushViews(*world);
    return world->world;
}

double lengthOf(tpVec3 v) {
    return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

nb::object shapeObject(nb::handle self, World& world, tpShapeId id) {
    return nb::cast(Shape{ nb::borrow(self), &world, id });
}

nb::object rayObject(nb::handle self, World& world, const tpRayResult& ray, double length) {
    return nb::make_tuple(shapeObject(self, world, ray.shape),
                          nb::cast(makeBody(self, world, ray.body)), ray.fraction,
                          ray.fraction * length, arrayOf(ray.point), arrayOf(ray.normal),
                          ray.triangle, ray.startsInside);
}

nb::object castRay(nb::handle self, nb::handle origin, nb::handle translation, nb::handle mask) {
    tpVec3 from = vectorOf(origin, "origin"), way = directionOf(translation, "translation");
    uint32_t bits = bitsOf(mask, "mask");
    World* world = nullptr;
    tpRayResult ray = tpWorld_CastRay(seen(self, world), from, way, bits);
    return ray.isHit ? rayObject(self, *world, ray, lengthOf(way)) : nb::none();
}

nb::object castRayAtAll(nb::handle self, nb::handle origin, nb::handle translation,
                        nb::handle mask) {
    tpVec3 from = vectorOf(origin, "origin"), way = directionOf(translation, "translation");
    uint32_t bits = bitsOf(mask, "mask");
    World* world = nullptr;
    std::vector<tpRayResult> met;
    tpRayCallback take = [](const tpRayResult* result, void* context) {
        static_cast<std::vector<tpRayResult>*>(context)->push_back(*result);
        return true;
    };
    tpWorld_CastRayAtAll(seen(self, world), from, way, bits, take, &met);
    nb::list hits;
    for (const tpRayResult& ray : met) {
        hits.append(rayObject(self, *world, ray, lengthOf(way)));
    }
    return hits;
}

nb::object rayType() {
    nb::list fields;
    fields.append(nb::make_tuple("fraction", "f8"));
    fields.append(nb::make_tuple("distance", "f8"));
    fields.append(nb::make_tuple("point", "f8", nb::make_tuple(3)));
    fields.append(nb::make_tuple("normal", "f8", nb::make_tuple(3)));
    fields.append(nb::make_tuple("index", "i4"));
    fields.append(nb::make_tuple("triangle", "i4"));
    fields.append(nb::make_tuple("hit", "?"));
    fields.append(nb::make_tuple("starts_inside", "?"));
    fields.append(nb::make_tuple("_", "V6"));
    return nb::module_::import_("numpy").attr("dtype")(fields);
}

void copy(double* to, tpVec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

// Both arrays have a row per ray, or one row for all.
nb::object castRays(nb::handle self, nb::handle origins, nb::handle translations, nb::handle mask) {
    Rows from = rowsOf(origins, "origins", 3), way = rowsOf(translations, "translations", 3);
    uint32_t bits = bitsOf(mask, "mask");
    World* world = nullptr;
    const tpWorld* w = seen(self, world);
    bool hasNone = from.shape(0) == 0 || way.shape(0) == 0;
    size_t count = hasNone ? 0 : std::max(from.shape(0), way.shape(0));
    auto fits = [&](size_t rows) { return hasNone || rows == count || rows == 1; };
    if (!fits(from.shape(0)) || !fits(way.shape(0))) {
        raiseValue("translations: expected a row per origin (%zu), or one for all, got %zu",
                   from.shape(0), way.shape(0));
    }
    std::vector<int32_t> placeBySlot;
    int bodyCount = tpWorld_GetBodyCount(w);
    for (int i = 0; i < bodyCount; ++i) {
        tpBodyId body = tpWorld_GetBody(w, i);
        if (body.slot >= placeBySlot.size()) {
            placeBySlot.resize(body.slot + 1, -1);
        }
        placeBySlot[body.slot] = i;
    }
    std::vector<RayRow> rows(count);
    {
        Away away(*world);
        for (size_t i = 0; i < count; ++i) {
            const double* a = from.data() + (from.shape(0) == 1 ? 0 : 3 * i);
            const double* b = way.data() + (way.shape(0) == 1 ? 0 : 3 * i);
            tpVec3 translation = { b[0], b[1], b[2] };
            tpRayResult ray = tpWorld_CastRay(w, tpVec3{ a[0], a[1], a[2] }, translation, bits);
            RayRow& row = rows[i];
            row = {};
            row.isHit = ray.isHit;
            row.fraction = ray.isHit ? ray.fraction : 1.0;
            row.distance = ray.isHit ? ray.fraction * lengthOf(translation) : INFINITY;
            row.index = ray.isHit ? placeBySlot[ray.body.slot] : -1;
            row.triangle = ray.isHit ? ray.triangle : -1;
            row.startsInside = ray.isHit && ray.startsInside;
            tpVec3 end = { a[0] + b[0], a[1] + b[1], a[2] + b[2] };
            copy(row.point, ray.isHit ? ray.point : end);
            copy(row.normal, ray.isHit ? ray.normal : tpVec3{ 0.0, 0.0, 0.0 });
        }
    }
    nb::object bytes =
        nb::steal(PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(rows.data()),
                                                static_cast<Py_ssize_t>(count * sizeof(RayRow))));
    return nb::module_::import_("numpy").attr("frombuffer")(bytes, "dtype"_a = rayType());
}

nb::object closestObject(const tpClosest& closest) {
    return nb::make_tuple(closest.distance, arrayOf(closest.pointA), arrayOf(closest.pointB),
                          arrayOf(closest.normal));
}

const tpGeometry* geometryOf(nb::handle value) {
    Geometry* geometry = nullptr;
    if (!nb::try_cast(value, geometry) || geometry == nullptr) {
        raiseValue("geometry: expected a shape made by tippe.shapes");
    }
    return &geometry->geometry;
}

nb::object castShape(nb::handle self, nb::handle shape, nb::handle translation, nb::handle position,
                     nb::handle rotation, nb::handle tolerance, nb::handle mask) {
    const tpGeometry* geometry = geometryOf(shape);
    tpVec3 way = vectorOf(translation, "translation");
    tpPose pose = poseOf(position, rotation);
    double near = numberOf(tolerance, "tolerance", Range::positive);
    uint32_t bits = bitsOf(mask, "mask");
    World* world = nullptr;
    tpShapeCastResult met = {};
    if (tpWorld_CastShape(seen(self, world), geometry, pose, way, near, bits, &met) != tp_success) {
        raiseValue("geometry: this type of shape cannot be cast here");
    }
    if (!met.hit.isHit) {
        return nb::none();
    }
    return nb::make_tuple(shapeObject(self, *world, met.shape),
                          nb::cast(makeBody(self, *world, met.body)), met.hit.fraction,
                          met.hit.fraction * lengthOf(way), arrayOf(met.hit.closest.pointB),
                          arrayOf(met.hit.closest.normal), -1, met.hit.startsTouching);
}

// The list of shapes of a question that stores at most so many, asked again where there are more.
template <typename Ask> nb::object shapesOf(nb::handle self, World& world, Ask ask) {
    std::vector<tpShapeId> ids(64);
    int count = ask(ids.data(), static_cast<int>(ids.size()));
    if (count > static_cast<int>(ids.size())) {
        ids.resize(static_cast<size_t>(count));
        count = ask(ids.data(), count);
    }
    nb::list shapes;
    for (int i = 0; i < count; ++i) {
        shapes.append(shapeObject(self, world, ids[static_cast<size_t>(i)]));
    }
    return shapes;
}

nb::object overlapBox(nb::handle self, nb::handle lower, nb::handle upper, nb::handle mask) {
    tpBounds bounds = { vectorOf(lower, "lower"), vectorOf(upper, "upper") };
    if (!(bounds.lower.x <= bounds.upper.x && bounds.lower.y <= bounds.upper.y &&
          bounds.lower.z <= bounds.upper.z)) {
        raiseValue("upper: a component lies below that of lower");
    }
    uint32_t bits = bitsOf(mask, "mask");
    World* world = nullptr;
    const tpWorld* w = seen(self, world);
    return shapesOf(self, *world, [&](tpShapeId* ids, int capacity) {
        return tpWorld_OverlapBounds(w, bounds, bits, ids, capacity);
    });
}

nb::object overlapShape(nb::handle self, nb::handle shape, nb::handle position, nb::handle rotation,
                        nb::handle mask) {
    const tpGeometry* geometry = geometryOf(shape);
    tpPose pose = poseOf(position, rotation);
    uint32_t bits = bitsOf(mask, "mask");
    World* world = nullptr;
    const tpWorld* w = seen(self, world);
    return shapesOf(self, *world, [&](tpShapeId* ids, int capacity) {
        return tpWorld_OverlapShape(w, geometry, pose, bits, ids, capacity);
    });
}

nb::object findOverlaps(nb::handle self, nb::handle least) {
    double depth = numberOf(least, "depth", Range::notNegative);
    World* world = nullptr;
    seen(self, world);
    int count = tpWorld_FindOverlaps(world->world, depth, nullptr, 0);
    std::vector<tpOverlap> found(static_cast<size_t>(std::max(count, 0)));
    if (count > 0) {
        count = tpWorld_FindOverlaps(world->world, depth, found.data(), count);
    }
    if (count < 0) {
        throw std::bad_alloc();
    }
    nb::list pairs;
    for (const tpOverlap& pair : found) {
        pairs.append(nb::make_tuple(shapeObject(self, *world, pair.shapeA),
                                    shapeObject(self, *world, pair.shapeB), pair.depth));
    }
    return pairs;
}

// A shape, or all shapes of a body.
std::vector<tpShapeId> shapesOfArgument(World& world, nb::handle value, const char* name) {
    Shape* shape = nullptr;
    if (nb::try_cast(value, shape) && shape != nullptr) {
        if (shape->world != &world) {
            raiseValue("%s: this shape is in another world", name);
        }
        if (!tpShape_IsValid(world.world, shape->id)) {
            raiseValue("%s: this shape was destroyed", name);
        }
        return { shape->id };
    }
    tpBodyId body = bodyOf(world, value, name, false);
    std::vector<tpShapeId> ids;
    int count = tpBody_GetShapeCount(world.world, body);
    for (int i = 0; i < count; ++i) {
        ids.push_back(tpBody_GetShape(world.world, body, i));
    }
    if (ids.empty()) {
        raiseValue("%s: this body has no shape", name);
    }
    return ids;
}

nb::object closestPoints(nb::handle self, nb::handle a, nb::handle b) {
    World* world = nullptr;
    const tpWorld* w = seen(self, world);
    tpClosest best = {};
    bool isFound = false;
    for (tpShapeId of : shapesOfArgument(*world, a, "a")) {
        for (tpShapeId to : shapesOfArgument(*world, b, "b")) {
            tpClosest closest = {};
            if (tpWorld_ClosestPoints(w, of, to, &closest) != tp_success) {
                raiseValue("b: these two types of shapes have no distance");
            }
            if (!isFound || closest.distance < best.distance) {
                best = closest;
                isFound = true;
            }
        }
    }
    return closestObject(best);
}

} // namespace

void bindQueries(nb::class_<World>& cls) {
    cls.def("_cast_ray", &castRay)
        .def("_cast_ray_at_all", &castRayAtAll)
        .def("_cast_rays", &castRays,
             nb::sig("def _cast_rays(self, origins: ArrayLike, "
                     "translations: ArrayLike, mask: int, /) -> "
                     "NDArray[Any]"))
        .def("_cast_shape", &castShape)
        .def("_overlap_box", &overlapBox)
        .def("_overlap_shape", &overlapShape)
        .def("_overlaps", &findOverlaps)
        .def("_closest_points", &closestPoints);
}
