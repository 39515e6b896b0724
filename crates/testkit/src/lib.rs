//! Runs annotated C fixtures and generated programs through the `colt` command and compares what happened with what was announced.
//!
//! Everything here talks to the built command and its output folder, as a user does; nothing reaches into the engine.

pub mod annotation;
pub mod command;
pub mod csmith;
pub mod generate;
pub mod input;
pub mod judge;
pub mod outcome;
pub mod predicate;
pub mod runner;
pub mod unwritten;
