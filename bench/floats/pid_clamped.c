// PID with anti-windup; integral claims.
#include <assert.h>
#include <colt.h>
struct pid { float kp, ki, kd, i, last, lo, hi; };
static float step(struct pid *p, float set, float in, float dt) {
    float e = set - in;
    p->i += e * dt * p->ki;
    if (p->i > p->hi) p->i = p->hi; else if (p->i < p->lo) p->i = p->lo;
    float d = (e - p->last) / dt;
    p->last = e;
    float out = p->kp * e + p->i + p->kd * d;
    if (out > p->hi) out = p->hi; else if (out < p->lo) out = p->lo;
    return out;
}
int main(void) {
    float in[3]; colt_input(in, sizeof in, "in");
    struct pid p = {1.5f, 0.2f, 0.05f, 0, 0, -10, 10};
    for (int i = 0; i < 3; i++) {
        float u = step(&p, 20, in[i], 0.1f);
        assert(u >= -10 && u <= 10);  /* fails for NaN */
    }
    return 0;
}
