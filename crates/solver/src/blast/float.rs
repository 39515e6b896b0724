//! Operations on floats as gates: their circuits, with the operands' bits in place of the circuits' symbols.

use super::sat::Lit;
use super::{Blaster, UNKNOWN};
use crate::clock::Clock;
use term::lower::{Circuit, Operation};
use term::{TermId, Terms};

impl Blaster {
    /// The bits of a float operation whose operands have theirs. `None` when there is too much of it.
    ///
    /// One without a circuit may give anything: then a no is still a no, and a model is looked at twice.
    pub(super) fn bits_of_float(
        &mut self,
        terms: &Terms,
        t: TermId,
        operation: Operation,
        clock: &Clock,
    ) -> Option<Vec<Lit>> {
        if clock.is_over() || self.gates.sat.size() > 2 * self.max_size {
            return None;
        }
        let operands: Vec<TermId> = terms.view(t).operands().collect();
        let width = terms.width(t);
        let Some(circuit) = self.circuits.of(operation, terms.width(operands[0]), width) else {
            self.has_gaps = true;
            return Some((0..width).map(|_| self.gates.input()).collect());
        };
        let mut inner = vec![UNKNOWN; circuit.terms.len()];
        for (&operand, pieces) in operands.iter().zip(&circuit.operands) {
            let bits = self.bits(terms, operand).to_vec();
            let start = self.pool.len() as u32;
            self.pool.extend(bits);
            for (nth, piece) in (0..).zip(pieces) {
                inner[piece.index()] = start + nth * Circuit::MAX_PIECE;
            }
        }
        // The circuit has terms and symbols of its own, of which nothing is known that was known of ours.
        let outer = std::mem::replace(&mut self.starts, inner);
        let narrowing = std::mem::take(&mut self.narrowing);
        let is_done = self.translate(&circuit.terms, circuit.result, clock);
        let bits = is_done.then(|| self.bits(&circuit.terms, circuit.result).to_vec());
        self.starts = outer;
        self.narrowing = narrowing;
        bits
    }
}
