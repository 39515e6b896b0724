//! The explorer: runs states, forks them where the machine asks, keeps the pending ones, and sees every path to its ending.
//!
//! [`explore`] is the whole: it asks the driver for plans and explores each. Policy lives in the seats of
//! [`Technique`]; nothing here knows any technique by name.

mod campaign;
mod checkpoint;
mod collector;
mod conduct;
mod decisions;
mod driver;
mod effects;
mod exchange;
mod flow;
mod foresee;
mod goal;
mod line_up;
mod meaning;
mod meets;
mod options;
mod outcome;
mod path;
mod pending;
mod refine;
mod resolve;
mod rounds;
mod search;
mod seeds;
mod spots;
mod technique;
mod tree;
mod unwritten;
mod worker;

pub use campaign::{Fault, Program, explore};
pub use checkpoint::Checkpoint;
pub use conduct::{Explorer, Fork, Solved, Stop, Trust};
pub use decisions::Decisions;
pub use driver::{Conducts, Driver, History, LeavesOut, RunPlan};
pub use goal::Goal;
pub use line_up::LineUp;
pub use meaning::{Asked, Leads, LeftOut, Meanings, Meant};
pub use options::{Budgets, Checkpoints, Options, Search, SymArgs, Tests, World};
pub use outcome::{Covers, Outcome, PathCounts, Progress, Sink, TestId};
pub use path::{Path, WhatEnded, inputs_of};
pub use refine::{Shaped, Shapings};
pub use search::{Outlook, Promise, Rank, Ticket, View};
pub use seeds::Seed;
pub use solver::Refuted;
pub use spots::SpotId;
pub use technique::{
    Admission, Asking, CallChoice, Discovery, Endings, Events, First, Flows, Foreseen, Foresight, Looks, Maker, Means,
    MoreTrials, Point, Points, Report, Seats, Settlement, Technique, TextFile, Told, Trial, Tried, Under, Unwatched,
    Watch, Work,
};
pub use tree::{NodeId, Subtree};
pub use vm::{Event, InputForm, InputKind, InputRequest, Interest, SlotId, Slots};
