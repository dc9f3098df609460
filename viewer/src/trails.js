// Trails: where centres of mass have been, and faintly where they will go. Those of a live run grow with it.

import * as THREE from 'three';
import { Line2 } from 'three/addons/lines/Line2.js';
import { LineGeometry } from 'three/addons/lines/LineGeometry.js';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';

const mostPoints = 4000;
const growEvery = 300;   // ms
const growthWorth = 0.03; // of a run's frames, from which on trails are made anew while it goes on
export const mostTrails = 24;

class Trail {
    constructor(stage, colour) {
        this.stage = stage;
        this.past = new LineMaterial({ color: colour, linewidth: 2.4, fog: true });
        this.future = new LineMaterial({ color: colour, linewidth: 1.2, transparent: true, opacity: 0.28, fog: true });
        this.lines = [];
    }

    setSeries({ first, stride, data }) {
        this.clear();
        const rows = data.length / 13;
        this.skip = Math.max(1, Math.ceil(rows / mostPoints));
        this.first = first;
        this.stride = stride * this.skip;
        const positions = [];
        for (let k = 0; k < rows; k += this.skip) {
            positions.push(data[13 * k], data[13 * k + 1], data[13 * k + 2]);
        }
        this.count = positions.length / 3;
        if (this.count < 2) {
            return;
        }
        const geometry = new LineGeometry();
        geometry.setPositions(positions);
        for (const material of [this.future, this.past]) {
            // Both draw from the same points; the past only as far as it goes.
            const own = material === this.past ? geometry : geometry.clone();
            const line = new Line2(own, material);
            line.frustumCulled = false;
            this.lines.push(line);
            this.stage.scene.add(line);
        }
    }

    showUntil(frame) {
        if (this.lines.length === 2) {
            const segments = Math.max(0, Math.min(this.count - 1, Math.round((frame - this.first) / this.stride)));
            this.lines[1].geometry.instanceCount = segments;
            this.lines[1].visible = segments > 0;
        }
    }

    setSize(width, height) {
        this.past.resolution.set(width, height);
        this.future.resolution.set(width, height);
    }

    clear() {
        for (const line of this.lines) {
            this.stage.scene.remove(line);
            line.geometry.dispose();
        }
        this.lines = [];
    }
}

export class Trails {
    #epoch = 0;

    constructor(stage, run) {
        this.stage = stage;
        this.run = run;
        this.trails = new Map();
        this.isOn = false;
        stage.on('resize', () => this.#size());
    }

    #size() {
        const { clientWidth, clientHeight } = this.stage.container;
        for (const trail of this.trails.values()) {
            trail.setSize(clientWidth, clientHeight);
        }
    }

    // The bodies whose trails are shown: all where there are few, else the selected one.
    #wanted() {
        if (!this.isOn) {
            return [];
        }
        const moving = this.run.model.bodyOfMoving;
        return moving.length <= mostTrails ? moving : this.run.selected >= 0 ? [this.run.selected] : [];
    }

    async update() {
        const epoch = ++this.#epoch;
        const wanted = this.#wanted();
        for (const [body, trail] of this.trails) {
            if (!wanted.includes(body)) {
                trail.clear();
                this.trails.delete(body);
            }
        }
        for (const body of wanted) {
            const series = await this.run.bodySeries(body).catch(() => null); // a live run may have begun anew meanwhile
            if (!series || epoch !== this.#epoch) {
                return;
            }
            if (!this.trails.has(body)) {
                this.trails.set(body, new Trail(this.stage, this.run.model.colourOf(body)));
            }
            const trail = this.trails.get(body);
            if (trail.series !== series) {
                trail.series = series;
                trail.setSeries(series);
            }
        }
        this.#size();
        this.show(this.frame ?? 0);
    }

    // The run has more frames than its trails show, or others.
    #grow(isMoving) {
        const { firstFrame, lastFrame } = this.run, more = Math.abs(lastFrame - (this.grownTo ?? -1)), now = performance.now();
        if (more > 0 && (!isMoving || more >= growthWorth * (lastFrame - firstFrame)) && now - (this.grownAt ?? 0) > growEvery) {
            this.grownTo = lastFrame;
            this.grownAt = now;
            this.update();
        }
    }

    show(frame, isMoving = false) {
        this.frame = frame;
        if (this.isOn && this.run.source.isLive) {
            this.#grow(isMoving);
        }
        for (const trail of this.trails.values()) {
            trail.showUntil(frame);
        }
        this.stage.invalidate();
    }
}
