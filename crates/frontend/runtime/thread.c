// pthread.h and semaphore.h: threads under one deterministic schedule.
//
// A thread runs until it has to wait, ends, sleeps or yields; then the next one in the order of creation that can run
// goes on. A thread that waits is marked with what it waits for and looks again when it is woken. When nobody can run,
// whoever waits with a time limit gives up; when there is nobody of that kind either, it is a deadlock. The objects have
// the sizes of the C library's headers and, where a static initialiser says something, its layout.
#include "common.h"

#define COLT_EPERM 1
#define COLT_ESRCH 3
#define COLT_EAGAIN 11
#define COLT_EBUSY 16
#define COLT_EDEADLK 35
#define COLT_ETIMEDOUT 110

#define N_KEYS 64
#define N_ROUNDS 4
#define BARRIER_SERIAL (-1)

// A call stack of its own that will begin with `function`, which must not return; its number.
int __colt_thread_new(void (*function)(void *), void *argument);
// Goes on with another thread; returns when somebody switches back.
void __colt_thread_switch(int number);
// Ends the running thread and goes on with another.
_Noreturn void __colt_thread_end(int number);
// The path ends with a deadlock, described by the text.
_Noreturn void __colt_deadlock(const char *text);
_Noreturn void exit(int status);

typedef unsigned long pthread_t;

struct thread {
    int number;
    struct thread *next; // in the order of creation
    void *(*start)(void *);
    void *argument;
    void *result;
    // What it waits for, or NULL when it can run; in words; whether only for a time; since when.
    const void *waits_for;
    const char *waits_how;
    int has_limit;
    int is_timed_out;
    unsigned long since;
    int is_detached;
    int is_finished;
    int error;
    const void *values[N_KEYS];
};

static struct thread first;
static struct thread *current = &first;
static unsigned long n_waits;

static struct thread *self(void) { return current; }

// --- the schedule ------------------------------------------------------------------------------------------------------

static char *append(char *at, const char *end, const char *text) {
    while (*text && at < end)
        *at++ = *text++;
    *at = 0;
    return at;
}

static _Noreturn void report_deadlock(void) {
    char text[400], number[12];
    const char *end = text + sizeof text - 1;
    char *at = append(text, end, "deadlock: ");
    const char *separator = "";
    for (struct thread *thread = &first; thread; thread = thread->next) {
        if (thread->is_finished)
            continue;
        char *digit = number + sizeof number - 1;
        *digit = 0;
        unsigned value = (unsigned)thread->number + 1;
        do
            *--digit = (char)('0' + value % 10);
        while (value /= 10);
        at = append(at, end, separator);
        at = append(at, end, "thread ");
        at = append(at, end, digit);
        at = append(at, end, " waits for ");
        at = append(at, end, thread->waits_how);
        separator = ", ";
    }
    __colt_deadlock(text);
}

static struct thread *next_of(struct thread *thread) { return thread->next ? thread->next : &first; }

static int can_run(const struct thread *thread) { return !thread->is_finished && !thread->waits_for; }

// The next thread that can run, behind the current one, which comes last.
static struct thread *next_runnable(void) {
    for (struct thread *thread = next_of(current); thread != current; thread = next_of(thread))
        if (can_run(thread))
            return thread;
    if (can_run(current))
        return current;
    struct thread *patient = NULL;
    for (struct thread *thread = &first; thread; thread = thread->next)
        if (!thread->is_finished && thread->has_limit && (!patient || thread->since < patient->since))
            patient = thread;
    if (!patient)
        report_deadlock();
    patient->is_timed_out = 1;
    patient->waits_for = NULL;
    return patient;
}

static void run_another(void) {
    struct thread *before = current, *next = next_runnable();
    if (next == before)
        return;
    before->error = colt_errno;
    current = next;
    __colt_thread_switch(next->number);
    current = before;
    colt_errno = before->error;
}

void __colt_thread_yield(void) {
    if (first.next)
        run_another();
}

enum limit { UNLIMITED, LIMITED };

// Waits until somebody wakes those who wait for `object`; 0, or ETIMEDOUT.
static int wait_for(const void *object, const char *how, enum limit limit) {
    struct thread *me = self();
    me->waits_for = object;
    me->waits_how = how;
    me->has_limit = limit == LIMITED;
    me->is_timed_out = 0;
    me->since = ++n_waits;
    run_another();
    me->has_limit = 0;
    return me->is_timed_out ? COLT_ETIMEDOUT : 0;
}

static void wake_all(const void *object) {
    for (struct thread *thread = &first; thread; thread = thread->next)
        if (thread->waits_for == object)
            thread->waits_for = NULL;
}

// The one that has waited longest.
static void wake_one(const void *object) {
    struct thread *oldest = NULL;
    for (struct thread *thread = &first; thread; thread = thread->next)
        if (thread->waits_for == object && (!oldest || thread->since < oldest->since))
            oldest = thread;
    if (oldest)
        oldest->waits_for = NULL;
}

// --- beginning and end of threads --------------------------------------------------------------------------------------

static void (*destructors[N_KEYS])(void *);
static char keys_used[N_KEYS];

static void forget(struct thread *thread) {
    for (struct thread *before = &first; before; before = before->next)
        if (before->next == thread)
            before->next = thread->next;
    free(thread);
}

static void destroy_values(struct thread *thread) {
    for (int round = 0, is_left = 1; round < N_ROUNDS && is_left; round++) {
        is_left = 0;
        for (int key = 0; key < N_KEYS; key++) {
            void *value = (void *)thread->values[key];
            thread->values[key] = NULL;
            if (value && keys_used[key] && destructors[key]) {
                destructors[key](value);
                is_left = 1;
            }
        }
    }
}

_Noreturn void pthread_exit(void *result) {
    struct thread *me = self();
    destroy_values(me);
    me->result = result;
    me->is_finished = 1;
    wake_all(me);
    int is_last = 1;
    for (struct thread *thread = &first; thread; thread = thread->next)
        is_last &= thread->is_finished;
    if (is_last)
        exit(0);
    struct thread *next = next_runnable();
    current = next;
    int number = next->number;
    colt_errno = next->error;
    if (me->is_detached && me != &first)
        forget(me);
    __colt_thread_end(number);
}

static void run_thread(void *argument) {
    struct thread *me = argument;
    colt_errno = 0;
    pthread_exit(me->start(me->argument));
}

struct attributes {
    int is_detached;
};

int pthread_create(pthread_t *result, const struct attributes *attributes, void *(*start)(void *), void *argument) {
    __colt_note("threads run under one schedule: each until it waits, ends, sleeps or yields");
    struct thread *thread = malloc(sizeof *thread);
    if (!thread)
        return COLT_EAGAIN;
    *thread = (struct thread){.start = start, .argument = argument};
    thread->is_detached = attributes && attributes->is_detached;
    struct thread *last = &first;
    while (last->next)
        last = last->next;
    last->next = thread;
    thread->number = __colt_thread_new(run_thread, thread);
    *result = (pthread_t)thread;
    return 0;
}

pthread_t pthread_self(void) { return (pthread_t)self(); }
int pthread_equal(pthread_t a, pthread_t b) { return a == b; }

int pthread_join(pthread_t number, void **result) {
    struct thread *thread = (struct thread *)number;
    if (thread == self())
        return COLT_EDEADLK;
    if (thread->is_detached)
        return COLT_EINVAL;
    while (!thread->is_finished)
        wait_for(thread, "another to end", UNLIMITED);
    if (result)
        *result = thread->result;
    if (thread != &first)
        forget(thread);
    return 0;
}

int pthread_detach(pthread_t number) {
    struct thread *thread = (struct thread *)number;
    if (thread->is_detached)
        return COLT_EINVAL;
    thread->is_detached = 1;
    if (thread->is_finished && thread != &first)
        forget(thread);
    return 0;
}

int sched_yield(void) { return __colt_thread_yield(), 0; }
int pthread_yield(void) { return __colt_thread_yield(), 0; }

int pthread_attr_init(struct attributes *attributes) { return attributes->is_detached = 0; }
int pthread_attr_destroy(struct attributes *attributes) { return (void)attributes, 0; }
int pthread_attr_setdetachstate(struct attributes *attributes, int state) {
    if ((unsigned)state > 1)
        return COLT_EINVAL;
    attributes->is_detached = state;
    return 0;
}
int pthread_attr_getdetachstate(const struct attributes *attributes, int *state) {
    *state = attributes->is_detached;
    return 0;
}
int pthread_attr_setstacksize(struct attributes *attributes, size_t size) { return (void)attributes, (void)size, 0; }
int pthread_attr_setguardsize(struct attributes *attributes, size_t size) { return (void)attributes, (void)size, 0; }
int pthread_attr_setscope(struct attributes *attributes, int scope) { return (void)attributes, (void)scope, 0; }
int pthread_setname_np(pthread_t thread, const char *name) { return (void)thread, (void)name, 0; }
int pthread_setcancelstate(int state, int *old) { return old ? *old = 0 : 0, (void)state, 0; }
int pthread_setcanceltype(int type, int *old) { return old ? *old = 0 : 0, (void)type, 0; }
void pthread_testcancel(void) {}
int pthread_cancel(pthread_t thread) {
    (void)thread;
    __colt_gap("pthread_cancel");
    return 0;
}

// --- mutexes -----------------------------------------------------------------------------------------------------------

enum kind { NORMAL, RECURSIVE, ERRORCHECK, ADAPTIVE };

// As in the C library: the kind lies where its static initialisers put it.
struct mutex {
    int is_locked;
    unsigned count;
    int owner; // a thread's number and one
#ifdef __LP64__
    unsigned unused;
#endif
    int kind;
};

static int own_number(void) { return self()->number + 1; }
static enum kind kind_of(const struct mutex *mutex) { return (enum kind)(mutex->kind & 3); }

int pthread_mutexattr_init(int *attributes) { return *attributes = 0; }
int pthread_mutexattr_destroy(int *attributes) { return (void)attributes, 0; }
int pthread_mutexattr_settype(int *attributes, int kind) {
    if ((unsigned)kind > 3)
        return COLT_EINVAL;
    *attributes = kind;
    return 0;
}
int pthread_mutexattr_gettype(const int *attributes, int *kind) { return *kind = *attributes & 3, 0; }
int pthread_mutexattr_setpshared(int *attributes, int shared) { return (void)attributes, (void)shared, 0; }
int pthread_mutexattr_setprotocol(int *attributes, int protocol) { return (void)attributes, (void)protocol, 0; }

int pthread_mutex_init(struct mutex *mutex, const int *attributes) {
    *mutex = (struct mutex){.kind = attributes ? *attributes : 0};
    return 0;
}

int pthread_mutex_destroy(struct mutex *mutex) { return mutex->is_locked ? COLT_EBUSY : 0; }

static void take(struct mutex *mutex) {
    mutex->is_locked = 1;
    mutex->owner = own_number();
    mutex->count = 1;
}

static int is_own(const struct mutex *mutex) { return mutex->is_locked && mutex->owner == own_number(); }

static int lock(struct mutex *mutex, enum limit limit) {
    if (is_own(mutex) && kind_of(mutex) == RECURSIVE) {
        mutex->count++;
        return 0;
    }
    if (is_own(mutex) && kind_of(mutex) == ERRORCHECK)
        return COLT_EDEADLK;
    while (mutex->is_locked)
        if (wait_for(mutex, "a mutex", limit))
            return COLT_ETIMEDOUT;
    take(mutex);
    return 0;
}

int pthread_mutex_lock(struct mutex *mutex) { return lock(mutex, UNLIMITED); }
int pthread_mutex_timedlock(struct mutex *mutex, const void *time) { return (void)time, lock(mutex, LIMITED); }

int pthread_mutex_trylock(struct mutex *mutex) {
    if (is_own(mutex) && kind_of(mutex) == RECURSIVE) {
        mutex->count++;
        return 0;
    }
    if (mutex->is_locked)
        return COLT_EBUSY;
    take(mutex);
    return 0;
}

int pthread_mutex_unlock(struct mutex *mutex) {
    enum kind kind = kind_of(mutex);
    if ((kind == RECURSIVE || kind == ERRORCHECK) && !is_own(mutex))
        return COLT_EPERM;
    if (kind == RECURSIVE && --mutex->count)
        return 0;
    mutex->is_locked = 0;
    mutex->owner = 0;
    wake_one(mutex);
    return 0;
}

int pthread_spin_init(int *spin, int shared) { return (void)shared, *spin = 0; }
int pthread_spin_destroy(int *spin) { return (void)spin, 0; }
int pthread_spin_lock(int *spin) {
    while (*spin)
        wait_for((void *)spin, "a spin lock", UNLIMITED);
    *spin = 1;
    return 0;
}
int pthread_spin_trylock(int *spin) { return *spin ? COLT_EBUSY : (*spin = 1, 0); }
int pthread_spin_unlock(int *spin) {
    *spin = 0;
    wake_one((void *)spin);
    return 0;
}

// --- condition variables: nothing is kept in them, they are what threads wait for --------------------------------------

int pthread_condattr_init(int *attributes) { return *attributes = 0; }
int pthread_condattr_destroy(int *attributes) { return (void)attributes, 0; }
int pthread_condattr_setclock(int *attributes, int clock) { return (void)attributes, (void)clock, 0; }
int pthread_condattr_setpshared(int *attributes, int shared) { return (void)attributes, (void)shared, 0; }

int pthread_cond_init(int *condition, const int *attributes) { return (void)attributes, *condition = 0; }
int pthread_cond_destroy(int *condition) { return (void)condition, 0; }

static int wait_condition(int *condition, struct mutex *mutex, enum limit limit) {
    unsigned count = mutex->count;
    mutex->count = 1;
    int error = pthread_mutex_unlock(mutex);
    if (error)
        return mutex->count = count, error;
    error = wait_for(condition, "a condition variable", limit);
    while (mutex->is_locked)
        wait_for(mutex, "a mutex", UNLIMITED);
    take(mutex);
    mutex->count = count;
    return error;
}

int pthread_cond_wait(int *condition, struct mutex *mutex) { return wait_condition(condition, mutex, UNLIMITED); }
int pthread_cond_timedwait(int *condition, struct mutex *mutex, const void *time) {
    return (void)time, wait_condition(condition, mutex, LIMITED);
}
int pthread_cond_clockwait(int *condition, struct mutex *mutex, int clock, const void *time) {
    return (void)time, (void)clock, wait_condition(condition, mutex, LIMITED);
}
int pthread_cond_signal(int *condition) { return wake_one(condition), 0; }
int pthread_cond_broadcast(int *condition) { return wake_all(condition), 0; }

// --- once, keys --------------------------------------------------------------------------------------------------------

enum once { NOT_YET, RUNNING, DONE };

int pthread_once(int *control, void (*function)(void)) {
    while (*control == RUNNING)
        wait_for(control, "pthread_once", UNLIMITED);
    if (*control == DONE)
        return 0;
    *control = RUNNING;
    function();
    *control = DONE;
    wake_all(control);
    return 0;
}

int pthread_key_create(unsigned *key, void (*destructor)(void *)) {
    for (unsigned number = 0; number < N_KEYS; number++) {
        if (keys_used[number])
            continue;
        keys_used[number] = 1;
        destructors[number] = destructor;
        for (struct thread *thread = &first; thread; thread = thread->next)
            thread->values[number] = NULL;
        *key = number;
        return 0;
    }
    return COLT_EAGAIN;
}

int pthread_key_delete(unsigned key) {
    if (key >= N_KEYS || !keys_used[key])
        return COLT_EINVAL;
    keys_used[key] = 0;
    return 0;
}

void *pthread_getspecific(unsigned key) { return key < N_KEYS ? (void *)self()->values[key] : NULL; }

int pthread_setspecific(unsigned key, const void *value) {
    if (key >= N_KEYS || !keys_used[key])
        return COLT_EINVAL;
    self()->values[key] = value;
    return 0;
}

// --- locks for readers and writers, barriers, semaphores ---------------------------------------------------------------

struct rwlock {
    int n_readers;
    int writer; // a thread's number and one
};

int pthread_rwlockattr_init(int *attributes) { return *attributes = 0; }
int pthread_rwlockattr_destroy(int *attributes) { return (void)attributes, 0; }

int pthread_rwlock_init(struct rwlock *rwlock, const void *attributes) {
    (void)attributes;
    *rwlock = (struct rwlock){0};
    return 0;
}

int pthread_rwlock_destroy(struct rwlock *rwlock) { return (void)rwlock, 0; }

int pthread_rwlock_rdlock(struct rwlock *rwlock) {
    if (rwlock->writer == own_number())
        return COLT_EDEADLK;
    while (rwlock->writer)
        wait_for(rwlock, "a lock to read", UNLIMITED);
    rwlock->n_readers++;
    return 0;
}

int pthread_rwlock_tryrdlock(struct rwlock *rwlock) {
    if (rwlock->writer)
        return COLT_EBUSY;
    rwlock->n_readers++;
    return 0;
}

int pthread_rwlock_wrlock(struct rwlock *rwlock) {
    if (rwlock->writer == own_number())
        return COLT_EDEADLK;
    while (rwlock->writer || rwlock->n_readers)
        wait_for(rwlock, "a lock to write", UNLIMITED);
    rwlock->writer = own_number();
    return 0;
}

int pthread_rwlock_trywrlock(struct rwlock *rwlock) {
    if (rwlock->writer || rwlock->n_readers)
        return COLT_EBUSY;
    rwlock->writer = own_number();
    return 0;
}

int pthread_rwlock_unlock(struct rwlock *rwlock) {
    if (rwlock->writer)
        rwlock->writer = 0;
    else if (rwlock->n_readers)
        rwlock->n_readers--;
    wake_all(rwlock);
    return 0;
}

struct barrier {
    unsigned n_wanted;
    unsigned n_here;
    unsigned round;
};

int pthread_barrier_init(struct barrier *barrier, const void *attributes, unsigned count) {
    (void)attributes;
    if (!count)
        return COLT_EINVAL;
    *barrier = (struct barrier){count, 0, 0};
    return 0;
}

int pthread_barrier_destroy(struct barrier *barrier) { return (void)barrier, 0; }

int pthread_barrier_wait(struct barrier *barrier) {
    unsigned round = barrier->round;
    if (++barrier->n_here == barrier->n_wanted) {
        barrier->n_here = 0;
        barrier->round++;
        wake_all(barrier);
        return BARRIER_SERIAL;
    }
    while (barrier->round == round)
        wait_for(barrier, "a barrier", UNLIMITED);
    return 0;
}

int sem_init(unsigned *semaphore, int shared, unsigned value) { return (void)shared, *semaphore = value, 0; }
int sem_destroy(unsigned *semaphore) { return (void)semaphore, 0; }

int sem_wait(unsigned *semaphore) {
    while (!*semaphore)
        wait_for(semaphore, "a semaphore", UNLIMITED);
    --*semaphore;
    return 0;
}

int sem_timedwait(unsigned *semaphore, const void *time) {
    (void)time;
    while (!*semaphore)
        if (wait_for(semaphore, "a semaphore", LIMITED))
            return colt_errno = COLT_ETIMEDOUT, -1;
    --*semaphore;
    return 0;
}

int sem_trywait(unsigned *semaphore) {
    if (!*semaphore)
        return colt_errno = COLT_EAGAIN, -1;
    --*semaphore;
    return 0;
}

int sem_post(unsigned *semaphore) {
    ++*semaphore;
    wake_one(semaphore);
    return 0;
}

int sem_getvalue(unsigned *semaphore, int *value) { return *value = (int)*semaphore, 0; }
