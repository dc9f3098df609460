#!/usr/bin/env python3
"""Writes the scenes that are made of many equal parts. Usage: tools/make_scenes.py [--check]

With --check nothing is written; the exit status says whether the files in scenes/ are up to date.
"""
import math
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenes")


def number(x):
    text = repr(round(x, 15))
    return text[:-2] if text.endswith(".0") else text


def vector(values):
    return "[" + ", ".join(number(v) for v in values) + "]"


def scene(name, about, bodies, step, until, gravity=(0, 0, -9.81), materials="", joints=(), planar=False,
          stepper="anitescu", options=""):
    lines = ["{", '  "tippe": 1,', f'  "name": "{name}",', f'  "about": "{about}",']
    if planar:
        lines.append('  "planar": true,')
    lines.append(f'  "gravity": {vector(gravity)},')
    if materials:
        lines.append(f'  "materials": {materials},')
    lines.append('  "bodies": [\n    ' + ",\n    ".join(bodies) + "\n  ],")
    if joints:
        lines.append('  "joints": [\n    ' + ",\n    ".join(joints) + "\n  ],")
    if stepper in ("mirtich-canny", "bender-schmitt") and "collision_tolerance" not in options:
        options = '{ "collision_tolerance": 1e-06' + (", " + options.removeprefix("{ ") if options else " }")
    tail = f', "options": {options}' if options else ""
    lines.append(f'  "simulation": {{ "stepper": "{stepper}", "step": {number(step)}, "until": {number(until)}{tail} }}')
    return "\n".join(lines) + "\n}\n"


def floor(material, axis="z"):
    normal = "[0, 0, 1]" if axis == "z" else "[0, 1, 0]"
    return (f'{{ "name": "floor", "kind": "fixed", "material": "{material}", '
            f'"shapes": [ {{ "type": "plane", "normal": {normal}, "offset": 0 }} ] }}')


def cube(name, z, density, material):
    return (f'{{ "name": "{name}", "density": {number(density)}, "material": "{material}", '
            f'"shapes": [ {{ "type": "box", "size": [1, 1, 1] }} ], "position": [0, 0, {number(z)}] }}')


STONE = '{ "stone": { "friction": 0.5 } }'


def stack(count):
    bodies = [floor("stone")] + [cube(f"cube{i}", 0.5 + i, 1000, "stone") for i in range(count)]
    return scene(f"Stack of {count}", f"{count} cubes on each other: the top may not sink.", bodies, 1 / 60, 10,
                 materials=STONE)


def mass_ratio():
    bodies = [floor("stone"), cube("light", 0.5, 1000, "stone"), cube("heavy", 1.5, 1e7, "stone")]
    return scene("Mass ratio", "A cube of ten thousand times the mass on a light one: no overlap.", bodies, 1 / 60,
                 10, materials=STONE)


def chain():
    # The tension T makes a zigzag of the links swing at 2 sqrt(T / (m l)); the step has to resolve it.
    bodies, joints = [], []
    for i in range(50):
        bodies.append(f'{{ "name": "link{i}", "mass": 1, "inertia": [0.0004, 0.0035, 0.0035], "shapes": '
                      f'[ {{ "type": "capsule", "radius": 0.03, "length": 0.2, "axis": [1, 0, 0] }} ], '
                      f'"position": [{number(0.1 + 0.2 * i)}, 0, 0] }}')
        before = "null" if i == 0 else f'"link{i - 1}"'
        joints.append(f'{{ "name": "joint{i}", "type": "ball", "bodies": [{before}, "link{i}"], '
                      f'"anchor": [{number(0.2 * i)}, 0, 0] }}')
    bodies.append('{ "name": "weight", "mass": 100, "inertia": [4, 4, 4], "shapes": [ { "type": "sphere", '
                  '"radius": 0.3 } ], "position": [10.3, 0, 0] }')
    joints.append('{ "name": "hook", "type": "ball", "bodies": ["link49", "weight"], "anchor": [10, 0, 0] }')
    return scene("Chain", "Fifty links with a weight of a hundred times the mass of one at the end.", bodies,
                 1 / 480, 5, joints=joints)


def cradle():
    radius, length, spread = 0.05, 0.5, 0.2
    bodies, joints = [], []
    for i in range(5):
        angle = math.radians(-30) if i == 0 else 0
        pivot = (2 * radius * i, 0, 0)
        place = (pivot[0] + length * math.sin(angle), 0, -length * math.cos(angle))
        bodies.append(f'{{ "name": "ball{i}", "material": "steel", "mass": 1, "inertia": [0.001, 0.001, 0.001], '
                      f'"shapes": [ {{ "type": "sphere", "radius": {number(radius)} }} ], "position": {vector(place)} }}')
        for side, y in (("left", spread), ("right", -spread)):
            joints.append(f'{{ "name": "{side}{i}", "type": "distance", "bodies": [null, "ball{i}"], '
                          f'"anchors": [{vector((pivot[0], y, 0))}, {vector(place)}] }}')
    return scene("Newton's cradle", "Five touching balls on two strings each; the first one is let go.", bodies, 1 / 60,
                 10, materials='{ "steel": { "friction": 0.1, "restitution": 1 } }', joints=joints)


def card_house():
    thickness, width, height, lean = 0.002, 0.06, 0.09, math.radians(15)
    bodies = [floor("card")]

    def card(name, x, z, angle):
        bodies.append(f'{{ "name": "{name}", "density": 700, "material": "card", "shapes": [ {{ "type": "box", '
                      f'"size": {vector((thickness, width, height))} }} ], "position": {vector((x, 0, z))}, '
                      f'"rotation": {{ "axis": [0, 1, 0], "degrees": {number(math.degrees(angle))} }} }}')

    # Two leaning cards touch along their upper edges: the inner top corners are at x = 0.
    rise = 0.5 * (height * math.cos(lean) + thickness * math.sin(lean))
    half = 0.5 * (height * math.sin(lean) + thickness * math.cos(lean))
    pitch = 4 * half + 1e-3
    for level, count in enumerate((2, 1)):
        base = level * (2 * rise + thickness)
        for i in range(count):
            x = (i - 0.5 * (count - 1)) * pitch
            card(f"left{level}{i}", x - half, base + rise, lean)
            card(f"right{level}{i}", x + half, base + rise, -lean)
        if level == 0:
            card("deck", 0.0, base + 2 * rise + 0.5 * thickness, math.radians(90))
    return scene("Card house", "Six cards and a deck between them stand by friction alone.", bodies, 1 / 240, 10,
                 materials='{ "card": { "friction": 0.6 } }')


def discs66():
    # Cannonball rows of 11 to 1 touching discs of radius 3 on a plank between slanted walls.
    c, s = math.cos(math.radians(60)), math.sin(math.radians(60))
    bodies = [floor("disc", "y")]
    for name, sign in (("right", -1), ("left", 1)):
        bodies.append(f'{{ "name": "{name}", "kind": "fixed", "material": "disc", "shapes": [ {{ "type": "plane", '
                      f'"normal": {vector((sign * s, c, 0))}, "offset": {number(-50 * s)} }} ] }}')
    k = 0
    for row in range(11):
        for i in range(11 - row):
            x = 6.0 * (i - 0.5 * (10 - row))
            y = 3.0 + row * 6.0 * s
            bodies.append(f'{{ "name": "d{k}", "mass": 1, "inertia": [4.5, 4.5, 4.5], "material": "disc", "shapes": '
                          f'[ {{ "type": "sphere", "radius": 3 }} ], "position": {vector((x, y, 0))} }}')
            k += 1
    return scene("66 discs", "Anitescu, section V: a cannonball pile on a plank between slanted walls.", bodies,
                 0.05, 20, gravity=(0, -9.81, 0), planar=True, materials='{ "disc": { "friction": 0.15, "restitution": 0.4 } }',
                 options='{ "theta": 1, "cone": "pyramid", "energy_guard": false }')


def disc_pyramid():
    # Rows of 7 to 1 touching discs on a floor, the lowest between two walls: without them it would spread.
    bodies = [floor("disc", "y")]
    for name, sign in (("right", -1), ("left", 1)):
        bodies.append(f'{{ "name": "{name}", "kind": "fixed", "material": "disc", "shapes": [ {{ "type": "plane", '
                      f'"normal": {vector((sign, 0, 0))}, "offset": -3.5 }} ] }}')
    for row in range(7):
        for i in range(7 - row):
            x, y = 1.0 * (i - 0.5 * (6 - row)), 0.5 + row * math.sqrt(0.75)
            bodies.append(f'{{ "name": "d{row}{i}", "mass": 1, "inertia": [0.125, 0.125, 0.125], "material": "disc", '
                          f'"shapes": [ {{ "type": "sphere", "radius": 0.5 }} ], "position": {vector((x, y, 0))} }}')
    return scene("Pyramid of discs", "Seven rows of discs on a rough floor between walls: it stands.", bodies, 1 / 60, 10,
                 gravity=(0, -9.81, 0), planar=True, materials='{ "disc": { "friction": 0.6 } }')


# The experiments of Mirtich and Canny -----------------------------------------------------------


def multiply(a, b):
    return (a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0])


def turn(axis, angle):
    length = math.sqrt(sum(x * x for x in axis))
    s = math.sin(0.5 * angle) / length
    return (math.cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2])


def rotate(q, v):
    return multiply(multiply(q, (0.0, *v)), (q[0], -q[1], -q[2], -q[3]))[1:]


def add(a, b, scale=1.0):
    return tuple(x + scale * y for x, y in zip(a, b))


def rotation(q):
    return f'"rotation": {{ "quaternion": {vector(q)} }}'


def impulses(name, about, bodies, until, materials, step=1 / 30, options="", pairs=""):
    text = scene(name, about, bodies, step, until, materials=materials, stepper="mirtich-canny", options=options)
    return text.replace('  "bodies": [', f'  "pairs": {pairs},\n  "bodies": [', 1) if pairs else text


def coins():
    # A quarter dollar. Four come down ramps on their edges, four are thrown.
    radius, thickness, slope = 0.01213, 0.00175, math.radians(20)
    length, width, board, reach = 0.2, 0.06, 0.01, 0.12
    bodies = ['{ "name": "platform", "kind": "fixed", "material": "metal", "position": [0, 0, -0.01], '
              '"shapes": [ { "type": "box", "size": [0.3, 0.3, 0.02] } ] }']
    up, normal = (math.cos(slope), 0.0, math.sin(slope)), (-math.sin(slope), 0.0, math.cos(slope))
    lean = turn((0, 1, 0), -slope)

    def coin(name, position, q, velocity, spin):
        bodies.append(f'{{ "name": "{name}", "density": 8900, "material": "metal", "shapes": [ {{ "type": "cylinder", '
                      f'"radius": {number(radius)}, "length": {number(thickness)} }} ], "position": {vector(position)}, '
                      f'{rotation(q)}, "velocity": {vector(velocity)}, "angular_velocity": {vector(spin)} }}')

    for i in range(4):
        about = turn((0, 0, 1), 0.5 * math.pi * i)
        foot = (reach, 0.0, 0.0)
        middle = add(add(foot, up, 0.5 * length), normal, -0.5 * board)
        bodies.append(f'{{ "name": "ramp{i}", "kind": "fixed", "material": "metal", "position": '
                      f'{vector(rotate(about, middle))}, {rotation(multiply(about, lean))}, "shapes": [ {{ "type": "box", '
                      f'"size": {vector((length, width, board))} }} ] }}')
        speed = 0.2 + 0.05 * i
        start = add(add(foot, up, 0.10 + 0.015 * i), normal, radius + 1e-5)
        on_edge = multiply(about, multiply(turn((0, 1, 0), -slope), turn((1, 0, 0), 0.5 * math.pi)))
        coin(f"rolled{i}", rotate(about, start), on_edge, rotate(about, tuple(-speed * x for x in up)),
             rotate(about, (0.0, -speed / radius, 0.0)))
    for i in range(4):
        angle = 0.5 * math.pi * i + 0.6
        c, s = math.cos(angle), math.sin(angle)
        q = multiply(turn((0, 0, 1), angle), turn((1, 0.3 * i, 0), 0.5 + 0.4 * i))
        coin(f"thrown{i}", (0.05 * c, 0.05 * s, 0.08 + 0.05 * i), q, (-0.3 * c, -0.3 * s, 0.2), (6 - 3 * i, 4 * i - 5, 3))
    return impulses("Colliding coins", "Eight coins are rolled and thrown onto a platform, hit each other and settle.", bodies, 5,
                    '{ "metal": { "friction": 0.3, "restitution": 0.4 } }', options='{ "collision_tolerance": 1e-05 }')


# Height and radius of the rings of a bowling pin, the neck filled in so that it is convex.
PIN = ((0, 0.029), (0.012, 0.0355), (0.035, 0.0452), (0.07, 0.0555), (0.1143, 0.0605), (0.16, 0.059), (0.21, 0.0545),
       (0.26, 0.048), (0.31, 0.039), (0.35, 0.0285), (0.381, 0.015))


def bowling():
    # 16 sides by 10 bands and two ends: 162 facets. The rack stands where the ball, rolling by then, meets it beside its head.
    sides = 16
    points = ", ".join(vector((r * math.cos(2 * math.pi * k / sides), r * math.sin(2 * math.pi * k / sides), z))
                       for z, r in PIN for k in range(sides))
    number = "1 + row * (row + 1) / 2 + i"
    bodies = ['{ "name": "alley", "kind": "fixed", "material": "lane", "position": [9.5, 0.75, -0.05], '
              '"shapes": [ { "type": "box", "size": [22, 3, 0.1] } ] }',
              '{ "name": "pit", "kind": "fixed", "material": "mat", "color": "#8a8f98", "position": [21.75, 0.75, 0], "shapes": [ '
              '{ "type": "box", "size": [2.5, 3, 0.1], "position": [0, 0, -0.75] }, '
              '{ "type": "box", "size": [0.1, 3, 1.8], "position": [1.3, 0, 0.1] }, '
              '{ "repeat": { "side": [-1, 1, 2] }, "type": "box", "size": [5.5, 0.1, 1.8], "position": [-1.4, "1.55 * side", 0.1] } ] }',
              '{ "name": "ball", "mass": 6.8, "inertia": [0.03172608, 0.03172608, 0.03172608], "material": "rubber", '
              '"shapes": [ { "type": "sphere", "radius": 0.108 } ], "position": [0, 0, 0.108], "velocity": [8, 0, 0], '
              '"angular_velocity": [-30, 0, 0] }',
              f'{{ "repeat": {{ "row": 4, "i": "row + 1" }}, "name": "pin{{{number}}}", "density": 700, "material": "maple", '
              '"position": ["18.29 + row * 0.3048 * sqrt(0.75)", "1.37 + 0.3048 * (i - 0.5 * row)", 0],\n'
              f'      "shapes": [ {{ "type": "hull", "points": [{points}] }} ] }}']
    return impulses("Bowling", "A ball thrown with side spin slides, hooks, rolls after 2.51 s and meets ten pins.", bodies, 6,
                    '{ "lane": { "friction": 0.1 }, "rubber": { "friction": 0.1 }, "maple": { "friction": 0.25, "restitution": 0.6 }, '
                    '"mat": { "friction": 0.8 } }',
                    options='{ "collision_tolerance": 0.0001 }',
                    pairs='[ { "between": ["maple", "lane"], "friction": 0.3, "restitution": 0.3 } ]')


def icosphere(frequency):
    """Vertices of an icosahedron whose faces are cut in frequency^2 triangles, on the unit sphere."""
    t = 0.5 * (1 + math.sqrt(5))
    corners = [(-1, t, 0), (1, t, 0), (-1, -t, 0), (1, -t, 0), (0, -1, t), (0, 1, t), (0, -1, -t), (0, 1, -t), (t, 0, -1),
               (t, 0, 1), (-t, 0, -1), (-t, 0, 1)]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
             (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7),
             (9, 8, 1)]
    points = {}
    for a, b, c in faces:
        for i in range(frequency + 1):
            for j in range(frequency + 1 - i):
                k = frequency - i - j
                p = tuple((i * corners[a][m] + j * corners[b][m] + k * corners[c][m]) / frequency for m in range(3))
                length = math.sqrt(sum(x * x for x in p))
                p = tuple(x / length for x in p)
                points.setdefault(tuple(round(x, 9) for x in p), p)
    return list(points.values())


MARBLE = 0.008


def marble_file():
    # 17 is no multiple of 3: a facet, not a vertex, is in the middle of each face of the icosahedron.
    lines = ["# A marble of radius 8 mm: an icosahedron, each face cut in 17^2, on the sphere: 5780 facets."]
    for p in icosphere(17):
        lines.append("v " + " ".join(f"{MARBLE * x:.12g}" for x in p))
    return "\n".join(lines) + "\n"


def marbles(shape, name, about):
    # On facets: the middle of the icosahedron's face (1, 1, 1) down. The facet lies that much nearer the centre.
    down = turn((-1, 1, 0), math.acos(-1 / math.sqrt(3)))
    height = MARBLE
    if shape == "hull":
        height = -min(rotate(down, p)[2] for p in icosphere(17)) * MARBLE
    solid = '{ "type": "hull", "file": "marble.obj" }' if shape == "hull" else '{ "type": "sphere", "radius": 0.008 }'
    bodies = ['{ "name": "table", "kind": "fixed", "material": "felt", "position": [0, 0, -0.01], "shapes": '
              '[ { "type": "box", "size": [3, 0.5, 0.02] } ] }']
    gap = 1e-5
    for i in range(5):
        x = -0.05 - 2 * MARBLE - gap if i == 0 else (i - 1) * (2 * MARBLE + gap)
        motion = f', "velocity": [0.5, 0, 0], "angular_velocity": [0, {number(0.5 / height)}, 0]' if i == 0 else ""
        bodies.append(f'{{ "name": "marble{i}", "density": 2500, "material": "glass", "shapes": [ {solid} ], '
                      f'"position": {vector((x, 0, height))}, {rotation(down)}{motion} }}')
    options = '{ "collision_tolerance": 5e-06 }' if shape == "hull" else ""
    return impulses(name, about, bodies, 2, '{ "felt": { "friction": 0.2 }, "glass": { "friction": 0 } }',
                    options=options, pairs='[ { "between": ["glass", "glass"], "friction": 0, "restitution": 1 }, '
                          '{ "between": ["glass", "felt"], "friction": 0.2, "restitution": 0 } ]')


def ball_platter():
    bodies = ['{ "name": "platter", "kind": "kinematic", "material": "rubber", "position": [0, 0, -0.01], '
              '"angular_velocity": [0, 0, 6.283185307179586], "shapes": [ { "type": "cylinder", "radius": 1, "length": 0.02 } ] }',
              '{ "name": "ball", "mass": 1, "inertia": [0.001, 0.001, 0.001], "material": "rubber", "shapes": '
              '[ { "type": "sphere", "radius": 0.05 } ], "position": [0.5, 0, 0.05], "velocity": [0, 0.3, 0], '
              '"angular_velocity": [56.83185307179586, 0, 0] }']
    return impulses("Ball on a platter", "A ball rolls on a turning platter: in a circle off its axis, at 2/7 of its rate.", bodies,
                    10, '{ "rubber": { "friction": 1 } }')


def block_ramp():
    slope, size = math.radians(20), (0.2, 0.2, 0.1)
    normal = (math.sin(slope), 0.0, math.cos(slope))
    bodies = [f'{{ "name": "ramp", "kind": "fixed", "material": "wood", "shapes": [ {{ "type": "plane", "normal": '
              f'{vector(normal)}, "offset": 0 }} ] }}',
              f'{{ "name": "block", "density": 600, "material": "wood", "shapes": [ {{ "type": "box", "size": {vector(size)} }} ], '
              f'"position": {vector(tuple(0.5 * size[2] * x for x in normal))}, {rotation(turn((0, 1, 0), slope))} }}']
    return impulses("Block on a ramp", "A block at rest on a ramp of 20 degrees: friction of 0.5 holds it, and it does not creep.",
                    bodies, 10, '{ "wood": { "friction": 0.5 } }')


def bouncing_ball():
    bodies = [floor("ball"), '{ "name": "ball", "mass": 1, "inertia": [0.004, 0.004, 0.004], "material": "ball", "shapes": '
              '[ { "type": "sphere", "radius": 0.1 } ], "position": [0, 0, 1.1] }']
    return impulses("Bouncing ball", "A ball falls one metre and bounces with restitution one half: at rest after 1.354571 s.", bodies,
                    2, '{ "ball": { "friction": 0, "restitution": 0.5 } }', step=0.01)


def euler_disc():
    # A disc that rolls on its edge with its centre at rest: for a thin one the point of contact goes round at
    # W with W^2 sin(tilt) = 4 g / radius. It turns about its axis so that the edge does not slip.
    radius, thickness, tilt = 0.0375, 0.002, math.radians(15)
    rate = math.sqrt(4 * 9.81 / (radius * math.sin(tilt)))
    q = turn((0, 1, 0), tilt)
    # The edge is lowest at +x: the centre stands above it by radius sin + thickness / 2 cos.
    height = radius * math.sin(tilt) + 0.5 * thickness * math.cos(tilt)
    # Without slip and with the centre at rest, the angular velocity is along the diameter through the contact.
    diameter = rotate(q, (1.0, 0.0, 0.0))
    spin = tuple(-rate * math.sin(tilt) * x for x in diameter)
    bodies = [floor("steel"), f'{{ "name": "disc", "density": 7800, "material": "steel", "shapes": [ {{ "type": "cylinder", '
              f'"radius": {number(radius)}, "length": {number(thickness)} }} ], "position": {vector((0, 0, height))}, {rotation(q)}, '
              f'"angular_velocity": {vector(spin)} }}']
    return impulses("Spinning coin", "Euler's disc: a coin rolls round on its edge.", bodies, 2,
                    '{ "steel": { "friction": 0.6 } }')


# The experiments of Bender and Schmitt ----------------------------------------------------------


def incline_blocks():
    # Blocks of 20 by 20 by 10 cm slide down a slope of 20 degrees, each on a lane of its own friction; those with
    # mu > tan 20 = .364 stop.
    slope = math.radians(20)
    down, normal = (math.cos(slope), 0, -math.sin(slope)), (math.sin(slope), 0, math.cos(slope))
    coefficients = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
    materials = '{ "slope": { "friction": 1 }, ' + ", ".join(
        f'"mu{round(100 * mu):02}": {{ "friction": {number(mu * mu)} }}' for mu in coefficients) + " }"
    bodies = [f'{{ "name": "slope", "kind": "fixed", "material": "slope", "shapes": [ {{ "type": "plane", '
              f'"normal": {vector(normal)}, "offset": 0 }} ] }}']
    for k, mu in enumerate(coefficients):
        place = add((0, 0.5 * k, 0), normal, 0.05)
        bodies.append(f'{{ "name": "block{round(100 * mu):02}", "density": 1000, "material": "mu{round(100 * mu):02}", '
                      f'"shapes": [ {{ "type": "box", "size": [0.2, 0.2, 0.1] }} ], "position": {vector(place)}, '
                      f'"rotation": {{ "axis": [0, 1, 0], "degrees": 20 }}, '
                      f'"velocity": {vector(tuple(3 * x for x in down))} }}')
    return scene("Blocks on an incline",
                 "Bender and Schmitt, section 4: blocks of different friction start at 3 m/s down 20 degrees. They stop "
                 "after v^2 / (2 g (mu cos - sin)) and hold, or slide on.", bodies, 1 / 240, 10, materials=materials,
                 stepper="bender-schmitt")


def office_toy(count):
    bodies, joints = [], []
    for k in range(5):
        angle = math.radians(30) if k < count else 0.0
        place = (0.1 * k - 0.5 * math.sin(angle), -0.5 * math.cos(angle), 0)
        bodies.append(f'{{ "name": "ball{k}", "mass": 1, "inertia": [0.001, 0.001, 0.001], "material": "steel", '
                      f'"shapes": [ {{ "type": "sphere", "radius": 0.05 }} ], "position": {vector(place)} }}')
        joints.append(f'{{ "name": "string{k}", "type": "distance", "bodies": [null, "ball{k}"], '
                      f'"anchor": {vector((0.1 * k, 0, 0))} }}')
    word = {1: "One ball is", 2: "Two balls are"}[count]
    return scene(f"Office toy, {count} in",
                 f"Bender and Schmitt, figure 6: five touching balls on strings of 0.5 m. {word} let go at 30 degrees; as "
                 "many leave on the other side, with the same speed.", bodies, 0.0005, 60, gravity=(0, -9.81, 0),
                 planar=True, materials='{ "steel": { "restitution": 1 } }', joints=joints, stepper="bender-schmitt",
                 options='{ "impacts": "located" }')


def pendulum_wall():
    bodies = ['{ "name": "wall", "kind": "fixed", "material": "steel", "shapes": [ { "type": "plane", "normal": [-1, 0, 0], '
              '"offset": -0.3 } ] }']
    joints = []
    for k, name in enumerate(("upper", "lower")):
        bodies.append(f'{{ "name": "{name}", "mass": 1, "material": "steel", "inertia": [0.09, 0.09, 0.09], "shapes": '
                      f'[ {{ "type": "capsule", "radius": 0.05, "length": 0.9, "axis": [1, 0, 0] }} ], '
                      f'"position": {vector((-0.5 - k, 0, 0))} }}')
        ends = '[null, "upper"]' if k == 0 else '["upper", "lower"]'
        joints.append(f'{{ "name": "joint{k}", "type": "revolute", "bodies": {ends}, "anchor": {vector((-k, 0, 0))}, '
                      f'"axis": [0, 0, 1] }}')
    return scene("Double pendulum at a wall", "A double pendulum let go level swings into a wall and bounces.", bodies,
                 0.001, 5, gravity=(0, -9.81, 0), planar=True,
                 materials='{ "steel": { "friction": 0.3, "restitution": 0.6 } }', joints=joints, stepper="bender-schmitt",
                 options='{ "impacts": "located" }')


def chain_on_ground():
    bodies, joints = [floor("iron")], []
    for k in range(5):
        bodies.append(f'{{ "name": "link{k}", "density": 7800, "material": "iron", "shapes": [ {{ "type": "capsule", '
                      f'"radius": 0.02, "length": 0.1, "axis": [0, 0, 1] }} ], "position": {vector((0, 0, 0.09 + 0.12 * k))} }}')
        if k > 0:
            joints.append(f'{{ "name": "joint{k}", "type": "ball", "bodies": ["link{k - 1}", "link{k}"], '
                          f'"anchor": {vector((0, 0, 0.03 + 0.12 * k))} }}')
    bodies[-1] = bodies[-1][:-2] + ', "velocity": [0.4, 0.1, 0] }'
    return scene("Chain falling on the ground", "Five links with ball joints, upright, nudged at the top: they fall into a heap.",
                 bodies, 1 / 500, 1.5, materials='{ "iron": { "friction": 0.4, "restitution": 0.1 } }', joints=joints,
                 stepper="bender-schmitt")


def brick_wall():
    bodies = [floor("brick")]
    for row in range(10):
        for k in range(12 - row % 2):
            place = (0, 0.2 * k + 0.1 * (row % 2) - 1.1, 0.05 + 0.1 * row)
            bodies.append(f'{{ "name": "brick{row}-{k}", "density": 2000, "material": "brick", "shapes": '
                          f'[ {{ "type": "box", "size": [0.1, 0.199, 0.1] }} ], "position": {vector(place)} }}')
    bodies.append('{ "name": "ball", "density": 7800, "material": "brick", "shapes": [ { "type": "sphere", "radius": 0.12 } ], '
                  '"position": [-2, 0.05, 0.6], "velocity": [14, 0, 0.8] }')
    return scene("Brick wall", "A ball of steel hits a wall of 115 bricks.", bodies, 1 / 240, 3,
                 materials='{ "brick": { "friction": 0.6, "restitution": 0.1 } }', stepper="bender-schmitt",
                 options='{ "certificate": 0.0001 }')


def tippe_top_bs():
    # The same top as scenes/tippe_top.json, by this paper's step.
    with open(os.path.join(ROOT, "tippe_top.json"), encoding="utf-8") as file:
        text = file.read()
    head, tail = text.split('"simulation":')
    return head + '"simulation": { "stepper": "bender-schmitt", "step": 0.0001, "until": 4, "options": { "collision_tolerance": 1e-06 } }\n}\n'


SCENES = {
    "stack10.json": stack(10), "stack20.json": stack(20), "stack40.json": stack(40), "mass_ratio.json": mass_ratio(),
    "chain.json": chain(), "cradle.json": cradle(), "card_house.json": card_house(), "discs66.json": discs66(),
    "disc_pyramid.json": disc_pyramid(),
    "coins.json": coins(), "bowling.json": bowling(), "ball_platter.json": ball_platter(), "block_ramp.json": block_ramp(),
    "bouncing_ball.json": bouncing_ball(), "euler_disc.json": euler_disc(), "marble.obj": marble_file(),
    "marbles.json": marbles("hull", "Marbles", "A rolling marble of 5780 facets hits a line of four: the last one rolls away."),
    "marbles_spheres.json": marbles("sphere", "Marbles, round",
                                    "A rolling marble hits a line of four: the last one rolls away, with 5/7 of its speed at the end."),
    "incline_blocks.json": incline_blocks(),
    "office_toy_1.json": office_toy(1),
    "office_toy_2.json": office_toy(2),
    "tippe_top_bs.json": tippe_top_bs(),
    "pendulum_wall.json": pendulum_wall(),
    "chain_on_ground.json": chain_on_ground(),
    "brick_wall.json": brick_wall(),
}


def main():
    stale = []
    for name, text in SCENES.items():
        path = os.path.join(ROOT, name)
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if old != text:
            stale.append(name)
            if "--check" not in sys.argv:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
    if stale and "--check" in sys.argv:
        print("not up to date: " + ", ".join(stale) + "; run tools/make_scenes.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
