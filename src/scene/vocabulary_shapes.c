// The keys of shapes: those that all have, and those of each type.

#include <stddef.h>

#include "scene/checks.h"
#include "scene/vocabulary.h"

#define AT(member) .offset = (uint32_t)offsetof(tpSceneShape, member)
#define SHAPE(typeName, typeId, table, words)                                                      \
    &(const tpRecord) {                                                                            \
        .name = typeName, .article = "a shape of type \"" typeName "\"", .summary = words,         \
        .base = &anyShape, .fields = table,                                                        \
        .fieldCount = (int)(sizeof(table) / sizeof((table)[0])), .type = typeId,                   \
        .setDefaults = setDefaults, .check = tpCheckShape                                          \
    }

static const tpField anyShapeFields[] = {
    { "type", tp_typeField, AT(type), .isRequired = true, .family = &tpShapeFamily,
      .summary = "Which shape." },
    { "position", tp_vectorField, AT(position), .unit = "m", .byDefault = "[0, 0, 0]",
      .summary = "In the body's frame." },
    { "rotation", tp_recordField, AT(rotation), .record = &tpRotationRecord, .byDefault = "none",
      .summary = "In the body's frame." },
    { "material", tp_materialField, AT(material), .byDefault = "the body's",
      .summary = "The name of a material." },
    { "density", tp_numberField, AT(density), .range = tp_positive, .unit = "kg/m^3",
      .byDefault = "the body's", .summary = "Of this shape alone." },
    { "group", tp_integerField, AT(group), .byDefault = "1",
      .summary = "Bits of the groups the shape belongs to." },
    { "mask", tp_integerField, AT(mask), .byDefault = "4294967295",
      .summary = "Bits of the groups it collides with. Two shapes collide when each has a group of "
                 "the other's in its mask." },
    { "color", tp_colorField, AT(color), .range = tp_zeroToOne, .byDefault = "the body's",
      .summary = "For pages and pictures." },
    { "visual", tp_booleanField, AT(visual), .byDefault = "false",
      .summary =
          "Whether the shape is only drawn: it touches nothing and has no mass. Shapes of the "
          "body that touch are then shown only if they have a colour." },
};

static const tpRecord anyShape = {
    .name = "shape",
    .article = "a shape",
    .summary =
        "Every shape is centred on the origin of its body's frame, or where its own position "
        "and rotation put it.",
    .fields = anyShapeFields,
    .fieldCount = (int)(sizeof(anyShapeFields) / sizeof(anyShapeFields[0])),
};

static void setDefaults(void* part) {
    tpSceneShape* shape = part;
    tpShapeDef def = tpDefaultShapeDef();
    shape->group = def.group;
    shape->mask = def.mask;
    shape->axis = tpMakeVec3(0.0, 0.0, 1.0);
}

#define RADIUS(words)                                                                              \
    {                                                                                              \
        "radius", tp_numberField, AT(radius), .isRequired = true, .range = tp_positive,            \
                                              .unit = "m", .summary = words                        \
    }
#define LENGTH(words)                                                                              \
    {                                                                                              \
        "length", tp_numberField, AT(length), .isRequired = true, .range = tp_positive,            \
                                              .unit = "m", .summary = words                        \
    }
#define AXIS(words)                                                                                \
    {                                                                                              \
        "axis", tp_vectorField, AT(axis), .range = tp_notZero, .byDefault = "[0, 0, 1]",           \
                                          .summary = words                                         \
    }
#define RADII(words)                                                                               \
    {                                                                                              \
        "radii", tp_vectorField, AT(radii), .isRequired = true, .range = tp_positive, .unit = "m", \
                                            .summary = words                                       \
    }

static const tpField sphereFields[] = { RADIUS("The radius.") };

static const tpField boxFields[] = {
    { "size", tp_vectorField, AT(size), .isRequired = true, .range = tp_positive, .unit = "m",
      .summary = "Full edge lengths." },
};

static const tpField roundedBoxFields[] = {
    { "size", tp_vectorField, AT(size), .isRequired = true, .range = tp_positive, .unit = "m",
      .summary = "Full edge lengths of the whole body." },
    RADIUS("Of edges and corners; less than half the smallest edge length."),
};

static const tpField capsuleFields[] = {
    RADIUS("Of the caps and of the cylinder between them."),
    LENGTH("Between the centres of the caps."),
    AXIS("From one cap to the other."),
};

static const tpField cylinderFields[] = {
    RADIUS("The radius."),
    LENGTH("The full height."),
    AXIS("Along the height."),
};

static const tpField coneFields[] = {
    RADIUS("Of the base."),
    LENGTH("The full height."),
    AXIS("From the base, half the height below the origin, to the tip, half the height above."),
};

static const tpField prismFields[] = {
    { "points", tp_points2Field, AT(points), .isRequired = true, .unit = "m",
      .summary = "The corners [x, y] of a convex polygon, in order." },
    LENGTH("Along z, half of it to each side."),
};

static const tpField ellipsoidFields[] = { RADII("Semi-axes along x, y, z.") };

static const tpField superellipsoidFields[] = {
    RADII("Semi-axes along x, y, z."),
    { "exponents", tp_pairField, AT(exponents), .isRequired = true, .range = tp_zeroToTwo,
      .summary =
          "[e1, e2] of (|x/a|^(2/e2) + |y/b|^(2/e2))^(e2/e1) + |z/c|^(2/e1) <= 1; 1, 1 is an "
          "ellipsoid." },
};

static const tpField hullFields[] = {
    { "points", tp_points3Field, AT(points), .unit = "m",
      .summary = "Points [x, y, z] whose convex hull is the shape." },
    { "file", tp_fileField, AT(file),
      .summary = "Instead of points: an OBJ or STL file whose vertices are taken, relative to the "
                 "scene." },
};

static const tpField meshFields[] = {
    { "file", tp_fileField, AT(file), .isRequired = true,
      .summary = "An OBJ or STL file with a closed surface, seen counter-clockwise from outside, "
                 "relative to the scene." },
};

static const tpField heightFieldFields[] = {
    { "columns", tp_integerField, AT(columns), .isRequired = true, .range = tp_atLeastTwo,
      .summary = "The number of points along x." },
    { "rows", tp_integerField, AT(rows), .isRequired = true, .range = tp_atLeastTwo,
      .summary = "The number of points along y." },
    { "spacing", tp_pairField, AT(spacing), .isRequired = true, .range = tp_positive, .unit = "m",
      .summary = "Between points, along x and along y." },
    { "heights", tp_numbersField, AT(heights), .isRequired = true, .unit = "m",
      .summary = "Along z, row after row, columns x rows numbers." },
};

static const tpField planeFields[] = {
    { "normal", tp_vectorField, AT(normal), .isRequired = true, .range = tp_notZero,
      .summary = "Outwards; its length does not matter." },
    { "offset", tp_numberField, AT(offset), .unit = "m", .byDefault = "0",
      .summary = "Solid where normal . x <= offset." },
};

static const tpField intersectionFields[] = {
    { "of", tp_listField, AT(of), .isRequired = true, .family = &tpShapeFamily,
      .summary = "The convex shapes, each with its position and rotation." },
};

// One row per shape. Numbers that geometry/shape.h lists for a type are found by their keys.
static const tpRecord* const members[] = {
    SHAPE("sphere", tp_sphereShape, sphereFields, "A ball; in planar scenes a disc."),
    SHAPE("box", tp_boxShape, boxFields, "A box with edges along x, y, z."),
    SHAPE("rounded_box", tp_roundedBoxShape, roundedBoxFields,
          "A box with round edges and corners."),
    SHAPE("capsule", tp_capsuleShape, capsuleFields,
          "A cylinder with round caps; in planar scenes a rod."),
    SHAPE("cylinder", tp_cylinderShape, cylinderFields, "A right circular cylinder."),
    SHAPE("cone", tp_coneShape, coneFields, "A right circular cone."),
    SHAPE("prism", tp_prismShape, prismFields, "A convex polygon in x-y, drawn out along z."),
    SHAPE("ellipsoid", tp_ellipsoidShape, ellipsoidFields, "An ellipsoid."),
    SHAPE("superellipsoid", tp_superellipsoidShape, superellipsoidFields,
          "A superellipsoid, convex: between box, ellipsoid and octahedron."),
    SHAPE("hull", tp_hullShape, hullFields, "The convex hull of points, given here or in a file."),
    SHAPE("mesh", tp_meshShape, meshFields,
          "A closed surface of triangles from a file; it may be open if it is only drawn."),
    SHAPE("heightfield", tp_heightFieldShape, heightFieldFields,
          "Heights over a grid, centred on the origin, solid below."),
    SHAPE("plane", tp_planeShape, planeFields, "A half space."),
    SHAPE("intersection", tp_intersectionShape, intersectionFields,
          "What several convex shapes have in common."),
};

const tpFamily tpShapeFamily = { .name = "shape",
                                 .article = "a shape",
                                 .members = members,
                                 .memberCount = (int)(sizeof(members) / sizeof(members[0])),
                                 .size = sizeof(tpSceneShape) };
