// When each contact sticks and when it slides: a lane for every pair of bodies that touch, over the whole run. Those that slide
// longest come first; a tick marks where sliding starts.

import { count, number } from './format.js';
import { LaneChart, piecesOf } from './lane_chart.js';

const mostLanes = 14;
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

// As the chart draws it. Sliding last: where many frames share a pixel, one that slides is seen.
function drawn(run, lane) {
    const { names, states, starts } = lane, pieces = piecesOf(states), label = names.join(' on ');
    const when = starts.slice(0, 6).map(frame => `${number(run.timeOf(frame), 5)} s`).join(', ');
    return {
        ...lane, label, ticks: starts,
        pieces: [[sticking, 'sticking'], [sliding, 'sliding']].flatMap(([state, colour]) => pieces.filter(({ value }) => value === state).map(piece => ({ ...piece, colour }))),
        note: `${label}: ${starts.length === 0 ? 'never slides' : `starts to slide at ${when}${starts.length > 6 ? ' …' : ''}`}`,
    };
}

export class Lanes {
    #epoch = 0;

    constructor(container, run, player) {
        this.run = run;
        this.chart = new LaneChart(container, run, player, 'When contacts stick and slide');
    }

    get lanes() {
        return this.chart.lanes;
    }

    // Reads the contacts of the selected body, or of all where they are few.
    async update() {
        const { run } = this, epoch = ++this.#epoch;
        const bodies = run.selected >= 0 ? [run.selected] : run.model.bodyOfMoving.length <= mostBodies ? run.model.bodyOfMoving : [];
        if (bodies.length === 0) {
            this.chart.set([], `Select one of the ${count(run.model.bodyOfMoving.length)} bodies to see when each of its contacts sticks and slides.`);
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
        this.chart.set(lanes.slice(0, mostLanes).map(lane => drawn(run, lane)), lanes.length === 0 ? ''
            : `${count(lanes.length)} ${lanes.length === 1 ? 'pair of bodies touches' : 'pairs of bodies touch'} in this run, ${slipping === 0 ? 'none of them slips' : `${count(slipping)} of them ${slipping === 1 ? 'slips' : 'slip'}`}.${more}`);
    }

    setCursor(frame) {
        this.chart.setCursor(frame);
    }
}
