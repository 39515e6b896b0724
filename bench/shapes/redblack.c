/* A red-black tree whose leaves, and the parent of its root, are a sentinel inside of the tree itself. */
#include <stdlib.h>
struct rb_node { struct rb_node *parent, *left, *right; int red, key; };
struct rb_tree { struct rb_node nil; struct rb_node *root; };
#ifndef LIMIT
#define LIMIT 3
#endif
static int limit = LIMIT, n_nodes;
/* The black height, or -1. */
static int check(const struct rb_tree *t, const struct rb_node *n, const struct rb_node *parent, long low, long high) {
    if (n == &t->nil) return 1;
    if (!n || n_nodes == limit) return -1;
    n_nodes++;
    if (n->parent != parent || n->key <= low || n->key >= high) return -1;
    if (n->red != 0 && (n->red != 1 || parent->red)) return -1;
    int left = check(t, n->left, n, low, n->key);
    if (left < 0 || check(t, n->right, n, n->key, high) != left) return -1;
    return left + !n->red;
}
int valid(const struct rb_tree *t) {
    n_nodes = 0;
    if (!t || t->nil.red || !t->root) return 0;
    if (t->root != &t->nil && t->root->red) return 0;
    return check(t, t->root, &t->nil, -3000000000L, 3000000000L) >= 0;
}
int kept(const struct rb_tree *t) {
    limit = LIMIT + 1;
    return valid(t);
}
static void rotate_left(struct rb_tree *t, struct rb_node *x) {
    struct rb_node *y = x->right;
    x->right = y->left;
    if (y->left != &t->nil) y->left->parent = x;
    y->parent = x->parent;
    if (x->parent == &t->nil) t->root = y;
    else if (x == x->parent->left) x->parent->left = y;
    else x->parent->right = y;
    y->left = x;
    x->parent = y;
}
static void rotate_right(struct rb_tree *t, struct rb_node *x) {
    struct rb_node *y = x->left;
    x->left = y->right;
    if (y->right != &t->nil) y->right->parent = x;
    y->parent = x->parent;
    if (x->parent == &t->nil) t->root = y;
    else if (x == x->parent->right) x->parent->right = y;
    else x->parent->left = y;
    y->right = x;
    x->parent = y;
}
static void fix_up(struct rb_tree *t, struct rb_node *z) {
    while (z->parent->red) {
        struct rb_node *up = z->parent->parent;
        if (z->parent == up->left) {
            struct rb_node *uncle = up->right;
            if (uncle->red) {
                z->parent->red = uncle->red = 0;
                up->red = 1;
                z = up;
            } else {
                if (z == z->parent->right) {
                    z = z->parent;
                    rotate_left(t, z);
                }
                z->parent->red = 0;
                z->parent->parent->red = 1;
                rotate_right(t, z->parent->parent);
            }
        } else {
            struct rb_node *uncle = up->left;
            if (uncle->red) {
#ifdef MISTAKE
                z->parent->red = 0;
#else
                z->parent->red = uncle->red = 0;
#endif
                up->red = 1;
                z = up;
            } else {
                if (z == z->parent->left) {
                    z = z->parent;
                    rotate_right(t, z);
                }
                z->parent->red = 0;
                z->parent->parent->red = 1;
                rotate_left(t, z->parent->parent);
            }
        }
    }
    t->root->red = 0;
}
void insert(struct rb_tree *t, int key) {
    struct rb_node *up = &t->nil, *at = t->root;
    while (at != &t->nil) {
        if (at->key == key) return;
        up = at;
        at = key < at->key ? at->left : at->right;
    }
    struct rb_node *z = malloc(sizeof *z);
    if (!z) return;
    z->parent = up;
    z->left = z->right = &t->nil;
    z->red = 1;
    z->key = key;
    if (up == &t->nil) t->root = z;
    else if (key < up->key) up->left = z;
    else up->right = z;
    fix_up(t, z);
}
