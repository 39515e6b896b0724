/* A hash table with chains. */
#include <stdlib.h>
struct entry { unsigned key; struct entry *next; };
struct table { struct entry *chains[2]; };
static int limit = 2;
int valid(const struct table *t) {
    if (!t) return 0;
    int n = 0;
    for (unsigned i = 0; i < 2; i++)
        for (const struct entry *e = t->chains[i]; e; e = e->next)
            if (++n > limit || e->key % 2 != i) return 0;
    return 1;
}
int kept(const struct table *t) { limit = 3; return valid(t); }
void insert(struct table *t, unsigned key) {
    struct entry *fresh = malloc(sizeof *fresh);
    if (!fresh) return;
    fresh->key = key;
    fresh->next = t->chains[key % 2];
#ifdef MISTAKE
    t->chains[key / 2 % 2] = fresh;
#else
    t->chains[key % 2] = fresh;
#endif
}
void delete(struct table *t, unsigned key) {
    for (struct entry **at = &t->chains[key % 2]; *at; at = &(*at)->next)
        if ((*at)->key == key) {
            struct entry *gone = *at;
            *at = gone->next;
            free(gone);
            return;
        }
}
const struct entry *find(const struct table *t, unsigned key) {
    const struct entry *e = t->chains[key % 2];
    while (e && e->key != key) e = e->next;
    return e;
}
