//! Loops that count, and therefore end: a register goes in constant steps towards a limit that stays where it is.
//!
//! Registers wrap around. In odd steps a counter comes by every value of its width, so any value that the test does not
//! let pass ends the loop; in even steps it must be shown not to jump over the end of its range.
//!
//! Deliberately absent: counters in memory, and limits that change. Where this says no, nothing is known.

use ir::{
    BinOp, BlockId, Callee, CastOp, CmpOp, Edge, FuncId, Function, Inst, Intrinsic, Module, Reg, Terminator, slots_of,
};

use crate::liveness::returns_twice;
use crate::{Cfg, Dominators, Loop, Loops};

/// Slots times blocks beyond which a loop is not looked at.
const MAX_WORK: usize = 1 << 18;

/// For every loop, in the order of `Loops::iter`, whether it is known to end whatever happens outside of it.
pub fn counting(module: &Module, func: FuncId, cfg: &Cfg, loops: &Loops) -> Vec<bool> {
    let function = module.function(func);
    // A jump back into the loop is no edge here.
    let comes_back = returns_twice(module);
    let is_jumped_into = function.calls.iter().any(|call| match &call.callee {
        Callee::Intrinsic(intrinsic) => *intrinsic == Intrinsic::SetJump,
        Callee::Function(callee) => comes_back.contains(callee),
        Callee::Indirect(_) | Callee::Gap(_) => false,
    });
    let dominators = Dominators::new(cfg);
    let pointer_bits = module.target.pointer_bits();
    let counts = |it: &Loop| {
        let work = it.body.len() * function.n_slots as usize;
        !is_jumped_into
            && !it.is_irreducible()
            && work <= MAX_WORK
            && Round::new(function, pointer_bits, it).counts(&dominators)
    };
    loops.iter().map(|(_, it)| counts(it)).collect()
}

/// What a slot holds, as far as it is told by what slots held at the loop's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// What `slot` held, and so much more, modulo the width of the operations in between; 0 bits where there were none.
    Was {
        slot: Reg,
        plus: u64,
        bits: u8,
    },
    Constant(u64),
    /// The same in every round; which of the values that stay it is.
    Stays(Source),
    Unknown,
}

/// Where a value that stays comes from: equal ones are the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Slot(Reg),
    /// The instruction of that number in a block of that number.
    Computed(usize, usize),
}

fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Held {
    fn plus(self, more: u64, bits: u8) -> Held {
        match self {
            Held::Was { slot, plus, bits: had } if had == 0 || had == bits => {
                Held::Was { slot, plus: plus.wrapping_add(more) & mask(bits), bits }
            }
            Held::Constant(value) => Held::Constant(value.wrapping_add(more) & mask(bits)),
            _ => Held::Unknown,
        }
    }

    fn meet(self, other: Held) -> Held {
        if self == other { self } else { Held::Unknown }
    }
}

/// One round from the header back to it.
struct Round<'f> {
    function: &'f Function,
    pointer_bits: u8,
    around: &'f Loop,
    /// At the end of each block of the body, before an edge is taken; in the body's order.
    ends: Vec<Option<Vec<Held>>>,
    /// Behind the edges back to the header.
    back: Option<Vec<Held>>,
}

impl<'f> Round<'f> {
    fn new(function: &'f Function, pointer_bits: u8, around: &'f Loop) -> Round<'f> {
        let ends = vec![None; around.body.len()];
        let mut round = Round { function, pointer_bits, around, ends, back: None };
        let untouched = |slot: usize| Held::Was { slot: Reg::new(slot), plus: 0, bits: 0 };
        round.solve((0..function.n_slots as usize).map(untouched).collect());
        // What a round leaves alone, and what is computed from that, is the same in all of them.
        let stays = |slot: usize| match round.step(Reg::new(slot)) {
            Some(0) => Held::Stays(Source::Slot(Reg::new(slot))),
            _ => untouched(slot),
        };
        let starts = (0..function.n_slots as usize).map(stays).collect();
        (round.back, round.ends) = (None, vec![None; around.body.len()]);
        round.solve(starts);
        round
    }

    fn place(&self, block: BlockId) -> Option<usize> {
        self.around.body.binary_search(&block).ok()
    }

    /// Follows what slots hold from the header on.
    fn solve(&mut self, at_header: Vec<Held>) {
        let mut starts: Vec<Option<Vec<Held>>> = vec![None; self.around.body.len()];
        let Some(header) = self.place(self.around.header) else { return };
        starts[header] = Some(at_header);
        let mut waiting = vec![header];
        while let Some(at) = waiting.pop() {
            let block = self.function.block(self.around.body[at]);
            let Some(mut held) = starts[at].clone() else { continue };
            for (idx, inst) in block.insts.iter().enumerate() {
                self.apply(inst, Source::Computed(at, idx), &mut held);
            }
            for edge in block.terminator.edges() {
                let mut behind = held.clone();
                for step in &edge.moves {
                    let moved = held_by(&behind, step.src, step.bits);
                    set(&mut behind, step.dst, step.bits, moved);
                }
                if edge.target == self.around.header {
                    meet(&mut self.back, behind);
                } else if let Some(to) = self.place(edge.target)
                    && meet(&mut starts[to], behind)
                {
                    waiting.push(to);
                }
            }
            self.ends[at] = Some(held);
        }
    }

    fn apply(&self, inst: &Inst, source: Source, held: &mut [Held]) {
        let mut result = match inst {
            Inst::Const { value, .. } => Held::Constant(*value),
            Inst::Copy { src, bits, .. } => held_by(held, *src, *bits),
            Inst::BinImm { op: BinOp::Add, bits, a, imm, .. } => held_by(held, *a, *bits).plus(*imm, *bits),
            Inst::BinImm { op: BinOp::Sub, bits, a, imm, .. } => {
                held_by(held, *a, *bits).plus(imm.wrapping_neg(), *bits)
            }
            // A constant keeps its value where it is widened.
            Inst::Cast { op: CastOp::ZExt, a, from, .. } => match held_by(held, *a, *from) {
                constant @ Held::Constant(_) => constant,
                _ => Held::Unknown,
            },
            _ => Held::Unknown,
        };
        let is_computed = matches!(
            inst,
            Inst::Bin { .. } | Inst::BinImm { .. } | Inst::Cast { .. } | Inst::Cmp { .. } | Inst::CmpImm { .. }
        );
        if result == Held::Unknown && is_computed {
            let mut stays = true;
            self.function.for_each_use(inst, self.pointer_bits, |reg, bits| {
                stays &= matches!(held_by(held, reg, bits), Held::Stays(_) | Held::Constant(_));
            });
            result = if stays { Held::Stays(source) } else { Held::Unknown };
        }
        self.function.for_each_def(inst, self.pointer_bits, |reg, bits| set(held, reg, bits, result));
    }

    /// How far a slot goes in a round: `None` where that is not always the same.
    fn step(&self, slot: Reg) -> Option<u64> {
        match self.back.as_ref()?[slot.idx()] {
            Held::Was { slot: from, plus, .. } if from == slot => Some(plus),
            _ => None,
        }
    }

    fn counts(&self, dominators: &Dominators) -> bool {
        let is_passed = |block: BlockId| self.around.latches.iter().all(|latch| dominators.dominates(block, *latch));
        self.around.body.iter().any(|block| is_passed(*block) && self.ends_at(*block))
    }

    /// Whether the test at the end of a block fails one day.
    fn ends_at(&self, block: BlockId) -> bool {
        let Some(held) = self.place(block).and_then(|at| self.ends[at].as_ref()) else { return false };
        let (op, bits, a, b, then, other) = match &self.function.block(block).terminator {
            Terminator::CmpBranch { op, bits, a, b, then, other } => {
                (*op, *bits, held_by(held, *a, *bits), held_by(held, *b, *bits), then, other)
            }
            Terminator::CmpImmBranch { op, bits, a, imm, then, other } => {
                (*op, *bits, held_by(held, *a, *bits), Held::Constant(*imm), then, other)
            }
            _ => return false,
        };
        let stays = |edge: &Edge| self.place(edge.target).is_some();
        let op = match (stays(then), stays(other)) {
            (true, false) => op,
            (false, true) => op.negated(),
            _ => return false,
        };
        self.is_left_by(op, bits, a, b) || self.is_left_by(op.mirrored(), bits, b, a)
    }

    /// Whether `counter op limit` fails one day.
    fn is_left_by(&self, op: CmpOp, bits: u8, counter: Held, limit: Held) -> bool {
        let Held::Was { slot, bits: counted, .. } = counter else { return false };
        let Some(step) = self.step(slot).map(|step| step & mask(bits)) else { return false };
        let back_bits = match self.back.as_ref().map(|back| back[slot.idx()]) {
            Some(Held::Was { bits, .. }) => bits,
            _ => return false,
        };
        // Counted in another width than it is compared in, it would wrap around elsewhere.
        if step == 0 || back_bits != bits || ![0, bits].contains(&counted) {
            return false;
        }
        let limit = match limit {
            Held::Constant(value) => Some(value & mask(bits)),
            Held::Stays(_) => None,
            Held::Was { .. } | Held::Unknown => return false,
        };
        fails_one_day(op, bits, step, limit)
    }
}

/// Whether a counter that starts anywhere and goes in steps comes by a value for which `counter op limit` does not hold. Where
/// there is no limit it may be any value.
fn fails_one_day(op: CmpOp, bits: u8, step: u64, limit: Option<u64>) -> bool {
    let is_signed = matches!(op, CmpOp::Slt | CmpOp::Sle | CmpOp::Sgt | CmpOp::Sge);
    let number = |value: u64| if is_signed { signed(value, bits) } else { i128::from(value) };
    let (least, most) = match is_signed {
        true => (signed(1 << (bits - 1), bits), i128::from(mask(bits) >> 1)),
        false => (0, i128::from(mask(bits))),
    };
    let (is_odd, step, limit) = (step & 1 == 1, signed(step, bits), limit.map(number));
    match op {
        CmpOp::Eq => true,
        CmpOp::Ne => is_odd,
        // The limit itself does not pass.
        CmpOp::Ult | CmpOp::Slt | CmpOp::Ugt | CmpOp::Sgt if is_odd => true,
        CmpOp::Ule | CmpOp::Sle if is_odd => limit.is_some_and(|limit| limit != most),
        CmpOp::Uge | CmpOp::Sge if is_odd => limit.is_some_and(|limit| limit != least),
        CmpOp::Ult | CmpOp::Slt => step > 0 && limit.is_some_and(|limit| limit - 1 + step <= most),
        CmpOp::Ule | CmpOp::Sle => step > 0 && limit.is_some_and(|limit| limit + step <= most),
        CmpOp::Ugt | CmpOp::Sgt => step < 0 && limit.is_some_and(|limit| limit + 1 + step >= least),
        CmpOp::Uge | CmpOp::Sge => step < 0 && limit.is_some_and(|limit| limit + step >= least),
    }
}

fn signed(value: u64, bits: u8) -> i128 {
    let unused = 64 - u32::from(bits);
    i128::from((value << unused) as i64 >> unused)
}

fn held_by(held: &[Held], reg: Reg, bits: u8) -> Held {
    if bits <= 64 { held[reg.idx()] } else { Held::Unknown }
}

fn set(held: &mut [Held], reg: Reg, bits: u8, to: Held) {
    let slots = reg.idx()..reg.idx() + slots_of(bits) as usize;
    held[slots].fill(if bits <= 64 { to } else { Held::Unknown });
}

/// Whether that changed anything.
fn meet(into: &mut Option<Vec<Held>>, from: Vec<Held>) -> bool {
    let Some(known) = into else {
        *into = Some(from);
        return true;
    };
    let mut has_changed = false;
    for (known, from) in known.iter_mut().zip(from) {
        let both = known.meet(from);
        has_changed |= both != *known;
        *known = both;
    }
    has_changed
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPS: [CmpOp; 10] = [
        CmpOp::Eq,
        CmpOp::Ne,
        CmpOp::Ult,
        CmpOp::Ule,
        CmpOp::Ugt,
        CmpOp::Uge,
        CmpOp::Slt,
        CmpOp::Sle,
        CmpOp::Sgt,
        CmpOp::Sge,
    ];

    fn holds(op: CmpOp, a: u64, b: u64, bits: u8) -> bool {
        let (c, d) = (signed(a, bits), signed(b, bits));
        match op {
            CmpOp::Eq => a == b,
            CmpOp::Ne => a != b,
            CmpOp::Ult => a < b,
            CmpOp::Ule => a <= b,
            CmpOp::Ugt => a > b,
            CmpOp::Uge => a >= b,
            CmpOp::Slt => c < d,
            CmpOp::Sle => c <= d,
            CmpOp::Sgt => c > d,
            CmpOp::Sge => c >= d,
        }
    }

    /// Whether all starts come to a value that does not pass.
    fn ends(op: CmpOp, bits: u8, step: u64, limit: u64) -> bool {
        (0..=mask(bits)).all(|start| {
            let values = (0..=mask(bits)).map(|nth| start.wrapping_add(nth.wrapping_mul(step)) & mask(bits));
            values.into_iter().any(|value| !holds(op, value, limit, bits))
        })
    }

    #[test]
    fn what_is_said_to_end_ends_for_all_values_of_small_widths() {
        for bits in [1, 3, 4] {
            for op in OPS {
                for step in 1..=mask(bits) {
                    let known: Vec<bool> = (0..=mask(bits)).map(|limit| ends(op, bits, step, limit)).collect();
                    for (limit, ends) in known.iter().enumerate() {
                        let said = fails_one_day(op, bits, step, Some(limit as u64));
                        assert!(!said || *ends, "{op:?} {limit}, {bits} bits in steps of {step}");
                    }
                    let said = fails_one_day(op, bits, step, None);
                    assert!(!said || known.iter().all(|ends| *ends), "{op:?}, {bits} bits in steps of {step}");
                }
            }
        }
    }
}
