// A link that carries a scene and its settings: { scene: name or text, files, orders, twin }, packed after the #. Links that people write
// themselves may say #scene=tippe_top&stepper=anitescu&step=0.005&twin=penalty instead.

const mostBytes = 4e6; // of what is unpacked

async function pass(bytes, stream, most) {
    const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(), pieces = [];
    let size = 0;
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        size += piece.value.length;
        if (size > most) {
            reader.cancel();
            throw new Error('this link holds more than a scene');
        }
        pieces.push(piece.value);
    }
    return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

function encode(bytes) {
    let words = '';
    for (let at = 0; at < bytes.length; at += 0x8000) {
        words += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    }
    return btoa(words).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

const decode = words => Uint8Array.from(atob(words.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.charCodeAt(0));

export async function packLink(state) {
    const bytes = new TextEncoder().encode(JSON.stringify(state));
    return `#1${encode(await pass(bytes, new CompressionStream('deflate-raw'), Infinity))}`;
}

// Null where there is nothing after the #; throws where it makes no sense.
export async function unpackLink(hash) {
    const words = hash.replace(/^#/, '');
    if (words === '') {
        return null;
    }
    if (words.includes('=')) {
        const given = new URLSearchParams(words), orders = [];
        if (given.has('stepper')) {
            orders.push({ stepper: given.get('stepper') });
        }
        if (given.has('step')) {
            orders.push({ step: Number(given.get('step')) });
        }
        return { scene: given.get('scene') ?? 'tippe_top', orders, twin: given.get('twin') };
    }
    let state = null;
    try {
        state = words[0] === '1' ? JSON.parse(new TextDecoder().decode(await pass(decode(words.slice(1)), new DecompressionStream('deflate-raw'), mostBytes))) : null;
    } catch (error) {
        if (/more than a scene/.test(error.message)) {
            throw error;
        }
    }
    if (typeof state?.scene !== 'string' || !Array.isArray(state.orders ?? [])) {
        throw new Error('this link is damaged: it may have been cut short');
    }
    return state;
}
