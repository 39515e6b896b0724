// Stands before musl's own header of this name: the thread's descriptor is found through a variable of ours.
extern uintptr_t __world_thread_pointer;
static inline uintptr_t __get_tp(void) { return __world_thread_pointer; }
#define MC_PC gregs[REG_RIP]
