// The cursor: which frame is shown, and how it moves on. A frame is shown when it has arrived; the newest wish counts.

import { Emitter } from './dom.js';

export const speeds = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16];

export class Player extends Emitter {
    constructor(run, frames) {
        super();
        this.run = run;
        this.frames = frames;
        this.frame = run.firstFrame;
        this.wanted = this.frame;
        this.isPlaying = false;
        this.speed = 1;
        this.loops = true;
        this.stride = 1;
        this.wantsContacts = true;
        this.clock = null;
    }

    // A live run answers for itself: see live.js.
    toggle() {
        if (this.live) {
            this.live.toggle();
        } else {
            this.setPlaying(!this.isPlaying);
        }
    }

    setPlaying(isPlaying) {
        this.isPlaying = isPlaying;
        this.clock = null;
        this.stride = 1;
        if (isPlaying && this.wanted >= this.run.lastFrame) {
            this.seek(this.run.firstFrame);
        }
        this.emit('playing', isPlaying);
    }

    setSpeed(speed) {
        this.speed = speed;
        this.clock = null;
        this.emit('speed', speed);
        this.live?.setSpeed(speed);
    }

    seek(frame, { pause = false } = {}) {
        if (pause && this.isPlaying) {
            this.setPlaying(false);
        }
        if (pause) {
            this.live?.hold();
        }
        this.wanted = Math.max(this.run.firstFrame, Math.min(this.run.lastFrame, Math.round(frame)));
        this.#load();
    }

    step(direction) {
        if (this.live && direction > 0 && this.wanted >= this.run.lastFrame) {
            this.live.step();
            return;
        }
        this.seek(this.wanted + direction, { pause: true });
    }

    // Shows what is wanted, at once where it is here.
    #load() {
        const view = this.frames.peek(this.wanted, this.stride, this.wantsContacts);
        if (view) {
            this.#show(view);
        } else if (!this.isLoading) {
            this.isLoading = true;
            const asked = this.wanted;
            this.frames.get(asked, this.stride, this.wantsContacts).then(loaded => {
                this.isLoading = false;
                if (loaded && (loaded.frame === this.wanted || this.isPlaying)) {
                    this.#show(loaded);
                }
                if (this.wanted !== asked) {
                    this.#load();
                }
            });
        }
    }

    reload() {
        this.view = null;
        this.#load();
    }

    #show(view) {
        this.frame = view.frame;
        this.view = view;
        this.emit('frame', view);
    }

    // Called for every picture; `now` in seconds.
    tick(now) {
        if (!this.isPlaying || this.run.lastFrame <= this.run.firstFrame) {
            return;
        }
        if (this.clock === null || this.isLoading) {
            this.clock = { now, time: this.run.timeOf(this.frame) };
        }
        // Where several frames would pass between two pictures, only every so many are fetched.
        const passing = this.speed / 60 / this.run.frameTime;
        const stride = this.run.source.isExact ? 2 ** Math.max(0, Math.floor(Math.log2(passing))) : 1;
        if (stride !== this.stride) {
            this.stride = stride;
        }
        const time = this.clock.time + (now - this.clock.now) * this.speed;
        const end = this.run.timeOf(this.run.lastFrame);
        if (time >= end) {
            this.stride = 1;
            if (this.loops && this.wanted >= this.run.lastFrame) {
                this.clock = null;
                this.wanted = this.run.firstFrame;
            } else {
                this.wanted = this.run.lastFrame;
                if (!this.loops) {
                    this.setPlaying(false);
                }
            }
        } else {
            const frame = Math.floor(this.run.frameAt(time) / this.stride) * this.stride;
            if (frame === this.wanted) {
                return;
            }
            this.wanted = Math.max(this.run.firstFrame, frame);
        }
        this.#load();
        const ahead = (this.run.source.blockFrames ?? 64) * this.stride;
        const next = this.wanted + ahead;
        this.frames.prefetch(next - next % this.stride, this.stride, this.wantsContacts);
    }
}
