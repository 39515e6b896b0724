//! The loop: executes until an effect.
//!
//! Fast arms handle concrete values of up to 64 bits in place; everything else goes through `slow`, which works on
//! [`Value`]s and may stop with an effect. An instruction that stops has changed nothing: it runs again from its
//! beginning once its question is answered.

use std::rc::Rc;

use ir::{BinOp, CastOp, FuncId, Inst, Terminator};
use rustc_hash::FxHashSet;
use term::float::Rounding;
use term::{Graphs, Terms};
use witness::{LedgerKind, Place};

use crate::arith;
use crate::compared::Compared;
use crate::compile::Compiler;
use crate::decide::edge_of;
use crate::frame::Slot;
use crate::image::Image;
use crate::running::Running;
use crate::starts::Starts;
use crate::tlb::{Tlb, site_of};
use crate::value::{mask64, sext64};
use crate::watching::Watching;
use crate::{Coverage, EdgeId, Effect, Event, Interest, Labels, Shadow, Spans, State};

/// Either done, or an effect: the state stands where it stood.
pub(crate) type Step<T> = Result<T, Effect>;

/// What the loop does after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Inst,
    /// The top frame is another one, or stands elsewhere.
    Frame,
}

/// What one worker runs states with. Holds no state of any path.
pub struct Machine<'i> {
    pub image: &'i Image,
    pub terms: Terms,
    pub labels: Labels,
    pub coverage: Coverage,
    /// What only those who watch need.
    pub watching: Watching<'i>,
    /// Calls of these functions are an effect instead of being entered.
    pub claimed: Vec<bool>,
    /// Precision given up since last asked.
    pub notes: Vec<(LedgerKind, Place, String)>,
    pub starts: Starts,
    /// What is known about lengths that are terms.
    pub spans: Spans,
    /// What terms over one byte are for each of its values.
    pub(crate) graphs: Graphs,
    pub(crate) tlb: Tlb,
    pub(crate) running: Running,
    /// The symbols of memory that nobody wrote.
    pub unwritten: FxHashSet<term::SymbolId>,
    pub(crate) compared: Compared,
    compiler: Option<Box<Compiler>>,
}

impl<'i> Machine<'i> {
    pub fn new(image: &'i Image) -> Machine<'i> {
        Machine {
            image,
            terms: Terms::new(),
            labels: Labels::default(),
            coverage: Coverage::new(image.n_edges()),
            watching: Watching::default(),
            claimed: vec![false; image.module.functions.len()],
            notes: Vec::new(),
            starts: Starts::default(),
            spans: Spans::default(),
            graphs: Graphs::default(),
            tlb: Tlb::default(),
            running: Running::default(),
            unwritten: FxHashSet::default(),
            compared: Compared::default(),
            compiler: Compiler::new(image).map(Box::new),
        }
    }

    /// Runs until somebody has to decide, the path ends, or about `fuel` instructions have been executed.
    pub fn run(&mut self, state: &mut State, fuel: u64) -> Effect {
        self.tlb.flush();
        self.running.n_answered = 0;
        self.sync_control(state);
        self.spans.positions.enter(&state.facts);
        if state.is_at_rounds
            && let Err(effect) = self.hurry(state)
        {
            return effect;
        }
        let mut left = fuel as i64;
        let effect = match self.watching.trace() {
            None => self.execute::<false>(state, &mut left),
            Some(_) => self.execute::<true>(state, &mut left),
        };
        state.steps += (fuel as i64 - left) as u64;
        effect
    }

    /// `TRACED` keeps the footprint and stops where asked; without it none of that costs anything.
    fn execute<const TRACED: bool>(&mut self, state: &mut State, fuel: &mut i64) -> Effect {
        let image = self.image;
        let all_updates = self.watching.trace().map(|trace| Rc::clone(&trace.updates));
        let overflow_checked = image.checks.overflow;
        let shift_checked = image.checks.shift;
        let is_tracking = self.is_tracking();
        let hurries = !self.spans.loops.is_empty();
        let pointer_mask = mask64(image.pointer_bits());
        'frame: loop {
            let function = image.module.function(state.top.func);
            loop {
                let block = &function.blocks[state.top.block.idx()];
                let updates = match &all_updates {
                    Some(updates) if TRACED => updates.of_block(state.top.func, state.top.block),
                    _ => &[],
                };
                let is_update = |idx: usize| updates.get(idx).is_some_and(|is_update| *is_update);
                let first_idx = state.top.inst_idx as usize;
                let mut idx = first_idx;
                let mut regs = state.top.regs.as_mut_ptr();
                // SAFETY (all three macros): the verifier has checked that every register of the function lies within its
                // `n_slots`, which is the length of `regs`; the pointer is taken anew after every call that may touch
                // the frame.
                macro_rules! get {
                    ($reg:expr) => {
                        unsafe { *regs.add($reg.idx()) }
                    };
                }
                macro_rules! put_slot {
                    ($reg:expr, $slot:expr) => {{
                        let slot: Slot = $slot;
                        unsafe { *regs.add($reg.idx()) = slot }
                    }};
                }
                macro_rules! put {
                    ($reg:expr, $bits:expr) => {
                        put_slot!($reg, Slot { bits: $bits, shadow: Shadow::NONE })
                    };
                }
                'inst: while let Some(inst) = block.insts.get(idx) {
                    'slow: {
                        match inst {
                            Inst::Const { dst, value, .. } => put!(dst, *value),
                            Inst::Address { dst, symbol, addend } => {
                                put!(dst, image.address_of(*symbol).wrapping_add(*addend as u64) & pointer_mask);
                            }
                            Inst::Copy { dst, src, bits } if *bits <= 64 => put_slot!(dst, get!(src)),
                            Inst::Bin { op, bits, nsw, dst, a, b } => {
                                let (a, b) = (get!(a), get!(b));
                                if !a.shadow.either(b.shadow).is_none() || *bits > 64 || (*nsw && overflow_checked) {
                                    break 'slow;
                                }
                                match arith::bin64(*op, *bits, a.bits, b.bits) {
                                    Some(bits) if !(shift_checked && is_shift(*op)) => put!(dst, bits),
                                    _ => break 'slow,
                                }
                            }
                            Inst::BinImm { op, bits, nsw, dst, a, imm } => {
                                let a = get!(a);
                                if !a.shadow.is_none() || *bits > 64 || (*nsw && overflow_checked) {
                                    break 'slow;
                                }
                                match arith::bin64(*op, *bits, a.bits, *imm) {
                                    Some(bits) if !(shift_checked && is_shift(*op)) => put!(dst, bits),
                                    _ => break 'slow,
                                }
                            }
                            Inst::Cmp { op, bits, dst, a, b } => {
                                let (a, b) = (get!(a), get!(b));
                                if !a.shadow.either(b.shadow).is_none() || *bits > 64 {
                                    break 'slow;
                                }
                                put!(dst, u64::from(arith::cmp64(*op, *bits, a.bits, b.bits)));
                            }
                            Inst::CmpImm { op, bits, dst, a, imm } => {
                                let a = get!(a);
                                if !a.shadow.is_none() || *bits > 64 {
                                    break 'slow;
                                }
                                put!(dst, u64::from(arith::cmp64(*op, *bits, a.bits, *imm)));
                            }
                            Inst::Cast { op, from, to, dst, a } => {
                                let a = get!(a);
                                if !a.shadow.is_none() || *from > 64 || *to > 64 {
                                    break 'slow;
                                }
                                match op {
                                    CastOp::ZExt => put!(dst, a.bits),
                                    CastOp::SExt => put!(dst, sext64(a.bits, *from) as u64 & mask64(*to)),
                                    CastOp::Trunc => put!(dst, a.bits & mask64(*to)),
                                }
                            }
                            Inst::Select { bits, dst, cond, a, b } => {
                                let cond = get!(cond);
                                if !cond.shadow.is_none() || *bits > 64 {
                                    break 'slow;
                                }
                                put_slot!(dst, if cond.bits != 0 { get!(a) } else { get!(b) });
                            }
                            Inst::Index { dst, base, index, index_bits, scale } => {
                                let (base, index) = (get!(base), get!(index));
                                if !base.shadow.either(index.shadow).is_none() || *index_bits > 64 {
                                    break 'slow;
                                }
                                let offset = (sext64(index.bits, *index_bits) as u64).wrapping_mul(*scale);
                                put!(dst, base.bits.wrapping_add(offset) & pointer_mask);
                            }
                            Inst::Load { dst, bits, addr, .. } => {
                                let addr = get!(addr);
                                let n_bytes = u64::from(bits / 8);
                                if !addr.shadow.is_none() || bits % 8 != 0 || !matches!(n_bytes, 1 | 2 | 4 | 8) {
                                    break 'slow;
                                }
                                match self.tlb.read(site_of(inst), addr.bits, n_bytes) {
                                    Some(value) => {
                                        if TRACED && !is_update(idx) {
                                            self.tlb.trace_read(site_of(inst), addr.bits, n_bytes);
                                        }
                                        put!(dst, value);
                                    }
                                    None => break 'slow,
                                }
                            }
                            Inst::Store { src, bits, addr, .. } => {
                                let (addr, value) = (get!(addr), get!(src));
                                let n_bytes = u64::from(bits / 8);
                                let is_simple = bits % 8 == 0 && matches!(n_bytes, 1 | 2 | 4 | 8);
                                if !addr.shadow.either(value.shadow).is_none()
                                    || !is_simple
                                    || !self.tlb.write(site_of(inst), addr.bits, n_bytes, value.bits)
                                {
                                    break 'slow;
                                }
                                if TRACED && !is_update(idx) {
                                    self.tlb.trace_write(site_of(inst), addr.bits, n_bytes);
                                }
                            }
                            _ => break 'slow,
                        }
                        idx += 1;
                        continue 'inst;
                    }
                    state.top.inst_idx = idx as u32;
                    if TRACED && let Some(trace) = self.watching.trace_mut() {
                        trace.in_update = is_update(idx);
                    }
                    match self.slow(state, inst, &function.calls) {
                        Ok(Next::Inst) => {
                            self.settle_answers(state);
                            regs = state.top.regs.as_mut_ptr();
                            idx += 1;
                        }
                        Ok(Next::Frame) => {
                            self.settle_answers(state);
                            *fuel -= (idx - first_idx) as i64 + 1;
                            if *fuel <= 0 {
                                return Effect::OutOfFuel;
                            }
                            continue 'frame;
                        }
                        Err(effect) => {
                            *fuel -= (idx - first_idx) as i64;
                            self.running.n_answered = 0;
                            return effect;
                        }
                    }
                }
                *fuel -= (idx - first_idx) as i64 + 1;
                state.top.inst_idx = idx as u32;
                let edge_idx = match &block.terminator {
                    Terminator::Jump(_) => 0,
                    Terminator::Branch { cond, .. } if get!(cond).shadow.is_none() => u32::from(get!(cond).bits == 0),
                    Terminator::CmpBranch { op, bits, a, b, .. }
                        if get!(a).shadow.either(get!(b).shadow).is_none() && *bits <= 64 =>
                    {
                        u32::from(!arith::cmp64(*op, *bits, get!(a).bits, get!(b).bits))
                    }
                    Terminator::CmpImmBranch { op, bits, a, imm, .. } if get!(a).shadow.is_none() && *bits <= 64 => {
                        u32::from(!arith::cmp64(*op, *bits, get!(a).bits, *imm))
                    }
                    Terminator::Return(values) => match self.leave(state, values) {
                        Ok(()) => {
                            self.settle_answers(state);
                            if TRACED && self.watching.stops_leaving(state.depth) {
                                return Effect::Arrived;
                            }
                            if *fuel <= 0 || state.depth == state.pause_at {
                                return Effect::OutOfFuel;
                            }
                            continue 'frame;
                        }
                        Err(effect) => {
                            self.running.n_answered = 0;
                            return effect;
                        }
                    },
                    terminator => match self.decide(state, terminator) {
                        Ok(edge_idx) => {
                            self.settle_answers(state);
                            edge_idx
                        }
                        Err(effect) => {
                            self.running.n_answered = 0;
                            return effect;
                        }
                    },
                };
                let taken = image.first_edge(state.top.func, state.top.block) + edge_idx;
                self.coverage.mark(taken);
                let edge = edge_of(&block.terminator, edge_idx);
                for step in &edge.moves {
                    // SAFETY: as above.
                    unsafe {
                        let regs = state.top.regs.as_mut_ptr();
                        *regs.add(step.dst.idx()) = *regs.add(step.src.idx());
                        if step.bits > 64 {
                            *regs.add(step.dst.idx() + 1) = *regs.add(step.src.idx() + 1);
                        }
                    }
                }
                let goes_back = edge.target <= state.top.block;
                let from = state.top.block;
                state.top.block = edge.target;
                state.top.inst_idx = 0;
                if is_tracking {
                    self.arrive(state, from);
                }
                if hurries && let Err(effect) = self.hurry(state) {
                    return effect;
                }
                if goes_back
                    && self.watching.interest() == Interest::NONE
                    && !TRACED
                    // What is compiled rounds to nearest.
                    && state.rounding == Rounding::NearestEven
                    && let Some(compiler) = &mut self.compiler
                {
                    compiler.enter(image, self.coverage.seen(), &self.tlb, &mut state.top, fuel);
                }
                if self.watching.interest().has(Interest::BLOCK) {
                    let (func, block) = (state.top.func, edge.target);
                    self.tell(state, Interest::BLOCK, || Event::Block { func, block, edge: EdgeId(taken) });
                }
                if TRACED && self.watching.stops_entering(state.depth, edge.target) {
                    return Effect::Arrived;
                }
                if *fuel <= 0 {
                    return Effect::OutOfFuel;
                }
            }
        }
    }

    pub(crate) fn function_name(&self, func: FuncId) -> &'i str {
        &self.image.module.function(func).name
    }

    pub(crate) fn cover_entry(&mut self, func: FuncId) {
        self.coverage.mark(self.image.entry_edge(func));
    }
}
#[inline(always)]
fn is_shift(op: BinOp) -> bool {
    matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr)
}
