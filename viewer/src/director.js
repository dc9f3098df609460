// Keeps the bodies in view until someone takes the camera.
//
// What has to be seen is a box: where bodies are, the ground below them if it is near, and where they have been. The box
// grows as they move. A body that travels far would become a dot in it, so it is never larger than some times the
// bodies themselves: then it moves along with them, sooner along the ground, where a top or a block wanders off alone, than
// up and down, where a ball comes back. The camera follows the box with a short delay and keeps its direction; whatever
// the delay, the bodies of the moment are seen.

import * as THREE from 'three';

// How far what is seen reaches from the bodies, in their radius: along the ground, and up and down.
const usualRoom = { along: 5, up: 6 };
const roomOfOne = { along: 1.9, up: 6 }; // of a single body
const delay = 0.35;      // s
const nearGround = 3;    // radii of the bodies above the ground, within which it is seen as well

// Leaves out what is farther from the middle than three times nine tenths of the others.
export function withoutStrays(points) {
    if (points.length < 20) {
        return points;
    }
    const middle = [0, 1, 2].map(k => points.map(({ at }) => at[k]).sort((a, b) => a - b)[points.length >> 1]);
    const away = ({ at }) => Math.hypot(at[0] - middle[0], at[1] - middle[1], at[2] - middle[2]);
    const distances = points.map(away).sort((a, b) => a - b);
    const limit = 3 * distances[Math.floor(points.length * 0.9)] + 1e-12;
    return points.filter(point => away(point) <= limit);
}

export class Director {
    #last = 0;
    #isCounted = false;

    constructor(stage) {
        this.stage = stage;
        this.isOn = true;
        this.room = stage.model.bodyOfMoving.length === 1 && stage.head.joints.length === 0 ? roomOfOne : usualRoom;
        this.others = []; // models that are seen with the same camera elsewhere
        this.box = new THREE.Box3();
        stage.controls.addEventListener('start', () => { this.isOn = false; });
    }

    // Starts from the places in `points`, each with `at` and `radius`, and from where bodies are now.
    reset(points = []) {
        this.isOn = true;
        this.box = boxAround(withoutStrays(points));
        this.#isCounted = false;
        this.#look();
        this.stage.setBounds(this.box);
        this.stage.frame();
    }

    // Bodies have moved.
    moved() {
        this.#isCounted = false;
    }

    // Leaves out bodies that have fallen off what carries the others, where no ground will stop them; unless all have.
    #withoutFallen(points) {
        const { model, up } = this.stage;
        if (model.planes.length > 0 || model.fixedMeshes.length === 0) {
            return points;
        }
        this.fixed ??= model.fixedMeshes.reduce((box, mesh) => box.expandByObject(mesh), new THREE.Box3());
        const half = this.fixed.getSize(new THREE.Vector3()).multiplyScalar(0.5), below = ['x', 'y', 'z'].reduce((sum, axis) => sum + Math.abs(half[axis] * up[axis]), 0);
        const lowest = this.fixed.getCenter(new THREE.Vector3()).dot(up) - below;
        const kept = points.filter(({ at, radius }) => up.dot(new THREE.Vector3(...at)) > lowest - 4 * radius);
        return kept.length > 0 ? kept : points;
    }

    // Where bodies are now, and the ground below them.
    #boxNow() {
        const all = withoutStrays([this.stage.model, ...this.others].flatMap(model => model.bodyOfMoving.map(body => ({ at: Array.from(model.placements.subarray(7 * body, 7 * body + 3)), radius: model.radii[body] || 0.01 })))
            .filter(({ at }) => at.every(Number.isFinite)));
        const points = this.#withoutFallen(all), box = boxAround(points);
        if (points.length === 0 || points.length > 500) {
            return box;
        }
        const near = nearGround * sphereAround(box).radius, foot = new THREE.Vector3();
        for (const { normal, middle } of this.stage.floors()) {
            for (const { at, radius } of points) {
                foot.fromArray(at);
                const height = normal.dot(foot) - normal.dot(middle);
                if (height > 0 && height < near + radius) {
                    box.expandByPoint(foot.addScaledVector(normal, -height));
                }
            }
        }
        return box;
    }

    #look() {
        if (this.#isCounted) {
            return;
        }
        this.#isCounted = true;
        this.now = this.#boxNow();
        if (this.now.isEmpty()) {
            this.now.setFromCenterAndSize(new THREE.Vector3(), new THREE.Vector3(1, 1, 1));
        }
        this.box.union(this.now);
        const radius = Math.max(sphereAround(this.now).radius, 1e-6), middle = this.now.getCenter(new THREE.Vector3());
        for (const axis of ['x', 'y', 'z']) {
            const reach = radius * (Math.abs(this.stage.up[axis]) > 0.7 ? this.room.up : this.room.along);
            this.box.min[axis] = Math.min(this.now.min[axis], Math.max(this.box.min[axis], middle[axis] - reach));
            this.box.max[axis] = Math.max(this.now.max[axis], Math.min(this.box.max[axis], middle[axis] + reach));
        }
    }

    // Once for every picture; `now` in seconds.
    tick(now) {
        const passed = Math.min(0.1, Math.max(0, now - this.#last));
        this.#last = now;
        if (!this.isOn || this.stage.followed >= 0) {
            return;
        }
        this.#look();
        const share = 1 - Math.exp(-passed / delay), seen = this.stage.box.clone();
        seen.min.lerp(this.box.min, share);
        seen.max.lerp(this.box.max, share);
        seen.union(this.now);
        const change = seen.min.distanceTo(this.stage.box.min) + seen.max.distanceTo(this.stage.box.max);
        if (change > 1e-4 * this.stage.bounds.radius) {
            this.stage.move(seen);
        }
    }
}

function boxAround(points) {
    const box = new THREE.Box3(), ball = new THREE.Vector3();
    for (const { at, radius } of points) {
        ball.fromArray(at);
        box.expandByPoint(ball.clone().subScalar(radius));
        box.expandByPoint(ball.clone().addScalar(radius));
    }
    return box;
}

export function sphereAround(box) {
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    sphere.radius = Math.max(sphere.radius, 1e-4);
    return sphere;
}
