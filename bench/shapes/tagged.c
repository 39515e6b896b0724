/* A tree of tagged unions: a leaf has a number, a fork two trees. */
#include <stdlib.h>
struct tree {
    enum { LEAF, FORK } tag;
    union {
        int number;
        struct { struct tree *left, *right; } kids;
    } u;
};
static int limit = 3, n_nodes;
static const struct tree *seen[8];
static int check(const struct tree *t) {
    if (!t || n_nodes >= limit) return 0;
    for (int i = 0; i < n_nodes; i++)
        if (seen[i] == t) return 0;
    seen[n_nodes++] = t;
    if (t->tag == LEAF) return t->u.number >= 0;
    return t->tag == FORK && check(t->u.kids.left) && check(t->u.kids.right);
}
int valid(const struct tree *t) { n_nodes = 0; return check(t); }
int kept(const struct tree *t) { limit = 5; return valid(t); }
struct tree *insert(struct tree *t, int number) {
    struct tree *leaf = malloc(sizeof *leaf), *fork = malloc(sizeof *fork);
    if (!leaf || !fork) return t;
    leaf->tag = LEAF;
#ifdef MISTAKE
    leaf->u.number = number;
#else
    leaf->u.number = number < 0 ? 0 : number;
#endif
    fork->tag = FORK;
    fork->u.kids.left = t;
    fork->u.kids.right = leaf;
    return fork;
}
struct tree *delete(struct tree *t) {
    if (t->tag == LEAF) return t;
    struct tree *left = t->u.kids.left;
    free(t);
    return left;
}
int find(const struct tree *t, int number) {
    if (t->tag == LEAF) return t->u.number == number;
    return find(t->u.kids.left, number) || find(t->u.kids.right, number);
}
