// Inserting 5 symbolic keys into a sorted linked list.
#include <colt.h>
#include <stdlib.h>

struct node {
    int key;
    struct node *next;
};

static struct node *insert(struct node *list, int key) {
    struct node **link = &list;
    while (*link && (*link)->key < key)
        link = &(*link)->next;
    struct node *node = malloc(sizeof *node);
    if (!node)
        abort();
    node->key = key;
    node->next = *link;
    *link = node;
    return list;
}

int main(void) {
    int keys[5];
    struct node *list = NULL;
    colt_input(keys, sizeof keys, "keys");
    for (int i = 0; i < 5; i++)
        list = insert(list, keys[i]);
    for (struct node *node = list; node && node->next; node = node->next)
        colt_assert(node->key <= node->next->key);
    return 0;
}
