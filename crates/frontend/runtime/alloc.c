// The rest of the malloc family, on top of the engine's malloc and free.
#include "common.h"

void *calloc(size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        colt_errno = COLT_ENOMEM;
        return NULL;
    }
    void *block = malloc(total);
    if (block)
        __builtin_memset(block, 0, total);
    return block;
}

// Always moves, so that a stale pointer into the old block is found out.
void *realloc(void *old, size_t size) {
    if (!old)
        return malloc(size);
    __colt_realloc_check(old);
    if (size == 0) {
        free(old);
        return NULL;
    }
    void *block = malloc(size);
    if (!block)
        return NULL;
    size_t old_size = __colt_object_size(old);
    __builtin_memcpy(block, old, old_size < size ? old_size : size);
    free(old);
    return block;
}

void *reallocarray(void *old, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        colt_errno = COLT_ENOMEM;
        return NULL;
    }
    return realloc(old, total);
}

static int is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

void *aligned_alloc(size_t alignment, size_t size) {
    if (!is_power_of_two(alignment)) {
        colt_errno = COLT_EINVAL;
        return NULL;
    }
    return __colt_malloc_aligned(alignment, size);
}

void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
void *valloc(size_t size) { return __colt_malloc_aligned(4096, size); }
void *pvalloc(size_t size) { return __colt_malloc_aligned(4096, (size + 4095) & ~(size_t)4095); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    if (!is_power_of_two(alignment) || alignment % sizeof(void *) != 0)
        return COLT_EINVAL;
    void *block = __colt_malloc_aligned(alignment, size);
    if (!block)
        return COLT_ENOMEM;
    *result = block;
    return 0;
}

size_t malloc_usable_size(void *block) { return block ? __colt_object_size(block) : 0; }
void cfree(void *block) { free(block); }
