// Many copies of one geometry in one draw call, each with its own matrix and colour.
//
// With a graphics card they are instances. Software that draws takes each instance as a draw of its own (SwiftShader: some
// 0.1 ms each, a second for ten thousand), so there all copies are one long geometry: each vertex knows its copy, and finds
// the copy's matrix and colour in a texture of four texels a copy,
//
//     xx xy xz red    yx yy yz green    zx zy zz blue    px py pz 1
//
// which are the columns of the matrix; what would be zero is the colour.

import * as THREE from 'three';
import { isPlain } from './machine.js';

const texelsOfCopy = 4, copiesOfRow = 256;
const mostVertices = 4e6; // of a long geometry; beyond that instances are the lesser evil

export const copyShader = `
    attribute float copy;
    uniform highp sampler2D copies;
    vec4 columnOfCopy(int k) {
        int i = int(copy);
        return texelFetch(copies, ivec2(${texelsOfCopy} * (i % ${copiesOfRow}) + k, i / ${copiesOfRow}), 0);
    }
    mat4 matrixOfCopy() {
        return mat4(vec4(columnOfCopy(0).xyz, 0.0), vec4(columnOfCopy(1).xyz, 0.0), vec4(columnOfCopy(2).xyz, 0.0), columnOfCopy(3));
    }
    vec3 colourOfCopy() {
        return vec3(columnOfCopy(0).w, columnOfCopy(1).w, columnOfCopy(2).w);
    }`;

// three.js has a place in its shaders where a batch's matrix goes; here it is the copy's.
function readCopies(material, texture) {
    const { onBeforeCompile, customProgramCacheKey } = material;
    const key = customProgramCacheKey.call(material);
    material.vertexColors = true;
    material.defines = { ...material.defines, USE_BATCHING: '' };
    material.onBeforeCompile = (shader, renderer) => {
        onBeforeCompile.call(material, shader, renderer);
        shader.uniforms.copies = { value: texture };
        shader.vertexShader = shader.vertexShader
            .replace('#include <batching_pars_vertex>', copyShader)
            .replace('#include <batching_vertex>', 'mat4 batchingMatrix = matrixOfCopy();')
            .replace('#include <color_vertex>', 'vColor = colourOfCopy();');
    };
    material.customProgramCacheKey = () => `copies ${key}`;
    return material;
}

// `count` times the same vertices and triangles, with the attribute `copy` to tell them apart.
function repeat(geometry, count) {
    const long = new THREE.BufferGeometry();
    const vertices = geometry.attributes.position.count;
    const index = geometry.index?.array ?? Uint32Array.from({ length: vertices }, (_, i) => i);
    for (const name of ['position', 'normal']) {
        const { array } = geometry.attributes[name];
        const repeated = new Float32Array(count * array.length);
        for (let i = 0; i < count; ++i) {
            repeated.set(array, i * array.length);
        }
        long.setAttribute(name, new THREE.BufferAttribute(repeated, 3));
    }
    const copy = new Float32Array(count * vertices), triangles = new Uint32Array(count * index.length);
    for (let i = 0; i < count; ++i) {
        copy.fill(i, i * vertices, (i + 1) * vertices);
        for (let k = 0; k < index.length; ++k) {
            triangles[i * index.length + k] = index[k] + i * vertices;
        }
    }
    long.setAttribute('copy', new THREE.BufferAttribute(copy, 1));
    long.setIndex(new THREE.BufferAttribute(triangles, 1));
    return long;
}

export class Copies {
    #probe = new THREE.Mesh();
    #ball = new THREE.Sphere();

    // `material` is made for these copies alone. Where it and `depthMaterial` are shaders of their own, they include copyShader.
    constructor(geometry, material, capacity, depthMaterial = null) {
        this.geometry = geometry;
        this.capacity = capacity;
        this.isLong = depthMaterial !== null || isPlain && capacity * geometry.attributes.position.count <= mostVertices;
        if (this.isLong) {
            const rows = Math.max(1, Math.ceil(capacity / copiesOfRow));
            this.matrices = new Float32Array(rows * copiesOfRow * texelsOfCopy * 4);
            this.colours = new Float32Array(3 * capacity);
            this.texture = new THREE.DataTexture(this.matrices, copiesOfRow * texelsOfCopy, rows, THREE.RGBAFormat, THREE.FloatType);
            this.mesh = new THREE.Mesh(repeat(geometry, capacity), material);
            this.mesh.customDepthMaterial = depthMaterial ?? new THREE.MeshDepthMaterial({ depthPacking: THREE.RGBADepthPacking });
            for (const one of [material, this.mesh.customDepthMaterial]) {
                if (depthMaterial) {
                    one.uniforms.copies = { value: this.texture };
                } else {
                    readCopies(one, this.texture);
                }
            }
            this.patternLength = this.mesh.geometry.index.count / capacity;
            this.pattern = this.mesh.geometry.index.array.slice(0, this.patternLength);
            // Shadows are also cast by what the camera does not see.
            this.mesh.onBeforeShadow = () => this.mesh.geometry.setDrawRange(0, this.count * this.patternLength);
            this.mesh.onAfterShadow = () => this.mesh.geometry.setDrawRange(0, this.shownCount * this.patternLength);
        } else {
            this.mesh = new THREE.InstancedMesh(geometry, material, capacity);
            this.mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
            this.mesh.setColorAt(0, new THREE.Color());
            this.matrices = this.mesh.instanceMatrix.array;
            this.colours = this.mesh.instanceColor.array;
        }
        this.mesh.frustumCulled = false;
        this.mesh.raycast = (raycaster, hits) => this.#raycast(raycaster, hits);
        this.count = this.shownCount = capacity;
    }

    setMatrix(i, matrix) {
        matrix.toArray(this.matrices, 16 * i);
    }

    setColour(i, colour) {
        colour.toArray(this.colours, 3 * i);
    }

    getMatrix(i, matrix) {
        matrix.fromArray(this.matrices, 16 * i);
        matrix.elements[3] = matrix.elements[7] = matrix.elements[11] = 0;
        return matrix;
    }

    // To be called after matrices, colours or the count have been changed.
    update() {
        const { mesh, count } = this;
        mesh.visible = count > 0;
        if (!this.isLong) {
            mesh.count = count;
            mesh.instanceMatrix.needsUpdate = mesh.instanceColor.needsUpdate = true;
            return;
        }
        for (let i = 0; i < count; ++i) {
            this.matrices[16 * i + 3] = this.colours[3 * i];
            this.matrices[16 * i + 7] = this.colours[3 * i + 1];
            this.matrices[16 * i + 11] = this.colours[3 * i + 2];
        }
        this.texture.needsUpdate = true;
        if (!this.isChosen) {
            this.shownCount = count;
            mesh.geometry.setDrawRange(0, count * this.patternLength);
        }
    }

    // Draws only the first `count` copies of a list of all of them. Of a long geometry. The others still cast shadows. Where there
    // are none, copies of a box show the three faces that look at `eye` alone.
    show(list, count, castsShadows, eye) {
        const { index } = this.mesh.geometry;
        this.isChosen = true;
        this.shownCount = count;
        let used = 0;
        if (this.geometry.type === 'BoxGeometry' && !castsShadows) {
            used = this.#writeFaces(list, count, eye);
            this.mesh.geometry.setDrawRange(0, used);
        } else {
            const length = this.patternLength, vertices = this.geometry.attributes.position.count;
            const written = castsShadows ? this.count : count;
            for (let k = 0; k < written; ++k) {
                const first = list[k] * vertices;
                for (let j = 0; j < length; ++j, ++used) {
                    index.array[used] = this.pattern[j] + first;
                }
            }
            this.mesh.geometry.setDrawRange(0, count * length);
        }
        index.clearUpdateRanges();
        index.addUpdateRange(0, used);
        index.needsUpdate = used > 0;
    }

    // A box has its faces in the order +x -x +y -y +z -z, of four vertices and six indices each.
    #writeFaces(list, count, eye) {
        const to = this.mesh.geometry.index.array, { matrices, pattern } = this;
        let at = 0;
        for (let k = 0; k < count; ++k) {
            const m = 16 * list[k], first = 24 * list[k];
            const x = eye.x - matrices[m + 12], y = eye.y - matrices[m + 13], z = eye.z - matrices[m + 14];
            for (let axis = 0; axis < 3; ++axis) {
                const c = m + 4 * axis;
                const isFront = x * matrices[c] + y * matrices[c + 1] + z * matrices[c + 2] > 0;
                const face = 6 * (2 * axis + (isFront ? 0 : 1));
                for (let j = face; j < face + 6; ++j) {
                    to[at++] = pattern[j] + first;
                }
            }
        }
        return at;
    }

    dispose() {
        this.mesh.geometry.dispose();
        this.mesh.material.dispose();
        this.texture?.dispose();
    }

    #raycast(raycaster, hits) {
        this.geometry.boundingSphere ?? this.geometry.computeBoundingSphere();
        const probe = this.#probe;
        probe.geometry = this.geometry;
        probe.material = this.mesh.material;
        for (let i = 0; i < this.count; ++i) {
            this.getMatrix(i, probe.matrixWorld);
            this.#ball.copy(this.geometry.boundingSphere).applyMatrix4(probe.matrixWorld);
            if (raycaster.ray.intersectsSphere(this.#ball)) {
                const found = [];
                probe.raycast(raycaster, found);
                hits.push(...found.map(hit => ({ ...hit, instanceId: i, object: this.mesh })));
            }
        }
    }
}
