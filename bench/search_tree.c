// Inserting 5 symbolic keys into a left-leaning red-black tree and checking its order.
#include <colt.h>
#include <stdlib.h>

enum colour { BLACK, RED };

struct node {
    int key;
    enum colour colour;
    struct node *left, *right;
};

static int is_red(const struct node *node) { return node && node->colour == RED; }

static struct node *rotate_left(struct node *node) {
    struct node *top = node->right;
    node->right = top->left;
    top->left = node;
    top->colour = node->colour;
    node->colour = RED;
    return top;
}

static struct node *rotate_right(struct node *node) {
    struct node *top = node->left;
    node->left = top->right;
    top->right = node;
    top->colour = node->colour;
    node->colour = RED;
    return top;
}

static struct node *insert(struct node *node, int key) {
    if (!node) {
        node = calloc(1, sizeof *node);
        if (!node)
            abort();
        node->key = key;
        node->colour = RED;
        return node;
    }
    if (key < node->key)
        node->left = insert(node->left, key);
    else if (key > node->key)
        node->right = insert(node->right, key);
    if (is_red(node->right) && !is_red(node->left))
        node = rotate_left(node);
    if (is_red(node->left) && is_red(node->left->left))
        node = rotate_right(node);
    if (is_red(node->left) && is_red(node->right)) {
        node->colour = RED;
        node->left->colour = node->right->colour = BLACK;
    }
    return node;
}

int main(void) {
    int keys[5];
    struct node *root = NULL;
    colt_input(keys, sizeof keys, "keys");
    for (int i = 0; i < 5; i++) {
        root = insert(root, keys[i]);
        root->colour = BLACK;
    }
    colt_assert(!root->left || root->left->key < root->key);
    return 0;
}
