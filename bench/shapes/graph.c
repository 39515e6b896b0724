/* A graph as lists of neighbours. */
#include <stdlib.h>
struct edge;
struct vertex { int id; struct edge *edges; };
struct edge { struct vertex *to; struct edge *next; };
static int limit = 2;
int valid(const struct vertex *v) {
    if (!v) return 0;
    int n = 0;
    for (const struct edge *e = v->edges; e; e = e->next)
        if (++n > limit || !e->to) return 0;
    return 1;
}
int kept(const struct vertex *v) { limit = 3; return valid(v); }
int has(const struct vertex *v, const struct vertex *to) {
    for (const struct edge *e = v->edges; e; e = e->next)
        if (e->to == to) return 1;
    return 0;
}
void insert(struct vertex *v, struct vertex *to) {
    if (!to || has(v, to)) return;
    struct edge *fresh = malloc(sizeof *fresh);
    if (!fresh) return;
    fresh->to = to;
    fresh->next = v->edges;
    v->edges = fresh;
}
void delete(struct vertex *v, int id) {
    for (struct edge **at = &v->edges; *at; at = &(*at)->next)
        if ((*at)->to->id == id) {
            struct edge *gone = *at;
#ifdef MISTAKE
            free(gone);
            *at = gone->next;
#else
            *at = gone->next;
            free(gone);
#endif
            return;
        }
}
int find(const struct vertex *v, int id) {
    for (const struct edge *e = v->edges; e; e = e->next)
        if (e->to->id == id) return 1;
    return 0;
}
