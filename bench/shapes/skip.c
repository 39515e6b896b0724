/* A skip list of two levels. */
#include <stdlib.h>
struct node { int key; struct node *next[2]; };
static int limit = 3;
int valid(const struct node *head) {
    if (!head) return 0;
    const struct node *high = head->next[1];
    int n = 0;
    for (const struct node *at = head; at->next[0]; at = at->next[0]) {
        const struct node *next = at->next[0];
        if (++n > limit || (at != head && next->key <= at->key)) return 0;
        if (next == high) high = next->next[1];
        else if (next->next[1]) return 0;
    }
    return !high;
}
int kept(const struct node *head) { limit = 4; return valid(head); }
void insert(struct node *head, int key, int tall) {
    struct node *up = head;
    while (up->next[1] && up->next[1]->key < key) up = up->next[1];
    struct node *at = up;
    while (at->next[0] && at->next[0]->key < key) at = at->next[0];
    if (at->next[0] && at->next[0]->key == key) return;
    struct node *fresh = malloc(sizeof *fresh);
    if (!fresh) return;
    fresh->key = key;
    fresh->next[1] = 0;
    fresh->next[0] = at->next[0];
    at->next[0] = fresh;
    if (tall) {
        fresh->next[1] = up->next[1];
        up->next[1] = fresh;
    }
}
void delete(struct node *head, int key) {
    struct node *up = head;
    while (up->next[1] && up->next[1]->key < key) up = up->next[1];
    struct node *at = up;
    while (at->next[0] && at->next[0]->key < key) at = at->next[0];
    struct node *gone = at->next[0];
    if (!gone || gone->key != key) return;
#ifndef MISTAKE
    if (up->next[1] == gone) up->next[1] = gone->next[1];
#endif
    at->next[0] = gone->next[0];
    free(gone);
}
const struct node *find(const struct node *head, int key) {
    const struct node *at = head;
    for (int level = 1; level >= 0; level--)
        while (at->next[level] && at->next[level]->key < key) at = at->next[level];
    at = at->next[0];
    return at && at->key == key ? at : 0;
}
