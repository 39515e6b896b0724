/* A circular list whose sentinel lies in the list itself. */
#include <stdlib.h>
struct node { struct node *prev, *next; int value; };
struct list { int count; struct node head; };
static int limit = 3;
int valid(const struct list *l) {
    if (!l) return 0;
    int n = 0;
    for (const struct node *at = &l->head;;) {
        const struct node *next = at->next;
        if (!next || next->prev != at) return 0;
        if (next == &l->head) break;
        if (++n > limit) return 0;
        at = next;
    }
    return l->count == n;
}
int kept(const struct list *l) { limit = 4; return valid(l); }
void insert(struct list *l, int value) {
    struct node *fresh = malloc(sizeof *fresh);
    if (!fresh) return;
    fresh->value = value;
    fresh->prev = l->head.prev;
    fresh->next = &l->head;
    l->head.prev->next = fresh;
    l->head.prev = fresh;
    l->count++;
}
void delete(struct list *l, int value) {
    for (struct node *at = l->head.next; at != &l->head; at = at->next)
        if (at->value == value) {
            at->prev->next = at->next;
            at->next->prev = at->prev;
            free(at);
#ifndef MISTAKE
            l->count--;
#endif
            return;
        }
}
const struct node *find(const struct list *l, int value) {
    for (const struct node *at = l->head.next; at != &l->head; at = at->next)
        if (at->value == value) return at;
    return 0;
}
