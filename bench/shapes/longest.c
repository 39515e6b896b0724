/* The longest list that is reached: one path returns for each length. */
struct node { int value; struct node *next; };
int ends(const struct node *l) {
    const struct node *slow = l;
    while (l && l->next) {
        l = l->next->next;
        slow = slow->next;
        if (l == slow) return 0;
    }
    return 1;
}
int longest(const struct node *l) {
    int n = 0;
    for (; l; l = l->next) n++;
    return n;
}
