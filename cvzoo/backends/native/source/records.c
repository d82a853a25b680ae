/* Columns of the records of a JSON text, and the vertices of polygons, without an object for each.

Only plain text is read: a kernel returns 1 at what is malformed or unusual (an escape but of COCO's strings, a character
outside of ASCII, NaN, a field twice, a number of more than 19 digits), and the caller decodes the text another way. No
byte is read beyond the text's end, and none twice where a second value could do harm: the file may change meanwhile. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off") /* vertices round as NumPy's do */
#endif
#include <math.h>
#include "native.h"

typedef struct {
    const uint8_t *start, *at, *end;
} Text;

typedef unsigned __int128 Double64;

enum { MOST_DIGITS = 19, MOST_EXACT = 22 /* 10^22 is a double */, DEPTH = 16, BLOCK = 32, SCALE = 5 };
enum { INTEGER, NUMBER, NUMBER_OR_NONE, FLAG_OR_NONE, BOX, BOX_OR_ZEROS, RUNS, SPAN }; /* as in native/records.py */

static const uint64_t TENS[MOST_DIGITS + 1] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u, 10000000000u, 100000000000u,
    1000000000000u, 10000000000000u, 100000000000000u, 1000000000000000u, 10000000000000000u, 100000000000000000u,
    1000000000000000000u, 10000000000000000000u};
static const double POWERS[MOST_EXACT + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline uint8_t peek(const Text *t) { return t->at < t->end ? *t->at : 0; }
static inline int is_digit(uint8_t c) { return (uint8_t)(c - '0') < 10; }

/* The next character that is not white space; 0 at the end. */
static inline uint8_t next(Text *t)
{
    uint8_t c;
    while ((c = peek(t)) == ' ' || c == '\n' || c == '\t' || c == '\r')
        t->at++;
    return c;
}

static inline int takes(Text *t, uint8_t c)
{
    if (next(t) != c)
        return 0;
    t->at++;
    return 1;
}

static int takes_word(Text *t, const char *word, int64_t n)
{
    if (t->end - t->at < n || memcmp(t->at, word, (size_t)n))
        return 0;
    t->at += n;
    return 1;
}

/* m / 10^scale, rounded once, by a long division: m > 0, 0 < scale <= 38. */
static double quotient(uint64_t m, int scale)
{
    int shift = __builtin_clzll(m), exponent = -63 - shift, rest = 0;
    Double64 n = (Double64)(m << shift) << 63;
    if (scale > MOST_DIGITS) {
        uint64_t ten = TENS[MOST_DIGITS], high = (uint64_t)(n / ten);
        Double64 low = (n % ten) << 63;
        n = ((Double64)high << 63) + low / ten;
        rest = low % ten != 0;
        exponent -= 63, scale -= MOST_DIGITS;
    }
    Double64 q = n / TENS[scale];
    rest |= n % TENS[scale] != 0;
    if (q >> 64) {
        int extra = 64 - __builtin_clzll((uint64_t)(q >> 64));
        rest |= (q & (((Double64)1 << extra) - 1)) != 0;
        q >>= extra, exponent += extra;
    }
    return ldexp((double)((uint64_t)q | (uint64_t)rest), exponent); /* 62 bits or more: the last one is below the rounding */
}

typedef struct {
    uint64_t digits;
    int scale, is_negative, is_whole; /* digits / 10^scale; written without a fraction and an exponent */
} Decimal;

static int decimal(Text *t, Decimal *d)
{
    d->is_negative = peek(t) == '-';
    t->at += d->is_negative;
    const uint8_t *first = t->at;
    uint64_t m = 0;
    int64_t scale = 0;
    for (; is_digit(peek(t)); t->at++)
        m = m * 10 + (uint64_t)(*t->at - '0');
    int64_t n = t->at - first;
    if (n == 0 || (n > 1 && *first == '0'))
        return 1;
    d->is_whole = 1;
    if (peek(t) == '.') {
        const uint8_t *point = ++t->at;
        for (; m == 0 && peek(t) == '0'; t->at++) /* 0.000123 has three digits */
            n--;
        for (; is_digit(peek(t)); t->at++)
            m = m * 10 + (uint64_t)(*t->at - '0');
        scale = t->at - point;
        if (scale == 0)
            return 1;
        d->is_whole = 0;
    }
    n -= *first == '0';
    if (n + scale > MOST_DIGITS)
        return 1;
    if (peek(t) == 'e' || peek(t) == 'E') {
        t->at++;
        int sign = peek(t) == '-' ? -1 : 1, power = 0, k = 0;
        t->at += peek(t) == '-' || peek(t) == '+';
        for (; k < 3 && is_digit(peek(t)); k++)
            power = power * 10 + (*t->at++ - '0');
        if (k == 0 || is_digit(peek(t)))
            return 1;
        scale -= sign * power;
        d->is_whole = 0;
    }
    d->digits = m, d->scale = (int)scale;
    return 0;
}

static int number(Text *t, double *out)
{
    Decimal d;
    if (decimal(t, &d))
        return 1;
    double value = (double)d.digits;
    if (d.digits == 0)
        d.is_negative &= !d.is_whole; /* the integer -0 is 0 */
    else if (d.scale && d.digits >> 53 == 0 && d.scale <= MOST_EXACT && d.scale >= -MOST_EXACT)
        value = d.scale > 0 ? value / POWERS[d.scale] : value * POWERS[-d.scale];
    else if (d.scale > 0 && d.scale <= 2 * MOST_DIGITS)
        value = quotient(d.digits, d.scale);
    else if (d.scale)
        return 1;
    *out = d.is_negative ? -value : value;
    return 0;
}

static int integer(Text *t, int64_t *out)
{
    Decimal d;
    if (decimal(t, &d) || !d.is_whole || d.digits > INT64_MAX)
        return 1;
    *out = d.is_negative ? -(int64_t)d.digits : (int64_t)d.digits;
    return 0;
}

/* A string without escapes; *first and *last are where its characters begin and end. */
static int plain_string(Text *t, const uint8_t **first, const uint8_t **last)
{
    if (!takes(t, '"'))
        return 1;
    *first = t->at;
    while (peek(t) != '"') {
        uint8_t c = peek(t);
        if (c < ' ' || c >= 128 || c == '\\')
            return 1;
        t->at++;
    }
    *last = t->at++;
    return 0;
}

/* A string of COCO's characters, of which \ is escaped; *n is the number of integers in it. */
static int runs_string(Text *t, int64_t *begin, int64_t *end, int64_t *n)
{
    if (!takes(t, '"'))
        return 1;
    int64_t whole = 0;
    *begin = t->at - t->start;
    for (;;) {
        while (t->end - t->at >= BLOCK) {
            uint8_t other = 0, ends = 0;
            for (int k = 0; k < BLOCK; k++) {
                uint8_t c = t->at[k], group = (uint8_t)(c - '0');
                other |= (uint8_t)((group >= 64) | (c == '\\'));
                ends = (uint8_t)(ends + (group < 32));
            }
            if (other)
                break;
            whole += ends;
            t->at += BLOCK;
        }
        uint8_t c;
        for (; (uint8_t)((c = peek(t)) - '0') < 64 && c != '\\'; t->at++)
            whole += c < '0' + 32;
        if (c == '"')
            break;
        if (c != '\\' || !takes_word(t, "\\\\", 2))
            return 1;
    }
    *end = t->at++ - t->start;
    *n = whole;
    return 0;
}

/* {"size": [H, W], "counts": "..."} as H, W, begin and end of the string, the number of its integers */
static int runs(Text *t, int64_t *out)
{
    int seen = 0;
    if (!takes(t, '{'))
        return 1;
    do {
        const uint8_t *first, *last;
        if (plain_string(t, &first, &last) || !takes(t, ':'))
            return 1;
        int is_size = last - first == 4 && !memcmp(first, "size", 4), bit = is_size ? 1 : 2;
        if ((!is_size && (last - first != 6 || memcmp(first, "counts", 6))) || seen & bit)
            return 1;
        seen |= bit;
        if (is_size) {
            for (int k = 0; k < 2; k++)
                if (!takes(t, k ? ',' : '[') || !next(t) || integer(t, out + k) || out[k] < 0 || out[k] > INT32_MAX)
                    return 1;
            if (!takes(t, ']'))
                return 1;
        } else if (runs_string(t, out + 2, out + 3, out + 4))
            return 1;
    } while (takes(t, ','));
    return seen != 3 || !takes(t, '}');
}

static int box(Text *t, double *out)
{
    for (int k = 0; k < 4; k++)
        if (!takes(t, k ? ',' : '[') || !next(t) || number(t, out + k))
            return 1;
    return !takes(t, ']');
}

static int skip(Text *t, int depth)
{
    const uint8_t *first, *last;
    Decimal d;
    uint8_t c = next(t), close = c == '{' ? '}' : ']';
    switch (c) {
    case '"':
        return plain_string(t, &first, &last);
    case 't':
        return !takes_word(t, "true", 4);
    case 'f':
        return !takes_word(t, "false", 5);
    case 'n':
        return !takes_word(t, "null", 4);
    case '{':
    case '[':
        if (depth == DEPTH)
            return 1;
        t->at++;
        if (takes(t, close))
            return 0;
        do {
            if (c == '{' && (plain_string(t, &first, &last) || !takes(t, ':')))
                return 1;
            if (skip(t, depth + 1))
                return 1;
        } while (takes(t, ','));
        return !takes(t, close);
    default:
        return decimal(t, &d);
    }
}

static int value(Text *t, int64_t kind, void *column, int64_t row)
{
    double *numbers = column;
    int64_t *integers = column;
    uint8_t c = next(t);
    switch (kind) {
    case INTEGER:
        return integer(t, integers + row);
    case NUMBER:
        return number(t, numbers + row);
    case NUMBER_OR_NONE:
        return c == 'n' ? !takes_word(t, "null", 4) : number(t, numbers + row);
    case FLAG_OR_NONE:
        if (c == 'n')
            return !takes_word(t, "null", 4);
        if (c == 't' || c == 'f') {
            numbers[row] = c == 't';
            return c == 't' ? !takes_word(t, "true", 4) : !takes_word(t, "false", 5);
        }
        int64_t flag = 0;
        if (integer(t, &flag))
            return 1;
        numbers[row] = (double)flag;
        return 0;
    case BOX:
    case BOX_OR_ZEROS:
        return box(t, numbers + 4 * row);
    case RUNS:
        return runs(t, integers + 5 * row);
    default:
        integers[2 * row] = t->at - t->start;
        if (skip(t, 0))
            return 1;
        integers[2 * row + 1] = t->at - t->start;
        return 0;
    }
}

typedef struct {
    int64_t n_text, n_field, room; /* characters; at most 31 fields; records that the columns have room for */
} RecordsPlan;

typedef struct {
    const uint8_t *names;
    const int64_t *name_ends, *kinds;
    void *const *columns;
    int64_t n;
} Fields;

static int is_name(const Fields *fields, int64_t f, const uint8_t *first, int64_t length)
{
    int64_t start = f ? fields->name_ends[f - 1] : 0;
    return fields->name_ends[f] - start == length && !memcmp(fields->names + start, first, (size_t)length);
}

static int record(Text *t, const Fields *fields, int64_t row)
{
    int64_t seen = 0, guess = 0;
    if (!takes(t, '{'))
        return 1;
    if (takes(t, '}'))
        return 1;
    do {
        const uint8_t *first, *last;
        if (plain_string(t, &first, &last) || !takes(t, ':'))
            return 1;
        int64_t f = guess, tried = 0;
        for (; tried < fields->n && !is_name(fields, f, first, last - first); tried++)
            f = f + 1 < fields->n ? f + 1 : 0;
        if (tried == fields->n) {
            if (skip(t, 0))
                return 1;
            continue;
        }
        if (seen & (int64_t)1 << f || value(t, fields->kinds[f], fields->columns[f], row))
            return 1;
        seen |= (int64_t)1 << f;
        guess = f + 1 < fields->n ? f + 1 : 0;
    } while (takes(t, ','));
    for (int64_t f = 0; f < fields->n; f++) {
        int64_t kind = fields->kinds[f];
        if (!(seen >> f & 1) && kind != NUMBER_OR_NONE && kind != FLAG_OR_NONE && kind != BOX_OR_ZEROS)
            return 1;
    }
    return !takes(t, '}');
}

/* The next records of a list. arrays: the text; the fields' names, one after another; the end of each, int64; their kinds,
int64; the position in the text (0 at first), the number of records read and whether the list has ended, int64, of which the
first is read and all are written; a column for each field, as native/records.py tells, filled with what missing values are */
KERNEL(records)(const RecordsPlan *plan, void *const *arrays, int threads)
{
    const uint8_t *start = arrays[0];
    int64_t *state = arrays[4], n = 0, is_end = 0;
    Text text = {start, start + state[0], start + plan->n_text};
    Fields fields = {arrays[1], arrays[2], arrays[3], arrays + 5, plan->n_field};
    (void)threads;
    if (state[0] == 0) {
        if (!takes(&text, '['))
            return 1;
        is_end = takes(&text, ']');
    }
    while (!is_end && n < plan->room) {
        if (record(&text, &fields, n))
            return 1;
        n++;
        is_end = takes(&text, ']');
        if (!is_end && !takes(&text, ','))
            return 1;
    }
    if (is_end && next(&text))
        return 1;
    if (is_end && text.at < text.end) /* a character of code 0 */
        return 1;
    state[0] = text.at - start, state[1] = n, state[2] = is_end;
    return 0;
}

typedef struct {
    int64_t n, room_vertices, room_rings;
    double limit; /* of a coordinate's absolute value */
} VerticesPlan;

/* Polygons' vertices on the fine grid. arrays: the text; begin and end of each object's list of polygons, int64; x, y, int32;
the end of each polygon's vertices, int64; its object, int64; the number of polygons, int64 */
KERNEL(vertices)(const VerticesPlan *plan, void *const *arrays, int threads)
{
    const uint8_t *start = arrays[0];
    const int64_t *spans = arrays[1];
    int32_t *xy[2] = {arrays[2], arrays[3]};
    int64_t *ends = arrays[4], *owners = arrays[5], n = 0, rings = 0;
    (void)threads;
    for (int64_t r = 0; r < plan->n; r++) {
        Text text = {start, start + spans[2 * r], start + spans[2 * r + 1]};
        if (!takes(&text, '['))
            return 1;
        do {
            int64_t first = n;
            if (!takes(&text, '['))
                return 1;
            do {
                if (n == plan->room_vertices)
                    return 1;
                for (int k = 0; k < 2; k++) {
                    double each = 0;
                    if ((k && !takes(&text, ',')) || !next(&text) || number(&text, &each) || !(fabs(each) <= plan->limit))
                        return 1;
                    xy[k][n] = (int32_t)trunc(SCALE * each + 0.5);
                }
                n++;
            } while (takes(&text, ','));
            if (!takes(&text, ']') || n - first < 3 || rings == plan->room_rings)
                return 1;
            ends[rings] = n, owners[rings] = r;
            rings++;
        } while (takes(&text, ','));
        if (!takes(&text, ']'))
            return 1;
    }
    *(int64_t *)arrays[6] = rings;
    return 0;
}
