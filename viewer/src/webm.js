// The length of a WebM video. Browsers record without knowing it in advance and leave it out; players then show no length and cannot seek.
//
// A WebM file is a tree of elements: an id, a size, and that many bytes. The length belongs into the element Info of the Segment, which is of
// unknown size here, so that nothing else has to change.

const ids = { segment: 0x18538067, info: 0x1549a966, scale: 0x2ad7b1, duration: 0x4489 };

// A number of variable length; the leading bit of its first byte says how long. Ids keep that bit.
function readNumber(bytes, at, keepsMark) {
    const length = Math.clz32(bytes[at]) - 23;
    if (!(length >= 1 && length <= 8) || at + length > bytes.length) {
        return null;
    }
    let value = keepsMark ? bytes[at] : bytes[at] & (0xff >> length), isUnknown = (bytes[at] | (0xff00 >> length & 0xff)) === 0xff;
    for (let k = 1; k < length; ++k) {
        value = value * 256 + bytes[at + k];
        isUnknown &&= bytes[at + k] === 0xff;
    }
    return { value, length, isUnknown };
}

// Elements of a part of the file, until one is wanted.
function find(bytes, from, to, wanted) {
    for (let at = from; at < to;) {
        const id = readNumber(bytes, at, true), size = id && readNumber(bytes, at + id.length, false);
        if (!size) {
            return null;
        }
        const start = at + id.length + size.length;
        if (id.value === wanted) {
            return { at, idLength: id.length, sizeLength: size.length, start, end: size.isUnknown ? bytes.length : start + size.value };
        }
        if (size.isUnknown) {
            return null;
        }
        at = start + size.value;
    }
    return null;
}

function sizeBytes(value) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value) | 1n << 56n);
    return bytes;
}

// The same video with its length in seconds; as it is where it has one, or is something else.
export function withLength(bytes, seconds) {
    const segment = find(bytes, 0, bytes.length, ids.segment), info = segment && find(bytes, segment.start, segment.end, ids.info);
    if (!info || info.end > bytes.length || find(bytes, info.start, info.end, ids.duration)) {
        return bytes;
    }
    const scale = find(bytes, info.start, info.end, ids.scale);
    const unit = scale ? bytes.subarray(scale.start, scale.end).reduce((sum, byte) => sum * 256 + byte, 0) : 1e6; // ns
    const length = new Uint8Array(11);
    length.set([0x44, 0x89, 0x88]);
    new DataView(length.buffer).setFloat64(3, seconds * 1e9 / unit);
    const head = bytes.subarray(0, info.at + info.idLength), rest = bytes.subarray(info.end);
    const parts = [head, sizeBytes(info.end - info.start + length.length), bytes.subarray(info.start, info.end), length, rest];
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => { whole.set(part, at); return at + part.length; }, 0);
    return whole;
}
