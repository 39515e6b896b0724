/* Counts binary trees of exactly LIMIT nodes: the paths that return. */
#include <colt.h>
struct tree { struct tree *left, *right; };
static const struct tree *seen[32];
static int n_seen;
static int is_tree(const struct tree *t) {
    if (t == 0) return 1;
    if (n_seen == LIMIT) return 0;
    for (int i = 0; i < n_seen; i++)
        if (seen[i] == t) return 0;
    seen[n_seen++] = t;
    return is_tree(t->left) && is_tree(t->right);
}
void count(const struct tree *t) {
    colt_assume(is_tree(t));
    colt_assume(n_seen == LIMIT);
}
