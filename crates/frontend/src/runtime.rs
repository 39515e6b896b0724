//! The bitcode of Colt's own C library and of the world below a whole one, made by `build.rs`.

include!(concat!(env!("OUT_DIR"), "/runtime_table.rs"));

/// Files of Colt's own library that stay in force beside a whole C library: they branch less on symbolic data than any
/// other, behave as the native runtime of replays does, or, as threads, are the engine's own matter.
pub const KEPT_BESIDE_LIBC: &[&str] = &[
    "alloc",
    "complex",
    "ctype",
    "float_class",
    "float_text",
    "identity",
    "message",
    "stdio_format",
    "stdlib",
    "string",
    "thread",
    "thread_exit",
];

/// The file of Colt's own library with names that a whole C library knows nothing of. It is linked into programs that
/// use one of them: it would draw in half of the C library for nothing.
pub const FORTIFY: &str = "fortify";
