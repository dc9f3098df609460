// The digits of a double: N = round(value 10^s) with s such that N has 17 digits.
//
// The product is formed with 128 bits of 10^s, a factor whose error is known; the digits are right
// unless the product lies within that error of a rounding boundary, and then, about never but for
// round numbers, the C library decides. Several times faster than printf, and no locale.

#include "recording/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

enum { digitCount = 17, coarseStep = 28, coarseFirst = -11 };

// high:low * 2^exponent, with the top bit set.
typedef struct power {
    uint64_t high, low;
    int exponent;
} power;

// 10^(28 j) from j = -11 on, cut after 128 bits.
static const power coarsePowers[] = {
    { 0xe61acf033d1a45dfu, 0x6fb92487298e33bdu, -1151 },
    { 0xe858ad248f5c22c9u, 0xd1b3400f8f9cff68u, -1058 },
    { 0xea9c227723ee8bcbu, 0x465e15a979c1cadcu, -965 },
    { 0xece53cec4a314ebdu, 0xa4f8bf5635246428u, -872 },
    { 0xef340a98172aace4u, 0x86fb897116c87c34u, -779 },
    { 0xf18899b1bc3f8ca1u, 0xdc44e6c3cb279ac1u, -686 },
    { 0xf3e2f893dec3f126u, 0x5a89dba3c3efccfau, -593 },
    { 0xf64335bcf065d37du, 0x4d4617b5ff4a16d5u, -500 },
    { 0xf8a95fcf88747d94u, 0x75a44c6397ce912au, -407 },
    { 0xfb158592be068d2eu, 0xeed6e2f0f0d56712u, -314 },
    { 0xfd87b5f28300ca0du, 0x8bca9d6e188853fcu, -221 },
    { 0x8000000000000000u, 0x0000000000000000u, -127 },
    { 0x813f3978f8940984u, 0x4000000000000000u, -34 },
    { 0x82818f1281ed449fu, 0xbff8f10e7a8921a4u, 59 },
    { 0x83c7088e1aab65dbu, 0x792667c6da79e0fau, 152 },
    { 0x850fadc09923329eu, 0x03e2cf6bc604ddb0u, 245 },
    { 0x865b86925b9bc5c2u, 0x0b8a2392ba45a9b2u, 338 },
    { 0x87aa9aff79042286u, 0x90fb44d2f05d0842u, 431 },
    { 0x88fcf317f22241e2u, 0x441fece3bdf81f03u, 524 },
    { 0x8a5296ffe33cc92fu, 0x82bd6b70d99aaa6fu, 617 },
    { 0x8bab8eefb6409c1au, 0x1ad089b6c2f7548eu, 710 },
    { 0x8d07e33455637eb2u, 0xdb0b487b6423e1e8u, 803 },
    { 0x8e679c2f5e44ff8fu, 0x570f09eaa7ea7648u, 896 },
    { 0x8fcac257558ee4e6u, 0x213a4f0aa5e8a7b1u, 989 },
};

// high * 2^exponent, with the top bit set.
typedef struct shortPower {
    uint64_t high;
    int exponent;
} shortPower;

// 10^i from i = 0 to 27, exact: 5^27 has 63 bits.
static const shortPower finePowers[coarseStep] = {
    { 0x8000000000000000u, -63 }, { 0xa000000000000000u, -60 }, { 0xc800000000000000u, -57 },
    { 0xfa00000000000000u, -54 }, { 0x9c40000000000000u, -50 }, { 0xc350000000000000u, -47 },
    { 0xf424000000000000u, -44 }, { 0x9896800000000000u, -40 }, { 0xbebc200000000000u, -37 },
    { 0xee6b280000000000u, -34 }, { 0x9502f90000000000u, -30 }, { 0xba43b74000000000u, -27 },
    { 0xe8d4a51000000000u, -24 }, { 0x9184e72a00000000u, -20 }, { 0xb5e620f480000000u, -17 },
    { 0xe35fa931a0000000u, -14 }, { 0x8e1bc9bf04000000u, -10 }, { 0xb1a2bc2ec5000000u, -7 },
    { 0xde0b6b3a76400000u, -4 },  { 0x8ac7230489e80000u, 0 },   { 0xad78ebc5ac620000u, 3 },
    { 0xd8d726b7177a8000u, 6 },   { 0x878678326eac9000u, 10 },  { 0xa968163f0a57b400u, 13 },
    { 0xd3c21bcecceda100u, 16 },  { 0x84595161401484a0u, 20 },  { 0xa56fa5b99019a5c8u, 23 },
    { 0xcecb8f27f4200f3au, 26 },
};

// 10^s, at most 2 units of the last bit too small; exact where s is from 0 to 27.
static power powerOfTen(int s, bool* exact) {
    int j = (s >= 0 ? s : s - coarseStep + 1) / coarseStep;
    shortPower fine = finePowers[s - j * coarseStep];
    *exact = j == 0;
    if (j == 0) {
        return (power){ fine.high, 0, fine.exponent - 64 };
    }
    power coarse = coarsePowers[j - coarseFirst];
    uint128 lower = (uint128)coarse.low * fine.high;
    uint128 product = (uint128)coarse.high * fine.high + (uint64_t)(lower >> 64);
    return (power){ (uint64_t)(product >> 64), (uint64_t)product,
                    coarse.exponent + fine.exponent + 64 };
}

// N = round(mantissa 2^exponent 10^s), ties to even; false if the error leaves it open. The
// mantissa has its top bit set, and s makes N a number of at most 60 bits.
static bool scale(uint64_t mantissa, int exponent, int s, uint64_t* rounded) {
    bool exact;
    power ten = powerOfTen(s, &exact);
    uint128 lower = (uint128)mantissa * ten.low;
    uint128 upper = (uint128)mantissa * ten.high + (uint64_t)(lower >> 64);
    uint64_t top = (uint64_t)(upper >> 64), rest = (uint64_t)upper;
    if (!exact && rest > UINT64_MAX - 2) {
        return false;
    }
    // Bits of `top` behind the binary point; all of `rest` are.
    int shift = -(exponent + ten.exponent) - 128;
    uint64_t half = (uint64_t)1 << (shift - 1);
    uint64_t fraction = top & (2 * half - 1);
    // Other powers give no ties: 2 N + 1 would be a multiple of 5^28, or 5 (2 N + 1) at most 2^53.
    bool isTie = exact && fraction == half && rest == 0;
    uint64_t whole = top >> shift;
    bool up = isTie ? (whole & 1) != 0 : fraction >= half;
    *rounded = whole + (up ? 1 : 0);
    return true;
}

static const uint64_t tenTo17 = 100000000000000000u;

// The digits and the decimal exponent of the first one. False if the C library must decide.
static bool findDigits(double value, uint64_t* digits, int* decimal) {
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 64);
    exponent -= 64;
    // floor(log10), or one less. Rounding may carry to the next power of ten as well.
    *decimal = (int)(((int64_t)(exponent + 63) * 315653) >> 20);
    for (;; *decimal += 1) {
        if (!scale(mantissa, exponent, digitCount - 1 - *decimal, digits)) {
            return false;
        }
        if (*digits < tenTo17) {
            return true;
        }
    }
}

static void askLibrary(double value, uint64_t* digits, int* decimal) {
    char text[64];
    snprintf(text, sizeof(text), "%.*e", digitCount - 1, value);
    *digits = 0;
    const char* at = text;
    for (; *at != 'e'; ++at) {
        if (*at >= '0' && *at <= '9') { // the decimal point is the locale's
            *digits = 10 * *digits + (uint64_t)(*at - '0');
        }
    }
    *decimal = atoi(at + 1);
}

static char* putExponent(char* to, int decimal) {
    *to++ = 'e';
    *to++ = decimal < 0 ? '-' : '+';
    int size = decimal < 0 ? -decimal : decimal;
    if (size >= 100) {
        *to++ = (char)('0' + size / 100);
    }
    *to++ = (char)('0' + size / 10 % 10);
    *to++ = (char)('0' + size % 10);
    return to;
}

// As %g: plain where the exponent is from -4 to 16, without zeros at the end.
static char* layOut(char* to, const char* text, int count, int decimal) {
    bool plain = decimal >= -4 && decimal < digitCount;
    int whole = plain ? decimal + 1 : 1; // digits before the point
    if (whole <= 0) {
        *to++ = '0';
        *to++ = '.';
        for (int i = whole; i < 0; ++i) {
            *to++ = '0';
        }
        memcpy(to, text, (size_t)count);
        return to + count;
    }
    int before = whole < count ? whole : count;
    memcpy(to, text, (size_t)before);
    to += before;
    for (int i = count; i < whole; ++i) {
        *to++ = '0';
    }
    if (count > whole) {
        *to++ = '.';
        memcpy(to, text + whole, (size_t)(count - whole));
        to += count - whole;
    }
    return plain ? to : putExponent(to, decimal);
}

int tpFormatNumber(char* buffer, double value) {
    char* to = buffer;
    if (isnan(value)) {
        memcpy(to, "nan", 3);
        return 3;
    }
    if (signbit(value)) {
        *to++ = '-';
        value = -value;
    }
    if (value == 0.0 || isinf(value)) {
        const char* word = value == 0.0 ? "0" : "inf";
        memcpy(to, word, strlen(word));
        return (int)(to - buffer) + (int)strlen(word);
    }
    uint64_t digits;
    int decimal;
    if (!findDigits(value, &digits, &decimal)) {
        askLibrary(value, &digits, &decimal);
    }
    // Two halves, so that most divisions are of 32 bits.
    char text[digitCount];
    uint32_t lower = (uint32_t)(digits % 100000000), upper = (uint32_t)(digits / 100000000);
    for (int i = 0; i < 8; ++i, lower /= 10, upper /= 10) {
        text[digitCount - 1 - i] = (char)('0' + lower % 10);
        text[digitCount - 9 - i] = (char)('0' + upper % 10);
    }
    text[0] = (char)('0' + upper);
    int count = digitCount;
    while (text[count - 1] == '0') {
        count -= 1;
    }
    return (int)(layOut(to, text, count, decimal) - buffer);
}
