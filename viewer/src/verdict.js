// Which stepper is right? Says it of a comparison in sentences, with what they rest on.
//
// A stepper is right where its finest run is off by less than a hundredth of how far things move; it is on its way where its
// error shrinks with the step; else it goes elsewhere.

import { element } from './dom.js';
import { number, withUnit } from './format.js';

const rightShare = 0.01, shrinking = 0.7;

// How far anything moves, in the unit of the leading error: the largest way that a coordinate of its kind goes.
export function scaleOf(data) {
    const width = data.bodies.length * 13, from = { error_position: 0, error_velocity: 7, error_spin: 10 }[data.leading_error];
    if (from === undefined) {
        return 1; // rad
    }
    const known = data.truth.some(value => value !== null) ? data.truth : data.runs[0]?.states ?? [];
    let most = 0;
    for (let k = 0; k < width; ++k) {
        if (k % 13 >= from && k % 13 < from + 3) {
            let low = Infinity, high = -Infinity;
            for (let i = k; i < known.length; i += width) {
                if (known[i] !== null) {
                    low = Math.min(low, known[i]);
                    high = Math.max(high, known[i]);
                }
            }
            most = Math.max(most, high - low);
        }
    }
    return most > 0 ? most : 1;
}

// Steppers by what came of them: { right, closer, elsewhere, failed }, each with its finest run.
export function sortSteppers(data) {
    const key = data.leading_error, scale = scaleOf(data);
    const found = { right: [], closer: [], elsewhere: [], failed: [] };
    for (const stepper of new Set(data.runs.map(run => run.stepper))) {
        const all = data.runs.filter(run => run.stepper === stepper && !run.is_truth);
        const runs = all.filter(run => run.status === 'done' && run[key] !== null).sort((a, b) => b.step - a.step);
        if (all.length === 0) {
            continue;
        }
        const finest = runs.at(-1);
        const kind = !finest ? 'failed' : finest[key] < rightShare * scale ? 'right'
            : runs.length > 1 && finest[key] < shrinking * runs[0][key] ? 'closer' : 'elsewhere';
        found[kind].push({ stepper, runs, finest, message: all.find(run => run.message)?.message ?? all[0].status });
    }
    found.right.sort((a, b) => a.finest[key] - b.finest[key]);
    return { ...found, scale };
}

const listed = words => (words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words.at(-1)}` : words[0]);

// A list of sentences, each a list of texts and elements.
export function judge(data) {
    const key = data.leading_error, unit = data.leading_unit;
    const { right, closer, elsewhere, failed, scale } = sortSteppers(data);
    const off = ({ stepper, finest }) => `${stepper} (off by ${withUnit(finest[key], unit, 2)})`;
    const sentences = [];
    if (right.length > 0) {
        const work = right.flatMap(({ runs }) => runs.filter(run => run[key] < rightShare * scale)).reduce((a, b) => (b.cpu_time < a.cpu_time ? b : a));
        sentences.push([element('b.good', {}, 'Right'), ` to within 1 % of the ${withUnit(scale, unit, 2)} that things ${unit === 'm' ? 'move' : 'change'}: ${listed(right.map(off))}.`],
            [`Least work for that: ${work.stepper} at a step of ${number(work.step)} s, ${withUnit(work.cpu_time, 's', 2)} of processor time.`]);
    }
    if (closer.length > 0) {
        sentences.push([element('b.warning', {}, 'On the way'), ` there, closer with every smaller step: ${listed(closer.map(off))}.`]);
    }
    if (elsewhere.length > 0) {
        const wasTried = elsewhere.every(({ runs }) => runs.length > 1);
        sentences.push([element('b.error', {}, 'Elsewhere'), `${wasTried ? ', and smaller steps do not help' : ''}: ${listed(elsewhere.map(off))}.`]);
    }
    if (failed.length > 0) {
        sentences.push([element('b.error', {}, 'Not done'), `: ${listed(failed.map(({ stepper, message }) => `${stepper} (${message})`))}.`]);
    }
    const truth = data.runs.find(run => run.is_truth);
    if (truth) {
        sentences.push([`All are held against ${truth.stepper} itself at a step of ${number(truth.step)} s: this says who agrees with it, not that it is right.`]);
    }
    return sentences;
}
