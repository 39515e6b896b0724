//! The machine: values, memory, frames, states, and `run`, which executes until somebody has to decide.
//!
//! `run` returns an [`Effect`] with the state still standing at the instruction that needs the decision. Whoever decides
//! pushes an [`Answer`] and calls `run` again; the instruction is executed once more and finds its answers in the order
//! it asks. So a state is a plain value between any two calls: it can be cloned, put away, or run by another worker.
//! The machine never forks, solves, prints or reads options.

mod access;
mod arith;
mod aside;
mod bytes;
mod calls;
mod checks;
mod compare;
mod compared;
mod compile;
mod compute;
mod copies;
mod coverage;
mod decide;
mod effect;
mod event;
mod facts;
mod float;
mod flow;
mod footprint;
mod frame;
mod image;
mod inputs;
mod label;
mod layers;
mod leaks;
mod list;
mod marks;
mod meant;
mod memory;
mod object;
mod positions;
mod remember;
mod rounds;
mod run;
mod running;
mod sanitize;
mod seek;
mod slots;
mod slow;
mod spans;
mod split;
mod stack;
mod starts;
mod state;
mod stops;
mod stubs;
mod sum;
mod switches;
mod tail;
mod threads;
mod tlb;
mod unwritten;
mod updates;
mod value;
mod watching;
mod written;

pub use coverage::{Coverage, EdgeId};
pub use effect::{
    Access, Answer, Effect, Freedom, InputForm, InputKind, InputRequest, LabelledScalar, Pattern, PickWhy, StringKind,
    TextForm, TextKind,
};
pub use event::{Event, Interest, Observer};
pub use facts::Facts;
pub use flow::{Blind, BlockFlow, Decides, Decision, Flow, FlowSource, FunctionFlow, NoteWrites, Scouting, Track};
pub use footprint::{Footprint, Ranges, Touched};
pub use frame::{Frame, Packed, Returns};
pub use image::{Image, World};
pub use inputs::{InputRecord, Inputs, Scalar, ScalarShape, Tail, scalars, symbol as input_symbol};
pub use label::{Label, Labels};
pub use layers::{Layers, Over, Text, Zeros};
pub use list::List;
pub use memory::{INPUTS, Memory, ObjectId, Region};
pub use object::{Liveness, Object, ObjectKind, Site};
pub use rounds::{LoopShape, Loops};
pub use run::Machine;
pub use slots::{SlotId, Slots};
pub use spans::{Sizes, Spans};
pub use starts::Starts;
pub use state::State;
pub use stops::{Stop, Stops};
pub use switches::{BuiltIn, Checks};
pub use tail::create as create_text;
pub use threads::{ThreadId, Threads};
pub use unwritten::{Judgement, Uninit, Use};
pub use updates::Updates;
pub use value::{Shadow, Value};
pub use watching::{Trace, Watching};
