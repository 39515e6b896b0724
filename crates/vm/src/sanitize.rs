//! Checks beyond accesses: those that clang put into the code, pointers that leave their object, copies onto themselves.

use term::TermId;
use witness::{BugKind, Ending};

use crate::run::{Machine, Step};
use crate::{Decides, Effect, Liveness, ObjectId, State, Value};

/// Clang's checks by the number it gives their handlers, with what is wrong where one fails. Those we do not ask for
/// come with bitcode that others have made.
const HANDLERS: &[(u8, BugKind, &str)] = &[
    (0, BugKind::IntegerOverflow, "an addition overflows"),
    (1, BugKind::UnreachableReached, "code that was promised to be unreachable is reached"),
    (3, BugKind::DivisionByZero, "a division by zero, or its result does not fit its type"),
    (5, BugKind::InvalidConversion, "a floating-point number is converted to a type that cannot hold it"),
    (7, BugKind::LossyConversion, "an implicit conversion changes the value"),
    (8, BugKind::InvalidArgument, "zero is passed to a builtin that counts zeros in front or at the end"),
    (10, BugKind::InvalidValue, "a value that its type does not have is loaded"),
    (11, BugKind::UnreachableReached, "a function ends without returning its value"),
    (12, BugKind::IntegerOverflow, "a multiplication overflows"),
    (13, BugKind::IntegerOverflow, "a negation overflows"),
    (14, BugKind::InvalidArgument, "null is passed to a parameter that must not be null"),
    (15, BugKind::InvalidArgument, "null is returned from a function that must not return it"),
    (16, BugKind::InvalidArgument, "null is passed to a parameter that must not be null"),
    (17, BugKind::InvalidArgument, "null is returned from a function that must not return it"),
    (ir::OUT_OF_BOUNDS, BugKind::OutOfBoundsRead, "an index is outside of its array"),
    (ir::WRITTEN_OUT_OF_BOUNDS, BugKind::OutOfBoundsWrite, "an index is outside of its array"),
    (19, BugKind::PointerOverflow, "pointer arithmetic wraps around, or starts from null"),
    (20, BugKind::InvalidShift, "a shift by too many bits, or of a number with a sign that loses bits or is negative"),
    (21, BugKind::IntegerOverflow, "a subtraction overflows"),
    (22, BugKind::MisalignedAccess, "the address is not a multiple of what the type needs"),
    (23, BugKind::MisalignedAccess, "the address is not a multiple of what was assumed"),
    (24, BugKind::InvalidArgument, "the size of an array is not positive"),
];

/// Bytes that are copied from or to.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub start: Value,
    pub len: u64,
}

/// What a copy may be made onto.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Onto {
    MayBeItself,
    OthersOnly,
}

impl Machine<'_> {
    /// A check of clang's has failed.
    pub(crate) fn clang_fault(&self, state: &State, handler: u128) -> Effect {
        let row = HANDLERS.iter().find(|row| u128::from(row.0) == handler);
        let (kind, message) = row.map_or((BugKind::Abort, "the program traps"), |row| (row.1, row.2));
        Effect::Ended(Box::new(Ending::Bug(self.bug(state, kind, message.to_string()))))
    }

    /// Pointer arithmetic may lead to any byte of its object and to the end of it. Nothing is said about pointers to
    /// nothing that is there: what they point to was never known, or is gone.
    pub(crate) fn check_step(&mut self, state: &State, before: Value, after: Value) -> Step<()> {
        if before.term() == after.term() && before.bits == after.bits {
            return Ok(());
        }
        let start = match before.term() {
            None => Some(before.bits as u64),
            Some(term) => self.starts.of(term),
        };
        let Some(start) = start else { return Ok(()) };
        let width = u32::from(self.image.pointer_bits());
        let target = after.to_term(&mut self.terms, width);
        let label = self.labels.union(before.label(), after.label());
        let Some(object) = stepped_in(state, start) else {
            if start != 0 {
                return Ok(());
            }
            let zero = self.terms.constant(0, width);
            let stays = self.terms.eq(target, zero);
            return self.check_pointer(state, stays, label, "arithmetic on a null pointer".to_string());
        };
        let found = state.memory.get(object);
        let message = format!("the pointer leaves a {} object {}", found.kind.name(), found.size_words());
        let base = self.terms.constant(u128::from(found.base), width);
        let extent = self.extent(state, object);
        let offset = self.terms.sub(target, base);
        let extent = self.terms.extract(extent, width - 1, 0);
        let stays = self.terms.ule(offset, extent);
        self.check_pointer(state, stays, label, message)
    }

    fn check_pointer(&mut self, state: &State, holds: TermId, label: crate::Label, message: String) -> Step<()> {
        self.depend(state, label, Decides::Fault);
        self.check(state, holds, |machine| machine.bug(state, BugKind::PointerOverflow, message))
    }

    /// `memcpy` between ranges that have some bytes in common. One onto itself does no harm anywhere.
    pub(crate) fn check_overlap(&mut self, state: &State, dst: Value, src: Value, len: u64) -> Step<()> {
        if !self.image.checks.overlap || self.image.module.function(state.top.func).is_runtime {
            return Ok(());
        }
        let (to, from) = (Range { start: dst, len }, Range { start: src, len });
        self.check_apart(state, to, from, Onto::MayBeItself)
    }

    /// A string is copied by a function of the library, which the program called itself.
    pub(crate) fn check_string_overlap(&mut self, state: &State, to: Range, from: Range) -> Step<()> {
        let caller = state.frames().nth(1);
        let is_users = caller.is_some_and(|frame| !self.image.module.function(frame.func).is_runtime);
        if !is_users || to.len == 0 || from.len == 0 {
            return Ok(());
        }
        self.check_apart(state, to, from, Onto::OthersOnly)
    }

    fn check_apart(&mut self, state: &State, to: Range, from: Range, onto: Onto) -> Step<()> {
        let width = u32::from(self.image.pointer_bits());
        let label = self.labels.union(to.start.label(), from.start.label());
        let (dst, src) = (to.start.to_term(&mut self.terms, width), from.start.to_term(&mut self.terms, width));
        let (ahead, behind) = (self.terms.sub(dst, src), self.terms.sub(src, dst));
        let n_from = self.terms.constant(u128::from(from.len), width);
        let n_to = self.terms.constant(u128::from(to.len), width);
        let (near_ahead, near_behind) = (self.terms.ult(ahead, n_from), self.terms.ult(behind, n_to));
        let mut overlaps = self.terms.or(near_ahead, near_behind);
        if onto == Onto::MayBeItself {
            let differs = self.terms.ne(dst, src);
            overlaps = self.terms.and(differs, overlaps);
        }
        let apart = self.terms.not(overlaps);
        self.depend(state, label, Decides::Fault);
        self.check(state, apart, |machine| {
            let message = format!("the {} bytes copied from overlap those copied to", from.len);
            machine.bug(state, BugKind::OverlappingCopy, message)
        })
    }
}

/// The live object an address is in, or at the end of.
fn stepped_in(state: &State, addr: u64) -> Option<ObjectId> {
    let memory = &state.memory;
    let at_end = || memory.below(addr).filter(|object| memory.get(*object).end() == addr);
    memory.find(addr).or_else(at_end).filter(|object| memory.get(*object).liveness == Liveness::Alive)
}
