/* Activations of more kinds than `activated` has, some of them by exponentials. */
#ifndef CVZOO_ACTIVATIONS_H
#define CVZOO_ACTIVATIONS_H

#include "exponential.h"
#include "products.h"

enum { SIGMOID = LEAKY_RELU + 1, SWISH, HARD_SIGMOID, HARD_SWISH };

static inline Full finished(int64_t activation, double alpha, double beta, Full v)
{
    const Full zero = {0}, one = zero + 1;
    Full gate = v * (float)alpha + (float)beta;
    switch (activation) {
    case SIGMOID:
        return logistic(0, 1, v);
    case SWISH:
        return logistic(1, alpha, v);
    case HARD_SIGMOID:
        return smaller(one, larger(zero, gate));
    case HARD_SWISH:
        return v * smaller(one, larger(zero, gate));
    default:
        return activated(activation, alpha, beta, v);
    }
}

#endif
