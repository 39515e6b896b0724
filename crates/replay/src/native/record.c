// How the program tells Colt that it ended for a reason only this runtime knows.

static struct exchange *exchange;
static pid_t test_pid;

// The start of the program's own image; provided by the linker.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *unused) {
  (void)unused;
  uintptr_t pc = _Unwind_GetIP(context);
  if (pc == 0 || exchange->n_frames == MAX_FRAMES)
    return _URC_END_OF_STACK;
  // A return address may belong to the next line; the byte before it belongs to the call.
  exchange->frames[exchange->n_frames++] = pc - 1;
  return _URC_NO_REASON;
}

// Only the process that runs the test may tell its ending, not one that it forked.
static void record(enum outcome outcome, int status, const char *message) {
  if (getpid() != test_pid)
    return;
  exchange->outcome = outcome;
  exchange->status = status;
  exchange->image_base = (uintptr_t)__ehdr_start;
  exchange->n_frames = 0;
  if (outcome == OUTCOME_ASSERTION || outcome == OUTCOME_ABORT || outcome == OUTCOME_POINTER)
    _Unwind_Backtrace(note_frame, NULL);
  snprintf(exchange->message, MAX_MESSAGE, "%s", message);
}

NO_RETURN static void finish(enum outcome outcome, const char *message) {
  record(outcome, 0, message);
  _exit(0);
}
