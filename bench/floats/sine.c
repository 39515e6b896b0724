// Taylor of sine: bounds (SV-COMP float-benchs/sin_interpolated-like).
extern float __VERIFIER_nondet_float(void);
extern void abort(void);
void __VERIFIER_assert(int c) { if (!c) abort(); }
int main(void) {
    float x = __VERIFIER_nondet_float();
    if (!(x > -1.57079632679f && x < 1.57079632679f)) return 0;
    float r = x - (x * x * x) / 6.0f + (x * x * x * x * x) / 120.0f + (x * x * x * x * x * x * x) / 5040.0f;
    __VERIFIER_assert(r <= 1.1f && r >= -1.1f);
    __VERIFIER_assert(r <= 1.01f);
    return 0;
}
