// A run that is going on: follows its newest frame, and sends it orders.

import { button, element } from './dom.js';
import { number } from './format.js';

const unusual = 700; // ms without a frame from which on a step is called hard

// A step in its field: a sixtieth of a second would be longer than the field.
const shown = step => String(Number(step.toPrecision(6)));

export class Live {
    constructor(run, player, frames, onMessage) {
        this.run = run;
        this.player = player;
        this.frames = frames;
        this.onMessage = onMessage;
        this.status = { version: 0, running: false, epoch: 0 };
        this.followsEdge = true;
        player.live = this;
        this.stepper = element('select', { 'aria-label': 'Stepper', title: 'Stepper', onchange: () => this.send({ stepper: this.stepper.value }) },
            ...run.head.steppers.map(name => element('option', { value: name, selected: name === run.stepper }, name)));
        this.step_ = element('input', {
            type: 'number', min: 1e-6, max: 1, step: 'any', value: shown(run.step), title: 'Step in seconds', 'aria-label': 'Step in seconds',
            onchange: () => this.#changeStep(),
        });
        this.factor = element('span.factor', { title: 'Simulated seconds per second' });
        this.controls = element('div.live', {},
            button('restart', 'Start again (R)', () => this.restart()), this.stepper, element('label.step', {}, this.step_, 's'), this.factor);
    }

    // False, and a message, when it was refused.
    async send(order) {
        if ('running' in order) {
            this.ordered = { running: order.running, version: this.status.version };
        }
        try {
            await this.run.source.command(order);
            return true;
        } catch (error) {
            this.ordered = null;
            this.onMessage(error.message);
            return false;
        }
    }

    // Whether the run goes on once the orders on their way are obeyed: whoever starts it and at once goes back to an earlier
    // frame wants it to stand.
    get isToRun() {
        return this.ordered?.running ?? this.status.running;
    }

    // A step that is refused does not stay in its field.
    async #changeStep() {
        const step = Number(this.step_.value);
        if (!(step > 0)) {
            this.onMessage('A step is a number of seconds above zero.');
            this.step_.value = shown(this.run.step);
        } else if (!await this.send({ step })) {
            this.step_.value = shown(this.run.step);
        }
    }

    // The first picture has been drawn: a run that has never gone starts.
    begin() {
        this.send({ begin: true });
    }

    toggle() {
        this.followsEdge = true;
        this.send({ running: !this.isToRun });
    }

    // A run that stands where its scene ends, and that nobody has stopped, goes on.
    goOn() {
        const { head, lastFrame, step } = this.run;
        const isAtEnd = Math.abs(this.run.timeOf(lastFrame) - (head.until ?? 0)) <= step;
        if (isAtEnd && this.followsEdge && !this.isToRun) {
            this.send({ running: true });
        }
    }

    hold() {
        this.followsEdge = false;
        if (this.isToRun) {
            this.send({ running: false });
        }
    }

    step() {
        this.followsEdge = true;
        this.send({ steps: 1 });
    }

    restart() {
        this.followsEdge = true;
        this.send({ restart: true, running: true });
    }

    fork(frame) {
        this.followsEdge = true;
        this.send({ fork: frame });
    }

    // Asks no more.
    end() {
        this.hasEnded = true;
    }

    setSpeed(speed) {
        this.send({ speed });
    }

    // Whoever pulls wants to see it move: a run that stands goes on, from its newest frame.
    startDrag() {
        this.followsEdge = true;
        if (!this.isToRun) {
            this.send({ running: true });
        }
    }

    drag(body, point, target) {
        this.wish = { drag: { body, point, target } };
        this.#sendDrag();
    }

    drop() {
        this.wish = { drop: true };
        this.#sendDrag();
    }

    // One order at a time is on its way; the last wish follows it.
    async #sendDrag() {
        if (this.isSending) {
            return;
        }
        this.isSending = true;
        while (this.wish) {
            const order = this.wish;
            this.wish = null;
            await this.send(order);
        }
        this.isSending = false;
    }

    // Says for how long a step has been at work, if it takes longer than steps should.
    #showWork() {
        const { running, step, speed } = this.status, waited = this.waitsSince ? performance.now() - this.waitsSince : 0;
        const isHard = running && waited > unusual + 3000 * (step ?? 0) / (speed > 0 ? speed : 1);
        this.factor.classList.toggle('at-work', isHard);
        if (isHard) {
            this.factor.textContent = `a hard step: ${(waited / 1000).toFixed(waited < 10000 ? 1 : 0)} s`;
        }
        if (!this.hasEnded) {
            setTimeout(() => this.#showWork(), 200);
        }
    }

    async watch() {
        const { run, player } = this;
        this.#showWork();
        while (!this.hasEnded) {
            let status;
            this.waitsSince = performance.now(); // the page itself may take long too: that does not count
            try {
                status = await run.source.wait(run.source.frameCount, this.status.version);
            } catch {
                if (this.hasEnded) {
                    return;
                }
                this.onMessage('The simulation has ended: the program that served this page is gone.');
                this.status.running = false;
                player.emit('playing', false);
                return;
            }
            this.waitsSince = 0;
            if (status.epoch !== this.status.epoch || status.frames < run.source.frameCount) {
                this.frames.clear();
                run.source.forget();
                run.source.firstFrame = status.first;
                run.source.frameCount = status.frames;
                run.restartOverview();
            }
            const changed = status.running !== this.status.running || status.stepper !== run.stepper || status.step !== run.step;
            if (status.version !== this.status.version) {
                run.source.readSettings().then(settings => { run.materials?.update(settings); run.emit('values', settings); }).catch(() => {});
            }
            this.status = status;
            if (this.ordered?.version !== status.version) {
                this.ordered = null;
            }
            run.source.firstFrame = status.first;
            run.source.frameCount = status.frames;
            this.frames.forgetBefore(status.first);
            run.step = status.step;
            run.stepper = status.stepper;
            if (changed) {
                this.stepper.value = status.stepper;
                this.step_.value = shown(status.step);
                run.emit('settings');
                player.isPlaying = false;
                player.emit('playing', status.running);
            }
            this.factor.textContent = status.running && status.factor > 0 ? `${number(status.factor, 2)}×` : '';
            if (status.message) {
                this.onMessage(status.message);
            }
            run.forgetSeries();
            try {
                await run.extendOverview();
            } catch {
                continue;
            }
            if (this.followsEdge) {
                player.seek(run.lastFrame);
            } else {
                player.emit('grown');
            }
            await new Promise(resolve => requestAnimationFrame(resolve));
        }
    }
}
