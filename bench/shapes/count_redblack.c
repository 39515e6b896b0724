/* Counts red-black trees of exactly LIMIT nodes, with a root of any colour or (BLACK) a black one. */
#include <colt.h>
#ifndef BLACK
#define BLACK 0
#endif
struct node { int red; struct node *left, *right; };
static const struct node *seen[32];
static int n_seen;
/* The black height, or -1. */
static int height(const struct node *t, int parent_red) {
    if (t == 0) return 1;
    if (n_seen == LIMIT) return -1;
    for (int i = 0; i < n_seen; i++)
        if (seen[i] == t) return -1;
    seen[n_seen++] = t;
    if (t->red != 0 && t->red != 1) return -1;
    if (t->red && parent_red) return -1;
    int left = height(t->left, t->red);
    if (left < 0 || height(t->right, t->red) != left) return -1;
    return left + !t->red;
}
void count(const struct node *t) {
    colt_assume(height(t, BLACK) >= 0);
    colt_assume(n_seen == LIMIT);
}
