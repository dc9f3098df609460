// Contacts on the stage: a point for each, an arrow for its normal force and one for its friction, in the
// colour of what it does. Arrows are as long as the force is large, and act on the body that can move.

import * as THREE from 'three';
import { theme } from './theme.js';

const up = new THREE.Vector3(0, 0, 1);
const headShare = 0.3; // of an arrow's length, at most

function makeBatch(geometry, capacity) {
    const material = new THREE.MeshBasicMaterial({ transparent: true, depthTest: false, toneMapped: false, fog: false });
    const mesh = new THREE.InstancedMesh(geometry, material, capacity);
    mesh.frustumCulled = false;
    mesh.renderOrder = 10;
    mesh.count = 0;
    mesh.setColorAt(0, new THREE.Color());
    return mesh;
}

export const stateNames = ['separated', 'sliding', 'sticking'];

export class ForceArrows {
    constructor(stage, head) {
        this.stage = stage;
        this.head = head;
        this.group = new THREE.Group();
        this.showsPoints = this.showsForces = true;
        this.metresPerNewton = 0;
        this.factor = 1;
        this.capacity = 0;
        this.highlighted = null;
        this.selected = -1;
        stage.scene.add(this.group);
        theme.on('change', () => this.refresh());
    }

    // `reference`: a force whose arrow is a fifth of the scene long.
    setReference(reference) {
        this.metresPerNewton = reference > 0 ? 0.45 * this.stage.bounds.radius / reference : 0;
    }

    #reserve(count) {
        if (count <= this.capacity) {
            return;
        }
        this.capacity = Math.max(64, 2 ** Math.ceil(Math.log2(count)));
        this.group.clear();
        const facets = this.capacity > 4096 ? 6 : 12;
        const size = this.stage.bounds.radius * 0.011;
        const shaft = new THREE.CylinderGeometry(0.3, 0.3, 1, facets).rotateX(Math.PI / 2).translate(0, 0, 0.5);
        const cone = new THREE.ConeGeometry(1, 1, facets).rotateX(Math.PI / 2).translate(0, 0, 0.5);
        this.size = size;
        this.points = makeBatch(new THREE.SphereGeometry(1, 2 * facets, facets), this.capacity);
        this.shafts = makeBatch(shaft, 2 * this.capacity);
        this.heads = makeBatch(cone, 2 * this.capacity);
        this.group.add(this.shafts, this.heads, this.points);
    }

    #arrow(index, point, direction, length, thickness, colour) {
        const turn = new THREE.Quaternion().setFromUnitVectors(up, direction);
        const head = Math.min(headShare * length, 4.2 * thickness);
        const matrix = new THREE.Matrix4();
        matrix.compose(point, turn, new THREE.Vector3(thickness, thickness, length - head));
        this.shafts.setMatrixAt(index, matrix);
        this.shafts.setColorAt(index, colour);
        matrix.compose(point.clone().addScaledVector(direction, length - head), turn, new THREE.Vector3(thickness * 1.25, thickness * 1.25, head));
        this.heads.setMatrixAt(index, matrix);
        this.heads.setColorAt(index, colour);
    }

    show(view, step) {
        this.view = view;
        this.step = step;
        this.refresh();
    }

    highlight(contact) {
        this.highlighted = contact ? `${contact.bodyA} ${contact.bodyB} ${contact.feature}` : null;
        this.refresh();
    }

    refresh() {
        const view = this.view;
        const count = view && (this.showsPoints || this.showsForces) ? view.contactCount : 0;
        this.#reserve(count);
        if (this.capacity === 0) {
            return;
        }
        const colours = stateNames.map(name => new THREE.Color(theme.colour(name)));
        const scale = this.metresPerNewton * this.factor / this.step;
        const longest = this.stage.bounds.radius * 1.4;
        let points = 0, arrows = 0;
        const matrix = new THREE.Matrix4(), point = new THREE.Vector3(), force = new THREE.Vector3();
        const still = new THREE.Quaternion();
        const crowd = count > 1500 ? 0.55 : 1;
        for (let i = 0; i < count; ++i) {
            const contact = view.contact(i);
            const isMarked = this.highlighted === `${contact.bodyA} ${contact.bodyB} ${contact.feature}`;
            const colour = isMarked ? new THREE.Color(theme.colour('accent')) : colours[contact.state] ?? colours[0];
            const sign = this.#actsOn(contact);
            point.fromArray(contact.point);
            if (this.showsPoints) {
                const radius = this.size * crowd * (isMarked ? 1.7 : 1);
                matrix.compose(point, still, new THREE.Vector3(radius, radius, radius));
                this.points.setMatrixAt(points, matrix);
                this.points.setColorAt(points++, colour);
            }
            if (!this.showsForces || !(scale > 0)) {
                continue;
            }
            const parts = [[contact.normal.map(n => n * contact.normalImpulse), 0.95], [contact.frictionImpulse, 0.6]];
            for (const [impulse, weight] of parts) {
                force.fromArray(impulse).multiplyScalar(sign * scale);
                const length = Math.min(force.length(), longest);
                if (length > this.size * 0.4) {
                    this.#arrow(arrows++, point, force.normalize(), length, this.size * 0.8 * weight * crowd, colour);
                }
            }
        }
        this.points.count = points;
        this.shafts.count = this.heads.count = arrows;
        for (const mesh of [this.points, this.shafts, this.heads]) {
            mesh.instanceMatrix.needsUpdate = true;
            mesh.instanceColor.needsUpdate = true;
        }
        this.shown = { points, arrows };
        this.stage.invalidate();
    }

    // Impulses act on A, their opposites on B. Shown is the one on the body that can move; of two, the one on the
    // selected body, else on the one that is carried.
    #actsOn({ bodyA, bodyB, normal }) {
        const canMove = index => this.head.bodies[index]?.kind === 'dynamic';
        if (canMove(bodyA) !== canMove(bodyB)) {
            return canMove(bodyA) ? 1 : -1;
        }
        if (this.selected === bodyA || this.selected === bodyB) {
            return this.selected === bodyA ? 1 : -1;
        }
        const { x, y, z } = this.stage.up;
        return normal[0] * x + normal[1] * y + normal[2] * z >= 0 ? 1 : -1;
    }
}
