// When each contact sticks and when it slides: a lane for every pair of bodies that touch, over the whole run. Those that slide
// longest come first; a tick marks where sliding starts.

import { element } from './dom.js';
import { count, number } from './format.js';
import { contextOf } from './machine.js';
import { theme } from './theme.js';

const laneHeight = 20, barHeight = 9, labelShare = 0.36, mostLanes = 14;
const mostBodies = 24; // more than that have lanes only once one is selected
const sliding = 1, sticking = 2;

// Pairs of bodies with what they do in each frame: 0 where they do not touch, else the state of a contact; one that slides counts.
function makeLanes(run, rows) {
    const first = run.firstFrame, frames = run.lastFrame - first + 1;
    const lanes = new Map();
    for (const { frame, bodyA, bodyB, state } of rows) {
        const key = bodyA < bodyB ? `${bodyA} ${bodyB}` : `${bodyB} ${bodyA}`;
        if (!lanes.has(key)) {
            lanes.set(key, { names: run.moverFirst(bodyA, bodyB).map(body => run.nameOf(body)), states: new Uint8Array(frames), starts: [], slides: 0 });
        }
        const { states } = lanes.get(key), k = frame - first;
        if (k >= 0 && k < frames && states[k] !== sliding && state !== 0) {
            states[k] = state;
        }
    }
    for (const lane of lanes.values()) {
        lane.states.forEach((state, k) => {
            lane.slides += state === sliding ? 1 : 0;
            if (state === sliding && lane.states[k - 1] !== sliding) {
                lane.starts.push(first + k);
            }
        });
    }
    return [...lanes.values()].sort((a, b) => b.slides - a.slides);
}

export class Lanes {
    #epoch = 0;

    constructor(container, run, player) {
        this.run = run;
        this.player = player;
        this.lanes = [];
        this.cursor = 0;
        this.caption = element('p.hint');
        this.canvas = element('canvas.lanes', { 'aria-label': 'When contacts stick and slide', hidden: true });
        container.append(this.caption, this.canvas);
        new ResizeObserver(() => this.#paint()).observe(this.canvas);
        theme.on('change', () => this.#paint());
        this.canvas.addEventListener('pointerdown', event => this.#seek(event));
        this.canvas.addEventListener('pointermove', event => {
            this.canvas.title = this.#describe(this.#laneAt(event));
            if (event.buttons & 1) {
                this.#seek(event);
            }
        });
    }

    // Reads the contacts of the selected body, or of all where they are few.
    async update() {
        const { run } = this, epoch = ++this.#epoch;
        const bodies = run.selected >= 0 ? [run.selected] : run.model.bodyOfMoving.length <= mostBodies ? run.model.bodyOfMoving : [];
        if (bodies.length === 0) {
            this.#set([], `Select one of the ${count(run.model.bodyOfMoving.length)} bodies to see when each of its contacts sticks and slides.`);
            return;
        }
        const rows = [];
        for (const body of bodies) {
            for (const row of await run.contactSeries(body)) {
                rows.push(row);
            }
            if (epoch !== this.#epoch) {
                return;
            }
        }
        const lanes = makeLanes(run, rows), slipping = lanes.filter(lane => lane.slides > 0).length;
        const more = lanes.length > mostLanes ? ` The ${mostLanes} that slide longest:` : '';
        this.#set(lanes.slice(0, mostLanes), lanes.length === 0 ? ''
            : `${count(lanes.length)} ${lanes.length === 1 ? 'pair of bodies touches' : 'pairs of bodies touch'} in this run, ${slipping === 0 ? 'none of them slips' : `${count(slipping)} of them ${slipping === 1 ? 'slips' : 'slip'}`}.${more}`);
    }

    #set(lanes, caption) {
        this.lanes = lanes;
        this.caption.textContent = caption;
        this.caption.hidden = caption === '';
        this.canvas.hidden = lanes.length === 0;
        this.canvas.style.height = `${lanes.length * laneHeight + 4}px`;
        this.#paint();
    }

    setCursor(frame) {
        this.cursor = frame;
        this.#paint();
    }

    #span() {
        const left = Math.round(this.canvas.clientWidth * labelShare);
        return { left, width: this.canvas.clientWidth - left - 6 };
    }

    #toX(frame) {
        const { left, width } = this.#span(), { firstFrame, lastFrame } = this.run;
        return left + (frame - firstFrame) / Math.max(1, lastFrame - firstFrame) * width;
    }

    #laneAt(event) {
        const box = this.canvas.getBoundingClientRect();
        return this.lanes[Math.floor((event.clientY - box.top) / laneHeight)] ?? null;
    }

    #describe(lane) {
        if (!lane) {
            return '';
        }
        const { run } = this, starts = lane.starts.slice(0, 6).map(frame => `${number(run.timeOf(frame), 5)} s`).join(', ');
        return `${lane.names.join(' on ')}: ${lane.starts.length === 0 ? 'never slides' : `starts to slide at ${starts}${lane.starts.length > 6 ? ' …' : ''}`}`;
    }

    #seek(event) {
        const { left, width } = this.#span(), { firstFrame, lastFrame } = this.run;
        const share = (event.clientX - this.canvas.getBoundingClientRect().left - left) / width;
        if (share >= -0.02) {
            this.player.seek(firstFrame + Math.max(0, Math.min(1, share)) * (lastFrame - firstFrame), { pause: true });
        }
    }

    #paint() {
        const { canvas } = this, ratio = Math.min(devicePixelRatio, 2);
        if (canvas.clientWidth === 0) {
            return;
        }
        canvas.width = Math.round(canvas.clientWidth * ratio);
        canvas.height = Math.round(canvas.clientHeight * ratio);
        const context = contextOf(canvas);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.font = `11.5px ${theme.colour('font')}`;
        context.textBaseline = 'middle';
        this.lanes.forEach((lane, i) => this.#paintLane(context, lane, i * laneHeight));
        const x = Math.round(this.#toX(this.cursor)) + 0.5;
        context.fillStyle = theme.colour('ink');
        context.fillRect(x - 0.75, 0, 1.5, this.lanes.length * laneHeight);
    }

    #paintLane(context, { names, states, starts }, y) {
        const { run } = this, { left, width } = this.#span(), middle = y + laneHeight / 2;
        context.fillStyle = theme.colour('muted');
        context.save();
        context.beginPath();
        context.rect(0, y, left - 8, laneHeight);
        context.clip();
        context.fillText(names.join(' on '), 0, middle);
        context.restore();
        context.fillStyle = theme.colour('track');
        context.fillRect(left, middle - barHeight / 2, width, barHeight);
        // Sliding last: where many frames share a pixel, one that slides is seen.
        for (const state of [sticking, sliding]) {
            context.fillStyle = theme.colour(state === sliding ? 'sliding' : 'sticking');
            for (let k = 0; k < states.length; ++k) {
                if (states[k] === state) {
                    let end = k;
                    while (states[end + 1] === state) {
                        ++end;
                    }
                    const from = this.#toX(run.firstFrame + k);
                    context.fillRect(from, middle - barHeight / 2, Math.max(1.2, this.#toX(run.firstFrame + end + 1) - from), barHeight);
                    k = end;
                }
            }
        }
        context.fillStyle = theme.colour('ink');
        for (const frame of starts) {
            context.fillRect(this.#toX(frame) - 0.5, middle - barHeight / 2 - 3, 1, 3);
        }
    }
}
