// What draws here: a graphics card, or in a virtual machine, say, the processor.

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

// For drawings in the plane. Without a graphics card the browser's own software is faster at them than an imitated card,
// which is what it takes unless it is told that they will be read.
export const contextOf = canvas => canvas.getContext('2d', { willReadFrequently: isPlain });
