//! Fast paths of string.h on concrete data, and strings that are only looked at.

use term::TermId;
use witness::BugKind;

use super::{Stub, done};
use crate::access::Offset;
use crate::compare::Case;
use crate::run::{Machine, Next, Step};
use crate::sanitize::Range;
use crate::seek::{Sense, Stops, Until, Which};
use crate::{Access, Decides, Liveness, PickWhy, Sizes, State, Use, Value};

pub const STUBS: &[(&str, Stub)] = &[
    ("memcpy", |machine, state, call, _| {
        let (dst, src, len) = (machine.arg(state, call, 0), machine.arg(state, call, 1), machine.arg(state, call, 2));
        machine.copy_apart(state, dst, src, len)?;
        machine.give(state, call, dst);
        done()
    }),
    ("memmove", |machine, state, call, _| {
        let (dst, src, len) = (machine.arg(state, call, 0), machine.arg(state, call, 1), machine.arg(state, call, 2));
        machine.copy(state, dst, src, len)?;
        machine.give(state, call, dst);
        done()
    }),
    ("memset", |machine, state, call, _| {
        let (dst, byte, len) = (machine.arg(state, call, 0), machine.arg(state, call, 1), machine.arg(state, call, 2));
        machine.fill(state, dst, byte, len)?;
        machine.give(state, call, dst);
        done()
    }),
    ("strlen", |machine, state, call, _| {
        let Some(text) = machine.concrete_text(state, call, 0) else { return Ok(None) };
        machine.give(state, call, Value::concrete(text.len() as u128));
        done()
    }),
    ("strcmp", |machine, state, call, _| {
        let (Some(a), Some(b)) = (machine.concrete_text(state, call, 0), machine.concrete_text(state, call, 1)) else {
            return Ok(None);
        };
        // -1, 0 or 1, as the bitcode and the native library give it.
        let n_same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let at = |text: &[u8]| i32::from(text.get(n_same).copied().unwrap_or(0));
        let order = (at(&a) - at(&b)).signum();
        machine.give(state, call, Value::concrete(u128::from(order as u32)));
        done()
    }),
    ("__colt_spans", |machine, state, call, _| {
        let has_terms = machine.spans.sizes == Sizes::Terms;
        machine.give(state, call, Value::concrete(u128::from(has_terms)));
        done()
    }),
    ("__colt_spans_between", |machine, state, call, _| {
        let (a, b) = (machine.arg(state, call, 0), machine.arg(state, call, 1));
        let has_terms = machine.spans.sizes == Sizes::Terms && !machine.is_same_object(state, a, b)?;
        machine.give(state, call, Value::concrete(u128::from(has_terms)));
        done()
    }),
    ("__colt_copy_text", |machine, state, call, _| {
        let (dst, src, result) =
            (machine.arg(state, call, 0), machine.arg(state, call, 1), machine.arg(state, call, 2));
        let length = machine.copy_text(state, dst, src)?;
        machine.give_span(state, call, result, length)
    }),
    ("__colt_space", |machine, state, call, _| {
        let addr = machine.arg(state, call, 0);
        let room = machine.space(state, addr)?;
        let room = Value::of_term(&machine.terms, room, crate::Label::EMPTY);
        machine.give(state, call, room);
        done()
    }),
    ("__colt_least", |machine, state, call, _| {
        let (a, b) = (machine.arg(state, call, 0), machine.arg(state, call, 1));
        let width = u32::from(machine.image.pointer_bits());
        let (a, b) = (a.to_term(&mut machine.terms, width), b.to_term(&mut machine.terms, width));
        let is_less = machine.spans.positions.less_number(&mut machine.terms, a, b);
        let least = machine.terms.ite(is_less, a, b);
        let least = Value::of_term(&machine.terms, least, crate::Label::EMPTY);
        machine.give(state, call, least);
        done()
    }),
    ("__colt_differ", |machine, state, call, _| {
        let (a, b, max) = (machine.arg(state, call, 0), machine.arg(state, call, 1), machine.arg(state, call, 2));
        let until = if machine.arg(state, call, 3).bits == 0 { Until::Difference } else { Until::Zero };
        let case = if machine.arg(state, call, 4).bits == 0 { Case::Kept } else { Case::Ignored };
        let result = machine.arg(state, call, 5);
        let found = machine.compare_span(state, (a, b), max, until, case)?;
        for (idx, byte) in found.iter().flatten().enumerate() {
            let value = Value::of_term(&machine.terms, *byte, crate::Label::EMPTY);
            machine.store(state, Value::concrete(result.bits + idx as u128), 8, value)?;
        }
        machine.give(state, call, Value::concrete(u128::from(found.is_some())));
        done()
    }),
    ("__colt_find", |machine, state, call, _| {
        let (start, result) = (machine.arg(state, call, 0), machine.arg(state, call, 3));
        let case = if machine.arg(state, call, 2).bits == 0 { Case::Kept } else { Case::Ignored };
        let found = match machine.concrete_text(state, call, 1) {
            Some(text) => machine.find_text(state, start, &text, case)?,
            None => None,
        };
        machine.give_span(state, call, result, found)
    }),
    ("__colt_seek", |machine, state, call, _| machine.seek_call(state, call, Which::First)),
    ("__colt_seek_last", |machine, state, call, _| machine.seek_call(state, call, Which::Last)),
    ("__colt_puts_out", |machine, state, call, _| {
        if let Some(term) = machine.arg(state, call, 0).term() {
            machine.uses(state, term, Use::Output)?;
        }
        done()
    }),
    ("__colt_checks_overlap", |machine, state, call, _| {
        machine.give(state, call, Value::concrete(u128::from(machine.image.checks.overlap)));
        done()
    }),
    ("__colt_apart", |machine, state, call, _| {
        let range = |machine: &mut Machine<'_>, idx: usize| {
            let (start, len) = (machine.arg(state, call, idx), machine.arg(state, call, idx + 1));
            let len = machine.pick(state, len, PickWhy::Size)? as u64;
            Ok(Range { start, len })
        };
        let (to, from) = (range(machine, 0)?, range(machine, 2)?);
        machine.check_string_overlap(state, to, from)?;
        done()
    }),
    ("__colt_check_string", |machine, state, call, _| machine.check_string(state, call)),
];

impl Machine<'_> {
    fn concrete_text(&mut self, state: &State, call: &ir::Call, idx: usize) -> Option<Vec<u8>> {
        let addr = self.arg(state, call, idx);
        // Labelled bytes are left to the bitcode, whose branches say what depends on them.
        let is_plain = addr.shadow.is_none() && !self.is_labelled_text(state, addr.bits as u64);
        if is_plain { self.concrete_string(state, addr.bits as u64) } else { None }
    }

    /// (start, max, stops, n_stops, sense, result): whether the first stop was found, and how far away it is.
    fn seek_call(&mut self, state: &mut State, call: &ir::Call, which: Which) -> Step<Option<Next>> {
        let (start, max) = (self.arg(state, call, 0), self.arg(state, call, 1));
        let stops_at = self.arg(state, call, 2);
        let n_stops = self.arg(state, call, 3);
        let n_stops = self.pick(state, n_stops, PickWhy::Size)? as u64;
        let sense = if self.arg(state, call, 4).bits == 0 { Sense::In } else { Sense::NotIn };
        let result = self.arg(state, call, 5);
        let (object, offset) = self.locate(state, stops_at, n_stops.max(1), Access::Read)?;
        let bytes = self.read_bytes(state, object, offset, n_stops);
        let bytes = bytes.into_iter().map(|byte| self.byte_term(byte)).collect();
        let found = self.search(state, start, max, &Stops::Listed { bytes, sense }, which)?;
        self.give_span(state, call, result, found)
    }

    /// A length is stored where the call says, if there is one; that is what the call gives back.
    fn give_span(
        &mut self,
        state: &mut State,
        call: &ir::Call,
        result: Value,
        length: Option<TermId>,
    ) -> Step<Option<Next>> {
        if let Some(length) = length {
            let bits = self.image.pointer_bits();
            let length = Value::of_term(&self.terms, length, crate::Label::EMPTY);
            self.store(state, result, bits, length)?;
        }
        self.give(state, call, Value::concrete(u128::from(length.is_some())));
        done()
    }

    /// "Some byte from here to the end of the object is NUL" as one condition, instead of a fork per byte.
    fn check_string(&mut self, state: &mut State, call: &ir::Call) -> Step<Option<Next>> {
        let (text, max) = (self.arg(state, call, 0), self.arg(state, call, 1));
        let zero = Stops::Listed { bytes: vec![self.terms.byte_constant(0)], sense: Sense::In };
        if self.search(state, text, max, &zero, Which::First)?.is_some() {
            return done();
        }
        let max = self.pick(state, max, PickWhy::Size)? as u64;
        if max == 0 {
            return done();
        }
        let max_label = self.arg(state, call, 1).label();
        let mut label = self.labels.union(text.label(), max_label);
        let addr = Value { bits: self.pick(state, text, PickWhy::Address)?, ..Value::default() };
        let (object, offset) = self.locate(state, addr, 1, Access::Read)?;
        let Offset::At(start) = offset else { unreachable!("the address was picked") };
        let found = state.memory.get(object).clone();
        debug_assert_eq!(found.liveness, Liveness::Alive);
        label = self.labels.union(label, found.life);
        self.depend(state, label, Decides::Address);
        let is_bounded = found.size - start >= max;
        let mut terminated = self.terms.fls();
        for offset in start..found.size.min(start.saturating_add(max)) {
            self.settle_unwritten(state, object, Offset::At(offset), 1)?;
            let byte = self.read_bytes(state, object, Offset::At(offset), 1)[0];
            label = self.labels.union(label, byte.shadow.label());
            if byte.shadow.term().is_none() {
                if byte.bits == 0 {
                    self.depend(state, label, Decides::Address);
                    return done();
                }
                continue;
            }
            let byte = self.byte_term(byte);
            let zero: TermId = self.terms.byte_constant(0);
            // What stands behind the end is not part of the string.
            let shown = self.terms.ite(terminated, zero, byte);
            self.uses(state, shown, Use::Output)?;
            let is_end = self.terms.eq(byte, zero);
            terminated = self.terms.or(terminated, is_end);
        }
        self.depend(state, label, Decides::Address);
        if is_bounded {
            return done();
        }
        self.check(state, terminated, |machine| {
            let message =
                format!("read past the end of an object of {} bytes: the string in it has no end", found.size);
            machine.bug(state, BugKind::OutOfBoundsRead, message)
        })?;
        done()
    }
}
