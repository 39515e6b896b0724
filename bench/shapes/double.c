/* A doubly linked list with head and tail. */
#include <stdlib.h>
struct node { int value; struct node *prev, *next; };
struct list { struct node *head, *tail; };
static int limit = 3;
int valid(const struct list *l) {
    if (!l) return 0;
    const struct node *before = 0;
    int n = 0;
    for (const struct node *at = l->head; at; before = at, at = at->next)
        if (++n > limit || at->prev != before) return 0;
    return l->tail == before;
}
int kept(const struct list *l) { limit = 4; return valid(l); }
void insert(struct list *l, int value) {
    struct node *fresh = malloc(sizeof *fresh);
    if (!fresh) return;
    fresh->value = value;
    fresh->prev = 0;
    fresh->next = l->head;
    if (l->head) l->head->prev = fresh;
    else l->tail = fresh;
    l->head = fresh;
}
void delete(struct list *l, int value) {
    for (struct node *at = l->head; at; at = at->next)
        if (at->value == value) {
            if (at->prev) at->prev->next = at->next;
            else l->head = at->next;
#ifdef MISTAKE
            if (at->next) at->next->prev = at->prev;
#else
            if (at->next) at->next->prev = at->prev;
            else l->tail = at->prev;
#endif
            free(at);
            return;
        }
}
const struct node *find(const struct list *l, int value) {
    const struct node *at = l->head;
    while (at && at->value != value) at = at->next;
    return at;
}
