// Lanes over the time of a run, with a cursor: one can point at a lane, and drag to a moment.
//
// A lane is { label, pieces: [{ first, end, colour }], ticks: [frame], note }; frames are counted from the first one that is there, and
// pieces that come later are drawn over earlier ones. A colour is the name of one of the theme, or a function that gives it.

import { element } from './dom.js';
import { contextOf } from './machine.js';
import { theme } from './theme.js';

const laneHeight = 20, barHeight = 9, labelShare = 0.36;

// Pieces of equal values: [{ first, end, value }].
export function piecesOf(values) {
    const pieces = [];
    for (let k = 0; k < values.length; ++k) {
        if (pieces.length > 0 && pieces.at(-1).value === values[k]) {
            pieces.at(-1).end = k;
        } else {
            pieces.push({ first: k, end: k, value: values[k] });
        }
    }
    return pieces;
}

// The label, or its beginning and its end if it is too long: names of bodies often differ in their ends.
export function shorten(label, fits) {
    for (let kept = label.length; kept > 2; --kept) {
        const text = kept === label.length ? label : `${label.slice(0, Math.ceil(kept / 2))}…${label.slice(label.length - Math.floor(kept / 2))}`;
        if (fits(text)) {
            return text;
        }
    }
    return label.slice(0, 1);
}

export class LaneChart {
    constructor(container, run, player, label) {
        this.run = run;
        this.player = player;
        this.lanes = [];
        this.cursor = 0;
        this.caption = element('p.hint');
        this.canvas = element('canvas.lanes', { role: 'img', 'aria-label': label, hidden: true });
        container.append(this.caption, this.canvas);
        new ResizeObserver(() => this.paint()).observe(this.canvas);
        theme.on('change', () => this.paint());
        this.canvas.addEventListener('pointerdown', event => this.#seek(event));
        this.canvas.addEventListener('pointermove', event => {
            this.canvas.title = this.#laneAt(event)?.note ?? '';
            if (event.buttons & 1) {
                this.#seek(event);
            }
        });
    }

    set(lanes, caption) {
        this.lanes = lanes;
        this.caption.textContent = caption;
        this.caption.hidden = caption === '';
        this.canvas.hidden = lanes.length === 0;
        this.canvas.style.height = `${lanes.length * laneHeight + 4}px`;
        this.paint();
    }

    setCursor(frame) {
        this.cursor = frame;
        this.paint();
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

    #seek(event) {
        const { left, width } = this.#span(), { firstFrame, lastFrame } = this.run;
        const share = (event.clientX - this.canvas.getBoundingClientRect().left - left) / width;
        if (share >= -0.02) {
            this.player.seek(firstFrame + Math.max(0, Math.min(1, share)) * (lastFrame - firstFrame), { pause: true });
        }
    }

    paint() {
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

    #paintLane(context, { label, pieces, ticks = [] }, y) {
        const { run } = this, { left, width } = this.#span(), middle = y + laneHeight / 2;
        context.fillStyle = theme.colour('muted');
        context.fillText(shorten(label, text => context.measureText(text).width <= left - 8), 0, middle);
        context.fillStyle = theme.colour('track');
        context.fillRect(left, middle - barHeight / 2, width, barHeight);
        for (const { first, end, colour } of pieces) {
            const from = this.#toX(run.firstFrame + first);
            context.fillStyle = typeof colour === 'function' ? colour() : theme.colour(colour);
            context.fillRect(from, middle - barHeight / 2, Math.max(1.2, this.#toX(run.firstFrame + end + 1) - from), barHeight);
        }
        context.fillStyle = theme.colour('ink');
        for (const frame of ticks) {
            context.fillRect(this.#toX(frame) - 0.5, middle - barHeight / 2 - 3, 1, 3);
        }
    }
}
