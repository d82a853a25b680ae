/* The plain algorithm of torchvision's compiled CPU operator, written from its description, as its stand-in where no
 * torchvision is installed: boxes sorted by score, a flag for each, a double loop, float32 throughout.
 *
 * bbox   n * 4 floats, y_min x_min y_max x_max
 * order  n indices, best box first
 * kept   room for n indices; returns how many were written
 */
#include <stdint.h>
#include <stdlib.h>

static inline float max_of(float a, float b) { return a > b ? a : b; }
static inline float min_of(float a, float b) { return a < b ? a : b; }

int64_t nms_reference(const float *bbox, const int64_t *order, int64_t n, float thresh, int64_t *kept)
{
    float *y1 = malloc(5 * (n + 1) * sizeof(float));
    float *x1 = y1 + n, *y2 = x1 + n, *x2 = y2 + n, *area = x2 + n;
    uint8_t *suppressed = calloc(n + 1, 1);
    int64_t n_kept = 0;

    for (int64_t i = 0; i < n; i++) {
        y1[i] = bbox[4 * i];
        x1[i] = bbox[4 * i + 1];
        y2[i] = bbox[4 * i + 2];
        x2[i] = bbox[4 * i + 3];
        area[i] = (y2[i] - y1[i]) * (x2[i] - x1[i]);
    }
    for (int64_t a = 0; a < n; a++) {
        int64_t i = order[a];
        if (suppressed[i])
            continue;
        kept[n_kept++] = i;
        for (int64_t b = a + 1; b < n; b++) {
            int64_t j = order[b];
            if (suppressed[j])
                continue;
            float height = max_of(0.f, min_of(y2[i], y2[j]) - max_of(y1[i], y1[j]));
            float width = max_of(0.f, min_of(x2[i], x2[j]) - max_of(x1[i], x1[j]));
            float inter = height * width;
            if (inter / (area[i] + area[j] - inter) > thresh)
                suppressed[j] = 1;
        }
    }
    free(y1);
    free(suppressed);
    return n_kept;
}
