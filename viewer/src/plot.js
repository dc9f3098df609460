// Line plots on a canvas. They know nothing of runs: series are arrays of x and y.
//
//     const plot = new Plot(container, { title: 'Energy', unit: 'J', xUnit: 's' });
//     plot.setSeries([{ name: 'kinetic', colour: '#1f6f8b', x: times, y: energies, count: n }]);
//     plot.setCursor(1.25);
//     plot.on('cursor', x => ...);   someone points at x
//     plot.on('zoom', range => ...); someone chose a range of x, or null for all
//
// A series may be `dashed` or have a `dash` of its own, be a `step`, `thin`, of some `width` and `opacity`, or have `points`
// instead of a line, or with one (`joined`); axes may be logarithmic (`log` for y, `xLog` for x) and have names (`xName`,
// `yName`). With `hovers` the cursor follows the pointer without a press. Long series are drawn by their extremes in each
// column of pixels, so that no peak is lost. x has to ascend, except for points. What a logarithm does not know is a gap.

import { Emitter, element } from './dom.js';
import { number, withUnit } from './format.js';
import { contextOf } from './machine.js';
import { theme } from './theme.js';

const gutter = { left: 52, right: 8, top: 6, bottom: 16 };
const nameRoom = 17; // more, for the name of an axis

// Round numbers between low and high.
export function ticks(low, high, wanted) {
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

export function logTicks(low, high, wanted) {
    const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9);
    const every = Math.max(1, Math.ceil((to - from + 1) / wanted));
    const factors = Math.log10(high / low) < 2.2 ? [1, 2, 5] : [1];
    const found = [];
    for (let k = Math.ceil((from - 1) / every) * every; k <= to; k += every) {
        found.push(...factors.map(factor => factor * 10 ** k).filter(tick => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)));
    }
    return found.length > 0 ? found : [low, high];
}

// The first place in ascending x that is not below `value`.
export function lowerBound(x, count, value) {
    let low = 0, high = count;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (x[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

class Scale {
    constructor(low, high, isLog) {
        this.isLog = isLog;
        this.low = isLog ? Math.log10(low) : low;
        this.high = isLog ? Math.log10(high) : high;
    }

    at(value) {
        const place = this.isLog ? Math.log10(Math.max(value, 1e-300)) : value;
        return (place - this.low) / (this.high - this.low);
    }

    value(fraction) {
        const place = this.low + fraction * (this.high - this.low);
        return this.isLog ? 10 ** place : place;
    }
}

export class Plot extends Emitter {
    #frame = 0;

    constructor(container, options = {}) {
        super();
        this.options = { title: '', unit: '', xUnit: '', height: 128, log: false, xLog: false, ...options };
        this.series = [];
        this.cursor = null;
        this.range = null;
        this.marks = [];
        this.legend = element('div.legend');
        this.title = element('span.plot-title', {}, this.options.title);
        this.actions = element('span.plot-actions');
        this.canvas = element('canvas', { 'aria-label': this.options.title });
        this.root = element('section.plot', {}, element('header', {}, this.title, this.actions), this.legend, this.canvas);
        this.canvas.style.height = `${this.options.height}px`;
        container.append(this.root);
        this.observer = new ResizeObserver(() => this.draw());
        this.observer.observe(this.canvas);
        // What has been scrolled away is drawn when it comes back.
        this.isSeen = true;
        this.watcher = new IntersectionObserver(([{ isIntersecting }]) => {
            this.isSeen = isIntersecting;
            this.draw();
        });
        this.watcher.observe(this.canvas);
        this.#watchPointer();
    }

    remove() {
        this.observer.disconnect();
        this.watcher.disconnect();
        this.root.remove();
        this.isRemoved = true;
    }

    setSeries(series) {
        const names = series.map(one => one.name + (one.note ?? '')).join('|');
        this.series = series;
        if (names !== this.legendNames) {
            this.legendNames = names;
            this.#makeLegend();
        }
        this.draw();
    }

    // What a colour stands for, by name of the legend's theme colours; drawn again on a change of theme.
    setCursor(x) {
        if (x !== this.cursor) {
            this.cursor = x;
            this.draw();
        }
    }

    setRange(range) {
        this.range = range;
        this.draw();
    }

    // Vertical marks: [{ x, colour }]
    setMarks(marks) {
        this.marks = marks;
        this.draw();
    }

    draw() {
        if (this.#frame === 0 && !this.isRemoved) {
            this.#frame = requestAnimationFrame(() => {
                this.#frame = 0;
                this.#paint();
            });
        }
    }

    #makeLegend() {
        this.values = this.series.map(() => element('output'));
        this.legend.replaceChildren(...this.series.map((one, i) => element('span.key', { title: one.note ?? one.name },
            element('i', { class: one.dashed || one.dash?.length > 0 ? 'dashed' : '' }), element('span', {}, one.name), this.values[i])));
        this.keys = [...this.legend.querySelectorAll('i')];
    }

    #updateLegend() {
        this.series.forEach((one, i) => {
            this.keys[i].style.color = one.colour;
            let text = '';
            if (this.cursor !== null && !one.points && one.count > 0) {
                const k = Math.min(one.count - 1, Math.max(0, lowerBound(one.x, one.count, this.cursor - 1e-12 * Math.abs(this.cursor))));
                text = one.format ? one.format(one.y[k]) : this.options.unit ? withUnit(one.y[k], this.options.unit, 4) : number(one.y[k]);
            }
            if (this.values[i].textContent !== text) {
                this.values[i].textContent = text;
            }
        });
    }

    #extent() {
        let x0 = Infinity, x1 = -Infinity;
        for (const { x, count } of this.series) {
            if (count > 0) {
                for (const value of [x[0], x[count - 1]]) {
                    x0 = Math.min(x0, value);
                    x1 = Math.max(x1, value);
                }
            }
        }
        if (this.series.some(one => one.points)) {
            for (const one of this.series) {
                for (let k = 0; k < one.count; ++k) {
                    x0 = Math.min(x0, one.x[k]);
                    x1 = Math.max(x1, one.x[k]);
                }
            }
        }
        if (this.range) {
            [x0, x1] = this.range;
        }
        if (this.options.xLog) {
            const room = Math.max(1.1, (x1 / x0) ** 0.05);
            [x0, x1] = x1 > 0 ? [x0 / room, x1 * room] : [0.1, 1];
        } else if (!(x1 > x0)) {
            x1 = x0 + 1;
        }
        let y0 = Infinity, y1 = -Infinity, least = Infinity;
        for (const one of this.series) {
            const from = one.points ? 0 : Math.max(0, lowerBound(one.x, one.count, x0) - 1);
            const to = one.points ? one.count : Math.min(one.count, lowerBound(one.x, one.count, x1) + 1);
            const skip = Math.max(1, Math.floor((to - from) / 200000));
            for (let k = from; k < to; k += skip) {
                const value = one.y[k];
                if (Number.isFinite(value)) {
                    y0 = Math.min(y0, value);
                    y1 = Math.max(y1, value);
                    least = value > 0 ? Math.min(least, value) : least;
                }
            }
        }
        return { x0, x1, ...this.#padded(y0, y1, least) };
    }

    #padded(y0, y1, least) {
        if (this.options.log) {
            if (!Number.isFinite(least)) {
                return { y0: 1e-16, y1: 1e-8 };
            }
            let low = 10 ** Math.floor(Math.log10(Math.max(least, y1 * 1e-16)) - 0.05), high = 10 ** Math.ceil(Math.log10(y1) + 0.05);
            if (this.options.limit) {
                high = Math.max(high, this.options.limit * 3);
                low = Math.min(low, this.options.limit / 10);
            }
            return { y0: low, y1: high };
        }
        if (!(y1 >= y0)) {
            return { y0: 0, y1: 1 };
        }
        if (this.options.fromZero) {
            y0 = Math.min(0, y0);
        }
        let pad = 0.08 * (y1 - y0);
        if (!(y1 - y0 > 1e-9 * Math.max(Math.abs(y0), Math.abs(y1)))) {
            pad = Math.max(Math.abs(y1) * 0.05, y1 === 0 && y0 === 0 ? 1 : 1e-12);
        }
        return { y0: this.options.fromZero && y0 === 0 ? 0 : y0 - pad, y1: y1 + pad };
    }

    #paint() {
        const ratio = Math.min(devicePixelRatio, 2), width = this.canvas.clientWidth, height = this.canvas.clientHeight;
        if (width === 0 || height === 0 || !this.isSeen) {
            return;
        }
        if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(height * ratio);
        }
        const context = contextOf(this.canvas);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        const { x0, x1, y0, y1 } = this.#extent();
        this.xScale = new Scale(x0, x1, this.options.xLog);
        this.yScale = new Scale(y0, y1, this.options.log);
        const left = gutter.left + (this.options.yName ? nameRoom : 0), bottom = gutter.bottom + (this.options.xName ? nameRoom : 0);
        this.area = { x: left, y: gutter.top, width: width - left - gutter.right, height: height - gutter.top - bottom };
        this.#paintAxes(context);
        context.save();
        context.beginPath();
        context.rect(this.area.x, this.area.y - 1, this.area.width, this.area.height + 2);
        context.clip();
        this.#paintMarks(context);
        for (const one of this.series) {
            this.#paintSeries(context, one);
        }
        context.restore();
        this.#paintCursor(context);
        this.#updateLegend();
        if (this.selection) {
            const [a, b] = this.selection;
            context.fillStyle = theme.colour('accent');
            context.globalAlpha = 0.12;
            context.fillRect(Math.min(a, b), this.area.y, Math.abs(b - a), this.area.height);
            context.globalAlpha = 1;
        }
    }

    #toX(value) {
        return this.area.x + this.xScale.at(value) * this.area.width;
    }

    #toY(value) {
        const fraction = this.yScale.at(value);
        return this.area.y + (1 - Math.max(-0.5, Math.min(1.5, fraction))) * this.area.height;
    }

    #paintAxes(context) {
        const { x, y, width, height } = this.area;
        context.font = `10.5px ${theme.colour('font')}`;
        context.lineWidth = 1;
        context.strokeStyle = theme.colour('line');
        context.fillStyle = theme.colour('faint');
        context.textBaseline = 'middle';
        context.textAlign = 'right';
        const yTicks = this.options.log ? logTicks(10 ** this.yScale.low, 10 ** this.yScale.high, 4)
            : ticks(this.yScale.low, this.yScale.high, Math.max(2, Math.round(height / 34)));
        // Digits enough to tell neighbours apart, however large their common part is.
        const step = yTicks.length > 1 ? Math.abs(yTicks[1] - yTicks[0]) : 1;
        const largest = Math.max(...yTicks.map(Math.abs), 1e-300);
        const digits = this.options.log ? 1 : largest < 1e-12 ? 1 : Math.max(3, Math.min(7, Math.ceil(Math.log10(largest / step)) + 2));
        for (const tick of yTicks) {
            const at = Math.round(this.#toY(tick)) + 0.5;
            if (at < y - 1 || at > y + height + 1) {
                continue;
            }
            context.beginPath();
            context.moveTo(x, at);
            context.lineTo(x + width, at);
            context.stroke();
            context.fillText(this.options.unit && !this.options.log && largest >= 1e-12 ? withUnit(tick, this.options.unit, digits) : number(tick, digits), x - 6, at);
        }
        context.textBaseline = 'alphabetic';
        const xTicks = this.options.xLog ? logTicks(10 ** this.xScale.low, 10 ** this.xScale.high, 5)
            : ticks(this.xScale.low, this.xScale.high, Math.max(2, Math.round(width / 70)));
        xTicks.forEach((tick, i) => {
            const at = this.#toX(tick);
            context.textAlign = at > x + width - 14 ? 'right' : at < x + 8 ? 'left' : 'center';
            const unit = i === xTicks.length - 1 && this.options.xUnit ? ` ${this.options.xUnit}` : '';
            context.fillText(number(tick, 5) + unit, at, y + height + 13);
        });
        this.#paintNames(context);
        if (this.options.limit) {
            const at = Math.round(this.#toY(this.options.limit)) + 0.5;
            context.setLineDash([3, 3]);
            context.strokeStyle = theme.colour('warning');
            context.beginPath();
            context.moveTo(x, at);
            context.lineTo(x + width, at);
            context.stroke();
            context.setLineDash([]);
        }
    }

    #paintNames(context) {
        const { x, y, width, height } = this.area, { xName, yName } = this.options;
        context.textAlign = 'center';
        if (xName) {
            context.fillText(xName, x + width / 2, y + height + 13 + nameRoom);
        }
        if (yName) {
            context.save();
            context.translate(11, y + height / 2);
            context.rotate(-Math.PI / 2);
            context.fillText(yName, 0, 0);
            context.restore();
        }
    }

    #paintMarks(context) {
        const { y, height } = this.area;
        for (const mark of this.marks) {
            context.fillStyle = mark.colour;
            context.globalAlpha = 0.35;
            context.fillRect(this.#toX(mark.x) - 0.5, y, 1.2, height);
        }
        context.globalAlpha = 1;
    }

    #paintSeries(context, one) {
        context.strokeStyle = context.fillStyle = one.colour;
        if (one.points) {
            for (let k = 0; k < one.count; ++k) {
                context.beginPath();
                context.arc(this.#toX(one.x[k]), this.#toY(one.y[k]), one.points, 0, 7);
                context.fill();
            }
            if (!one.joined) {
                return;
            }
        }
        context.lineWidth = one.width ?? (one.thin ? 1 : 1.6);
        context.lineJoin = 'round';
        context.globalAlpha = one.opacity ?? 1;
        context.setLineDash(one.dash ?? (one.dashed ? [5, 4] : []));
        const low = this.xScale.value(0), high = this.xScale.value(1);
        const from = one.points ? 0 : Math.max(0, lowerBound(one.x, one.count, low) - 1);
        const to = one.points ? one.count : Math.min(one.count, lowerBound(one.x, one.count, high) + 1);
        context.beginPath();
        if (to - from > 3 * this.area.width) {
            this.#traceExtremes(context, one, from, to);
        } else {
            this.#trace(context, one, from, to);
        }
        context.stroke();
        context.setLineDash([]);
        context.globalAlpha = 1;
    }

    #isKnown(value) {
        return Number.isFinite(value) && (!this.options.log || value > 0);
    }

    #trace(context, one, from, to) {
        let isDown = false, before = 0;
        for (let k = from; k < to; ++k) {
            if (!this.#isKnown(one.y[k])) {
                isDown = false;
                continue;
            }
            const x = this.#toX(one.x[k]), y = this.#toY(one.y[k]);
            if (isDown && one.step) {
                context.lineTo(x, before);
            }
            if (!isDown) {
                context.moveTo(x - 0.5, y); // so that a single value is seen
            }
            context.lineTo(x, y);
            before = y;
            isDown = true;
        }
    }

    #traceExtremes(context, one, from, to) {
        let column = -Infinity, low = 0, high = 0, last = 0, isDown = false;
        const flush = () => {
            if (column > -Infinity) {
                context[isDown ? 'lineTo' : 'moveTo'](column + 0.5, low);
                context.lineTo(column + 0.5, high);
                context.lineTo(column + 0.5, last);
                isDown = true;
            }
        };
        for (let k = from; k < to; ++k) {
            if (!this.#isKnown(one.y[k])) {
                continue;
            }
            const x = Math.floor(this.#toX(one.x[k])), y = this.#toY(one.y[k]);
            if (x !== column) {
                flush();
                column = x;
                low = high = y;
            }
            low = Math.min(low, y);
            high = Math.max(high, y);
            last = y;
        }
        flush();
    }

    #paintCursor(context) {
        if (this.cursor === null) {
            return;
        }
        const x = this.#toX(this.cursor), { x: left, y, width, height } = this.area;
        if (x < left - 1 || x > left + width + 1) {
            return;
        }
        context.strokeStyle = theme.colour('ink');
        context.globalAlpha = 0.55;
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(Math.round(x) + 0.5, y);
        context.lineTo(Math.round(x) + 0.5, y + height);
        context.stroke();
        context.globalAlpha = 1;
        for (const one of this.series) {
            if (one.points || one.count === 0) {
                continue;
            }
            const k = Math.min(one.count - 1, lowerBound(one.x, one.count, this.cursor - 1e-12 * Math.abs(this.cursor)));
            const at = this.#toY(one.y[k]);
            if (Number.isFinite(at) && at >= y - 2 && at <= y + height + 2) {
                context.fillStyle = one.colour;
                context.strokeStyle = theme.colour('panel');
                context.lineWidth = 1.5;
                context.beginPath();
                context.arc(x, at, 3.2, 0, 7);
                context.fill();
                context.stroke();
            }
        }
    }

    // What the point under the pointer stands for.
    #tellPoint(event) {
        const box = this.canvas.getBoundingClientRect();
        let said = '', nearest = 10; // pixels
        for (const one of this.area ? this.series.filter(series => series.points) : []) {
            for (let k = 0; k < one.count; ++k) {
                const away = Math.hypot(this.#toX(one.x[k]) - event.clientX + box.left, this.#toY(one.y[k]) - event.clientY + box.top);
                if (away < nearest) {
                    nearest = away;
                    said = `${one.name}: ${number(one.x[k], 3)}, ${number(one.y[k], 3)}`;
                }
            }
        }
        this.canvas.title = said;
    }

    // Pressing moves the cursor, as the time line does; with Shift, or the right button, a range is chosen.
    #watchPointer() {
        let mode = null;
        const place = event => event.clientX - this.canvas.getBoundingClientRect().left;
        const valueAt = at => this.xScale.value(Math.max(0, Math.min(1, (at - this.area.x) / this.area.width)));
        this.canvas.addEventListener('contextmenu', event => event.preventDefault());
        this.canvas.addEventListener('pointerdown', event => {
            if (!this.area) {
                return;
            }
            mode = event.shiftKey || event.button === 2 ? 'range' : 'cursor';
            this.canvas.setPointerCapture(event.pointerId);
            if (mode === 'range') {
                this.selection = [place(event), place(event)];
            } else {
                this.emit('cursor', valueAt(place(event)));
            }
        });
        this.canvas.addEventListener('pointermove', event => {
            this.#tellPoint(event);
            if (mode === 'range') {
                this.selection[1] = place(event);
                this.draw();
            } else if (mode === 'cursor' || this.options.hovers && this.area) {
                this.emit('cursor', valueAt(place(event)));
            }
        });
        this.canvas.addEventListener('pointerup', () => {
            if (mode === 'range') {
                const [a, b] = this.selection;
                this.selection = null;
                if (Math.abs(a - b) > 4) {
                    this.emit('zoom', [valueAt(Math.min(a, b)), valueAt(Math.max(a, b))]);
                }
                this.draw();
            }
            mode = null;
        });
        this.canvas.addEventListener('dblclick', () => this.emit('zoom', null));
    }
}
