// Memory that is lost when the program ends. LeakSanitizer looks when main returns and at exit; where the engine looks at
// other ends as well, so do we.

#ifdef COLT_ADDRESS_SANITIZER
void __lsan_do_leak_check(void);
int __lsan_do_recoverable_leak_check(void);
void __lsan_ignore_object(const void *object);
// What the C library keeps for itself is reachable and no leak of the program, which only who reads the report can tell:
// then the program ends as it would.
static void look_for_leaks(void) {
  if (!COLT_LEAKS || test_pid == 0 || getpid() != test_pid)
    return;
  if (COLT_LEAK_ALL)
    __lsan_do_recoverable_leak_check();
  else
    __lsan_do_leak_check();
}
static void look_at_exit(void) {
  if (COLT_LEAK_ALL)
    atexit(look_for_leaks);
}
static void never_leaks(const void *object) {
  if (COLT_LEAKS && object != NULL)
    __lsan_ignore_object(object);
}
#else
static void look_for_leaks(void) {}
static void look_at_exit(void) {}
static void never_leaks(const void *object) { (void)object; }
#endif

// Only where these are wrapped.
#if COLT_LEAKS && defined(COLT_ADDRESS_SANITIZER)
NO_RETURN void __real_abort(void);
NO_RETURN void __wrap_abort(void);
NO_RETURN void __wrap_abort(void) {
  if (COLT_ABORT_IS_END)
    look_for_leaks();
  __real_abort();
}

NO_RETURN void __wrap__exit(int status);
NO_RETURN void __wrap__exit(int status) {
  look_for_leaks();
  _exit(status);
}
NO_RETURN void __wrap__Exit(int status);
NO_RETURN void __wrap__Exit(int status) { __wrap__exit(status); }
#endif
