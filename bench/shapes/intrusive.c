/* Items that carry their links; from a link to its item by container_of. */
#include <stddef.h>
#include <stdlib.h>
struct link { struct link *next; };
struct item { int value; struct link link; };
struct queue { struct link *first; };
#define item_of(l) ((struct item *)((char *)(l) - offsetof(struct item, link)))
static int limit = 3;
int valid(const struct queue *q) {
    if (!q) return 0;
    int n = 0;
    for (const struct link *l = q->first; l; l = l->next)
        if (++n > limit || item_of(l)->value < 0) return 0;
    return 1;
}
int kept(const struct queue *q) { limit = 4; return valid(q); }
void insert(struct queue *q, int value) {
    struct item *fresh = malloc(sizeof *fresh);
    if (!fresh) return;
    fresh->value = value < 0 ? 0 : value;
    fresh->link.next = q->first;
    q->first = &fresh->link;
}
void delete(struct queue *q, int value) {
    for (struct link **at = &q->first; *at; at = &(*at)->next)
        if (item_of(*at)->value == value) {
            struct item *gone = item_of(*at);
#ifdef MISTAKE
            free(gone);
            *at = gone->link.next;
#else
            *at = gone->link.next;
            free(gone);
#endif
            return;
        }
}
const struct item *find(const struct queue *q, int value) {
    for (const struct link *l = q->first; l; l = l->next)
        if (item_of(l)->value == value) return item_of(l);
    return 0;
}
