/* A ring buffer on an array of its own. */
struct ring { long *data; unsigned size, first, count; };
int valid(const struct ring *r) {
    return r && r->data && r->size > 0 && r->size <= 3 && r->first < r->size && r->count <= r->size;
}
int kept(const struct ring *r) { return valid(r); }
int insert(struct ring *r, long value) {
#ifdef MISTAKE
    if (r->count > r->size) return 0;
#else
    if (r->count == r->size) return 0;
#endif
    r->data[(r->first + r->count) % r->size] = value;
    r->count++;
    return 1;
}
long delete(struct ring *r) {
    if (r->count == 0) return -1;
    long value = r->data[r->first];
    r->first = (r->first + 1) % r->size;
    r->count--;
    return value;
}
int find(const struct ring *r, long value) {
    for (unsigned i = 0; i < r->count; i++)
        if (r->data[(r->first + i) % r->size] == value) return 1;
    return 0;
}
