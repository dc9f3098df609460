// Which method carried which body when: a lane per body, for steppers that choose (auto). Hidden where the stepper carries all bodies
// itself.

import { element } from './dom.js';
import { number } from './format.js';
import { LaneChart, piecesOf } from './lane_chart.js';
import { lineColour } from './theme.js';

const mostLanes = 24;
const often = 1000; // ms between two readings of a run that goes on

export class CarrierLanes {
    constructor(container, run, player) {
        this.run = run;
        this.colours = new Map(); // of methods, in the order in which they come
        this.legend = element('p.legend-row');
        this.root = element('section.carriers', { hidden: true }, element('h2', {}, 'Which method moved which body'));
        this.chart = new LaneChart(this.root, run, player, 'Which method moved which body when');
        this.root.append(this.legend);
        container.append(this.root);
        this.readAt = 0;
        run.on('select', () => { this.readAt = 0; });
        run.on('overview', () => this.update());
    }

    #colourOf(method) {
        if (!this.colours.has(method)) {
            this.colours.set(method, this.colours.size);
        }
        return () => lineColour(this.colours.get(method));
    }

    // The newest lanes, at most once a second.
    async update() {
        const { run } = this, now = performance.now();
        if (!run.source.readCarrierSeries || !this.#mayChoose()) {
            return;
        }
        clearTimeout(this.later);
        if (this.isReading || now - this.readAt < often) {
            this.later = setTimeout(() => this.update(), often);
            return;
        }
        this.isReading = true;
        this.readAt = now;
        try {
            await this.#read();
        } catch {
            // The run has begun anew meanwhile.
        }
        this.isReading = false;
    }

    // A stepper that carries bodies itself has nothing to tell; one that chose before may have.
    #mayChoose() {
        return this.run.stepper === 'auto' || !this.root.hidden;
    }

    async #read() {
        const { run } = this, all = run.model.bodyOfMoving;
        const bodies = run.selected >= 0 && run.head.bodies[run.selected].moving >= 0 ? [run.selected, ...all.filter(body => body !== run.selected)] : all;
        const lanes = [];
        for (const body of bodies.slice(0, mostLanes)) {
            const { first, stride, data } = await run.source.readCarrierSeries(run.head.bodies[body].moving);
            lanes.push({ body, first, stride, data });
        }
        const labels = await run.source.readLabels(), seen = new Set();
        let isLeftAlone = false;
        const drawn = lanes.map(({ body, first, stride, data }) => {
            const told = piecesOf(data), carried = told.filter(({ value }) => value >= 0);
            isLeftAlone ||= carried.length < told.length;
            const pieces = carried.map(({ first: from, end, value }) => {
                seen.add(labels[value]);
                return { first: first - run.firstFrame + from * stride, end: first - run.firstFrame + (end + 1) * stride - 1, method: labels[value], colour: this.#colourOf(labels[value]) };
            });
            const last = pieces.slice(-6).map(piece => `${piece.method} from ${number(run.timeOf(run.firstFrame + piece.first), 4)} s`).join(', ');
            return { label: run.nameOf(body), pieces, note: `${run.nameOf(body)}: ${pieces.length > 6 ? '… ' : ''}${last}` };
        });
        this.root.hidden = seen.size === 0;
        this.chart.set(drawn, all.length > mostLanes ? `The first ${mostLanes} of ${all.length} bodies, the selected one on top.` : '');
        const keys = [...this.colours.keys()].filter(method => seen.has(method)).map(method => this.#key(lineColour(this.colours.get(method)), method));
        this.legend.replaceChildren(...keys, ...(isLeftAlone ? [this.#key('var(--track)', 'at rest, left alone')] : []));
    }

    #key(colour, text) {
        const dot = element('i.dot');
        dot.style.background = colour;
        return element('span.key', {}, dot, text);
    }

    setCursor(frame) {
        this.chart.setCursor(frame);
    }
}
