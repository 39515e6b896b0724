// The memory through which Colt and the natively built program talk; its layout is mirrored in exchange.rs.

#ifndef COLT_EXCHANGE_H
#define COLT_EXCHANGE_H

#include <stdint.h>

// Descriptors the program is started with.
enum { CONTROL_FD = 200, RESULT_FD = 201, EXCHANGE_FD = 202, REPORT_FD = 203 };

enum { EXCHANGE_BYTES = 64 << 20, INPUTS_OFFSET = 8192, MAX_FRAMES = 64, MAX_MESSAGE = 1024 };

// The exit status of a process that a sanitizer ended.
#define SANITIZER_STATUS 99

enum outcome {
  OUTCOME_NONE = 0, // the process ended without telling us: exit, a signal, a sanitizer
  OUTCOME_RETURNED = 1,
  OUTCOME_ASSUMED = 2,
  OUTCOME_ASSERTION = 3,
  OUTCOME_ABORT = 4,
  OUTCOME_OUT_OF_INPUTS = 5,
  OUTCOME_INPUT_SIZE = 6,
  OUTCOME_POINTER = 7,
};

struct exchange {
  // Written by Colt before a test.
  uint32_t timeout_ms;
  uint32_t memory_mb;
  uint32_t file_mb;
  uint32_t max_processes;
  uint32_t n_inputs;
  uint32_t reserved;
  // Written by the program.
  uint32_t outcome;
  int32_t status;
  uint32_t n_frames;
  uint32_t reserved2;
  uint64_t image_base;
  uint64_t frames[MAX_FRAMES];
  char message[MAX_MESSAGE];
};

// One input: this header, the name with its NUL, padding to 8, the bytes, padding to 8.
struct input {
  uint32_t used;
  uint32_t name_bytes; // with NUL and padding
  uint32_t size;
  uint32_t next; // distance to the next input
};

#endif
