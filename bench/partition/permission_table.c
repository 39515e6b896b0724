// Insertion into a permission table in the spirit of word-granular memory protection: segments with a protection are put
// into a sorted table, neighbours are split or joined, and the protections of all words are looked up again. Domains have
// rights of their own, gates through which they call each other, and quotas. Where segments lie, what they allow and what
// each domain may do are different matters. BROKEN names a domain that keeps a right it was refused.
#include <assert.h>
#include <colt.h>
#include <stdint.h>

#ifndef N_DOMAINS
#define N_DOMAINS 6
#endif
#ifndef BROKEN
#define BROKEN -1
#endif
enum { N_WORDS = 16, MAX_SEGMENTS = 8 };

enum permission { NONE = 0, READ_ONLY = 1, READ_WRITE = 2, EXECUTE = 3 };

struct segment {
    uint8_t base, length, permission;
};

struct table {
    struct segment segments[MAX_SEGMENTS];
    int n_segments;
};

/* One table, and for every domain what it may do with the segment that is inserted. */
static struct table table;
static uint8_t rights[N_DOMAINS];
static uint8_t granted[N_DOMAINS], refused[N_DOMAINS], audited[N_DOMAINS];

/* Through a gate a domain calls another: how, and how often it may. */
struct gate {
    uint8_t kind, quota;
};

enum gate_kind { GATE_CLOSED = 0, GATE_CALL = 1, GATE_RETURN = 2, GATE_ONCE = 3 };

static struct gate gates[N_DOMAINS];
static uint8_t calls[N_DOMAINS], faults[N_DOMAINS];

/* What is done with the table, for the log. */
struct statistics {
    uint8_t n_inserted, n_cut, n_joined;
};

static struct statistics statistics;

static int end_of(const struct segment *segment) {
    return segment->base + segment->length;
}

static int is_valid(const struct segment *segment) {
    if (segment->length == 0)
        return 0;
    if (segment->base >= N_WORDS)
        return 0;
    return end_of(segment) <= N_WORDS;
}

static void remove_at(int at) {
    for (int i = at; i + 1 < table.n_segments; i++)
        table.segments[i] = table.segments[i + 1];
    table.n_segments--;
}

static void insert_at(int at, struct segment segment) {
    assert(table.n_segments < MAX_SEGMENTS);
    for (int i = table.n_segments; i > at; i--)
        table.segments[i] = table.segments[i - 1];
    table.segments[at] = segment;
    table.n_segments++;
}

/* Everything between `from` and `to` is taken out of the segment at `at`; what lies outside stays. */
static int cut(int at, int from, int to) {
    struct segment old = table.segments[at];
    remove_at(at);
    statistics.n_cut++;
    if (old.base < from) {
        struct segment left = {old.base, (uint8_t)(from - old.base), old.permission};
        insert_at(at++, left);
    }
    if (end_of(&old) > to) {
        struct segment right = {(uint8_t)to, (uint8_t)(end_of(&old) - to), old.permission};
        insert_at(at, right);
    }
    return at;
}

static int overlaps(const struct segment *a, const struct segment *b) {
    return a->base < end_of(b) && b->base < end_of(a);
}

static void insert(struct segment segment) {
    int at = 0;
    while (at < table.n_segments && end_of(&table.segments[at]) <= segment.base)
        at++;
    while (at < table.n_segments && overlaps(&table.segments[at], &segment)) {
        int before = table.n_segments;
        int next = cut(at, segment.base, end_of(&segment));
        if (table.n_segments > before) {
            at = next;
            break;
        }
        at = next;
        if (at < table.n_segments && table.segments[at].base >= end_of(&segment))
            break;
    }
    insert_at(at, segment);
    statistics.n_inserted++;
}

static int is_joinable(const struct segment *left, const struct segment *right) {
    return end_of(left) == right->base && left->permission == right->permission;
}

/* Neighbours that allow the same become one. */
static void join(void) {
    int at = 0;
    while (at + 1 < table.n_segments) {
        struct segment *left = &table.segments[at];
        const struct segment *right = &table.segments[at + 1];
        if (!is_joinable(left, right)) {
            at++;
            continue;
        }
        left->length += right->length;
        remove_at(at + 1);
        statistics.n_joined++;
    }
}

static enum permission permission_of(int word) {
    for (int i = 0; i < table.n_segments; i++) {
        const struct segment *segment = &table.segments[i];
        if (word >= segment->base && word < end_of(segment))
            return segment->permission;
    }
    return NONE;
}

static void check_order(void) {
    for (int i = 0; i + 1 < table.n_segments; i++)
        assert(end_of(&table.segments[i]) <= table.segments[i + 1].base);
}

/* No word has lost its protection to a neighbour. */
static void check_words(void) {
    int n_covered = 0;
    for (int i = 0; i < table.n_segments; i++)
        n_covered += table.segments[i].length;
    assert(n_covered <= N_WORDS);
    assert(table.n_segments <= MAX_SEGMENTS);
}

/* A joined table may not be joined any further. */
static void check_joined(void) {
    for (int i = 0; i + 1 < table.n_segments; i++)
        assert(!is_joinable(&table.segments[i], &table.segments[i + 1]));
}

/* Which of its rights a domain gets; the others are refused, and odd ones are written down. */
static void decide(int domain) {
    uint8_t right = rights[domain];
    if (right == READ_ONLY || right == READ_WRITE) {
        granted[domain] = right;
    } else if (right == EXECUTE) {
        granted[domain] = READ_ONLY;
        audited[domain] = 1;
    } else {
        refused[domain] = 1;
        if (right > EXECUTE)
            audited[domain] = 2;
        if (domain == BROKEN && right == 77)
            granted[domain] = READ_WRITE;
    }
    assert(!granted[domain] || !refused[domain]);
}

static void enter(int domain) {
    struct gate *gate = &gates[domain];
    if (gate->quota == 0) {
        faults[domain] = 1;
        return;
    }
    gate->quota--;
    calls[domain]++;
}

/* Every domain is called twice; a gate that lets through once is closed behind the first call. */
static void call_through(int domain) {
    struct gate *gate = &gates[domain];
    for (int turn = 0; turn < 2; turn++) {
        switch (gate->kind) {
        case GATE_CALL:
            enter(domain);
            break;
        case GATE_ONCE:
            enter(domain);
            gate->kind = GATE_CLOSED;
            break;
        case GATE_RETURN:
            faults[domain] = 2;
            break;
        default:
            faults[domain] = 3;
            break;
        }
    }
    assert(calls[domain] <= 2);
    assert(gate->kind != GATE_ONCE);
}

int main(void) {
    struct segment segment;
    colt_input(&segment, sizeof segment, "segment");
    colt_input(rights, sizeof rights, "rights");
    colt_input(gates, sizeof gates, "gates");
    insert((struct segment){0, 8, READ_ONLY});
    insert((struct segment){8, 4, READ_WRITE});
    if (!is_valid(&segment))
        return 1;
    insert(segment);
    check_order();
    assert(permission_of(segment.base) == segment.permission);
    check_words();
    join();
    check_order();
    check_joined();
    for (int domain = 0; domain < N_DOMAINS; domain++) {
        decide(domain);
        call_through(domain);
    }
    return 0;
}
