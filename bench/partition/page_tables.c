// A page-table walker in the spirit of a teaching kernel: physical pages with headers, a two-level table made for a new
// process, the walk over it, a child that shares what the parent has, protection that is taken away, pages that are swapped
// out, and the freeing of everything when the processes exit. Every page has its own header fields, and none looks at
// another's. BROKEN names a page whose last reference is dropped without its contents being written back.
#include <assert.h>
#include <colt.h>
#include <stdint.h>

#ifndef N_PAGES
#define N_PAGES 64
#endif
#ifndef BROKEN
#define BROKEN -1
#endif
enum { N_DIRECTORIES = 4, N_SLOTS = N_PAGES / N_DIRECTORIES };

enum owner { FREE = 0, KERNEL = 1, PROCESS = 2, SHARED = 3 };

enum { PRESENT = 1, WRITABLE = 2, USER = 4, ACCESSED = 8, DIRTY = 16, COPY_ON_WRITE = 32, IN_SWAP = 64 };

enum process { PARENT, CHILD, N_PROCESSES };

/* What the memory of the machine looks like when we come in. */
struct page_header {
    uint8_t owner;
    uint8_t references;
    uint8_t flags;
    uint8_t swapped;
};

static struct page_header pages[N_PAGES];

struct entry {
    uint32_t frame;
    uint8_t flags;
};

struct table {
    struct entry slots[N_SLOTS];
};

struct directory {
    struct table tables[N_DIRECTORIES];
};

static struct directory directories[N_PROCESSES];

struct counters {
    uint8_t mapped[N_PAGES], written_back[N_PAGES], faults[N_PAGES], freed[N_PAGES];
    uint8_t shared[N_PAGES], copied[N_PAGES], swapped_out[N_PAGES], protected[N_PAGES];
};

static struct counters counters;

static struct table *table_of(enum process process, uint32_t page) {
    assert(page / N_SLOTS < N_DIRECTORIES);
    return &directories[process].tables[page / N_SLOTS];
}

static struct entry *slot_of(enum process process, uint32_t page) {
    assert(page < N_PAGES);
    return &table_of(process, page)->slots[page % N_SLOTS];
}

static int is_sane(const struct page_header *header) {
    if (header->owner > SHARED)
        return 0;
    if (header->owner == FREE && header->references != 0)
        return 0;
    return 1;
}

/* Headers that make no sense are treated as free. */
static void repair(struct page_header *header) {
    if (!is_sane(header)) {
        header->owner = FREE;
        header->references = 0;
        header->flags = 0;
    }
}

static uint8_t flags_for(const struct page_header *header) {
    uint8_t flags = PRESENT | USER;
    if (header->owner == PROCESS)
        flags |= WRITABLE;
    else if (header->owner == SHARED)
        flags |= COPY_ON_WRITE;
    if (header->flags & DIRTY)
        flags |= DIRTY;
    return flags;
}

static void map_page(uint32_t page) {
    struct page_header *header = &pages[page];
    struct entry *slot = slot_of(PARENT, page);
    if (header->owner == FREE || header->owner == KERNEL) {
        slot->flags = 0;
        return;
    }
    slot->frame = page;
    slot->flags = flags_for(header);
    if (header->references == 0)
        header->references = 1;
    counters.mapped[page]++;
}

/* Makes the address space of a process from what belongs to it. */
static void create(void) {
    for (uint32_t page = 0; page < N_PAGES; page++) {
        repair(&pages[page]);
        map_page(page);
    }
}

/* The child has what the parent has; nobody may write it any more without making a copy. */
static void share(uint32_t page) {
    struct entry *parent = slot_of(PARENT, page), *child = slot_of(CHILD, page);
    if (!(parent->flags & PRESENT))
        return;
    if (pages[page].references == UINT8_MAX) {
        counters.faults[page]++;
        return;
    }
    pages[page].references++;
    if (parent->flags & WRITABLE) {
        parent->flags &= ~WRITABLE;
        parent->flags |= COPY_ON_WRITE;
    }
    *child = *parent;
    counters.shared[page]++;
}

static void fork_process(void) {
    for (uint32_t page = 0; page < N_PAGES; page++)
        share(page);
}

enum access { READ, WRITE };

/* A copy is made only when somebody else still has the page. */
static void copy_on_write(enum process process, uint32_t page) {
    struct entry *slot = slot_of(process, page);
    if (pages[page].references > 1)
        counters.copied[page]++;
    slot->flags &= ~COPY_ON_WRITE;
    slot->flags |= WRITABLE;
}

/* What the hardware does on an access, and the kernel on a fault. */
static void touch(enum process process, uint32_t page, enum access access) {
    struct entry *slot = slot_of(process, page);
    if (!(slot->flags & PRESENT)) {
        counters.faults[page]++;
        return;
    }
    if (access == WRITE && !(slot->flags & WRITABLE)) {
        if (!(slot->flags & COPY_ON_WRITE)) {
            counters.faults[page]++;
            return;
        }
        copy_on_write(process, page);
    }
    slot->flags |= ACCESSED;
    if (access == WRITE)
        slot->flags |= DIRTY;
}

static void walk(void) {
    for (uint32_t page = 0; page < N_PAGES; page++) {
        touch(PARENT, page, page % 2 ? WRITE : READ);
        touch(CHILD, page, page % 3 ? READ : WRITE);
    }
}

/* Takes the right to write away from the second half of the address space. */
static void protect(uint32_t page) {
    struct entry *slot = slot_of(PARENT, page);
    if (!(slot->flags & WRITABLE))
        return;
    slot->flags &= ~WRITABLE;
    counters.protected[page]++;
}

/* Pages nobody has looked at lately go to disk, where there is a copy on disk already. */
static void swap_out(uint32_t page) {
    struct entry *slot = slot_of(CHILD, page);
    if (!(slot->flags & PRESENT) || !pages[page].swapped)
        return;
    if (slot->flags & DIRTY)
        return;
    slot->flags |= IN_SWAP;
    counters.swapped_out[page]++;
}

static void write_back(uint32_t page) {
    if (pages[page].swapped)
        counters.written_back[page] = 2;
    else
        counters.written_back[page] = 1;
}

static void drop_reference(uint32_t page) {
    struct page_header *header = &pages[page];
    assert(header->references > 0);
    header->references--;
    if (header->references > 0)
        return;
    header->owner = FREE;
    header->flags = 0;
    counters.freed[page]++;
}

static void release(enum process process, uint32_t page) {
    struct entry *slot = slot_of(process, page);
    if (!(slot->flags & PRESENT))
        return;
    int is_forgotten = (int)page == BROKEN && pages[page].references == 1;
    if ((slot->flags & DIRTY) && !is_forgotten)
        write_back(page);
    if (slot->flags & DIRTY)
        pages[page].flags |= DIRTY;
    slot->flags = 0;
    drop_reference(page);
}

static void destroy(enum process process) {
    for (uint32_t page = 0; page < N_PAGES; page++)
        release(process, page);
}

/* What has to be true of every page once the processes are gone. */
static void check(uint32_t page) {
    const struct page_header *header = &pages[page];
    assert(is_sane(header));
    assert(!(slot_of(PARENT, page)->flags & PRESENT));
    assert(!(slot_of(CHILD, page)->flags & PRESENT));
    if (counters.freed[page])
        assert(header->owner == FREE);
    if (counters.copied[page])
        assert(counters.written_back[page]);
}

int main(void) {
    colt_input(pages, sizeof pages, "pages");
    create();
    fork_process();
    walk();
    for (uint32_t page = N_PAGES / 2; page < N_PAGES; page++)
        protect(page);
    for (uint32_t page = 0; page < N_PAGES; page++)
        swap_out(page);
    destroy(CHILD);
    destroy(PARENT);
    for (uint32_t page = 0; page < N_PAGES; page++)
        check(page);
    return 0;
}
