//! The bitcode of Colt's own C library, made by `build.rs`.

include!(concat!(env!("OUT_DIR"), "/runtime_table.rs"));
