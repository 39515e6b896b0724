//! A pointer that was followed is an address, and goes on as one.
//!
//! On a path that settled where a pointer leads, the pointer is one number. Written back to where it came from, and into the
//! registers it was followed from, it costs nothing any more: what is loaded, compared and followed afterwards is concrete.
//! Copies that the program made before stay terms; a condition on them gets the number put in before anybody is asked, so
//! that an open pointer compared with those that are settled is a question about the open one alone. Otherwise every
//! comparison would tie the pointers of a heap closer together, until each question is about all of them.

use explore::{Means, Path};
use term::{Replacement, TermId};
use vm::{Liveness, Shadow};

use super::Shapes;
use super::heap::Settled;
use super::pointers::{PointerId, Within};

impl Shapes {
    /// A condition with the values of settled pointers in it.
    pub fn with_settled(&self, path: &Path, condition: TermId, means: &mut Means) -> Option<TermId> {
        let heap = self.heap(path);
        if heap.n_settled == 0 || !self.pointers.become_addresses() {
            return None;
        }
        let terms = &mut means.machine.terms;
        let is_settled = |pointer| matches!(heap.settled(pointer), Some(Settled::At(_)));
        let mut replacement = None;
        for symbol in terms.symbols(condition).to_vec() {
            if self.pointers.of_symbol(symbol).is_some_and(is_settled) {
                // The path's condition leaves it no other value.
                let value = terms.constant(u128::from(path.input.get(symbol)), terms.symbol_width(symbol));
                replacement.get_or_insert_with(Replacement::default).bind(symbol, value);
            }
        }
        replacement?.apply(terms, condition)
    }

    /// Writes the address that a pointer turned out to be to where the pointer is.
    pub fn put_in(&self, path: &mut Path, pointer: PointerId, at: u64, means: &mut Means) {
        if !self.pointers.become_addresses() {
            return;
        }
        let terms = &mut means.machine.terms;
        for slot in &mut path.state.top.regs {
            let Some(term) = slot.shadow.term() else { continue };
            if let Within::One { pointer: here, beside } = self.pointers.within(terms, term)
                && here == pointer
                && let Some(beside) = terms.as_const(beside)
            {
                slot.bits = at.wrapping_add(beside as u64);
                slot.shadow = Shadow::new(None, slot.shadow.label());
            }
        }
        let Some(home) = self.pointers.get(pointer).home else { return };
        let Some(object) = path.state.memory.find(home) else { return };
        let value = self.pointers.get(pointer).value;
        let offset = home - path.state.memory.get(object).base;
        let is_there = {
            let object = path.state.memory.get(object);
            object.liveness == Liveness::Alive
                && object.contains(home, 8)
                && !object.is_array()
                && (0..8).all(|byte| object.byte_term(terms, offset + byte) == terms.byte(value, byte as u32))
        };
        if is_there {
            let object = path.state.memory.get_mut(object);
            for (byte, nth) in at.to_le_bytes().into_iter().zip(0..) {
                let (_, shadow) = object.byte(offset + nth);
                object.set_byte(offset + nth, byte, Shadow::new(None, shadow.label()));
            }
        }
    }
}
