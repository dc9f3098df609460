// Bodies as three.js draws them: shapes of the same form are one instanced mesh, so that ten thousand
// bodies are a few draw calls.
//
// Geometries have their axis along z and size one where scaling keeps their form; the rest of the size is in
// the instance's matrix.

import * as THREE from 'three';
import { RoundedBoxGeometry } from 'three/addons/geometries/RoundedBoxGeometry.js';
import { Copies } from './copies.js';
import { creaseNormals } from './creases.js';
import { makeBalls, makeCornerLit } from './crowd.js';
import { Visibility } from './hidden.js';
import { isPlain } from './machine.js';
import { Materials } from './materials.js';
import { bodyColours } from './theme.js';

const manyInstances = 2000; // from here on, round shapes have fewer facets
const manySizes = 48;       // boxes of more sizes share one geometry with sharp edges

// Round things turn visibly: every other sector of them is a little darker.
const sectors = {
    none: null,
    octants: 'tippeAt.x * tippeAt.y * tippeAt.z',
    quadrants: 'tippeAt.x * tippeAt.y',
};

export function makeMaterial(pattern, options = {}) {
    const { roughness = 0.52, ...rest } = options;
    const material = isPlain ? new THREE.MeshLambertMaterial(rest) : new THREE.MeshStandardMaterial({ roughness, metalness: 0, ...rest });
    const test = sectors[pattern];
    if (test) {
        material.onBeforeCompile = shader => {
            shader.vertexShader = shader.vertexShader
                .replace('#include <common>', '#include <common>\nvarying vec3 tippeAt;')
                .replace('#include <begin_vertex>', '#include <begin_vertex>\ntippeAt = position;');
            shader.fragmentShader = shader.fragmentShader
                .replace('#include <common>', '#include <common>\nvarying vec3 tippeAt;')
                .replace('#include <color_fragment>', `#include <color_fragment>
                    float tippeSide = ${test};
                    float tippeEdge = fwidth(tippeSide) + 1e-9;
                    diffuseColor.rgb *= mix(0.74, 1.0, smoothstep(-tippeEdge, tippeEdge, tippeSide));`);
        };
        material.customProgramCacheKey = () => `tippe-${pattern}`;
    }
    return material;
}

function turnUp(geometry) {
    return geometry.rotateX(Math.PI / 2);
}

function discGeometry(segments) {
    const half = 0.24, bevel = 0.05;
    const profile = [[0, -half], [1 - bevel, -half], [1, -half + bevel], [1, half - bevel], [1 - bevel, half], [0, half]];
    const lathe = new THREE.LatheGeometry(profile.map(([r, y]) => new THREE.Vector2(r, y)), segments);
    return creaseNormals(turnUp(lathe), 0.5);
}

function superellipsoidGeometry([e1, e2]) {
    const power = (value, exponent) => Math.sign(value) * Math.abs(value) ** exponent;
    const sphere = new THREE.SphereGeometry(1, 96, 48);
    const position = sphere.attributes.position;
    for (let i = 0; i < position.count; ++i) {
        const around = sphere.attributes.uv.getX(i) * 2 * Math.PI;
        const up = (sphere.attributes.uv.getY(i) - 0.5) * Math.PI;
        const ring = power(Math.cos(up), e1);
        position.setXYZ(i, ring * power(Math.cos(around), e2), ring * power(Math.sin(around), e2),
            power(Math.sin(up), e1));
    }
    // The sphere's triangles run the other way around in these coordinates' hand.
    const index = sphere.index.array;
    for (let i = 0; i < index.length; i += 3) {
        [index[i + 1], index[i + 2]] = [index[i + 2], index[i + 1]];
    }
    sphere.computeVertexNormals();
    const normal = sphere.attributes.normal;
    let outward = 0;
    for (let i = 0; i < position.count; ++i) {
        outward += position.getX(i) * normal.getX(i) + position.getY(i) * normal.getY(i) + position.getZ(i) * normal.getZ(i);
    }
    if (outward < 0) {
        for (let i = 0; i < index.length; i += 3) {
            [index[i + 1], index[i + 2]] = [index[i + 2], index[i + 1]];
        }
        sphere.computeVertexNormals();
    }
    return sphere;
}

function surfaceGeometry(surface) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(Float32Array.from(surface.vertices), 3));
    geometry.setIndex(surface.triangles);
    if (surface.triangles.length > 600000) {
        geometry.computeVertexNormals();
        return geometry;
    }
    return creaseNormals(geometry, 0.55);
}

// What is drawn for a shape: a key of its form, a geometry for it, a scale and a pattern; and the radius of a ball within it,
// where there is one, for what it hides.
function describe(shape, context) {
    const fine = context.isCrowded ? (isPlain ? 8 : 16) : 64;
    const one = [1, 1, 1];
    switch (shape.type) {
    case 'sphere': {
        const r = shape.radius;
        return context.planar
            ? { key: 'disc', scale: [r, r, r], pattern: 'quadrants', make: () => discGeometry(fine) }
            : { key: context.isCrowded && isPlain ? 'ball' : 'sphere', isPainted: context.isCrowded && isPlain, within: 1, scale: [r, r, r], pattern: 'octants', make: () => new THREE.SphereGeometry(1, fine, fine / 2) };
    }
    case 'ellipsoid':
        return { key: 'sphere', within: 1, scale: shape.radii, pattern: 'octants', make: () => new THREE.SphereGeometry(1, fine, fine / 2) };
    case 'superellipsoid':
        return { key: `superellipsoid ${shape.exponents}`, scale: shape.radii, pattern: 'octants', make: () => superellipsoidGeometry(shape.exponents) };
    case 'box':
        if (context.boxSizes.size > manySizes || context.isCrowded) {
            return { key: 'box', within: 0.5, scale: shape.size, pattern: 'none', make: () => new THREE.BoxGeometry(1, 1, 1) };
        }
        return {
            key: `box ${shape.size}`, scale: one, pattern: 'none',
            make: () => new RoundedBoxGeometry(...shape.size, 3, Math.min(...shape.size) * 0.06),
        };
    case 'rounded_box':
        return {
            key: `rounded ${shape.size} ${shape.radius}`, within: Math.min(...shape.size) / 2, scale: one, pattern: 'none',
            make: () => new RoundedBoxGeometry(...shape.size, context.isCrowded ? 2 : 6, shape.radius),
        };
    case 'capsule':
        return {
            key: `capsule ${shape.radius} ${shape.length}`, within: shape.radius, scale: one, pattern: 'quadrants',
            make: () => turnUp(new THREE.CapsuleGeometry(shape.radius, shape.length, context.isCrowded ? fine / 4 : 16, fine)),
        };
    case 'cylinder':
        return {
            key: 'cylinder', within: 0.5, scale: [shape.radius, shape.radius, shape.length], pattern: 'quadrants',
            make: () => turnUp(new THREE.CylinderGeometry(1, 1, 1, fine)),
        };
    case 'cone':
        return {
            key: 'cone', scale: [shape.radius, shape.radius, shape.length], pattern: 'quadrants',
            make: () => turnUp(new THREE.ConeGeometry(1, 1, fine)),
        };
    default:
        if (shape.surface === undefined || !context.surfaces[shape.surface]) {
            return null;
        }
        return { key: `surface ${shape.surface}`, scale: one, pattern: 'none', make: () => surfaceGeometry(context.surfaces[shape.surface]) };
    }
}

// A batch of instances of one form.
class Batch {
    constructor(form) {
        this.form = form;
        this.bodies = [];
        this.colours = []; // that shapes have of their own, or undefined
        this.local = []; // 10 numbers an instance: position from the centre of mass, rotation, scale
    }

    add(body, position, rotation, scale, colour) {
        this.bodies.push(body);
        this.colours.push(colour);
        this.local.push(...position, ...rotation, ...scale);
    }

    finish(colourOf) {
        const count = this.bodies.length;
        this.geometry = this.form.make();
        this.copies = this.form.isPainted ? makeBalls(count) : new Copies(this.geometry, makeMaterial(this.form.pattern), count);
        this.mesh = this.copies.mesh;
        this.mesh.castShadow = this.mesh.receiveShadow = true;
        this.local = Float64Array.from(this.local);
        for (let i = 0; i < count; ++i) {
            this.copies.setColour(i, colourOf(this.bodies[i], this.colours[i]));
        }
        this.#measure();
    }

    // Of a crowd without a graphics card: without shadows, forms are lit at their corners.
    setFine(isFine) {
        if (!this.form.isPainted) {
            this.fine ??= this.mesh.material;
            this.coarse ??= makeCornerLit(this.copies);
            this.mesh.material = isFine ? this.fine : this.coarse;
        }
    }

    // Radii of balls within and around each copy.
    #measure() {
        const { array } = this.geometry.attributes.position;
        let reach = 0;
        for (let k = 0; k < array.length; k += 3) {
            reach = Math.max(reach, Math.hypot(array[k], array[k + 1], array[k + 2]));
        }
        const sizes = this.bodies.map((_, i) => this.local.subarray(10 * i + 7, 10 * i + 10));
        this.within = Float32Array.from(sizes, size => (this.form.within ?? 0) * Math.min(...size));
        this.around = Float32Array.from(sizes, size => reach * Math.max(...size));
    }

    // `placements` has x y z qw qx qy qz for each body, at its centre of mass.
    place(placements) {
        for (let i = 0; i < this.bodies.length; ++i) {
            writeMatrix(this.copies.matrices, 16 * i, placements, 7 * this.bodies[i], this.local, 10 * i);
        }
        this.copies.update();
    }
}

// The matrix of a shape: its body's placement, then its own.
function writeMatrix(to, at, placements, p, local, l) {
    const bw = placements[p + 3], bx = placements[p + 4], by = placements[p + 5], bz = placements[p + 6];
    const lx = local[l], ly = local[l + 1], lz = local[l + 2];
    const w2 = local[l + 3], x2 = local[l + 4], y2 = local[l + 5], z2 = local[l + 6];
    // Rotated offset: v + 2 q x (q x v + w v).
    const cx = by * lz - bz * ly + bw * lx, cy = bz * lx - bx * lz + bw * ly, cz = bx * ly - by * lx + bw * lz;
    const px = placements[p] + lx + 2 * (by * cz - bz * cy);
    const py = placements[p + 1] + ly + 2 * (bz * cx - bx * cz);
    const pz = placements[p + 2] + lz + 2 * (bx * cy - by * cx);
    const w = bw * w2 - bx * x2 - by * y2 - bz * z2;
    const x = bw * x2 + bx * w2 + by * z2 - bz * y2;
    const y = bw * y2 - bx * z2 + by * w2 + bz * x2;
    const z = bw * z2 + bx * y2 - by * x2 + bz * w2;
    const sx = local[l + 7], sy = local[l + 8], sz = local[l + 9];
    to[at] = (1 - 2 * (y * y + z * z)) * sx;
    to[at + 1] = 2 * (x * y + w * z) * sx;
    to[at + 2] = 2 * (x * z - w * y) * sx;
    to[at + 3] = 0;
    to[at + 4] = 2 * (x * y - w * z) * sy;
    to[at + 5] = (1 - 2 * (x * x + z * z)) * sy;
    to[at + 6] = 2 * (y * z + w * x) * sy;
    to[at + 7] = 0;
    to[at + 8] = 2 * (x * z + w * y) * sz;
    to[at + 9] = 2 * (y * z - w * x) * sz;
    to[at + 10] = (1 - 2 * (x * x + y * y)) * sz;
    to[at + 11] = 0;
    to[at + 12] = px;
    to[at + 13] = py;
    to[at + 14] = pz;
    to[at + 15] = 1;
}

function radiusOf(shape, surfaces) {
    switch (shape.type) {
    case 'sphere': return shape.radius;
    case 'box': case 'rounded_box': return Math.hypot(...shape.size) / 2;
    case 'capsule': return shape.radius + shape.length / 2;
    case 'cylinder': case 'cone': return Math.hypot(shape.radius, shape.length / 2);
    case 'ellipsoid': case 'superellipsoid': return Math.max(...shape.radii);
    default: {
        const vertices = surfaces[shape.surface]?.vertices ?? [];
        let most = 0;
        for (let i = 0; i < vertices.length; i += 3) {
            most = Math.max(most, Math.hypot(vertices[i], vertices[i + 1], vertices[i + 2]));
        }
        return most;
    }
    }
}

// A body that has shapes to be seen looks like those: what touches is shown beside them only if it has a colour.
function seenShapes(shapes) {
    return shapes.some(({ visual }) => visual) ? shapes.filter(({ visual, color }) => visual || color) : shapes;
}

export class BodyModel {
    constructor(head) {
        this.head = head;
        let parsed = { bodies: [], surfaces: [] };
        try {
            parsed = JSON.parse(head.shapes);
        } catch {
            this.problem = 'this recording does not say how its bodies look';
        }
        this.materials = new Materials(parsed, head.bodies.map((_, i) => parsed.bodies?.[i] ?? {}));
        const shapesOf = index => seenShapes(parsed.bodies?.[index]?.shapes ?? []);
        const surfaces = parsed.surfaces ?? [];
        const movingBodies = head.bodies.filter(body => body.moving >= 0);
        const context = {
            planar: head.planar,
            surfaces,
            isCrowded: movingBodies.length > manyInstances,
            boxSizes: new Set(),
        };
        head.bodies.forEach((_, i) => shapesOf(i).forEach(shape => shape.type === 'box' && context.boxSizes.add(`${shape.size}`)));

        this.isCrowded = context.isCrowded;
        this.group = new THREE.Group();
        this.batches = new Map();
        this.fixedMeshes = [];
        this.planes = [];
        this.radii = new Float64Array(head.bodies.length);
        this.centers = head.bodies.map((_, i) => parsed.bodies?.[i]?.center_of_mass ?? [0, 0, 0]);
        this.bodyOfMoving = movingBodies.map(body => head.bodies.indexOf(body));
        if (context.isCrowded) {
            this.bodyOfMoving = [];
            head.bodies.forEach((body, i) => { if (body.moving >= 0) { this.bodyOfMoving[body.moving] = i; } });
        }
        this.placements = new Float64Array(7 * head.bodies.length);

        head.bodies.forEach((body, i) => {
            this.#placeAtStart(i, body);
            for (const shape of shapesOf(i)) {
                this.#add(i, body, shape, context);
            }
        });
        for (const batch of this.batches.values()) {
            batch.finish((index, own) => this.colourOf(index, own));
            this.group.add(batch.mesh);
        }
        for (const batch of this.batches.values()) {
            batch.place(this.placements);
        }
        this.#makeFixed(context, shapesOf);
        const batches = [...this.batches.values()];
        if (context.isCrowded && batches.every(({ copies }) => copies.isLong)) {
            this.visibility = new Visibility(batches);
        }
    }

    // That of a shape, where it has one; otherwise bodies are coloured in turn.
    colourOf(index, own) {
        const body = this.head.bodies[index];
        if (own) {
            return new THREE.Color(own);
        }
        const colour = new THREE.Color(bodyColours[(body.moving < 0 ? 0 : body.moving) % bodyColours.length]);
        if (body.kind === 'kinematic') {
            colour.set('#8d9299');
        }
        return colour;
    }

    #placeAtStart(i, body) {
        const q = new THREE.Quaternion(body.rotation[1], body.rotation[2], body.rotation[3], body.rotation[0]);
        const center = new THREE.Vector3(...this.centers[i]).applyQuaternion(q).add(new THREE.Vector3(...body.position));
        this.placements.set([center.x, center.y, center.z, q.w, q.x, q.y, q.z], 7 * i);
    }

    #add(i, body, shape, context) {
        const position = shape.position ?? [0, 0, 0], rotation = shape.rotation ?? [1, 0, 0, 0];
        if (shape.type === 'plane') {
            this.planes.push({ body: i, shape, position, rotation });
            return;
        }
        const offset = position.map((value, k) => value - this.centers[i][k]);
        this.radii[i] = Math.max(this.radii[i], Math.hypot(...offset) + radiusOf(shape, context.surfaces));
        if (body.moving < 0) {
            return;
        }
        const form = describe(shape, context);
        if (form) {
            if (!this.batches.has(form.key)) {
                this.batches.set(form.key, new Batch(form));
            }
            this.batches.get(form.key).add(i, offset, rotation, form.scale, shape.color);
        }
    }

    // Bodies that never move are meshes of their own, which may step aside when they hide the others.
    #makeFixed(context, shapesOf) {
        this.head.bodies.forEach((body, i) => {
            if (body.moving >= 0) {
                return;
            }
            for (const shape of shapesOf(i)) {
                const form = shape.type === 'plane' ? null : describe(shape, context);
                if (!form) {
                    continue;
                }
                const batch = new Batch(form);
                const position = shape.position ?? [0, 0, 0];
                batch.add(i, position.map((value, k) => value - this.centers[i][k]), shape.rotation ?? [1, 0, 0, 0], form.scale);
                const mesh = new THREE.Mesh(form.make(), makeMaterial('none', { color: shape.color ?? '#b9b5ab', roughness: 0.9, transparent: true }));
                mesh.userData.colour = shape.color;
                const matrix = new Float64Array(16);
                writeMatrix(matrix, 0, this.placements, 7 * i, Float64Array.from(batch.local), 0);
                mesh.matrixAutoUpdate = false;
                mesh.matrix.fromArray(matrix);
                mesh.updateMatrixWorld(true);
                mesh.castShadow = mesh.receiveShadow = true;
                mesh.userData.body = i;
                this.fixedMeshes.push(mesh);
                this.group.add(mesh);
            }
        });
    }

    // States of a frame: x y z qw qx qy qz ... for each moving body.
    place(states, width) {
        for (let k = 0; k < this.bodyOfMoving.length; ++k) {
            const to = 7 * this.bodyOfMoving[k], from = k * width;
            for (let j = 0; j < 7; ++j) {
                this.placements[to + j] = states[from + j];
            }
        }
        for (const batch of this.batches.values()) {
            batch.place(this.placements);
        }
    }

    setFine(isFine) {
        this.visibility?.batches.forEach(batch => batch.setFine(isFine));
    }

    positionOf(body, target = new THREE.Vector3()) {
        return target.fromArray(this.placements, 7 * body);
    }

    rotationOf(body, target = new THREE.Quaternion()) {
        const p = this.placements, at = 7 * body + 3;
        return target.set(p[at + 1], p[at + 2], p[at + 3], p[at]);
    }

    // The body under a ray, with the point that it meets.
    pick(raycaster) {
        let nearest = null;
        for (const batch of this.batches.values()) {
            for (const hit of raycaster.intersectObject(batch.mesh, false)) {
                if (!nearest || hit.distance < nearest.distance) {
                    nearest = { distance: hit.distance, point: hit.point, body: batch.bodies[hit.instanceId] };
                }
            }
        }
        return nearest;
    }

    // Meshes and instances of one body, for its outline.
    instancesOf(body) {
        const found = [];
        for (const batch of this.batches.values()) {
            for (let i = batch.bodies.indexOf(body); i >= 0; i = batch.bodies.indexOf(body, i + 1)) {
                found.push({ batch, index: i });
            }
        }
        return found;
    }
}
