// Stands before musl's own header of this name: one state runs one instruction after the other, so plain C is atomic.
#define a_cas a_cas
static inline int a_cas(volatile int *place, int expected, int wanted) {
    int old = *place;
    if (old == expected)
        *place = wanted;
    return old;
}

#define a_cas_p a_cas_p
static inline void *a_cas_p(volatile void *place, void *expected, void *wanted) {
    void *volatile *pointer = (void *volatile *)place;
    void *old = *pointer;
    if (old == expected)
        *pointer = wanted;
    return old;
}

#define a_swap a_swap
static inline int a_swap(volatile int *place, int value) {
    int old = *place;
    *place = value;
    return old;
}

#define a_fetch_add a_fetch_add
static inline int a_fetch_add(volatile int *place, int value) {
    int old = *place;
    *place = old + value;
    return old;
}

#define a_barrier a_barrier
static inline void a_barrier(void) {}

#define a_spin a_spin
static inline void a_spin(void) {}

void abort(void);
#define a_crash a_crash
static inline void a_crash(void) { abort(); }
