// Line plots, drawn by uPlot. They know nothing of runs: series are arrays of x and y.
//
//     const plot = new Plot(container, { title: 'Energy', unit: 'J', xUnit: 's' });
//     plot.setSeries([{ name: 'kinetic', colour: '#1f6f8b', x: times, y: energies, count: n }]);
//     plot.setCursor(1.25);
//     plot.on('cursor', x => ...);   someone points at x
//     plot.on('zoom', range => ...); someone chose a range of x, or null for all
//
// A series may be `dashed` or have a `dash` of its own, be a `step`, `thin`, of some `width` and `opacity`, or have `points`,
// with a line (`joined`) or without; axes may be logarithmic (`log` for y, `xLog` for x) and have names (`xName`, `yName`).
// With `hovers` the cursor follows the pointer without a press. What a logarithm does not know is a gap.

import uPlot from 'uplot';
import { Emitter, element } from './dom.js';
import { number, withUnit } from './format.js';
import { theme } from './theme.js';

// The first place in ascending x that is not below `value`.
export function lowerBound(x, count, value) {
    let low = 0, high = count;
    while (low < high) {
        const middle = (low + high) >> 1;
        [low, high] = x[middle] < value ? [middle + 1, high] : [low, middle];
    }
    return low;
}

// Powers of ten, some of them; with 2 and 5 between where there is room.
function logTicks(low, high, wanted) {
    const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9);
    const every = Math.max(1, Math.ceil((to - from + 1) / wanted));
    const factors = Math.log10(high / low) < 2.2 ? [1, 2, 5] : [1];
    const found = [];
    for (let k = Math.ceil((from - 1) / every) * every; k <= to; k += every) {
        found.push(...factors.map(factor => factor * 10 ** k).filter(tick => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)));
    }
    return found.length > 0 ? found : [low, high];
}

// Room around what is drawn, as [low, high].
function padded(options, low, high) {
    if (options.log) {
        if (!(high > 0)) {
            return [1e-16, 1e-8];
        }
        const limit = options.limit?.() ?? high;
        return [10 ** Math.floor(Math.log10(Math.min(Math.max(low, high * 1e-16), limit / 10)) - 0.05), 10 ** Math.ceil(Math.log10(Math.max(high, limit)) + 0.05)];
    }
    if (!(high >= low)) {
        return [0, 1];
    }
    const bottom = options.fromZero ? Math.min(0, low) : low, extent = high - bottom;
    const pad = extent > 1e-9 * Math.max(Math.abs(bottom), Math.abs(high)) ? 0.08 * extent : Math.max(Math.abs(high) * 0.05, high === 0 && bottom === 0 ? 1 : 1e-12);
    return [options.fromZero && bottom === 0 ? 0 : bottom - pad, high + pad];
}

export class Plot extends Emitter {
    constructor(container, options = {}) {
        super();
        this.options = { title: '', unit: '', xUnit: '', height: 128, log: false, xLog: false, ...options };
        this.series = [];
        this.cursor = null;
        this.range = null;
        this.legend = element('div.legend');
        this.title = element('span.plot-title', {}, this.options.title);
        this.actions = element('span.plot-actions');
        this.box = element('div.plot-box', { role: 'img', 'aria-label': this.options.title });
        this.box.style.height = `${this.options.height}px`;
        this.root = element('section.plot', {}, element('header', {}, this.title, this.actions), this.legend, this.box);
        container.append(this.root);
        this.observer = new ResizeObserver(() => this.#resize());
        this.observer.observe(this.box);
        // What has been scrolled away is drawn when it comes back.
        this.isSeen = true;
        this.watcher = new IntersectionObserver(([{ isIntersecting }]) => {
            this.isSeen = isIntersecting;
            this.draw();
        });
        this.watcher.observe(this.box);
    }

    remove() {
        this.isRemoved = true;
        this.observer.disconnect();
        this.watcher.disconnect();
        this.chart?.destroy();
        this.root.remove();
    }

    setSeries(series) {
        const form = series.map(one => [one.name, one.note, one.dash, one.dashed, one.points].join()).join('|');
        this.series = series;
        if (form !== this.form) {
            this.form = form;
            this.#makeLegend();
            this.chart?.destroy();
            this.chart = null;
        }
        this.isStale = true;
        this.draw();
    }

    setCursor(x) {
        if (x !== this.cursor) {
            this.cursor = x;
            this.draw();
        }
    }

    setRange(range) {
        this.range = range;
        this.isStale = true;
        this.draw();
    }

    draw() {
        this.frame ??= requestAnimationFrame(() => {
            this.frame = null;
            this.#paint();
        });
    }

    #paint() {
        if (this.isRemoved || !this.isSeen || this.box.clientWidth === 0) {
            return;
        }
        if (!this.chart) {
            this.chart = new uPlot(this.#describe(), this.#data(), this.box);
            this.#watchPointer(this.chart.over);
        } else if (this.isStale) {
            this.chart.setData(this.#data());
        } else {
            this.chart.redraw(false);
        }
        this.isStale = false;
        this.#updateLegend();
    }

    #resize() {
        if (this.chart && this.box.clientWidth > 0) {
            this.chart.setSize({ width: this.box.clientWidth, height: this.options.height });
        }
        this.draw();
    }

    // Columns for uPlot: one x for all. Series that have their own are joined.
    #data() {
        const known = one => {
            const y = one.y.subarray(0, one.count);
            return this.options.log ? Array.from(y, value => (value > 0 && Number.isFinite(value) ? value : null)) : y;
        };
        const [first] = this.series;
        if (!first) {
            return [[]];
        }
        return this.series.every(one => one.x === first.x && one.count === first.count)
            ? [first.x.subarray(0, first.count), ...this.series.map(known)]
            : uPlot.join(this.series.map(one => {
                const order = Array.from({ length: one.count }, (_, k) => k).filter(k => !this.options.xLog || one.x[k] > 0).sort((a, b) => one.x[a] - one.x[b]), y = known(one);
                return [order.map(k => one.x[k]), order.map(k => y[k])];
            }));
    }

    #describe() {
        const { options } = this, font = () => `10.5px ${theme.colour('font')}`;
        const grid = { stroke: () => theme.colour('line'), width: 1 }, ticks = { show: false };
        const axis = { stroke: () => theme.colour('faint'), font: font(), grid, ticks, labelFont: font(), labelSize: 17, filter: (_, splits) => splits };
        const values = format => (_, splits) => splits.map((value, i) => (value === null ? '' : format(value, i, splits)));
        const digitsOf = splits => Math.max(3, Math.min(7, Math.ceil(Math.log10(Math.max(...splits.map(Math.abs), 1e-300) / Math.max(splits[1] - splits[0], 1e-300))) + 2));
        return {
            width: this.box.clientWidth, height: options.height, padding: [6, 16, 0, 0], legend: { show: false },
            cursor: { show: false },
            scales: {
                x: { time: false, distr: options.xLog ? 3 : 1, range: (_, low, high) => this.#rangeOf(low, high) },
                y: { distr: options.log ? 3 : 1, range: (_, low, high) => padded(options, low, high) },
            },
            axes: [
                {
                    ...axis, size: 20, gap: 2, space: 60, label: options.xName, splits: options.xLog ? (_, __, low, high) => logTicks(low, high, 5) : undefined,
                    values: values((value, i, splits) => number(value, 5) + (options.xUnit && i === splits.length - 1 ? ` ${options.xUnit}` : '')), grid: { show: false },
                },
                {
                    ...axis, size: 54, gap: 4, space: options.log ? 18 : 26, label: options.yName, splits: options.log ? (_, __, low, high) => logTicks(low, high, 4) : undefined,
                    values: values((value, _, splits) => (options.log || Math.abs(value) < 1e-12 && value !== 0 ? number(value, 1)
                        : options.unit ? withUnit(value, options.unit, digitsOf(splits)) : number(value, digitsOf(splits)))),
                },
            ],
            series: [{}, ...this.series.map((one, i) => ({
                stroke: () => this.series[i].colour, width: one.points && !one.joined ? 0 : one.width ?? (one.thin ? 1 : 1.6), alpha: one.opacity ?? 1,
                dash: one.dash ?? (one.dashed ? [5, 4] : []), spanGaps: Boolean(one.joined), points: { show: Boolean(one.points), size: 2 * (one.points ?? 0), fill: () => this.series[i].colour },
                paths: one.step ? uPlot.paths.stepped({ align: 1 }) : undefined,
            }))],
            hooks: { draw: [chart => this.#drawOver(chart)] },
        };
    }

    #rangeOf(low, high) {
        if (this.range) {
            return this.range;
        }
        if (this.options.xLog) {
            const room = Math.max(1.1, (high / low) ** 0.05);
            return high > 0 ? [low / room, high * room] : [0.1, 1];
        }
        return high > low ? [low, high] : [low ?? 0, (low ?? 0) + 1];
    }

    // A limit, and the cursor with a point on each line.
    #drawOver(chart) {
        const { ctx: context } = chart, { left, top, width, height } = chart.bbox, ratio = devicePixelRatio;
        const line = (x0, y0, x1, y1) => {
            context.beginPath();
            context.moveTo(x0, y0);
            context.lineTo(x1, y1);
            context.stroke();
        };
        context.save();
        context.setLineDash([]);
        context.lineWidth = ratio;
        if (this.options.limit) {
            const y = chart.valToPos(this.options.limit(), 'y', true);
            context.strokeStyle = theme.colour('warning');
            context.setLineDash([3 * ratio, 3 * ratio]);
            line(left, y, left + width, y);
            context.setLineDash([]);
        }
        const x = this.cursor === null ? -1 : chart.valToPos(this.cursor, 'x', true);
        if (x >= left - 1 && x <= left + width + 1) {
            context.strokeStyle = theme.colour('ink');
            context.globalAlpha = 0.55;
            line(x, top, x, top + height);
            context.globalAlpha = 1;
            for (const one of this.series.filter(each => !each.points && each.count > 0)) {
                const y = chart.valToPos(one.y[this.#placeOf(one)], 'y', true);
                if (y >= top - 2 && y <= top + height + 2) {
                    context.fillStyle = one.colour;
                    context.strokeStyle = theme.colour('panel');
                    context.lineWidth = 1.5 * ratio;
                    context.beginPath();
                    context.arc(x, y, 3.2 * ratio, 0, 7);
                    context.fill();
                    context.stroke();
                }
            }
        }
        context.restore();
    }

    #placeOf(one) {
        return Math.min(one.count - 1, lowerBound(one.x, one.count, this.cursor - 1e-12 * Math.abs(this.cursor)));
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
            const value = this.cursor !== null && !one.points && one.count > 0 ? one.y[this.#placeOf(one)] : null;
            const text = value === null ? '' : one.format ? one.format(value) : this.options.unit ? withUnit(value, this.options.unit, 4) : number(value);
            if (this.values[i].textContent !== text) {
                this.values[i].textContent = text;
            }
        });
    }

    // What the point under the pointer stands for.
    #tellPoint(event) {
        const box = this.chart.over.getBoundingClientRect();
        let said = '', nearest = 10; // pixels
        for (const one of this.series.filter(series => series.points)) {
            for (let k = 0; k < one.count; ++k) {
                const away = Math.hypot(this.chart.valToPos(one.x[k], 'x') - event.clientX + box.left, this.chart.valToPos(one.y[k], 'y') - event.clientY + box.top);
                [said, nearest] = away < nearest ? [`${one.name}: ${number(one.x[k], 3)}, ${number(one.y[k], 3)}`, away] : [said, nearest];
            }
        }
        this.chart.over.title = said;
    }

    // Pressing moves the cursor, as the time line does; with Shift, or the right button, a range is chosen.
    #watchPointer(over) {
        let mode = null, start = 0;
        const place = event => Math.max(0, Math.min(over.clientWidth, event.clientX - over.getBoundingClientRect().left));
        const select = to => this.chart.setSelect({ left: Math.min(start, to), width: Math.abs(to - start), top: 0, height: over.clientHeight }, false);
        over.addEventListener('contextmenu', event => event.preventDefault());
        over.addEventListener('pointerdown', event => {
            mode = event.shiftKey || event.button === 2 ? 'range' : 'cursor';
            start = place(event);
            over.setPointerCapture(event.pointerId);
            if (mode === 'cursor') {
                this.emit('cursor', this.chart.posToVal(start, 'x'));
            }
        });
        over.addEventListener('pointermove', event => {
            this.#tellPoint(event);
            if (mode === 'range') {
                select(place(event));
            } else if (mode === 'cursor' || this.options.hovers) {
                this.emit('cursor', this.chart.posToVal(place(event), 'x'));
            }
        });
        over.addEventListener('pointerup', event => {
            const end = place(event);
            if (mode === 'range' && Math.abs(end - start) > 4) {
                this.emit('zoom', [this.chart.posToVal(Math.min(start, end), 'x'), this.chart.posToVal(Math.max(start, end), 'x')]);
            }
            select(start);
            mode = null;
        });
        over.addEventListener('dblclick', () => this.emit('zoom', null));
    }
}
