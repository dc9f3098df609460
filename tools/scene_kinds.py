"""Random scenes, kind by kind: each is a function of a random generator and the folder that its meshes go to."""
import json
import math
import os
import random

G = 9.81


def number(value):
    return round(value, 9)


def vector(rng, low, high):
    return [number(rng.uniform(low, high)) for _ in range(3)]


def quaternion(rng):
    while True:
        q = [rng.gauss(0, 1) for _ in range(4)]
        size = math.sqrt(sum(x * x for x in q))
        if size > 0.1:
            return [number(x / size) for x in q]


def hull_points(rng, size):
    count = rng.randint(5, 14)
    return [[number(size * x) for x in (rng.gauss(0, .5), rng.gauss(0, .5), rng.gauss(0, .5))]
            for _ in range(count)]


def shape(rng):
    size = rng.uniform(.08, .25)
    side = lambda: number(rng.uniform(.5, 1.0) * size)
    kind = rng.choice(["sphere", "box", "capsule", "cylinder", "cone", "ellipsoid", "superellipsoid", "hull",
                       "prism", "box", "sphere", "cylinder"])
    if kind == "sphere":
        return {"type": kind, "radius": side()}
    if kind == "box":
        return {"type": kind, "size": [2 * side(), 2 * side(), 2 * side()]}
    if kind in ("capsule", "cylinder", "cone"):
        return {"type": kind, "radius": side(), "length": 2 * side()}
    if kind == "ellipsoid":
        return {"type": kind, "radii": [side(), side(), side()]}
    if kind == "superellipsoid":
        return {"type": kind, "radii": [side(), side(), side()],
                "exponents": [number(rng.uniform(.4, 1.2)), number(rng.uniform(.4, 1.2))]}
    if kind == "prism":
        corners = rng.randint(3, 7)
        return {"type": kind, "length": 2 * side(),
                "points": [[number(size * math.cos(2 * math.pi * k / corners)),
                            number(size * math.sin(2 * math.pi * k / corners))] for k in range(corners)]}
    return {"type": kind, "points": hull_points(rng, 1.5 * size)}


def material(rng):
    friction = rng.uniform(0, 1.1) if rng.random() > .15 else 0.0
    if rng.random() < .25:
        friction = {"static": number(1.2 * friction), "dynamic": number(friction)}
        if rng.random() < .4:
            friction["torsional"] = number(rng.uniform(0, .02))
    else:
        friction = number(friction)
    return {"friction": friction, "restitution": number(rng.uniform(0, .9)) if rng.random() < .4 else 0}


def slab_obj(rng, cells, bump):
    """A closed slab of 2 * cells^2 triangles on top, flat or bumpy."""
    size, lines = 8.0, []
    for j in range(cells + 1):
        for i in range(cells + 1):
            inside = 0 < i < cells and 0 < j < cells
            z = rng.uniform(-bump, bump) if inside else 0.0
            lines.append(f"v {size * (i / cells - .5):.6f} {size * (j / cells - .5):.6f} {z:.6f}")
    n = cells + 1
    for x, y in ((0, 0), (cells, 0), (cells, cells), (0, cells)):
        lines.append(f"v {size * (x / cells - .5):.6f} {size * (y / cells - .5):.6f} -1")
    low = n * n
    place = lambda i, j: j * n + i + 1
    for j in range(cells):
        for i in range(cells):
            a, b, c, d = place(i, j), place(i + 1, j), place(i + 1, j + 1), place(i, j + 1)
            lines.append(f"f {a} {b} {c}")
            lines.append(f"f {a} {c} {d}")
    c1, c2, c3, c4 = low + 1, low + 2, low + 3, low + 4
    lines.append(f"f {c1} {c3} {c2}")
    lines.append(f"f {c1} {c4} {c3}")
    for corners, along in (((c1, c2), [place(i, 0) for i in range(n)]),
                           ((c2, c3), [place(cells, j) for j in range(n)]),
                           ((c3, c4), [place(cells - i, cells) for i in range(n)]),
                           ((c4, c1), [place(0, cells - j) for j in range(n)])):
        first, second = corners
        for k in range(cells):
            lines.append(f"f {first if k < cells else second} {along[k + 1]} {along[k]}")
        lines.append(f"f {first} {second} {along[-1]}")
    return "\n".join(lines) + "\n"


def ground(rng, folder, floor):
    if floor == "plane":
        shapes = [{"type": "plane", "normal": [0, 0, 1], "offset": 0}]
    elif floor == "tilted":
        tilt = rng.uniform(.05, .5)
        shapes = [{"type": "plane", "normal": [number(math.sin(tilt)), 0, number(math.cos(tilt))], "offset": 0}]
    elif floor == "box":
        shapes = [{"type": "box", "size": [8, 8, 1], "position": [0, 0, -.5]}]
    elif floor == "heightfield":
        heights = [number(rng.uniform(-.06, .06)) for _ in range(21 * 21)]
        shapes = [{"type": "heightfield", "columns": 21, "rows": 21, "spacing": [.4, .4], "heights": heights}]
    else:
        name = f"slab_{floor}.obj"
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(slab_obj(rng, rng.choice([1, 4, 12]), 0.0 if floor == "mesh" else .05))
        shapes = [{"type": "mesh", "file": name}]
    return {"name": "ground", "kind": "fixed", "material": "g", "shapes": shapes}


def materials(rng):
    table = {f"m{k}": material(rng) for k in range(4)}
    table["g"] = material(rng)
    return table


def body(rng, name, position):
    return {"name": name, "density": rng.choice([300, 1000, 7800]), "material": f"m{rng.randrange(4)}",
            "shapes": [shape(rng)], "position": [number(x) for x in position],
            "rotation": {"quaternion": quaternion(rng)}, "velocity": vector(rng, -2, 2),
            "angular_velocity": vector(rng, -8, 8)}


def scene(rng, name, bodies, joints=(), until=1.2):
    return {"tippe": 1, "name": name, "gravity": [0, 0, -G], "materials": materials(rng), "bodies": bodies,
            "joints": list(joints),
            "simulation": {"stepper": "anitescu", "step": rng.choice([1 / 60, 1 / 120, 1 / 120, 1 / 240]),
                           "until": until}}


def throw(rng, folder):
    """Up to twelve bodies of all shapes thrown on floors of all kinds."""
    floor = rng.choice(["plane", "tilted", "box", "heightfield", "mesh", "bumps"])
    bodies = [ground(rng, folder, floor)]
    places = [(x, y, z) for x in (-.8, 0, .8) for y in (-.8, 0, .8) for z in (.75, 1.55, 2.35)]
    rng.shuffle(places)
    for k in range(rng.randint(1, 12)):
        place = [c + rng.uniform(-.05, .05) for c in places[k]]
        bodies.append(body(rng, f"b{k}", place))
    return scene(rng, "throw", bodies)


def joined(rng, folder):
    """Pairs and triples of thrown bodies held together by joints of all types."""
    made = throw(rng, folder)
    movable = [b for b in made["bodies"] if b["name"] != "ground"]
    joints = []
    for k in range(0, len(movable) - 1, 2):
        a, b = movable[k], movable[k + 1]
        anchor = [number(.5 * (x + y)) for x, y in zip(a["position"], b["position"])]
        joints.append(joint(rng, f"j{k}", a["name"], b["name"], anchor))
    made["joints"] = joints
    return made


def axis(rng):
    while True:
        v = [rng.gauss(0, 1) for _ in range(3)]
        size = math.sqrt(sum(x * x for x in v))
        if size > .1:
            return [number(x / size) for x in v]


def joint(rng, name, a, b, anchor):
    kind = rng.choice(["ball", "revolute", "prismatic", "cylindrical", "universal", "fixed", "distance", "spring",
                       "revolute", "ball"])
    made = {"name": name, "type": kind, "bodies": [a, b], "anchor": anchor}
    if kind in ("revolute", "prismatic", "cylindrical", "universal"):
        made["axis"] = axis(rng)
    if kind == "universal":
        made["axis"], made["axis2"] = rng.choice([([1, 0, 0], [0, 1, 0]), ([0, 0, 1], [0, 1, 0]), ([0, .6, .8], [1, 0, 0])])
    if kind in ("distance", "spring"):
        del made["anchor"]
        made["anchors"] = [anchor, [number(x + rng.uniform(-.2, .2)) for x in anchor]]
    if kind == "spring":
        made["spring"] = {"stiffness": number(10 ** rng.uniform(1, 4)), "damping": rng.choice([0, 0, 5.0]),
                          "rest": number(rng.uniform(.1, .4))}
    if kind in ("revolute", "prismatic"):
        if rng.random() < .3:
            made["limits"] = [number(-rng.uniform(.1, 1)), number(rng.uniform(.1, 1))]
        if rng.random() < .3:
            made["motor"] = {"speed": number(rng.uniform(-5, 5)), "effort": number(rng.uniform(1, 50))}
        if rng.random() < .2:
            made["spring"] = {"stiffness": number(rng.uniform(1, 100)), "damping": number(rng.uniform(0, 2)),
                              "rest": 0}
    return made


def linkage(rng, _folder):
    """Chains and trees of up to twelve links that hang from the world, without contacts."""
    bodies, joints = [], []
    count = rng.randint(1, 12)
    tip = [0.0, 0.0, 3.0]
    for k in range(count):
        start = tip if rng.random() < .8 or not bodies else bodies[rng.randrange(len(bodies))]["position"]
        along = axis(rng)
        length = rng.uniform(.1, .5)
        center = [x + .5 * length * d for x, d in zip(start, along)]
        bodies.append({"name": f"b{k}", "mass": number(10 ** rng.uniform(-1, 1)), "material": "g",
                       "inertia": [number(.02 * rng.uniform(.6, 1)) for _ in range(3)], "shapes": [],
                       "position": [number(x) for x in center], "angular_velocity": vector(rng, -3, 3)})
        parent = None if k == 0 else f"b{k - 1}"
        if start is not tip:
            parent = next(b["name"] for b in bodies if b["position"] is start)
        joints.append(joint(rng, f"j{k}", parent, f"b{k}", [number(x) for x in start]))
        tip = [x + length * d for x, d in zip(start, along)]
    return scene(rng, "linkage", bodies, joints, until=2.0)


def spinning(rng, _folder):
    """Fast tops, eggs, discs and rattling bodies on a level floor, frictionless or rough."""
    table = {"g": material(rng), "m0": material(rng), "m1": material(rng), "m2": material(rng), "m3": material(rng)}
    for one in table.values():
        one["restitution"] = 0
    kind = rng.choice(["egg", "disc", "top", "cube"])
    if kind == "egg":
        radius = rng.uniform(.1, .3)
        shapes = [{"type": "ellipsoid", "radii": [number(.7 * radius), number(.7 * radius), number(radius)]}]
    elif kind == "disc":
        radius = rng.uniform(.1, .3)
        shapes = [{"type": "cylinder", "radius": number(radius), "length": number(.1 * radius)}]
    elif kind == "top":
        radius = rng.uniform(.1, .2)
        shapes = [{"type": "cone", "radius": number(radius), "length": number(2 * radius), "axis": [0, 0, -1]}]
    else:
        radius = rng.uniform(.1, .2)
        shapes = [{"type": "box", "size": [number(radius)] * 3}]
    tilt = rng.uniform(0, 60)
    bodies = [{"name": "ground", "kind": "fixed", "material": "g",
               "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}]},
              {"name": "b", "density": 1000, "material": "m0", "shapes": shapes,
               "position": [0, 0, number(1.6 * radius + .02)], "rotation": {"axis": [1, 0, 0], "degrees": number(tilt)},
               "angular_velocity": [number(rng.uniform(-2, 2)), number(rng.uniform(-2, 2)), number(rng.uniform(10, 60))]}]
    made = scene(rng, "spinning", bodies, until=2.0)
    made["materials"] = table
    return made


def drive(rng, made, size):
    """Gives a coordinate some of what may act on it; `size` is the effort that the scene's weights ask for."""
    chance = rng.random()
    if chance < .6:
        stiffness = size * 10 ** rng.uniform(0, 4)
        made["servo"] = {"target": number(rng.uniform(-.6, .6)), "stiffness": number(stiffness),
                         "damping": number(stiffness * 10 ** rng.uniform(-3, -1))}
        if rng.random() < .5:
            made["servo"]["effort"] = number(size * rng.uniform(.3, 5))
    elif chance < .75:
        made["motor"] = {"speed": number(rng.uniform(-4, 4)), "effort": number(size * rng.uniform(.3, 5))}
    if rng.random() < .4:
        made["limits"] = [number(-rng.uniform(.2, 1)), number(rng.uniform(.2, 1))]
    if rng.random() < .4:
        made["armature"] = number(10 ** rng.uniform(-4, -1))
    if rng.random() < .3:
        made["damping"] = number(size * rng.uniform(0, .2))
    if rng.random() < .3:
        made["friction"] = number(size * rng.uniform(0, .3))


def driven(rng, folder):
    """A robot of up to eight driven links among loose bodies, on floors of all kinds, a lift that moves beside it."""
    bodies = [ground(rng, folder, rng.choice(["plane", "plane", "box", "heightfield", "mesh"]))]
    base = {"name": "base", "density": 800, "material": "m0", "position": [0, 0, number(rng.uniform(.45, .8))],
            "shapes": [{"type": "box", "size": [.4, .3, .15]}]}
    bodies.append(base)
    joints, names, tips = [], [], [("base", base["position"])]
    for k in range(rng.randint(1, 8)):
        parent, start = rng.choice(tips)
        angle, fall = rng.uniform(0, 2 * math.pi), rng.uniform(.1, .9)
        flat = math.sqrt(1 - fall * fall)
        along = [flat * math.cos(angle), flat * math.sin(angle), -fall if rng.random() < .6 else fall]
        length = rng.uniform(.15, .3)
        if parent == "base":
            start = [start[0] + .2 * math.cos(angle), start[1] + .15 * math.sin(angle), start[2]]
        center = [x + .5 * length * d for x, d in zip(start, along)]
        bodies.append({"name": f"link{k}", "density": 800, "material": f"m{rng.randrange(4)}",
                       "position": [number(x) for x in center],
                       "shapes": [rng.choice([{"type": "capsule", "radius": .03, "length": number(.6 * length)},
                                              {"type": "box", "size": [.05, .05, number(.6 * length)]},
                                              {"type": "sphere", "radius": .05}])]})
        kind = rng.choice(["revolute", "revolute", "revolute", "prismatic", "universal", "compound", "ball"])
        made = {"name": f"j{k}", "type": kind, "bodies": [parent, f"link{k}"], "anchor": [number(x) for x in start]}
        if kind == "compound":
            made["axes"] = [{"turn": [1, 0, 0]}, {"turn": [0, 1, 0]}][:rng.randint(1, 2)] + [{"slide": [0, 0, 1]}]
            for one in made["axes"]:
                drive(rng, one, 5.0)
        elif kind == "universal":
            made["axis"], made["axis2"] = [1, 0, 0], [0, 1, 0]
        elif kind != "ball":
            made["axis"] = rng.choice([[1, 0, 0], [0, 1, 0], axis(rng)])
            drive(rng, made, 5.0)
            names.append(f"j{k}")
        joints.append(made)
        tips.append((f"link{k}", [x + length * d for x, d in zip(start, along)]))
    lift = max(0.0, .3 - min(b["position"][2] for b in bodies[1:]))
    for one in bodies[1:]:
        one["position"] = [*one["position"][:2], number(one["position"][2] + lift)]
    for one in joints:
        one["anchor"] = [*one["anchor"][:2], number(one["anchor"][2] + lift)]
    if rng.random() < .3:
        joints.append({"name": "hold", "type": "fixed", "bodies": [None, "base"], "anchor": base["position"]})
    for k in range(rng.randint(0, 3)):
        bodies.append(body(rng, f"b{k}", [rng.choice([-.9, .9]), .7 * k - .7, rng.uniform(.6, 1.2)]))
    if rng.random() < .5:
        high = number(rng.uniform(.05, .3))
        bodies.append({"name": "lift", "kind": "kinematic", "material": "g", "position": [1.0, 0, 0],
                       "shapes": [{"type": "box", "size": [.8, 2, .1]}],
                       "keyframes": [{"time": 0, "position": [1.0, 0, 0]}, {"time": .6, "position": [1.0, 0, high]},
                                     {"time": 1.0, "position": [.8, 0, high]}]})
    made = scene(rng, "driven", bodies, joints)
    parts = [b["name"] for b in bodies if b["name"] == "base" or b["name"].startswith("link")]
    made["excludes"] = [{"bodies": [a, b]} for k, a in enumerate(parts) for b in parts[:k]]
    if len(names) > 1 and rng.random() < .5:
        pair = rng.sample(names, 2)
        law = rng.choice([{"value": 0}, {"limits": [-.5, .5]}, {"spring": {"stiffness": 40, "damping": 1}},
                          {"servo": {"target": .3, "stiffness": 60, "damping": 2, "effort": 10}}])
        made["couplings"] = [{"name": "pair", "of": [[pair[0], 1], [pair[1], number(rng.uniform(-2, 2))]], **law}]
    for one in made["materials"].values():
        if rng.random() < .3 and not isinstance(one["friction"], dict):
            one["friction"] = {"static": one["friction"], "dynamic": one["friction"],
                               "rolling": number(rng.uniform(0, .01)), "torsional": number(rng.uniform(0, .01))}
    return made


def stacked(rng, _folder):
    """Up to eleven bodies of several shapes each, one on top of the other, heavy on light, on a belt that moves; a ball strikes."""
    belt = rng.random() < .4
    floor = {"name": "ground", "kind": "kinematic" if belt else "fixed", "material": "g",
             "shapes": [{"type": "box", "size": [12, 8, 1], "position": [0, 0, -.5]}]}
    if belt:
        floor["velocity"] = [number(rng.uniform(-1, 1)), 0, 0]
    bodies, top = [floor], 0.0
    for k in range(rng.randint(2, 10)):
        high, wide = rng.uniform(.05, .3), rng.uniform(.1, .3)
        kind = rng.choice(["box", "cylinder", "legs", "prism"])
        if kind == "box":
            shapes = [{"type": "box", "size": [number(2 * wide), number(1.6 * wide), number(high)]}]
        elif kind == "cylinder":
            shapes = [{"type": "cylinder", "radius": number(wide), "length": number(high)}]
        elif kind == "prism":
            shapes = [{"type": "prism", "length": number(high),
                       "points": [[number(wide * math.cos(math.pi * i / 3)), number(wide * math.sin(math.pi * i / 3))]
                                  for i in range(6)]}]
        else:
            shapes = [{"type": "box", "size": [number(2 * wide), number(2 * wide), number(.4 * high)],
                       "position": [0, 0, number(.3 * high)]}]
            shapes += [{"type": "box", "size": [.05, .05, number(.6 * high)],
                        "position": [number(.8 * wide * x), number(.8 * wide * y), number(-.2 * high)]}
                       for x, y in ((-1, -1), (1, -1), (0, 1))]
        bodies.append({"name": f"b{k}", "density": number(10 ** rng.uniform(1.5, 4.5)), "material": f"m{rng.randrange(4)}",
                       "shapes": shapes, "position": [number(rng.uniform(-.03, .03)), number(rng.uniform(-.03, .03)),
                                                      number(top + .5 * high)],
                       "rotation": {"axis": [0, 0, 1], "degrees": number(rng.uniform(0, 360))}})
        top += high + rng.choice([0, 0, 1e-3, .05])
    if rng.random() < .5:
        bodies.append({"name": "ball", "density": 7800, "material": "m0", "shapes": [{"type": "sphere", "radius": .08}],
                       "position": [-1.0, 0, number(rng.uniform(.1, top))], "velocity": [number(rng.uniform(1, 10)), 0, 1]})
    return scene(rng, "stacked", bodies)


def looped(rng, folder):
    """A closed loop of three to six links on hinges across one plane, with a motor or a spring, thrown on a floor."""
    count = rng.randint(3, 6)
    radius = rng.uniform(.2, .4)
    corners = [[radius * math.cos(2 * math.pi * k / count), 0, radius * math.sin(2 * math.pi * k / count) + .7]
               for k in range(count)]
    bodies, joints = [ground(rng, folder, rng.choice(["plane", "box", "tilted", "bumps"]))], []
    for k in range(count):
        a, b = corners[k], corners[(k + 1) % count]
        length = math.dist(a, b)
        turn = math.degrees(math.atan2(b[0] - a[0], b[2] - a[2]))
        bodies.append({"name": f"link{k}", "density": rng.choice([300, 1000, 7800]), "material": f"m{rng.randrange(4)}",
                       "shapes": [{"type": "box", "size": [.04, .06, number(.7 * length)]}],
                       "position": [number(.5 * (x + y)) for x, y in zip(a, b)],
                       "rotation": {"axis": [0, 1, 0], "degrees": number(turn)}, "velocity": [0, 0, number(rng.uniform(-3, 0))]})
        made = {"name": f"j{k}", "type": "revolute", "bodies": [f"link{(k - 1) % count}", f"link{k}"],
                "anchor": [number(x) for x in a], "axis": [0, 1, 0]}
        chance = rng.random()
        if chance < .2:
            made["motor"] = {"speed": number(rng.uniform(-3, 3)), "effort": number(rng.uniform(.5, 20))}
        elif chance < .4:
            made["spring"] = {"stiffness": number(10 ** rng.uniform(0, 3)), "damping": number(rng.uniform(0, 1)), "rest": 0}
        elif chance < .6:
            made["limits"] = [number(-rng.uniform(.05, 1)), number(rng.uniform(.05, 1))]
        joints.append(made)
    for k in range(rng.randint(0, 4)):
        bodies.append(body(rng, f"b{k}", [.9 * (k % 2) - .45, rng.choice([-.8, .8]), .6 + .6 * (k // 2)]))
    return scene(rng, "looped", bodies, joints)


def limited(rng, folder):
    """Chains on joints of three turns at their limits, slides, screws and ropes, with couplings between their axes, over a floor."""
    bodies, joints = [ground(rng, folder, rng.choice(["plane", "box", "bumps"]))], []
    place, parent, axes = [0, 0, number(rng.uniform(1.2, 1.8))], None, []
    for k in range(rng.randint(2, 8)):
        length = rng.uniform(.15, .3)
        along = axis(rng)
        along = [along[0], along[1], -abs(along[2])]
        end = [x + length * d for x, d in zip(place, along)]
        bodies.append({"name": f"link{k}", "density": rng.choice([300, 1000, 7800]), "material": f"m{rng.randrange(4)}",
                       "shapes": [{"type": rng.choice(["capsule", "cylinder"]), "radius": .03, "length": number(.5 * length)}],
                       "position": [number(.5 * (x + y)) for x, y in zip(place, end)], "angular_velocity": vector(rng, -4, 4)})
        made = {"name": f"j{k}", "bodies": [parent, f"link{k}"]}
        kind = rng.choice(["turns", "turns", "turns", "slides", "screw", "rope"])
        if kind == "turns" or kind == "slides":
            ways = [{"turn": [1, 0, 0]}, {"turn": [0, 1, 0]}, {"turn": [0, 0, 1]}]
            ways = ways if kind == "turns" else [ways[2], {"slide": [0, 0, 1]}, {"slide": [1, 0, 0]}]
            for i, one in enumerate(ways):
                one["name"] = f"a{i}"
                if rng.random() < .7:
                    one["limits"] = [number(-rng.uniform(.02, .6)), number(rng.uniform(.02, .6))]
                if rng.random() < .3:
                    drive(rng, one, 3.0)
                axes.append(f"j{k}.a{i}")
            made.update({"type": "compound", "anchor": [number(x) for x in place], "axes": ways})
        elif kind == "screw":
            made.update({"type": "screw", "anchor": [number(x) for x in place], "axis": axis(rng),
                         "pitch": number(rng.choice([-1, 1]) * rng.uniform(.05, .5))})
        else:
            made.update({"type": "distance", "anchors": [[number(x) for x in place], [number(x) for x in end]],
                         "limits": [number(rng.uniform(0, .9) * length), number(1.1 * length)]})
        joints.append(made)
        place, parent = end, f"link{k}"
    for k in range(rng.randint(0, 3)):
        bodies.append(body(rng, f"b{k}", [rng.choice([-.9, .9]), .7 * k - .7, rng.uniform(.4, 1.0)]))
    made = scene(rng, "limited", bodies, joints)
    if len(axes) > 1 and rng.random() < .6:
        pair = rng.sample(axes, 2)
        law = rng.choice([{"limits": [-.3, .3]}, {"spring": {"stiffness": 40, "damping": 1}},
                          {"servo": {"target": .2, "stiffness": 60, "damping": 2, "effort": 10}}])
        made["couplings"] = [{"name": "pair", "of": [[pair[0], 1], [pair[1], number(rng.uniform(-2, 2))]], **law}]
    return made


def rough(rng, one, rolling):
    """Friction with rolling and torsional arms up to `rolling`, m."""
    value = one["friction"]["dynamic"] if isinstance(one["friction"], dict) else one["friction"]
    one["friction"] = {"static": value, "dynamic": value, "rolling": number(rng.uniform(0, rolling)),
                       "torsional": number(rng.uniform(0, rolling))}


def curved(rng, folder):
    """Cylinders, cones, rounded boxes and other curved bodies on meshes and height fields, some with rolling and torsional friction."""
    bodies = [ground(rng, folder, rng.choice(["mesh", "bumps", "heightfield"]))]
    places = [(x, y, z) for x in (-.6, 0, .6) for y in (-.6, 0, .6) for z in (.4, 1.0)]
    rng.shuffle(places)
    for k in range(rng.randint(1, 12)):
        made = body(rng, f"b{k}", [c + rng.uniform(-.05, .05) for c in places[k]])
        radius, kind = rng.uniform(.05, .2), rng.choice(["cylinder", "cone", "rounded_box", "rounded_box", "capsule", "superellipsoid"])
        if kind == "rounded_box":
            made["shapes"] = [{"type": kind, "size": [number(radius * rng.uniform(1.2, 2.5)) for _ in range(3)],
                               "radius": number(.5 * radius * rng.uniform(.1, 1))}]
        elif kind == "superellipsoid":
            made["shapes"] = [{"type": kind, "radii": [number(radius * rng.uniform(.5, 1)) for _ in range(3)],
                               "exponents": [number(rng.uniform(.3, 1.5)), number(rng.uniform(.3, 1.5))]}]
        else:
            made["shapes"] = [{"type": kind, "radius": number(radius), "length": number(radius * rng.choice([.1, 1, 3]))}]
        made["angular_velocity"] = vector(rng, -30, 30)
        bodies.append(made)
    made = scene(rng, "curved", bodies)
    for one in made["materials"].values():
        if rng.random() < .5:
            rough(rng, one, .02)
    return made


def platform(rng, _folder):
    """Bodies on a turntable, a lift and a see-saw that follow their ways."""
    table = {"name": "table", "kind": "kinematic", "material": "g", "position": [0, 0, 0],
             "shapes": [{"type": "cylinder", "radius": 1.2, "length": .1}], "angular_velocity": [0, 0, number(rng.uniform(-6, 6))]}
    high = number(rng.uniform(-.2, .4))
    lift = {"name": "lift", "kind": "kinematic", "material": "g", "position": [2.5, 0, 0],
            "shapes": [{"type": "box", "size": [1.5, 2, .1]}],
            "keyframes": [{"time": 0, "position": [2.5, 0, 0]}, {"time": number(rng.uniform(.1, .6)), "position": [2.5, 0, high]},
                          {"time": 1.0, "position": [number(2.5 + rng.uniform(-.3, .3)), 0, 0]}]}
    swing = number(rng.uniform(-40, 40))
    saw = {"name": "saw", "kind": "kinematic", "material": "g", "position": [-2.5, 0, 0],
           "shapes": [{"type": "box", "size": [1.8, 1.5, .1]}],
           "keyframes": [{"time": 0, "position": [-2.5, 0, 0]},
                         {"time": .5, "position": [-2.5, 0, 0], "rotation": {"axis": [0, 1, 0], "degrees": swing}},
                         {"time": 1.0, "position": [-2.5, 0, 0], "rotation": {"axis": [0, 1, 0], "degrees": -swing}}]}
    bodies = [table, lift, saw]
    for k in range(rng.randint(2, 12)):
        made = body(rng, f"b{k}", [2.5 * (k % 3 - 1) + rng.uniform(-.3, .3), rng.uniform(-.3, .3), .4 + .45 * (k // 3)])
        made["angular_velocity"] = vector(rng, -2, 2)
        bodies.append(made)
    made = scene(rng, "platform", bodies)
    for one in made["materials"].values():
        if rng.random() < .3:
            rough(rng, one, .01)
    return made


def bouncy(rng, folder):
    """Stacks and rows of bodies that bounce, some elastically, struck from above."""
    made = stacked(rng, folder) if rng.random() < .6 else throw(rng, folder)
    for one in made["materials"].values():
        one["restitution"] = rng.choice([.3, .6, .9, 1.0])
        if rng.random() < .4:
            one["friction"] = 0
    return made


LENGTHS = {"position", "velocity", "size", "radius", "length", "radii", "points", "offset", "spacing", "heights", "gravity"}


def measured(value, unit):
    return [measured(x, unit) for x in value] if isinstance(value, list) else number(value * unit) if unit > 1 else value * unit


def rescale(part, unit):
    """The same scene in another unit of length: masses, times and angles stay."""
    for key, value in part.items():
        if key in LENGTHS and not isinstance(value, dict):
            part[key] = measured(value, unit)
        elif key == "density":
            part[key] = value / unit ** 3
        elif key in ("torsional", "rolling"):
            part[key] = value * unit
        elif isinstance(value, dict):
            rescale(value, unit)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for one in value:
                rescale(one, unit)


def scaled(rng, folder):
    """Bodies of a few millimetres thrown or stacked, or of a few kilometres, under a gravity that goes with them."""
    while True:
        made = rng.choice([throw, stacked, spinning])(rng, folder)
        if not any(one["type"] == "mesh" for one in made["bodies"][0]["shapes"]):
            break
    made["unit"] = rng.choice([1e-3, 1e3])
    rescale(made, made["unit"])
    return made


def slabs(rng, folder):
    """Heavy slabs and logs that lie across each other, dropped from above each other's heads."""
    floor = rng.choice(["plane", "box", "tilted", "bumps"])
    bodies, top = [ground(rng, folder, floor)], .1 if floor in ("plane", "box") else .6
    for k in range(rng.randint(3, 12)):
        kind = rng.choice(["slab", "slab", "log", "beam"])
        length = rng.uniform(.5, 1.4)
        if kind == "slab":
            thick = rng.uniform(.03, .12)
            one = {"type": "box", "size": [number(length), number(rng.uniform(.3, .9)), number(thick)]}
        elif kind == "beam":
            thick = rng.uniform(.08, .2)
            one = {"type": "box", "size": [number(length), number(thick), number(thick)]}
        else:
            thick = 2 * rng.uniform(.04, .12)
            one = {"type": rng.choice(["cylinder", "capsule"]), "radius": number(.5 * thick), "length": number(length),
                   "axis": [1, 0, 0]}
        yaw, tilt = rng.uniform(0, math.pi), rng.gauss(0, .1)
        turn = [math.cos(.5 * yaw) * math.cos(.5 * tilt), -math.sin(.5 * yaw) * math.sin(.5 * tilt),
                math.cos(.5 * yaw) * math.sin(.5 * tilt), math.sin(.5 * yaw) * math.cos(.5 * tilt)]
        lean = .5 * length * abs(math.sin(tilt))
        bodies.append({"name": f"b{k}", "density": rng.choice([500, 2400, 7800]), "material": f"m{rng.randrange(4)}",
                       "shapes": [one], "rotation": {"quaternion": [number(x) for x in turn]},
                       "position": [number(rng.uniform(-.2, .2)), number(rng.uniform(-.2, .2)), number(top + lean + .5 * thick)],
                       "velocity": [number(rng.uniform(-.5, .5)), number(rng.uniform(-.5, .5)), number(rng.uniform(-3, 0))]})
        top += 2 * lean + thick + rng.choice([.01, .1, .3])
    return scene(rng, "slabs", bodies)


def sizes(rng, folder):
    """Bodies of .3 m beside, over and under bodies of a hundredth of their size."""
    floor = rng.choice(["plane", "box", "tilted", "heightfield"])
    bodies, top = [ground(rng, folder, floor)], .08 if floor in ("plane", "box") else .4
    for k in range(rng.randint(2, 12)):
        made = body(rng, f"b{k}", [rng.uniform(-.1, .1), rng.uniform(-.1, .1), 0])
        ratio = 1.0 if k % 2 == 0 else 10 ** rng.uniform(-2, -1)
        rescale({"shapes": made["shapes"]}, 1.5 * ratio)
        top += .55 * ratio
        made["position"][2] = number(top)
        top += .55 * ratio
        if ratio < 1:
            made["angular_velocity"] = [0, 0, 0]
            made["velocity"] = bodies[-1]["velocity"]
        bodies.append(made)
    return scene(rng, "sizes", bodies)


KINDS = {"throw": throw, "joined": joined, "linkage": linkage, "spinning": spinning, "driven": driven,
         "stacked": stacked, "looped": looped, "limited": limited, "curved": curved, "platform": platform,
         "bouncy": bouncy, "scaled": scaled, "slabs": slabs, "sizes": sizes}


def make(kind, seed, folder):
    """Writes the scene's file to the folder. Its path, and the unit of its lengths in metres."""
    rng = random.Random(f"{kind} {seed}")
    made = KINDS[kind](rng, folder)
    made["name"] = f"{kind}{seed}"
    unit = made.pop("unit", 1.0)
    path = os.path.join(folder, f"{kind}{seed}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    return path, unit
