/* The longest list that is reached: its length is the largest status. */
struct node { int value; struct node *next; };
int longest(const struct node *l) {
    int n = 0;
    for (; l; l = l->next) n++;
    return n;
}
