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
    return scene("Card house", "Five cards and a deck stand by friction alone.", bodies, 1 / 240, 10,
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


SCENES = {
    "stack10.json": stack(10), "stack20.json": stack(20), "stack40.json": stack(40), "mass_ratio.json": mass_ratio(),
    "chain.json": chain(), "card_house.json": card_house(), "discs66.json": discs66(),
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
