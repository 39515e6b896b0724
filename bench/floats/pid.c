// A controller with proportional, integral and differential parts, three steps of it.
#include <assert.h>
#include <colt.h>

struct pid {
    float kp, ki, kd, sum, last;
};

static float step(struct pid *c, float error) {
    c->sum += error;
    if (c->sum > 50)
        c->sum = 50;
    if (c->sum < -50)
        c->sum = -50;
    float out = c->kp * error + c->ki * c->sum + c->kd * (error - c->last);
    c->last = error;
    if (out > 100)
        out = 100;
    if (out < -100)
        out = -100;
    return out;
}

int main(void) {
    float measured[3];
    colt_input(measured, sizeof measured, "measured");
    struct pid c = {2.0f, 0.5f, 1.0f, 0, 0};
    float valve = 0;
    for (int i = 0; i < 3; i++) {
        if (!(measured[i] >= -40 && measured[i] <= 120))
            return 0;
        valve = step(&c, 20 - measured[i]);
    }
    assert(valve <= 100 && valve >= -100);
    if (valve == 42)
        return 1;
    if (valve > 99 && c.sum < 0)
        return 2;
    return 3;
}
