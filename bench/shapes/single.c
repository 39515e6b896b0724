/* A singly linked list, sorted. */
#include <stdlib.h>
struct node { int value; struct node *next; };
static int limit = 3;
int valid(const struct node *l) {
    for (int n = 0; l; l = l->next) {
        if (++n > limit) return 0;
        if (l->next && l->next->value < l->value) return 0;
    }
    return 1;
}
int kept(const struct node *l) { limit = 4; return valid(l); }
struct node *insert(struct node *l, int value) {
    struct node *fresh = malloc(sizeof *fresh), **at = &l;
    if (!fresh) return l;
    fresh->value = value;
#ifdef MISTAKE
    while (*at && (*at)->value < value && (*at)->next) at = &(*at)->next;
#else
    while (*at && (*at)->value < value) at = &(*at)->next;
#endif
    fresh->next = *at;
    *at = fresh;
    return l;
}
struct node *delete(struct node *l, int value) {
    for (struct node **at = &l; *at; at = &(*at)->next)
        if ((*at)->value == value) {
            struct node *gone = *at;
            *at = gone->next;
            free(gone);
            break;
        }
    return l;
}
const struct node *find(const struct node *l, int value) {
    while (l && l->value != value) l = l->next;
    return l;
}
