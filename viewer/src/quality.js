// How much drawing the machine can take.
//
// Without a graphics card (in a virtual machine, say) pictures are computed by the processor: plainer materials, the same
// scene. And wherever pictures take too long while things move, they get fewer pixels and no shadows; once things rest, a
// picture with all of both follows.

import * as THREE from 'three';
import { isPlain } from './machine.js';

// Powers of colours are what software spends most of its time on. This is within 0.012 of the curve of sRGB.
if (isPlain) {
    THREE.ShaderChunk.colorspace_fragment = 'gl_FragColor.rgb = 1.13 * sqrt(max(gl_FragColor.rgb, 0.0)) - 0.13 * gl_FragColor.rgb;';
}

// Pixels drawn for one of the page's, along an edge. Software does not smooth edges; it draws more pixels instead.
const ratio = Math.min(devicePixelRatio, 2);
const levels = isPlain
    ? [[1.5, true], [1, true], [1, false], [0.8, false], [0.65, false], [0.5, false]]
    : [[ratio, true], [0.75 * ratio, true], [0.6 * ratio, true], [0.5 * ratio, false]];

const tooSlow = 45;     // ms a picture
const fastEnough = 24;  // ms: a better level may be tried
const patience = 400;   // ms before a level is judged
const restAfter = 250;  // ms without a picture, and as many chances to draw one:
const restTicks = 6;
const restWhilePlaying = 1000; // ms; frames may be late

export class Quality {
    #level = 0;
    #applied = null;
    #mean = 0;
    #count = 0;
    #watched = 0; // ms at this level
    #trust = 1; // grows with each better level that proved too slow
    #last = 0;
    #hasDrawn = false;
    #idle = 0;
    #lastDrawn = 0;

    // `apply(pixelRatio, withShadows)` sets the stage; `onRest` asks it for a picture.
    constructor(isCrowded, apply, onRest) {
        this.apply = apply;
        this.onRest = onRest;
        this.rest = isPlain ? [isCrowded ? 1.5 : 2, true] : levels[0];
        this.#level = isPlain ? (isCrowded ? 2 : 1) : 0;
        this.pictureTime = 33; // ms, lately
        this.#apply(levels[this.#level]);
    }

    #apply(level) {
        if (level !== this.#applied) {
            this.#applied = level;
            this.apply(...level);
        }
    }

    // Before a picture that is one of a motion.
    beginMotion() {
        if (!this.isResting) {
            this.#apply(levels[this.#level]);
        }
    }

    // Once for every chance to draw, with its time in milliseconds and whether a picture was drawn. Where a picture takes
    // long, the next chance comes late.
    tick(now, hasDrawn) {
        const passed = now - this.#last;
        this.#last = now;
        if (this.#hasDrawn && passed < 3000 && !this.isResting) {
            this.#judge(passed);
        }
        this.#hasDrawn = hasDrawn;
        if (hasDrawn) {
            this.isResting = false;
            this.#idle = 0;
            this.#lastDrawn = now;
        } else if (++this.#idle > restTicks && now - this.#lastDrawn > (this.isPlaying ? restWhilePlaying : restAfter)) {
            this.#settle();
        }
    }

    #settle() {
        if (this.#applied !== this.rest) {
            this.isResting = true;
            this.#apply(this.rest);
            this.onRest();
        }
        this.#idle = 0;
        this.#mean = this.#count = this.#watched = 0;
    }

    // The first pictures of a level also make what it needs; they do not count.
    #judge(passed) {
        this.#count += 1;
        if (this.#count < 3) {
            return;
        }
        this.#mean = this.#count === 3 ? passed : 0.85 * this.#mean + 0.15 * passed;
        this.pictureTime = this.#mean;
        this.#watched += passed;
        if (this.#watched > patience && this.#mean > tooSlow && this.#level < levels.length - 1) {
            this.#change(this.#mean > 2.5 * tooSlow ? 2 : 1);
        } else if (this.#watched > 5 * patience * this.#trust && this.#mean < fastEnough && this.#level > 0) {
            this.#trust *= 2;
            this.#change(-1);
        }
    }

    #change(by) {
        this.#level = Math.min(levels.length - 1, this.#level + by);
        this.#mean = this.#count = this.#watched = 0;
    }
}
