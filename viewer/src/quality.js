// How much drawing the machine can take. Without a graphics card (in a virtual machine, say) pictures are computed by
// the processor: plainer materials, softer demands, the same scene.

function isDrawnBySoftware() {
    const context = document.createElement('canvas').getContext('webgl2');
    if (!context) {
        return true;
    }
    const info = context.getExtension('WEBGL_debug_renderer_info');
    const name = String(context.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : context.RENDERER));
    context.getExtension('WEBGL_lose_context')?.loseContext();
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export const isPlain = isDrawnBySoftware();

// Fewer pixels while things move too slowly, all of them again when they rest.
export class Resolution {
    #scale = 1;
    #last = 0;
    #mean = 0;
    #timer = 0;

    constructor(renderer, onRest) {
        this.renderer = renderer;
        this.full = Math.min(devicePixelRatio, 2);
        this.onRest = onRest;
        this.#apply(1);
    }

    #apply(scale) {
        this.#scale = scale;
        this.renderer.setPixelRatio(this.full * scale);
    }

    // To be called after every picture, with the time in milliseconds.
    drawn(now) {
        const passed = now - this.#last;
        this.#last = now;
        clearTimeout(this.#timer);
        if (this.#scale < 1) {
            this.#timer = setTimeout(() => {
                this.#apply(1);
                this.#mean = 0;
                this.onRest();
            }, 400);
        }
        if (passed > 1000) {
            this.#mean = 0;
            return;
        }
        this.#mean = this.#mean === 0 ? passed : 0.8 * this.#mean + 0.2 * passed;
        if (this.#mean > 42 && this.#scale > 0.5) {
            this.#apply(Math.max(0.5, this.#scale * 0.8));
            this.#mean = 0;
        }
    }
}
