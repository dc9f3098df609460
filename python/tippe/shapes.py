"""Functions that make geometries: shapes by themselves, for Body.add and for intersections.

    lens = tippe.shapes.intersection([
        tippe.shapes.sphere(1.0, position=(0, 0, 0.9)),
        tippe.shapes.sphere(1.0, position=(0, 0, -0.9)),
    ])
    body.add(lens, density=2500)
"""

from ._core import (
    Geometry,
    box,
    capsule,
    cone,
    cylinder,
    ellipsoid,
    heightfield,
    hull,
    intersection,
    mesh,
    plane,
    prism,
    rounded_box,
    sphere,
    superellipsoid,
)

__all__ = [
    "Geometry",
    "box",
    "capsule",
    "cone",
    "cylinder",
    "ellipsoid",
    "heightfield",
    "hull",
    "intersection",
    "mesh",
    "plane",
    "prism",
    "rounded_box",
    "sphere",
    "superellipsoid",
]
