// A page-table walker in the spirit of a teaching kernel: physical pages with headers, a two-level table made for a new
// process, the walk over it, and the freeing of everything when the process exits. Every page has its own header fields.
#include <assert.h>
#include <colt.h>
#include <stdint.h>

#ifndef N_PAGES
#define N_PAGES 64
#endif
enum { N_DIRECTORIES = 4, N_SLOTS = N_PAGES / N_DIRECTORIES };

enum owner { FREE = 0, KERNEL = 1, PROCESS = 2, SHARED = 3 };

enum { PRESENT = 1, WRITABLE = 2, USER = 4, ACCESSED = 8, DIRTY = 16, COPY_ON_WRITE = 32 };

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

static struct directory directory;

struct counters {
    uint8_t mapped[N_PAGES], written_back[N_PAGES], faults[N_PAGES], freed[N_PAGES];
};

static struct counters counters;

static struct entry *slot_of(uint32_t page) {
    assert(page < N_PAGES);
    return &directory.tables[page / N_SLOTS].slots[page % N_SLOTS];
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
    struct entry *slot = slot_of(page);
    if (header->owner == FREE || header->owner == KERNEL) {
        slot->flags = 0;
        return;
    }
    slot->frame = page;
    slot->flags = flags_for(header);
    counters.mapped[page]++;
}

/* Makes the address space of a process from what belongs to it. */
static void create(void) {
    for (uint32_t page = 0; page < N_PAGES; page++) {
        repair(&pages[page]);
        map_page(page);
    }
}

enum access { READ, WRITE };

/* What the hardware does on an access, and the kernel on a fault. */
static void touch(uint32_t page, enum access access) {
    struct entry *slot = slot_of(page);
    if (!(slot->flags & PRESENT)) {
        counters.faults[page]++;
        return;
    }
    if (access == WRITE && !(slot->flags & WRITABLE)) {
        if (!(slot->flags & COPY_ON_WRITE)) {
            counters.faults[page]++;
            return;
        }
        slot->flags &= ~COPY_ON_WRITE;
        slot->flags |= WRITABLE;
    }
    slot->flags |= ACCESSED;
    if (access == WRITE)
        slot->flags |= DIRTY;
}

static void walk(void) {
    for (uint32_t page = 0; page < N_PAGES; page++)
        touch(page, page % 2 ? WRITE : READ);
}

static void write_back(uint32_t page) {
    if (pages[page].swapped)
        counters.written_back[page] = 2;
    else
        counters.written_back[page] = 1;
}

static void release(uint32_t page) {
    struct page_header *header = &pages[page];
    struct entry *slot = slot_of(page);
    if (!(slot->flags & PRESENT))
        return;
    if (slot->flags & DIRTY)
        write_back(page);
    slot->flags = 0;
    if (header->references > 1) {
        header->references--;
        return;
    }
    header->references = 0;
    header->owner = FREE;
    counters.freed[page]++;
}

static void destroy(void) {
    for (uint32_t page = 0; page < N_PAGES; page++)
        release(page);
}

/* What has to be true of every page once the process is gone. */
static void check(void) {
    for (uint32_t page = 0; page < N_PAGES; page++) {
        const struct page_header *header = &pages[page];
        assert(is_sane(header));
        assert(!(slot_of(page)->flags & PRESENT));
        if (counters.freed[page])
            assert(header->owner == FREE);
    }
}

int main(void) {
    colt_input(pages, sizeof pages, "pages");
    create();
    walk();
    destroy();
    check();
    return 0;
}
