// Normals of a surface with creases: smooth over edges that bend by less than an angle, sharp over others.
//
// The helper of three.js finds equal corners on a grid of a hundredth of a metre. That takes all corners of a small body for one,
// which costs the square of their number and gives wrong normals; here the grid is a millionth of the body's size.

import * as THREE from 'three';

const grid = 1e-6; // of the size of the surface

// Equal places get equal numbers.
function numberPlaces(positions) {
    const count = positions.length / 3, places = new Int32Array(count), known = new Map();
    let size = 0;
    for (const value of positions) {
        size = Math.max(size, Math.abs(value));
    }
    const scale = size > 0 ? 1 / (grid * size) : 1;
    for (let i = 0; i < count; ++i) {
        const key = `${Math.round(positions[3 * i] * scale)} ${Math.round(positions[3 * i + 1] * scale)} ${Math.round(positions[3 * i + 2] * scale)}`;
        if (!known.has(key)) {
            known.set(key, known.size);
        }
        places[i] = known.get(key);
    }
    return { places, placeCount: known.size };
}

// The area vectors of all triangles.
function areasOf(positions, corners) {
    const areas = new Float32Array(corners.length);
    for (let t = 0; t < corners.length; t += 3) {
        const [a, b, c] = [3 * corners[t], 3 * corners[t + 1], 3 * corners[t + 2]];
        const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
        const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
        areas[t] = uy * vz - uz * vy;
        areas[t + 1] = uz * vx - ux * vz;
        areas[t + 2] = ux * vy - uy * vx;
    }
    return areas;
}

// The triangles at each place: list[first[p]] to list[first[p + 1] - 1].
function trianglesAt(places, placeCount, corners) {
    const first = new Int32Array(placeCount + 1), list = new Int32Array(corners.length);
    corners.forEach(corner => { ++first[places[corner] + 1]; });
    for (let p = 0; p < placeCount; ++p) {
        first[p + 1] += first[p];
    }
    const next = first.slice();
    corners.forEach((corner, i) => { list[next[places[corner]]++] = 3 * Math.floor(i / 3); });
    return { first, list };
}

// A surface of its own corners for every triangle, with normals; `angle` in radians.
export function creaseNormals(geometry, angle) {
    const positions = geometry.attributes.position.array;
    const corners = geometry.index ? geometry.index.array : Uint32Array.from({ length: positions.length / 3 }, (_, i) => i);
    const { places, placeCount } = numberPlaces(positions), areas = areasOf(positions, corners), { first, list } = trianglesAt(places, placeCount, corners);
    const spread = new Float32Array(3 * corners.length), normals = new Float32Array(3 * corners.length), least = Math.cos(angle);
    const length = t => Math.hypot(areas[t], areas[t + 1], areas[t + 2]);
    for (let i = 0; i < corners.length; ++i) {
        const own = 3 * Math.floor(i / 3), place = places[corners[i]], ownLength = length(own);
        let x = 0, y = 0, z = 0;
        for (let k = first[place]; k < first[place + 1]; ++k) {
            const other = list[k], dot = areas[own] * areas[other] + areas[own + 1] * areas[other + 1] + areas[own + 2] * areas[other + 2];
            if (other === own || dot > least * ownLength * length(other)) {
                x += areas[other];
                y += areas[other + 1];
                z += areas[other + 2];
            }
        }
        const size = Math.hypot(x, y, z) || 1;
        normals.set([x / size, y / size, z / size], 3 * i);
        spread.set(positions.subarray(3 * corners[i], 3 * corners[i] + 3), 3 * i);
    }
    return new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(spread, 3)).setAttribute('normal', new THREE.BufferAttribute(normals, 3));
}
