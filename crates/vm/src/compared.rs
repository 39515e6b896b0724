//! Comparisons made before: paths that forked make the same ones again, and simplifying one takes longer than looking it up.

use ir::CmpOp;
use term::{TermId, Terms};

use crate::arith;

const N_ENTRIES: usize = 1 << 12;

#[derive(Clone, Copy)]
struct Entry {
    op: CmpOp,
    a: TermId,
    b: TermId,
    result: TermId,
}

/// The newest comparison for each place; a later one with the same place takes it.
pub struct Compared {
    entries: Box<[Option<Entry>]>,
}

impl Default for Compared {
    fn default() -> Compared {
        Compared { entries: vec![None; N_ENTRIES].into() }
    }
}

impl Compared {
    pub fn compare(&mut self, terms: &mut Terms, op: CmpOp, a: TermId, b: TermId) -> TermId {
        let mix = (u64::from(a.raw()) << 32 | u64::from(b.raw())) ^ (op as u64) << 28;
        let place = (mix.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % N_ENTRIES;
        match self.entries[place] {
            Some(entry) if entry.op == op && entry.a == a && entry.b == b => entry.result,
            _ => {
                let result = arith::cmp_term(terms, op, a, b);
                self.entries[place] = Some(Entry { op, a, b, result });
                result
            }
        }
    }
}
