/* An AVL tree. */
#include <stdlib.h>
struct node { int key, height; struct node *left, *right; };
static int limit = 3, n_nodes;
static int height(const struct node *n) { return n ? n->height : 0; }
static int check(const struct node *n, long low, long high) {
    if (!n) return 1;
    if (++n_nodes > limit || n->key <= low || n->key >= high) return 0;
    if (!check(n->left, low, n->key) || !check(n->right, n->key, high)) return 0;
    int l = height(n->left), r = height(n->right);
    return n->height == 1 + (l > r ? l : r) && l - r <= 1 && r - l <= 1;
}
int valid(const struct node *n) { n_nodes = 0; return check(n, -3000000000L, 3000000000L); }
int kept(const struct node *n) { limit = 4; return valid(n); }
static void update(struct node *n) {
    int l = height(n->left), r = height(n->right);
    n->height = 1 + (l > r ? l : r);
}
static struct node *rotate_right(struct node *n) {
    struct node *l = n->left;
    n->left = l->right;
    l->right = n;
    update(n);
    update(l);
    return l;
}
static struct node *rotate_left(struct node *n) {
    struct node *r = n->right;
    n->right = r->left;
    r->left = n;
    update(n);
    update(r);
    return r;
}
static struct node *balance(struct node *n) {
    update(n);
    if (height(n->left) > height(n->right) + 1) {
        if (height(n->left->left) < height(n->left->right)) n->left = rotate_left(n->left);
        return rotate_right(n);
    }
    if (height(n->right) > height(n->left) + 1) {
#ifndef MISTAKE
        if (height(n->right->right) < height(n->right->left)) n->right = rotate_right(n->right);
#endif
        return rotate_left(n);
    }
    return n;
}
struct node *insert(struct node *n, int key) {
    if (!n) {
        struct node *fresh = malloc(sizeof *fresh);
        if (fresh) *fresh = (struct node){key, 1, 0, 0};
        return fresh;
    }
    if (key == n->key) return n;
    if (key < n->key) n->left = insert(n->left, key);
    else n->right = insert(n->right, key);
    return balance(n);
}
static struct node *take_first(struct node *n, struct node **first) {
    if (!n->left) {
        *first = n;
        return n->right;
    }
    n->left = take_first(n->left, first);
    return balance(n);
}
struct node *delete(struct node *n, int key) {
    if (!n) return 0;
    if (key < n->key) n->left = delete(n->left, key);
    else if (key > n->key) n->right = delete(n->right, key);
    else {
        struct node *l = n->left, *r = n->right, *next;
        free(n);
        if (!r) return l;
        r = take_first(r, &next);
        next->right = r;
        next->left = l;
        n = next;
    }
    return balance(n);
}
const struct node *find(const struct node *n, int key) {
    while (n && n->key != key) n = key < n->key ? n->left : n->right;
    return n;
}
