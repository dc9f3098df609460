// Joints on the stage: a small ring at each anchor, carried by the body it belongs to. Anchors are those of the scene,
// in world coordinates at the start.

import * as THREE from 'three';
import { theme } from './theme.js';

export class JointMarks {
    constructor(stage, run) {
        this.stage = stage;
        this.model = run.model;
        this.marks = [];
        const places = new Map(run.head.bodies.map((body, i) => [body.name, i]));
        for (const joint of run.scene?.joints ?? []) {
            const anchors = joint.anchors ?? [joint.anchor ?? [0, 0, 0], joint.anchor ?? [0, 0, 0]];
            (joint.bodies ?? []).forEach((name, k) => {
                const body = name === null ? -1 : places.get(name) ?? -1;
                const isShared = !joint.anchors && k === 0 && joint.bodies[1] !== null;
                if (!isShared && Array.isArray(anchors[k])) {
                    this.#add(body, anchors[k]);
                }
            });
        }
        if (this.marks.length > 0) {
            const material = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.9, depthTest: false, toneMapped: false, fog: false });
            this.mesh = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 16, 8), material, this.marks.length);
            this.mesh.frustumCulled = false;
            this.mesh.renderOrder = 9;
            stage.scene.add(this.mesh);
            theme.on('change', () => this.#paint());
            this.#paint();
        }
    }

    // Where the anchor is in its body, from the body's placement at the start.
    #add(body, anchor) {
        const at = new THREE.Vector3(...anchor);
        if (body >= 0) {
            at.sub(this.model.positionOf(body)).applyQuaternion(this.model.rotationOf(body).invert());
        }
        this.marks.push({ body, at });
    }

    #paint() {
        this.mesh.material.color.set(theme.colour('joint'));
        this.stage.invalidate();
    }

    setVisible(isVisible) {
        if (this.mesh) {
            this.mesh.visible = isVisible;
            this.stage.invalidate();
        }
    }

    place() {
        if (!this.mesh) {
            return;
        }
        const size = this.stage.bounds.radius * (this.marks.length > 20 ? 0.006 : 0.012);
        const matrix = new THREE.Matrix4();
        this.marks.forEach(({ body, at }, i) => {
            const point = at.clone();
            if (body >= 0) {
                point.applyQuaternion(this.model.rotationOf(body)).add(this.model.positionOf(body));
            }
            this.mesh.setMatrixAt(i, matrix.makeScale(size, size, size).setPosition(point));
        });
        this.mesh.instanceMatrix.needsUpdate = true;
    }
}
