// A second run of the same scene beside the first one, by another stepper. It follows the first one's time and camera; lines on both stages
// join each body to where the other run has it, and a plot shows how far apart they are.

import * as THREE from 'three';
import { element } from './dom.js';
import { ForceArrows } from './forces.js';
import { withUnit } from './format.js';
import { FrameCache } from './frames.js';
import { Joints } from './joints.js';
import { Plot } from './plot.js';
import { Run } from './run.js';
import { BodyModel } from './shapes.js';
import { AskedSource } from './source.js';
import { Stage } from './stage.js';
import { theme } from './theme.js';
import { Trails } from './trails.js';

const mostLines = 3000; // bodies that are joined to their twins
const fastest = 1000;   // of the clock: it is held back by its limit alone
const points = 300;     // of the plot, about
const atOnce = 24;      // of them are measured between two pictures

const mostPoints = 30000; // of the plot of how far the runs are apart

export class Twin {
    constructor(page, carrier, { stepper, onChoose, onMessage }) {
        this.page = page;
        this.carrier = carrier;
        this.stepper = stepper;
        this.onMessage = onMessage;
        this.apart = new Map(); // by frame of the first run: [time, distance]
        this.select = element('select', { 'aria-label': 'Stepper of the second run', onchange: () => onChoose(this.select.value) },
            ...page.run.head.steppers.map(name => element('option', { value: name, selected: name === stepper }, name)));
        this.words = element('output.apart', { 'aria-label': 'How far the two runs are apart' });
        this.box = element('div.stage-box.twin');
        this.label = element('div.twin-label', {}, this.select, this.lag = element('span.lag'));
        this.strip = element('div.twin-strip', {}, this.words);
        page.stagePart.append(this.box, this.label, this.strip);
        page.stagePart.classList.add('split');
        this.plot = new Plot(this.strip, { title: 'Farthest apart', unit: 'm', xUnit: 's', height: 84, fromZero: true });
    }

    async start(orders) {
        const { page, carrier } = this;
        const source = await new AskedSource(carrier).open();
        this.run = new Run(source);
        this.model = this.run.model = new BodyModel(source.head);
        this.frames = new FrameCache(source, 64e6);
        this.stage = new Stage(this.box, source.head, this.model);
        this.stage.director.isOn = false;
        page.stage.director.others = [this.model];
        this.joints = new Joints(this.stage, this.run);
        this.arrows = new ForceArrows(this.stage, source.head, this.joints);
        this.trails = new Trails(this.stage, this.run);
        this.lines = [this.#makeLines(page.stage), this.#makeLines(this.stage)];
        for (const order of orders) {
            await carrier.command(order);
        }
        await carrier.command({ stepper: this.stepper });
        await carrier.command({ speed: fastest, limit: 0, running: true });
        await this.run.readOverview();
        this.isReady = true;
        this.epoch = page.live.status.epoch;
        this.follow();
        this.#watch();
    }

    // The first run has come farther, or begun anew.
    follow() {
        if (!this.isReady || this.hasEnded) {
            return;
        }
        const { page } = this, time = page.run.timeOf(page.run.lastFrame), { epoch } = page.live.status;
        if (epoch !== this.epoch) {
            this.epoch = epoch;
            this.apart.clear();
            this.caughtUp = 0;
            this.#send(time > 0 ? { fork: this.run.frameAt(time), limit: time } : { restart: true, limit: 0, running: true });
        } else if (time > (this.limit ?? -1)) {
            this.#send({ limit: time, running: true });
        }
        this.limit = time;
    }

    async #send(order) {
        try {
            await this.carrier.command(order);
        } catch (error) {
            if (!this.hasEnded) {
                this.onMessage(error.message);
            }
        }
    }

    // What the first run was told, for this one as well.
    tell(order) {
        const { running, steps, stepper, restart, fork, begin, speed, limit, ...rest } = order;
        if (this.isReady && Object.keys(rest).length > 0) {
            this.#send(rest);
        }
    }

    async #watch() {
        const { run } = this;
        let version = 0, epoch = 0;
        while (!this.hasEnded) {
            let status;
            try {
                status = await run.source.wait(run.source.frameCount, version);
            } catch {
                return;
            }
            if (status.epoch !== epoch || status.frames < run.source.frameCount) {
                epoch = status.epoch;
                this.frames.clear();
                run.source.forget();
                run.source.firstFrame = status.first;
                run.source.frameCount = status.frames;
                run.restartOverview();
            }
            if (status.message && status.message !== this.said) {
                this.onMessage(`${status.stepper}: ${status.message}`);
            }
            this.said = status.message;
            version = status.version;
            run.source.firstFrame = status.first;
            run.source.frameCount = status.frames;
            this.frames.forgetBefore(status.first);
            run.step = status.step;
            run.stepper = status.stepper;
            run.forgetSeries();
            try {
                await run.extendOverview();
            } catch {
                continue;
            }
            this.show(this.page.player.view);
            await this.#catchUp();
            await new Promise(resolve => requestAnimationFrame(resolve));
        }
    }

    #makeLines(stage) {
        const count = Math.min(mostLines, this.model.bodyOfMoving.length), geometry = new THREE.BufferGeometry();
        geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(6 * count), 3));
        const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ depthTest: false, transparent: true, toneMapped: false, fog: false }));
        lines.frustumCulled = false;
        lines.renderOrder = 12;
        stage.scene.add(lines);
        return lines;
    }

    // Shows the time of a frame of the first run.
    async show(first) {
        if (!this.isReady || !first || this.hasEnded) {
            return;
        }
        this.wanted = first;
        if (this.isShowing) {
            return;
        }
        this.isShowing = true;
        while (this.wanted && !this.hasEnded) {
            const view = this.wanted;
            this.wanted = null;
            const time = this.page.run.timeOf(view.frame), frame = this.run.frameAt(time);
            const second = await this.frames.get(Math.max(this.run.firstFrame, Math.min(this.run.lastFrame, frame)), 1, true);
            if (second && !this.hasEnded) {
                this.#place(view, second, time);
            }
        }
        this.isShowing = false;
    }

    #place(first, second, time) {
        const { page, run, model } = this;
        model.place(second.states, second.width);
        this.stage.moved();
        this.joints.place();
        this.arrows.metresPerNewton = page.arrows.metresPerNewton;
        this.arrows.factor = page.arrows.factor;
        Object.assign(this.arrows, { showsPoints: page.arrows.showsPoints, showsForces: page.arrows.showsForces, showsCones: page.arrows.showsCones });
        this.arrows.show(second, run.stepOf(second.frame));
        this.#trail(second.frame);
        const behind = time - run.timeOf(second.frame), isThere = Math.abs(behind) <= 0.51 * Math.max(run.step, page.run.step);
        this.lag.textContent = isThere ? '' : `at ${withUnit(run.timeOf(second.frame), 's')}`;
        this.#measure(first, second, time, isThere);
    }

    #trail(frame) {
        const { trails, page } = this;
        if (trails.isOn !== page.trails.isOn) {
            trails.isOn = page.trails.isOn;
            trails.update();
        }
        trails.show(frame, Boolean(page.live.status.running));
    }

    // Frames that were not shown, for the plot.
    async #catchUp() {
        const { page, run } = this, last = page.run.lastFrame, every = 2 ** Math.max(0, Math.floor(Math.log2(last / points)));
        const end = run.timeOf(run.lastFrame) + 0.01 * run.step, { epoch } = this;
        let frame = Math.ceil(Math.max(this.caughtUp ?? 0, page.run.firstFrame) / every) * every;
        for (let k = 0; k < atOnce && frame <= last && page.run.timeOf(frame) <= end; ++k, frame += every) {
            if (this.apart.has(frame)) {
                continue;
            }
            const time = page.run.timeOf(frame), other = run.frameAt(time);
            const [first, second] = await Promise.all([page.frames.get(frame, 1, page.player.wantsContacts), this.frames.get(Math.max(run.firstFrame, Math.min(run.lastFrame, other)), 1, true)]);
            if (!first || !second || this.epoch !== epoch || this.hasEnded) {
                return;
            }
            this.#keep(frame, [time, this.#farthest(first, second).most]);
        }
        this.caughtUp = frame;
    }

    // The largest distance between a body and its twin, and whose it is; `take` gets both places of each.
    // Up to a bound; the oldest go first.
    #keep(frame, point) {
        this.apart.set(frame, point);
        if (this.apart.size > mostPoints) {
            this.apart.delete(this.apart.keys().next().value);
        }
    }

    #farthest(first, second, take = () => {}) {
        let most = 0, at = -1;
        this.model.bodyOfMoving.forEach((body, k) => {
            const a = first.states.subarray(k * first.width, k * first.width + 3), b = second.states.subarray(k * second.width, k * second.width + 3);
            const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
            if (distance > most) {
                [most, at] = [distance, body];
            }
            take(k, a, b);
        });
        return { most, at };
    }

    #measure(first, second, time, isThere) {
        const places = this.lines.map(lines => lines.geometry.attributes.position);
        const { most, at } = this.#farthest(first, second, (k, a, b) => {
            if (k < mostLines) {
                places.forEach(place => { place.setXYZ(2 * k, ...a); place.setXYZ(2 * k + 1, ...b); });
            }
        });
        for (const [k, lines] of this.lines.entries()) {
            lines.visible = isThere;
            lines.material.color.set(theme.colour('accent'));
            places[k].needsUpdate = true;
        }
        this.page.stage.invalidate();
        if (!isThere) {
            return;
        }
        this.#keep(first.frame, [time, most]);
        this.words.textContent = at < 0 ? 'the same' : `${this.run.nameOf(at)}: ${withUnit(most, 'm', 2)} apart`;
        this.#draw(time);
    }

    #draw(time) {
        const points = [...this.apart.values()].sort((a, b) => a[0] - b[0]);
        this.plot.setSeries([{ name: 'distance', colour: theme.colour('accent'), x: Float64Array.from(points, point => point[0]), y: Float64Array.from(points, point => point[1]), count: points.length }]);
        this.plot.setCursor(time);
    }

    // Once for every picture.
    draw(now) {
        if (!this.isReady || !this.stage.sized) {
            return;
        }
        const { stage } = this, other = this.page.stage;
        stage.quality.isPlaying = other.quality.isPlaying;
        if (this.seen !== other.box) {
            this.seen = other.box;
            stage.setBounds(other.box);
        }
        if (!stage.camera.position.equals(other.camera.position) || !stage.controls.target.equals(other.controls.target)) {
            stage.camera.position.copy(other.camera.position);
            stage.controls.target.copy(other.controls.target);
            stage.camera.near = other.camera.near;
            stage.camera.far = other.camera.far;
            stage.camera.updateProjectionMatrix();
            stage.controls.update();
            stage.invalidate();
        }
        stage.draw(now);
    }

    destroy() {
        this.hasEnded = true;
        this.carrier.end();
        this.page.stagePart.classList.remove('split');
        this.plot.remove();
        [this.box, this.label, this.strip].forEach(node => node.remove());
        if (this.stage) {
            this.page.stage.director.others = [];
            this.page.stage.scene.remove(this.lines[0]);
            this.stage.dispose();
            this.page.stage.invalidate();
        }
    }
}
