/* A trie over two letters. */
#include <stdlib.h>
struct trie { int is_word; struct trie *next[2]; };
static int limit = 3, n_nodes;
static const struct trie *seen[8];
static int check(const struct trie *t) {
    if (!t) return 1;
    for (int i = 0; i < n_nodes; i++)
        if (seen[i] == t) return 0;
    if (n_nodes >= limit) return 0;
    seen[n_nodes++] = t;
    return (t->is_word == 0 || t->is_word == 1) && check(t->next[0]) && check(t->next[1]);
}
int valid(const struct trie *t) { n_nodes = 0; return t && check(t); }
int kept(const struct trie *t) { limit = 6; return valid(t); }
void insert(struct trie *t, int first, int second) {
    int letters[2] = {first & 1, second & 1};
    for (int i = 0; i < 2; i++) {
        struct trie **at = &t->next[letters[i]];
        if (!*at) {
            *at = calloc(1, sizeof **at);
            if (!*at) return;
        }
        t = *at;
    }
#ifdef MISTAKE
    t->is_word++;
#else
    t->is_word = 1;
#endif
}
void delete(struct trie *t, int first, int second) {
    struct trie *one = t->next[first & 1];
    if (!one || !one->next[second & 1]) return;
    struct trie *two = one->next[second & 1];
    two->is_word = 0;
    if (!two->next[0] && !two->next[1]) {
        one->next[second & 1] = 0;
        free(two);
    }
}
int find(const struct trie *t, int first, int second) {
    t = t->next[first & 1];
    t = t ? t->next[second & 1] : 0;
    return t && t->is_word;
}
