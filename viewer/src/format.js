// Numbers as people read them.

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function powerOfTen(exponent) {
    const digits = String(Math.abs(exponent)).split('').map(digit => superscripts[digit]).join('');
    return `10${exponent < 0 ? '⁻' : ''}${digits}`;
}

const proper = text => text.replace('-', '−');

// `digits` significant digits, at most; powers of ten where it would be long.
export function number(value, digits = 4) {
    if (value === undefined || value === null || Number.isNaN(value)) {
        return '–';
    }
    if (!Number.isFinite(value)) {
        return value > 0 ? '∞' : '−∞';
    }
    if (value === 0) {
        return '0';
    }
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-4) {
        const [mantissa, exponent] = value.toExponential(Math.max(0, Math.min(digits, 3) - 1)).split('e');
        if (Number(mantissa) === 1) {
            return powerOfTen(Number(exponent));
        }
        return `${proper(mantissa)}·${powerOfTen(Number(exponent))}`;
    }
    return proper(String(Number(value.toPrecision(digits))));
}

// A fixed width for numbers that change while one looks at them.
export function steady(value, digits = 6) {
    if (!Number.isFinite(value)) {
        return '–';
    }
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e5 || size < 1e-4)) {
        return number(value, 2);
    }
    const before = Math.max(1, Math.floor(Math.log10(Math.max(size, 1))) + 1);
    return proper(value.toFixed(Math.max(0, digits - before)));
}

const scales = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n'], [1e-12, 'p']];

// 0.0025, 's' is 2.5 ms.
export function withUnit(value, unit, digits = 3) {
    if (!Number.isFinite(value)) {
        return '–';
    }
    if (value === 0) {
        return `0 ${unit}`;
    }
    const size = Math.abs(value);
    if (size < 1e-13) {
        return `${number(value, 2)} ${unit}`;
    }
    const [scale, prefix] = scales.find(([least]) => size >= least * 0.99999) ?? scales.at(-1);
    return `${number(value / scale, digits)} ${prefix}${unit}`;
}

// 1 frame, 2 frames.
export const many = (value, noun, plural = `${noun}s`) => `${count(value)} ${value === 1 ? noun : plural}`;

export const count = value => value.toLocaleString('en-US').replaceAll(',', ' ');
