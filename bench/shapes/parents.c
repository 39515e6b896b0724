/* A binary search tree with parent pointers. */
#include <stdlib.h>
struct node { int key; struct node *parent, *left, *right; };
struct tree { struct node *root; };
static int limit = 4, n_nodes;
static int check(const struct node *n, const struct node *parent, long low, long high) {
    if (!n) return 1;
    if (++n_nodes > limit || n->parent != parent || n->key <= low || n->key >= high) return 0;
    return check(n->left, n, low, n->key) && check(n->right, n, n->key, high);
}
int valid(const struct tree *t) { n_nodes = 0; return t && check(t->root, 0, -3000000000L, 3000000000L); }
int kept(const struct tree *t) { limit = 5; return valid(t); }
void insert(struct tree *t, int key) {
    struct node *up = 0, **at = &t->root;
    while (*at) {
        if ((*at)->key == key) return;
        up = *at;
        at = key < up->key ? &up->left : &up->right;
    }
    if (!(*at = malloc(sizeof **at))) return;
    **at = (struct node){key, up, 0, 0};
}
static void replace(struct tree *t, struct node *old, struct node *by) {
    if (!old->parent) t->root = by;
    else if (old->parent->left == old) old->parent->left = by;
    else old->parent->right = by;
    if (by) by->parent = old->parent;
}
void delete(struct tree *t, int key) {
    struct node *n = t->root;
    while (n && n->key != key) n = key < n->key ? n->left : n->right;
    if (!n) return;
    if (!n->left) replace(t, n, n->right);
    else if (!n->right) replace(t, n, n->left);
    else {
        struct node *next = n->right;
        while (next->left) next = next->left;
        if (next->parent != n) {
            replace(t, next, next->right);
            next->right = n->right;
            next->right->parent = next;
        }
        replace(t, n, next);
        next->left = n->left;
#ifndef MISTAKE
        next->left->parent = next;
#endif
    }
    free(n);
}
const struct node *find(const struct tree *t, int key) {
    const struct node *n = t->root;
    while (n && n->key != key) n = key < n->key ? n->left : n->right;
    return n;
}
