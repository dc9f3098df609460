// The time line: what the contacts do, steps to be wary of, and the cursor, over the whole run.
//
//     ▼ largest force
//     bands: how many contacts stick and how many slide
//     ticks below: fallbacks, undone steps, residuals above tolerance

import { Emitter, element } from './dom.js';
import { number, withUnit } from './format.js';
import { contextOf } from './machine.js';
import { theme } from './theme.js';

const margin = 14;

// Round numbers between low and high.
function ticks(low, high, wanted) {
    const span = high - low;
    if (!(span > 0) || !Number.isFinite(span)) {
        return [low];
    }
    const rough = span / wanted, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map(factor => factor * power).find(candidate => candidate >= rough) ?? 10 * power;
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) {
        found.push(Math.abs(k * step) < step * 1e-9 ? 0 : k * step);
    }
    return found;
}

export class Timeline extends Emitter {
    #frame = 0;

    constructor(container, run) {
        super();
        this.run = run;
        this.cursor = 0;
        this.canvas = element('canvas.timeline', {
            tabindex: 0, role: 'slider', 'aria-label': 'Time', 'aria-valuemin': 0,
        });
        this.tip = element('div.tip', { hidden: true });
        container.append(this.canvas, this.tip);
        new ResizeObserver(() => this.draw()).observe(this.canvas);
        theme.on('change', () => this.draw());
        this.#watchPointer();
    }

    setCursor(frame) {
        this.cursor = frame;
        this.canvas.setAttribute('aria-valuenow', frame);
        this.canvas.setAttribute('aria-valuemax', this.run.lastFrame);
        this.canvas.setAttribute('aria-valuetext', `${number(this.run.timeOf(frame), 6)} s`);
        this.draw();
    }

    draw() {
        if (this.#frame === 0) {
            this.#frame = requestAnimationFrame(() => {
                this.#frame = 0;
                this.#paint();
            });
        }
    }

    #toX(frame) {
        const { firstFrame, lastFrame } = this.run;
        return margin + (frame - firstFrame) / Math.max(1, lastFrame - firstFrame) * (this.width - 2 * margin);
    }

    #toFrame(x) {
        const { firstFrame, lastFrame } = this.run;
        const fraction = Math.max(0, Math.min(1, (x - margin) / (this.width - 2 * margin)));
        return Math.round(firstFrame + fraction * (lastFrame - firstFrame));
    }

    #paint() {
        const ratio = Math.min(devicePixelRatio, 2);
        this.width = this.canvas.clientWidth;
        this.height = this.canvas.clientHeight;
        if (this.width === 0) {
            return;
        }
        if (this.canvas.width !== Math.round(this.width * ratio)) {
            this.canvas.width = Math.round(this.width * ratio);
        }
        if (this.canvas.height !== Math.round(this.height * ratio)) {
            this.canvas.height = Math.round(this.height * ratio);
        }
        const context = contextOf(this.canvas);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, this.width, this.height);
        this.band = { top: 12, height: this.height - 12 - 22 };
        context.fillStyle = theme.colour('track');
        context.fillRect(margin, this.band.top, this.width - 2 * margin, this.band.height);
        this.#paintContacts(context);
        this.#paintWarnings(context);
        this.#paintAxis(context);
        this.#paintLargest(context);
        this.#paintCursor(context);
    }

    // In each column of pixels, the most that stuck and the most that slid.
    #paintContacts(context) {
        const { overview } = this.run;
        const columns = Math.max(1, Math.floor(this.width - 2 * margin));
        const sticking = new Float64Array(columns), sliding = new Float64Array(columns);
        let most = 1;
        for (let row = 0; row < overview.count; ++row) {
            const column = Math.min(columns - 1, Math.max(0, Math.floor(this.#toX(overview.frameOf(row)) - margin)));
            sticking[column] = Math.max(sticking[column], overview.sticking[row]);
            sliding[column] = Math.max(sliding[column], overview.sliding[row]);
            most = Math.max(most, overview.sticking[row] + overview.sliding[row]);
        }
        const spread = columns > overview.count ? Math.ceil(columns / Math.max(1, overview.count - 1)) : 1;
        const { top, height } = this.band;
        const tall = value => value / most * (height - 2);
        context.save();
        context.beginPath();
        context.rect(margin, top, columns, height);
        context.clip();
        for (let column = 0; column < columns; ++column) {
            if (sticking[column] > 0) {
                context.fillStyle = theme.colour('sticking');
                context.fillRect(margin + column, top + height - tall(sticking[column]), spread, tall(sticking[column]));
            }
        }
        for (let column = 0; column < columns; ++column) {
            if (sliding[column] > 0) {
                const size = Math.max(2, tall(sliding[column]));
                context.fillStyle = theme.colour('sliding');
                context.fillRect(margin + column, top + height - tall(sticking[column]) - size, spread, size);
            }
        }
        context.restore();
    }

    #paintWarnings(context) {
        const { overview } = this.run;
        const y = this.band.top + this.band.height + 2;
        const found = { warning: new Set(), error: new Set() };
        for (let row = 0; row < overview.count; ++row) {
            const kind = this.run.concernOf(row);
            if (kind) {
                found[kind].add(Math.round(this.#toX(overview.frameOf(row))));
            }
        }
        for (const kind of ['warning', 'error']) {
            context.fillStyle = theme.colour(kind);
            for (const x of found[kind]) {
                context.fillRect(x - 1, y, 2, 5);
            }
        }
    }

    #paintAxis(context) {
        const { run } = this;
        const from = run.timeOf(run.firstFrame), to = run.timeOf(run.lastFrame);
        context.font = `10.5px ${theme.colour('font')}`;
        context.fillStyle = theme.colour('faint');
        context.textBaseline = 'alphabetic';
        for (const tick of ticks(from, to, Math.max(2, Math.round(this.width / 110)))) {
            const x = margin + (tick - from) / Math.max(1e-300, to - from) * (this.width - 2 * margin);
            context.textAlign = x > this.width - 30 ? 'right' : x < 30 ? 'left' : 'center';
            context.fillText(`${number(tick, 5)} s`, x, this.height - 3);
        }
    }

    #paintLargest(context) {
        const largest = this.run.largest?.force;
        if (!largest || !(largest.value > 0)) {
            return;
        }
        const x = this.#toX(largest.frame);
        context.fillStyle = theme.colour('ink');
        context.beginPath();
        context.moveTo(x - 4, 2);
        context.lineTo(x + 4, 2);
        context.lineTo(x, 9);
        context.fill();
    }

    #paintCursor(context) {
        const x = Math.round(this.#toX(this.cursor)) + 0.5;
        context.strokeStyle = theme.colour('ink');
        context.lineWidth = 1.5;
        context.beginPath();
        context.moveTo(x, 6);
        context.lineTo(x, this.band.top + this.band.height + 4);
        context.stroke();
        context.fillStyle = theme.colour('accent');
        context.strokeStyle = theme.colour('panel');
        context.lineWidth = 2;
        context.beginPath();
        context.arc(x, this.band.top + this.band.height / 2, 6.5, 0, 7);
        context.fill();
        context.stroke();
    }

    #watchPointer() {
        let isDown = false;
        const place = event => event.clientX - this.canvas.getBoundingClientRect().left;
        this.canvas.addEventListener('pointerdown', event => {
            isDown = true;
            this.canvas.setPointerCapture(event.pointerId);
            this.emit('seek', this.#toFrame(place(event)));
        });
        this.canvas.addEventListener('pointermove', event => {
            if (isDown) {
                this.emit('seek', this.#toFrame(place(event)));
            }
            this.#showTip(place(event));
        });
        this.canvas.addEventListener('pointerup', () => { isDown = false; });
        this.canvas.addEventListener('pointercancel', () => { isDown = false; });
        this.canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    }

    #showTip(x) {
        const { run } = this, { overview } = run;
        if (overview.count === 0 || !this.width) {
            return;
        }
        const frame = this.#toFrame(x), row = overview.rowOf(frame);
        const parts = [`${number(run.timeOf(frame), 5)} s`];
        const sticking = overview.sticking[row], sliding = overview.sliding[row];
        if (sticking + sliding > 0) {
            parts.push(`${sticking} sticking, ${sliding} sliding`, `up to ${withUnit(overview.forceMax[row], 'N')}`);
        }
        const concern = run.describeConcern(row);
        if (concern) {
            parts.push(concern);
        }
        this.tip.textContent = parts.join(' · ');
        this.tip.hidden = false;
        const half = this.tip.offsetWidth / 2;
        this.tip.style.left = `${Math.max(half + 4, Math.min(this.width - half - 4, x))}px`;
    }
}
