// Forces on the stage: at each contact a point, an arrow for its normal force and one for its friction, in the colour of what
// it does; at each joint an arrow for its reaction. Arrows are as long as the force is large, and act on the body that can move.

import * as THREE from 'three';
import { Copies } from './copies.js';
import { isPlain } from './machine.js';
import { theme } from './theme.js';

const up = new THREE.Vector3(0, 0, 1);
const headShare = 0.3; // of an arrow's length, at most
const shareOfBody = 0.15; // that a mark takes of the smaller of the two bodies, where that is less than its share of the stage
const mostCones = 60;
const mostContacts = isPlain ? 3000 : 20000; // the largest of more

function makeCopies(geometry, capacity, more = {}) {
    const material = new THREE.MeshBasicMaterial({ transparent: true, depthTest: false, toneMapped: false, fog: false, ...more });
    const copies = new Copies(geometry, material, capacity);
    copies.mesh.renderOrder = 10;
    return copies;
}

export const stateNames = ['separated', 'sliding', 'sticking'];

// What a contact is known by from frame to frame.
export const keyOfContact = ({ bodyA, bodyB, feature }) => `${bodyA} ${bodyB} ${feature}`;

const impulseOf = contact => Math.hypot(contact.normalImpulse, ...contact.frictionImpulse);

// The contact of a frame that has the largest force, or null.
export function largestContact(view) {
    let best = null;
    for (let i = 0; i < view.contactCount; ++i) {
        const contact = view.contact(i);
        if (!best || impulseOf(contact) > impulseOf(best)) {
            best = contact;
        }
    }
    return best;
}

export class ForceArrows {
    constructor(stage, head, joints) {
        this.stage = stage;
        this.head = head;
        this.joints = joints;
        this.group = new THREE.Group();
        this.showsPoints = this.showsForces = true;
        this.showsCones = false;
        this.metresPerNewton = 0;
        this.factor = 1;
        this.capacity = 0;
        this.highlighted = null;
        this.selected = -1;
        this.leftOut = 0; // contacts of the frame that are not drawn, for being too many
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
        [this.points, this.shafts, this.heads, this.cones, this.rims].forEach(copies => copies?.dispose());
        this.group.clear();
        const facets = this.capacity > 512 ? 5 : 12;
        const shaft = new THREE.CylinderGeometry(0.36, 0.36, 1, facets, 1, true).rotateX(Math.PI / 2).translate(0, 0, 0.5);
        const cone = new THREE.ConeGeometry(1, 1, facets).rotateX(Math.PI / 2).translate(0, 0, 0.5);
        this.points = makeCopies(new THREE.IcosahedronGeometry(1, this.capacity > 512 ? 0 : 2), this.capacity);
        this.shafts = makeCopies(shaft, 3 * this.capacity);
        this.heads = makeCopies(cone, 3 * this.capacity);
        const most = Math.min(this.capacity, mostCones);
        this.cones = makeCopies(new THREE.ConeGeometry(1, 1, 40, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5), most, { opacity: 0.16, depthTest: true, depthWrite: false, side: THREE.DoubleSide });
        this.rims = makeCopies(new THREE.TorusGeometry(1, 0.012, 6, 48).translate(0, 0, 1), most, { depthTest: true });
        this.group.add(this.cones.mesh, this.rims.mesh, this.shafts.mesh, this.heads.mesh, this.points.mesh);
    }

    #arrow(point, force, thickness, colour) {
        const length = Math.min(force.length(), this.stage.bounds.radius * 1.4);
        if (!(length > this.size * 0.4)) {
            return;
        }
        const index = this.arrowCount++;
        const direction = force.clone().normalize(), turn = new THREE.Quaternion().setFromUnitVectors(up, direction);
        const head = Math.min(headShare * length, 4.2 * thickness);
        const matrix = new THREE.Matrix4();
        this.shafts.setMatrix(index, matrix.compose(point, turn, new THREE.Vector3(thickness, thickness, length - head)));
        this.shafts.setColour(index, colour);
        const neck = point.clone().addScaledVector(direction, length - head);
        this.heads.setMatrix(index, matrix.compose(neck, turn, new THREE.Vector3(thickness * 1.25, thickness * 1.25, head)));
        this.heads.setColour(index, colour);
    }

    show(view, step) {
        this.view = view;
        this.step = step;
        this.refresh();
    }

    highlight(contact) {
        this.highlighted = contact ? keyOfContact(contact) : null;
        this.refresh();
    }

    refresh() {
        const { view } = this;
        const contacts = view && (this.showsPoints || this.showsForces) ? this.#choose(view) : [];
        const joints = view && this.showsForces ? this.joints.count : 0;
        this.#reserve(contacts.length + joints);
        if (this.capacity === 0) {
            return;
        }
        this.arrowCount = this.coneCount = 0;
        this.size = this.stage.bounds.radius * 0.012;
        this.#showContacts(contacts);
        this.#showReactions(joints);
        this.points.count = this.showsPoints ? contacts.length : 0;
        this.shafts.count = this.heads.count = this.arrowCount;
        this.cones.count = this.rims.count = this.coneCount;
        [this.points, this.shafts, this.heads, this.cones, this.rims].forEach(copies => copies.update());
        this.shown = { points: this.points.count, arrows: this.arrowCount, cones: this.coneCount };
        this.stage.invalidate();
    }

    // All contacts of a frame, or the largest where there are too many.
    #choose(view) {
        const contacts = Array.from({ length: view.contactCount }, (_, i) => view.contact(i));
        this.leftOut = Math.max(0, contacts.length - mostContacts);
        return this.leftOut > 0 ? contacts.sort((a, b) => impulseOf(b) - impulseOf(a)).slice(0, mostContacts) : contacts;
    }

    #showContacts(contacts) {
        const colours = stateNames.map(name => new THREE.Color(theme.colour(name))), accent = new THREE.Color(theme.colour('accent'));
        const scale = this.metresPerNewton * this.factor / this.step;
        const matrix = new THREE.Matrix4(), point = new THREE.Vector3(), force = new THREE.Vector3();
        contacts.forEach((contact, i) => {
            const isMarked = this.highlighted === keyOfContact(contact), size = this.#sizeAt(contact);
            const colour = isMarked ? accent : colours[contact.state] ?? colours[0];
            const sign = this.#actsOn(contact), radius = size * (isMarked ? 1.7 : 1);
            point.fromArray(contact.point);
            this.points.setMatrix(i, matrix.makeScale(radius, radius, radius).setPosition(point));
            this.points.setColour(i, colour);
            if (this.showsForces && scale > 0) {
                const thickness = 0.8 * size * (isMarked ? 1.4 : 1);
                this.#arrow(point, force.fromArray(contact.normal).multiplyScalar(sign * scale * contact.normalImpulse), 0.95 * thickness, colour);
                this.#arrow(point, force.fromArray(contact.frictionImpulse).multiplyScalar(sign * scale), 0.6 * thickness, colour);
            }
            if (this.showsCones && scale > 0) {
                this.#cone(contact, point, sign * scale, colour);
            }
        });
    }

    // A mark hides no body: bricks of a wall whose pieces fly far are small on the stage.
    #sizeAt({ bodyA, bodyB }) {
        const { radii } = this.stage.model;
        const smaller = Math.min(...[bodyA, bodyB].map(body => radii[body] || Infinity));
        return Math.min(this.size, Math.max(shareOfBody * smaller, 0.2 * this.size));
    }

    // The cone that the force of a contact may not leave, as tall as its normal force, and the force in it.
    #cone(contact, point, scale, colour) {
        const law = this.stage.model.materials.betweenBodies(contact.bodyA, contact.bodyB);
        const tall = Math.abs(scale) * contact.normalImpulse, most = this.stage.bounds.radius * 1.4;
        if (!law || !(law.dynamic > 0) || this.coneCount >= this.cones.capacity || !(tall > this.size)) {
            return;
        }
        const height = Math.min(tall, most), reach = height * (contact.state === 2 ? law.static : law.dynamic);
        const direction = new THREE.Vector3(...contact.normal).multiplyScalar(Math.sign(scale));
        const turn = new THREE.Quaternion().setFromUnitVectors(up, direction);
        const matrix = new THREE.Matrix4().compose(point, turn, new THREE.Vector3(reach * law.et, reach * law.eo, height));
        const index = this.coneCount++;
        for (const copies of [this.cones, this.rims]) {
            copies.setMatrix(index, matrix);
            copies.setColour(index, colour);
        }
        const total = new THREE.Vector3(...contact.normal).multiplyScalar(contact.normalImpulse).add(new THREE.Vector3(...contact.frictionImpulse)).multiplyScalar(scale * height / tall);
        this.#arrow(point, total, this.size, new THREE.Color(theme.colour('ink')));
    }

    #showReactions(count) {
        const colour = new THREE.Color(theme.colour('joint')), point = new THREE.Vector3();
        for (let joint = 0; joint < count; ++joint) {
            const reaction = this.joints.reactionOf(this.view, joint, point);
            if (reaction && this.metresPerNewton > 0) {
                this.#arrow(point, reaction.force.multiplyScalar(this.metresPerNewton * this.factor), 0.7 * this.size, colour);
            }
        }
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
