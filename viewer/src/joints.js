// Joints: a small ball on the stage at each anchor, carried by the body it belongs to, a line between the two of a distance or
// a spring, and the reactions of the run. Anchors are those of the scene, in world coordinates at the start.

import * as THREE from 'three';
import { Copies } from './copies.js';
import { theme } from './theme.js';

export class Joints {
    constructor(stage, run) {
        this.stage = stage;
        this.run = run;
        this.model = run.model;
        this.count = run.head.joints.length;
        this.marks = [];
        this.rods = []; // pairs of marks
        this.ends = []; // of each joint: the mark where its reaction acts, and whether that is the second body's
        const places = new Map(run.head.bodies.map((body, i) => [body.name, i]));
        const defined = run.scene?.joints ?? [];
        run.head.joints.forEach((name, k) => {
            const joint = defined.find(one => one.name === name) ?? defined[k];
            this.ends.push(joint ? this.#place(joint, places) : null);
        });
        if (this.marks.length > 0) {
            const material = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.9, depthTest: false, toneMapped: false, fog: false });
            this.copies = new Copies(new THREE.SphereGeometry(1, 12, 8), material, this.marks.length);
            this.copies.mesh.renderOrder = 9;
            const form = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * this.rods.length), 3));
            this.lines = new THREE.LineSegments(form, new THREE.LineBasicMaterial({ transparent: true, opacity: 0.7 }));
            this.lines.frustumCulled = false;
            stage.scene.add(this.copies.mesh, this.lines);
            theme.on('change', () => this.#paint());
            this.#paint();
        }
    }

    // Marks both ends of a joint, or the one that its bodies share.
    #place(joint, places) {
        const indices = (joint.bodies ?? []).map(name => (name === null ? -1 : places.get(name) ?? -1));
        // Of a distance or a spring with one anchor the other end is the second body's origin; a gear has none at all.
        const origin = k => this.run.head.bodies[indices[k]]?.position;
        const isRod = joint.type === 'distance' || joint.type === 'spring';
        const anchors = joint.anchors ?? [joint.anchor ?? origin(0), isRod ? origin(1) : joint.anchor ?? origin(1)];
        const isSecond = (this.run.head.bodies[indices[1]]?.moving ?? -1) >= 0;
        let at = -1;
        const first = this.marks.length;
        indices.forEach((body, k) => {
            const acts = k === (isSecond ? 1 : 0);
            if ((joint.anchors || isRod || acts) && Array.isArray(anchors[k])) {
                const mark = this.#add(body, anchors[k]);
                at = acts ? mark : at;
            }
        });
        if (this.marks.length === first + 2) {
            this.rods.push(first, first + 1);
        }
        return at < 0 ? null : { at, isSecond, bodies: indices };
    }

    // Where the anchor is in its body, from the body's placement at the start.
    #add(body, anchor) {
        const at = new THREE.Vector3(...anchor);
        if (body >= 0) {
            at.sub(this.model.positionOf(body)).applyQuaternion(this.model.rotationOf(body).invert());
        }
        return this.marks.push({ body, at }) - 1;
    }

    #paint() {
        const colour = new THREE.Color(theme.colour('joint'));
        this.marks.forEach((_, i) => this.copies.setColour(i, colour));
        this.copies.update();
        this.lines.material.color = colour;
        this.stage.invalidate();
    }

    setVisible(isVisible) {
        this.lines.visible = isVisible;
        this.copies.count = isVisible ? this.marks.length : 0;
        this.place();
        this.stage.invalidate();
    }

    #pointOf({ body, at }, target) {
        target.copy(at);
        return body < 0 ? target : target.applyQuaternion(this.model.rotationOf(body)).add(this.model.positionOf(body));
    }

    place() {
        if (!this.copies) {
            return;
        }
        const size = this.stage.bounds.radius * (this.marks.length > 20 ? 0.006 : 0.012);
        const matrix = new THREE.Matrix4(), point = new THREE.Vector3();
        this.marks.forEach((mark, i) => this.copies.setMatrix(i, matrix.makeScale(size, size, size).setPosition(this.#pointOf(mark, point))));
        this.copies.update();
        const { position } = this.lines.geometry.attributes;
        this.rods.forEach((mark, k) => this.#pointOf(this.marks[mark], point).toArray(position.array, 3 * k));
        position.needsUpdate = true;
    }

    // The bodies of a joint by name.
    describe(joint) {
        const names = this.ends[joint]?.bodies.map(body => (body < 0 ? 'the world' : this.run.nameOf(body))) ?? [];
        return names.join(' – ');
    }

    // Force and torque of a joint in a frame, on its second body or, where that cannot move, on its first; and `point`, where
    // they act. Null where the scene does not say.
    reactionOf(view, joint, point) {
        const end = this.ends[joint], at = 6 * joint;
        if (!end || view.reactions.length < at + 6) {
            return null;
        }
        this.#pointOf(this.marks[end.at], point);
        const sign = end.isSecond ? 1 : -1, r = view.reactions;
        return {
            force: new THREE.Vector3(r[at], r[at + 1], r[at + 2]).multiplyScalar(sign),
            torque: new THREE.Vector3(r[at + 3], r[at + 4], r[at + 5]).multiplyScalar(sign),
        };
    }
}
