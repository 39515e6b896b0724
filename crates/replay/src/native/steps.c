// Pointer arithmetic, told before the pointer is used: it may lead to any byte of its object and to the end of it.

#ifdef COLT_ADDRESS_SANITIZER
const char *__asan_locate_address(void *address, char *name, size_t name_size, void **start, size_t *size);

void __colt_step(char *before, char *after);
void __colt_step(char *before, char *after) {
  char name[2];
  void *start = NULL;
  size_t size = 0;
  if (exchange == NULL || test_pid == 0 || before == after)
    return;
  const char *kind = __asan_locate_address(before, name, sizeof name, &start, &size);
  char *end = (char *)start + size;
  // Of memory that nobody allocated nothing is known.
  if (kind == NULL || start == NULL || size == 0 || before < (char *)start || before > end)
    return;
  if (after >= (char *)start && after <= end)
    return;
  char message[96];
  snprintf(message, sizeof message, "the pointer leaves its object of %zu bytes (%s)", size, kind);
  finish(OUTCOME_POINTER, message);
}
#endif
