//! Library functions the machine carries out itself.
//!
//! Three families: what the C library in bitcode is built on (allocation, output, endings), what a program may declare
//! (inputs, assumptions), and fast paths for library functions on concrete data, which decline (`None`) as soon as
//! something symbolic is involved so that the bitcode runs instead. A stub that stops with an effect has changed nothing.

mod absent;
mod chance;
mod declare;
mod heap;
mod jump;
mod math;
mod surroundings;
mod text;
mod thread;
mod world;

use ir::{Call, FuncId};

use crate::State;
use crate::run::{Machine, Next, Step};

/// `None`: not for me, run the body.
pub type Stub = for<'m, 'i, 's> fn(&'m mut Machine<'i>, &'s mut State, &Call, FuncId) -> Step<Option<Next>>;

pub fn find(name: &str) -> Option<Stub> {
    let table = [
        absent::STUBS,
        chance::STUBS,
        declare::STUBS,
        heap::STUBS,
        jump::STUBS,
        surroundings::STUBS,
        text::STUBS,
        thread::STUBS,
        world::STUBS,
    ];
    let listed = table.iter().flat_map(|stubs| stubs.iter()).find(|(listed, _)| *listed == name).map(|(_, stub)| *stub);
    listed.or_else(|| math::find(name)).or_else(|| declare::find_nondet(name))
}

/// Functions of the C library in bitcode and what replaces them where nobody looks at the result: same checks, no forks
/// over how a number is written.
pub const LIGHT: &[(&str, &str)] = &[
    ("printf", "__colt_printf_light"),
    ("vprintf", "__colt_vprintf_light"),
    ("fprintf", "__colt_fprintf_light"),
    ("vfprintf", "__colt_vfprintf_light"),
    ("__printf_chk", "__colt_printf_chk_light"),
    ("__vprintf_chk", "__colt_vprintf_chk_light"),
    ("__fprintf_chk", "__colt_fprintf_chk_light"),
    ("__vfprintf_chk", "__colt_vfprintf_chk_light"),
    ("puts", "__colt_puts_light"),
    ("fputs", "__colt_fputs_light"),
];

/// The stub did its work and the program goes on.
fn done() -> Step<Option<Next>> {
    Ok(Some(Next::Inst))
}
