//! The loop: executes until an effect.
//!
//! Fast arms handle concrete values of up to 64 bits in place; everything else goes through `slow`, which works on
//! [`Value`]s and may stop with an effect. An instruction that stops has changed nothing: it runs again from its
//! beginning once its question is answered.

use std::rc::Rc;

use ir::{BinOp, CastOp, CmpOp, Edge, FuncId, Inst, OverflowOp, Terminator};
use term::{Graphs, TermId, Terms};
use witness::{Bug, BugKind, Ending, Gap, LedgerKind, Place};

use crate::arith;
use crate::compared::Compared;
use crate::compile::Compiler;
use crate::float;
use crate::frame::Slot;
use crate::image::Image;
use crate::starts::Starts;
use crate::tlb::{Tlb, site_of};
use crate::value::{mask64, sext64};
use crate::{
    Answer, Decides, Effect, Event, Flow, Footprint, Interest, Label, Labels, Object, ObjectKind, Observer, PickWhy,
    Shadow, Site, State, Value,
};

/// Either done, or an effect: the state stands where it stood.
pub(crate) type Step<T> = Result<T, Effect>;

/// What the loop does after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Inst,
    /// The top frame is another one, or stands elsewhere.
    Frame,
}

/// One edge of the whole program's control-flow graphs (or the entry of a function).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeId(pub u32);

/// Edges ever taken by this machine, and those taken for the first time since last asked.
pub struct Coverage {
    seen: Vec<bool>,
    fresh: Vec<EdgeId>,
}

impl Coverage {
    fn new(n_edges: u32) -> Coverage {
        Coverage { seen: vec![false; n_edges as usize], fresh: Vec::new() }
    }

    #[inline(always)]
    fn mark(&mut self, edge: u32) {
        if !self.seen[edge as usize] {
            self.seen[edge as usize] = true;
            self.fresh.push(EdgeId(edge));
        }
    }

    pub fn take_fresh(&mut self) -> Vec<EdgeId> {
        std::mem::take(&mut self.fresh)
    }

    pub fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Takes these for seen, though not just now.
    pub fn recall(&mut self, edges: &[EdgeId]) {
        edges.iter().for_each(|edge| self.seen[edge.0 as usize] = true);
    }

    /// Takes these for never seen: the next path over them is the first again.
    pub fn forget(&mut self, edges: &[EdgeId]) {
        edges.iter().for_each(|edge| self.seen[edge.0 as usize] = false);
    }

    pub fn is_seen(&self, edge: EdgeId) -> bool {
        self.seen[edge.0 as usize]
    }
}

/// Loads and stores that only change a value in place, which a footprint leaves out: by function, block and instruction.
#[derive(Default)]
pub struct Updates(pub Vec<Vec<Vec<bool>>>);

impl Updates {
    fn of_block(&self, func: FuncId, block: ir::BlockId) -> &[bool] {
        self.0.get(func.idx()).and_then(|blocks| blocks.get(block.idx())).map_or(&[], Vec::as_slice)
    }
}

/// Where a traced run is to return [`Effect::Arrived`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// How many frames there are then.
    pub depth: u32,
    /// At the beginning of this block; `None`: right behind the call that frame was entered by.
    pub block: Option<ir::BlockId>,
}

/// The stops of the running path: the newest comes first, and with a frame its own are gone.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    waiting: Vec<Stop>,
}

impl Stops {
    pub fn push(&mut self, stop: Stop) {
        if self.waiting.last() != Some(&stop) {
            self.waiting.push(stop);
        }
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn truncate(&mut self, n_stops: usize) {
        self.waiting.truncate(n_stops);
    }

    /// Control enters a block.
    #[inline]
    fn enters(&mut self, depth: u32, block: ir::BlockId) -> bool {
        let mut arrives = false;
        while let Some(stop) = self.waiting.last()
            && (stop.depth > depth || stop.depth == depth && stop.block == Some(block))
        {
            arrives |= stop.depth == depth;
            self.waiting.pop();
        }
        arrives
    }

    /// A frame was left; `depth` are still there.
    fn leaves(&mut self, depth: u32) -> bool {
        let mut arrives = false;
        while let Some(stop) = self.waiting.last().filter(|stop| stop.depth > depth) {
            arrives |= stop.block.is_none();
            self.waiting.pop();
        }
        arrives
    }
}

/// What one worker runs states with. Holds no state of any path.
pub struct Machine<'i> {
    pub image: &'i Image,
    pub terms: Terms,
    pub labels: Labels,
    pub coverage: Coverage,
    pub interest: Interest,
    pub observer: Option<Box<dyn Observer>>,
    /// Collected where somebody wants it.
    pub footprint: Option<Box<Footprint>>,
    pub stops: Stops,
    pub updates: Rc<Updates>,
    /// Whether the running instruction is half of an update in place.
    pub(crate) in_update: bool,
    /// Present while flow is tracked.
    pub flow: Option<Box<Flow<'i>>>,
    /// Calls of these functions are an effect instead of being entered.
    pub claimed: Vec<bool>,
    /// Precision given up since last asked.
    pub notes: Vec<(LedgerKind, Place, String)>,
    pub starts: Starts,
    /// What terms over one byte are for each of its values.
    pub(crate) graphs: Graphs,
    pub(crate) tlb: Tlb,
    /// Where the last access that was found right went.
    pub(crate) located: Option<crate::ObjectId>,
    compared: Compared,
    compiler: Option<Box<Compiler>>,
    /// How many answers the running instruction has used.
    n_answered: usize,
    n_undefined: u64,
}

/// Estimated bytes of native stack a call takes beside its variables. Low, so that what overflows here does natively.
const FRAME_BYTES: u64 = 48;
const STACK_BYTES: u64 = 8 << 20;

impl<'i> Machine<'i> {
    pub fn new(image: &'i Image) -> Machine<'i> {
        Machine {
            image,
            terms: Terms::new(),
            labels: Labels::default(),
            coverage: Coverage::new(image.n_edges()),
            interest: Interest::NONE,
            observer: None,
            footprint: None,
            stops: Stops::default(),
            updates: Rc::default(),
            in_update: false,
            flow: None,
            claimed: vec![false; image.module.functions.len()],
            notes: Vec::new(),
            starts: Starts::default(),
            graphs: Graphs::default(),
            tlb: Tlb::default(),
            located: None,
            compared: Compared::default(),
            compiler: Compiler::new(image).map(Box::new),
            n_answered: 0,
            n_undefined: 0,
        }
    }

    /// Runs until somebody has to decide, the path ends, or about `fuel` instructions have been executed.
    pub fn run(&mut self, state: &mut State, fuel: u64) -> Effect {
        self.tlb.flush();
        self.n_answered = 0;
        self.sync_control(state);
        let mut left = fuel as i64;
        let effect = match self.footprint {
            None => self.execute::<false>(state, &mut left),
            Some(_) => self.execute::<true>(state, &mut left),
        };
        state.steps += (fuel as i64 - left) as u64;
        effect
    }

    /// `TRACED` keeps the footprint and stops where asked; without it none of that costs anything.
    fn execute<const TRACED: bool>(&mut self, state: &mut State, fuel: &mut i64) -> Effect {
        let image = self.image;
        let all_updates = Rc::clone(&self.updates);
        let overflow_checked = image.checks.overflow;
        let shift_checked = image.checks.shift;
        let is_tracking = self.is_tracking();
        let pointer_mask = mask64(image.pointer_bits());
        'frame: loop {
            let function = image.module.function(state.top.func);
            loop {
                let block = &function.blocks[state.top.block.idx()];
                let updates: &[bool] = if TRACED { all_updates.of_block(state.top.func, state.top.block) } else { &[] };
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
                    if TRACED {
                        self.in_update = is_update(idx);
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
                            self.n_answered = 0;
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
                            if TRACED && self.stops.leaves(state.depth) {
                                return Effect::Arrived;
                            }
                            if *fuel <= 0 || state.depth == state.pause_at {
                                return Effect::OutOfFuel;
                            }
                            continue 'frame;
                        }
                        Err(effect) => {
                            self.n_answered = 0;
                            return effect;
                        }
                    },
                    terminator => match self.decide(state, terminator) {
                        Ok(edge_idx) => {
                            self.settle_answers(state);
                            edge_idx
                        }
                        Err(effect) => {
                            self.n_answered = 0;
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
                if goes_back
                    && self.interest == Interest::NONE
                    && !TRACED
                    && let Some(compiler) = &mut self.compiler
                {
                    compiler.enter(image, &self.coverage.seen, &self.tlb, &mut state.top, fuel);
                }
                if self.interest.has(Interest::BLOCK) {
                    let (func, block) = (state.top.func, edge.target);
                    self.tell(state, Interest::BLOCK, || Event::Block { func, block, edge: EdgeId(taken) });
                }
                if TRACED && self.stops.enters(state.depth, edge.target) {
                    return Effect::Arrived;
                }
                if *fuel <= 0 {
                    return Effect::OutOfFuel;
                }
            }
        }
    }

    /// The answers served their instruction.
    fn settle_answers(&mut self, state: &mut State) {
        self.n_answered = 0;
        state.answers.clear();
    }

    /// The next answer for the running instruction, or the question.
    pub(crate) fn ask(&mut self, state: &State, question: impl FnOnce() -> Effect) -> Step<Answer> {
        match state.answers.get(self.n_answered) {
            Some(answer) => {
                self.n_answered += 1;
                Ok(answer.clone())
            }
            None => Err(question()),
        }
    }

    /// Stops with a bug unless `holds`; asks when that depends on inputs.
    pub(crate) fn check(&mut self, state: &State, holds: TermId, bug: impl FnOnce(&Self) -> Bug) -> Step<()> {
        match self.terms.as_const(holds) {
            Some(0) => Err(Effect::Ended(Box::new(Ending::Bug(bug(self))))),
            Some(_) => Ok(()),
            None => {
                self.forbid_undefined(state, holds)?;
                let made = bug(self);
                self.ask(state, || Effect::Check { holds, bug: Box::new(made) }).map(|_| ())
            }
        }
    }

    /// One concrete value for a value.
    pub(crate) fn pick(&mut self, state: &State, value: Value, why: PickWhy) -> Step<u128> {
        if !value.label().is_empty() {
            self.depend(state, value.label(), Decides::Value);
        }
        let Some(term) = value.term() else { return Ok(value.bits) };
        self.forbid_undefined(state, term)?;
        match self.ask(state, || Effect::Pick { value: term, why })? {
            Answer::Value(value) => Ok(value),
            other => unreachable!("a pick is answered with a value, not {other:?}"),
        }
    }

    /// A decision that depends on memory never written is a fault where that is checked.
    pub(crate) fn forbid_undefined(&mut self, state: &State, term: TermId) -> Step<()> {
        if !self.image.checks.uninit || self.n_undefined == 0 {
            return Ok(());
        }
        let symbols = self.terms.symbols(term);
        if symbols.iter().any(|symbol| self.terms.symbol_name(*symbol).starts_with(UNDEFINED)) {
            let message = "what happens here depends on memory that was never written".to_string();
            return Err(Effect::Ended(Box::new(Ending::Bug(self.bug(state, BugKind::UninitialisedRead, message)))));
        }
        Ok(())
    }

    pub(crate) fn fresh_undefined(&mut self, width: u32) -> TermId {
        self.n_undefined += 1;
        self.terms.symbol(&format!("{UNDEFINED}{}", self.n_undefined), width)
    }

    pub fn bug(&self, state: &State, kind: BugKind, message: String) -> Bug {
        let (place, stack) = self.image.whereabouts(state);
        Bug { kind, message, place, stack }
    }

    pub(crate) fn gap(&mut self, state: &State, message: String) -> Effect {
        let (place, _) = self.image.whereabouts(state);
        self.notes.push((LedgerKind::UnknownFunction, place.clone(), message.clone()));
        Effect::Ended(Box::new(Ending::Unsupported(Gap { message, place })))
    }

    pub(crate) fn note(&mut self, state: &State, kind: LedgerKind, detail: impl Into<String>) {
        let (place, _) = self.image.whereabouts(state);
        self.notes.push((kind, place, detail.into()));
    }

    #[inline(always)]
    pub(crate) fn tell(&mut self, state: &mut State, kind: Interest, event: impl FnOnce() -> Event) {
        if self.interest.has(kind)
            && let Some(mut observer) = self.observer.take()
        {
            observer.event(state, &event());
            self.observer = Some(observer);
        }
    }

    fn slow(&mut self, state: &mut State, inst: &Inst, calls: &[ir::Call]) -> Step<Next> {
        self.forget_last();
        match inst {
            Inst::Const { dst, bits, value } => state.top.set(*dst, *bits, Value::concrete(u128::from(*value))),
            Inst::WideConst { dst, bits, value } => state.top.set(*dst, *bits, Value::concrete(**value)),
            Inst::Undef { dst, bits } => {
                let value = if self.image.checks.uninit {
                    let term = self.undefined_of(*bits);
                    Value::of_term(&self.terms, term, Label::EMPTY)
                } else {
                    Value::concrete(0)
                };
                state.top.set(*dst, *bits, value);
            }
            Inst::Address { dst, symbol, addend } => {
                let addr =
                    self.image.address_of(*symbol).wrapping_add(*addend as u64) & mask64(self.image.pointer_bits());
                state.top.set(*dst, self.image.pointer_bits(), Value::concrete(u128::from(addr)));
            }
            Inst::Copy { dst, src, bits } => {
                let value = state.top.value(*src, *bits);
                state.top.set(*dst, *bits, value);
            }
            Inst::Bin { op, bits, nsw, dst, a, b } => {
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                let value = self.binary(state, *op, *bits, *nsw, a, b)?;
                state.top.set(*dst, *bits, value);
            }
            Inst::BinImm { op, bits, nsw, dst, a, imm } => {
                let a = state.top.value(*a, *bits);
                let value = self.binary(state, *op, *bits, *nsw, a, Value::concrete(u128::from(*imm)))?;
                if let (BinOp::Add, Some(from), Some(to)) = (*op, a.term(), value.term()) {
                    self.starts.pass_on(from, to);
                }
                state.top.set(*dst, *bits, value);
            }
            Inst::Cmp { op, bits, dst, a, b } => {
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                let value = self.compare(*op, *bits, a, b);
                state.top.set(*dst, 1, value);
            }
            Inst::CmpImm { op, bits, dst, a, imm } => {
                let a = state.top.value(*a, *bits);
                let value = self.compare(*op, *bits, a, Value::concrete(u128::from(*imm)));
                state.top.set(*dst, 1, value);
            }
            Inst::Cast { op, from, to, dst, a } => {
                let a = state.top.value(*a, *from);
                let value = match a.term() {
                    None => Value { bits: arith::cast128(*op, *from, *to, a.bits), shadow: a.shadow },
                    Some(term) => {
                        let term = arith::cast_term(&mut self.terms, *op, *to, term);
                        Value::of_term(&self.terms, term, a.label())
                    }
                };
                state.top.set(*dst, *to, value);
            }
            Inst::Select { bits, dst, cond, a, b } => {
                let cond = state.top.value(*cond, 1);
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                let value = self.select_value(cond, a, b, *bits);
                state.top.set(*dst, *bits, value);
            }
            Inst::Overflow { op, bits, dst, flag, a, b } => {
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                let (value, overflow) = self.overflow(*op, *bits, a, b);
                state.top.set(*dst, *bits, value);
                state.top.set(*flag, 1, overflow);
            }
            Inst::BitOp { op, bits, dst, a, b } => {
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                let value = self.lift(
                    *bits,
                    a,
                    b,
                    |a, b| arith::bit_op128(*op, *bits, a, b),
                    |terms, a, b| arith::bit_op_term(terms, *op, a, b),
                );
                state.top.set(*dst, *bits, value);
            }
            Inst::FunnelShl { bits, dst, hi, lo, amount } | Inst::FunnelShr { bits, dst, hi, lo, amount } => {
                let (hi, lo) = (state.top.value(*hi, *bits), state.top.value(*lo, *bits));
                let amount = state.top.value(*amount, *bits);
                let left = matches!(inst, Inst::FunnelShl { .. });
                let value = self.funnel(*bits, hi, lo, amount, left);
                state.top.set(*dst, *bits, value);
            }
            Inst::Index { dst, base, index, index_bits, scale } => {
                let pointer_bits = self.image.pointer_bits();
                let (base, index) = (state.top.value(*base, pointer_bits), state.top.value(*index, *index_bits));
                let value = self.index(base, index, *index_bits, *scale);
                state.top.set(*dst, pointer_bits, value);
            }
            Inst::Load { dst, bits, addr, .. } => {
                let addr = state.top.value(*addr, self.image.pointer_bits());
                let value = self.load(state, addr, *bits)?;
                state.top.set(*dst, *bits, value);
                self.remember(state, site_of(inst), addr, Remember::Read);
            }
            Inst::Store { src, bits, addr, .. } => {
                let addr = state.top.value(*addr, self.image.pointer_bits());
                let value = state.top.value(*src, *bits);
                self.store(state, addr, *bits, value)?;
                self.remember(state, site_of(inst), addr, Remember::Write);
            }
            Inst::Alloca { dst, bytes, align, count, variable } => {
                let count = count.map(|reg| state.top.value(reg, self.image.pointer_bits()));
                let base = self.alloca(state, *bytes, *align, count, *variable)?;
                state.top.set(*dst, self.image.pointer_bits(), Value::concrete(u128::from(base)));
            }
            Inst::FloatBin { op, kind, dst, a, b } => {
                let shadow = self.joint_shadow(state, &[*a, *b]);
                let (a, b) = (self.float_arg(state, *a, kind.bits())?, self.float_arg(state, *b, kind.bits())?);
                state.top.set(*dst, kind.bits(), Value { bits: float::bin(*op, *kind, a, b), shadow });
            }
            Inst::FloatCmp { op, kind, dst, a, b } => {
                let shadow = self.joint_shadow(state, &[*a, *b]);
                let (a, b) = (self.float_arg(state, *a, kind.bits())?, self.float_arg(state, *b, kind.bits())?);
                state.top.set(*dst, 1, Value { bits: u128::from(float::compare(*op, *kind, a, b)), shadow });
            }
            Inst::FloatCast { op, from, to, kind, to_kind, dst, a } => {
                let shadow = self.joint_shadow(state, &[*a]);
                let a = self.float_arg(state, *a, *from)?;
                state.top.set(*dst, *to, Value { bits: float::cast(*op, *from, *to, *kind, *to_kind, a), shadow });
            }
            Inst::FloatMath { op, kind, dst, a, b, c } => {
                let bits = kind.bits();
                let shadow = self.joint_shadow(state, &[*a, *b, *c]);
                let (a, b) = (self.float_arg(state, *a, bits)?, self.float_arg(state, *b, bits)?);
                let c = self.float_arg(state, *c, bits)?;
                let Some(value) = float::math(*op, *kind, a, b, c) else {
                    return Err(self.gap(state, format!("{op:?} on {kind:?} floats is not modelled")));
                };
                state.top.set(*dst, bits, Value { bits: value, shadow });
            }
            Inst::Call { call } => return self.call(state, &calls[call.idx()]),
        }
        Ok(Next::Inst)
    }

    /// The label of what is computed from these registers, without a term.
    fn joint_shadow(&mut self, state: &State, regs: &[ir::Reg]) -> Shadow {
        let label = regs
            .iter()
            .fold(Label::EMPTY, |label, reg| self.labels.union(label, state.top.regs[reg.idx()].shadow.label()));
        Shadow::new(None, label)
    }

    fn undefined_of(&mut self, bits: u8) -> TermId {
        let low = self.fresh_undefined(u32::from(bits.min(64)));
        if bits <= 64 {
            return low;
        }
        let high = self.fresh_undefined(u32::from(bits - 64));
        self.terms.concat(high, low)
    }

    fn float_arg(&mut self, state: &State, reg: ir::Reg, bits: u8) -> Step<u128> {
        let value = state.top.value(reg, bits);
        self.pick(state, value, PickWhy::Float)
    }

    /// Applies an operation to two values, on bits or on terms.
    fn lift(
        &mut self,
        bits: u8,
        a: Value,
        b: Value,
        concrete: impl FnOnce(u128, u128) -> u128,
        symbolic: impl FnOnce(&mut Terms, TermId, TermId) -> TermId,
    ) -> Value {
        let label = self.labels.union(a.label(), b.label());
        if a.term().is_none() && b.term().is_none() {
            return Value { bits: concrete(a.bits, b.bits), shadow: Shadow::new(None, label) };
        }
        let (a, b) = (a.to_term(&mut self.terms, u32::from(bits)), b.to_term(&mut self.terms, u32::from(bits)));
        let term = symbolic(&mut self.terms, a, b);
        Value::of_term(&self.terms, term, label)
    }

    fn binary(&mut self, state: &State, op: BinOp, bits: u8, nsw: bool, a: Value, b: Value) -> Step<Value> {
        match op {
            BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => self.check_division(state, op, bits, a, b)?,
            BinOp::Add | BinOp::Sub | BinOp::Mul if nsw && self.image.checks.overflow => {
                self.check_overflow(state, op, bits, a, b)?;
            }
            BinOp::Shl | BinOp::LShr | BinOp::AShr if self.image.checks.shift => self.check_shift(state, bits, b)?,
            _ => {}
        }
        Ok(self.lift(
            bits,
            a,
            b,
            |a, b| arith::bin128(op, bits, a, b).unwrap_or(0),
            |terms, a, b| arith::bin_term(terms, op, a, b),
        ))
    }

    /// A divisor of zero, and the one signed quotient that does not fit, trap on the machine whatever is checked.
    fn check_division(&mut self, state: &State, op: BinOp, bits: u8, a: Value, b: Value) -> Step<()> {
        let label = match op {
            BinOp::SDiv | BinOp::SRem => self.labels.union(a.label(), b.label()),
            _ => b.label(),
        };
        self.depend(state, label, Decides::Fault);
        let width = u32::from(bits);
        let (ta, tb) = (a.to_term(&mut self.terms, width), b.to_term(&mut self.terms, width));
        let zero = self.terms.constant(0, width);
        let nonzero = self.terms.ne(tb, zero);
        self.check(state, nonzero, |machine| {
            machine.bug(state, BugKind::DivisionByZero, "division by zero".to_string())
        })?;
        if matches!(op, BinOp::SDiv | BinOp::SRem) {
            let (min, ones) =
                (self.terms.constant(1 << (width - 1), width), self.terms.constant(crate::value::mask128(bits), width));
            let (is_min, is_minus_one) = (self.terms.eq(ta, min), self.terms.eq(tb, ones));
            let traps = self.terms.and(is_min, is_minus_one);
            let fits = self.terms.not(traps);
            self.check(state, fits, |machine| {
                let message = "the most negative number divided by -1 does not fit its type".to_string();
                machine.bug(state, BugKind::IntegerOverflow, message)
            })?;
        }
        Ok(())
    }

    fn check_overflow(&mut self, state: &State, op: BinOp, bits: u8, a: Value, b: Value) -> Step<()> {
        let (overflow, verb) = match op {
            BinOp::Add => (OverflowOp::SAdd, "addition"),
            BinOp::Sub => (OverflowOp::SSub, "subtraction"),
            _ => (OverflowOp::SMul, "multiplication"),
        };
        let (_, flag) = self.overflow(overflow, bits, a, b);
        self.depend(state, flag.label(), Decides::Fault);
        let flag = flag.to_term(&mut self.terms, 1);
        let fits = self.terms.not(flag);
        self.check(state, fits, |machine| {
            let message = format!("signed {verb} of {bits} bits overflows");
            machine.bug(state, BugKind::IntegerOverflow, message)
        })
    }

    fn check_shift(&mut self, state: &State, bits: u8, amount: Value) -> Step<()> {
        self.depend(state, amount.label(), Decides::Fault);
        let width = u32::from(bits);
        let amount = amount.to_term(&mut self.terms, width);
        let limit = self.terms.constant(u128::from(bits), width);
        let fits = self.terms.ult(amount, limit);
        self.check(state, fits, |machine| {
            let message = format!("shift by at least the width of the value, {bits} bits, or by a negative amount");
            machine.bug(state, BugKind::InvalidShift, message)
        })
    }

    pub(crate) fn compare(&mut self, op: CmpOp, bits: u8, a: Value, b: Value) -> Value {
        let label = self.labels.union(a.label(), b.label());
        if a.term().is_none() && b.term().is_none() {
            let holds = arith::cmp128(op, bits, a.bits, b.bits);
            return Value { bits: u128::from(holds), shadow: Shadow::new(None, label) };
        }
        let (a, b) = (a.to_term(&mut self.terms, u32::from(bits)), b.to_term(&mut self.terms, u32::from(bits)));
        let term = self.compared.compare(&mut self.terms, op, a, b);
        Value::of_term(&self.terms, term, label)
    }

    fn overflow(&mut self, op: OverflowOp, bits: u8, a: Value, b: Value) -> (Value, Value) {
        let result = self.lift(
            bits,
            a,
            b,
            |a, b| arith::overflow128(op, bits, a, b).0,
            |terms, a, b| arith::overflow_result_term(terms, op, a, b),
        );
        let flag = self.lift(
            bits,
            a,
            b,
            |a, b| u128::from(arith::overflow128(op, bits, a, b).1),
            |terms, a, b| arith::overflow_term(terms, op, a, b),
        );
        (result, flag)
    }

    /// Which way a symbolic condition goes.
    fn decide_side(&mut self, state: &mut State, cond: TermId) -> Step<bool> {
        self.forbid_undefined(state, cond)?;
        match self.ask(state, || Effect::Branch { cond })? {
            Answer::Side(side) => {
                self.tell_branch(state, u32::from(!side), Some(cond));
                Ok(side)
            }
            other => unreachable!("a branch is answered with a side, not {other:?}"),
        }
    }

    fn select_value(&mut self, cond: Value, a: Value, b: Value, bits: u8) -> Value {
        let arms = self.labels.union(a.label(), b.label());
        let label = self.labels.union(arms, cond.label());
        match cond.term() {
            None => {
                let chosen = if cond.bits != 0 { a } else { b };
                let label = self.labels.union(chosen.label(), cond.label());
                Value { bits: chosen.bits, shadow: Shadow::new(chosen.term(), label) }
            }
            Some(cond) => {
                let (a, b) = (a.to_term(&mut self.terms, u32::from(bits)), b.to_term(&mut self.terms, u32::from(bits)));
                let term = self.terms.ite(cond, a, b);
                Value::of_term(&self.terms, term, label)
            }
        }
    }

    fn funnel(&mut self, bits: u8, hi: Value, lo: Value, amount: Value, left: bool) -> Value {
        let width = u32::from(bits);
        let halves = self.labels.union(hi.label(), lo.label());
        let label = self.labels.union(halves, amount.label());
        let (hi, lo) = (hi.to_term(&mut self.terms, width), lo.to_term(&mut self.terms, width));
        let amount = amount.to_term(&mut self.terms, width);
        let modulus = self.terms.constant(u128::from(bits), width);
        let amount = self.terms.urem(amount, modulus);
        let rest = self.terms.sub(modulus, amount);
        let (up, down) = if left { (amount, rest) } else { (rest, amount) };
        let (high, low) = (self.terms.shl(hi, up), self.terms.lshr(lo, down));
        let mixed = self.terms.or(high, low);
        let zero = self.terms.constant(0, width);
        let none = self.terms.eq(amount, zero);
        let term = self.terms.ite(none, if left { hi } else { lo }, mixed);
        Value::of_term(&self.terms, term, label)
    }

    fn index(&mut self, base: Value, index: Value, index_bits: u8, scale: u64) -> Value {
        let width = u32::from(self.image.pointer_bits());
        let label = self.labels.union(base.label(), index.label());
        let start = match base.term() {
            None => Some(base.bits as u64),
            Some(term) => self.starts.of(term),
        };
        let (base, index) =
            (base.to_term(&mut self.terms, width), index.to_term(&mut self.terms, u32::from(index_bits)));
        let index = match u32::from(index_bits).cmp(&width) {
            std::cmp::Ordering::Less => self.terms.sext(index, width),
            std::cmp::Ordering::Equal => index,
            std::cmp::Ordering::Greater => self.terms.extract(index, width - 1, 0),
        };
        let scale = self.terms.constant(u128::from(scale) & crate::value::mask128(width as u8), width);
        let offset = self.terms.mul(index, scale);
        let term = self.terms.add(base, offset);
        let value = Value::of_term(&self.terms, term, label);
        if let (Some(start), Some(term)) = (start, value.term()) {
            self.starts.enter(term, start);
        }
        value
    }

    /// Lets the fast path have an object that an access just went to.
    fn remember(&mut self, state: &mut State, site: usize, addr: Value, how: Remember) {
        // Writing through an entry would leave the open regions untold.
        if how == Remember::Write && self.tlb.is_frozen() {
            return;
        }
        if self.interest.has(Interest::READ.with(Interest::WRITE)) || addr.term().is_some() {
            return;
        }
        let Some(object) = self.located else { return };
        if !state.memory.get(object).is_plain() || !state.memory.get(object).life.is_empty() {
            return;
        }
        match how {
            Remember::Read => {
                let found = state.memory.get(object);
                self.tlb.remember_read(site, found.base, found.data());
                let size = found.size;
                self.remember_flags(site, object, size);
            }
            Remember::Write => {
                let found = self.writable(state, object);
                let base = found.base;
                let data: *mut [u8] = found.data_mut();
                // SAFETY: the object is plain, alive and now unshared; the borrow ends with this call.
                self.tlb.remember_write(site, base, unsafe { &mut *data });
                let size = state.memory.get(object).size;
                self.remember_flags(site, object, size);
            }
        }
    }

    fn remember_flags(&mut self, site: usize, object: crate::ObjectId, size: u64) {
        if let Some(footprint) = &mut self.footprint {
            self.tlb.remember_flags(site, footprint.flags(object, size));
        }
    }

    fn alloca(
        &mut self,
        state: &mut State,
        bytes: u64,
        align: u32,
        count: Option<Value>,
        variable: Option<u32>,
    ) -> Step<u64> {
        let label = count.map_or(Label::EMPTY, |count| count.label());
        let count = match count {
            Some(count) => self.pick(state, count, PickWhy::Size)? as u64,
            None => 1,
        };
        let size = bytes.checked_mul(count).filter(|size| state.stack_bytes + size <= STACK_BYTES);
        let Some(size) = size else { return Err(self.stack_overflow(state)) };
        state.stack_bytes += size;
        let function = self.image.module.function(state.top.func);
        let ty = variable.and_then(|variable| function.variables.get(variable as usize)?.ty);
        let site = Site { func: state.top.func, span: self.image.span_of(&state.top) };
        let base = self.new_stack_object(state, size, align, ty, site);
        if !label.is_empty()
            && let Some(object) = state.memory.find(base)
        {
            self.name_object(state, object, label);
        }
        Ok(base)
    }

    pub(crate) fn new_stack_object(
        &mut self,
        state: &mut State,
        size: u64,
        align: u32,
        ty: Option<ir::SourceTypeId>,
        site: Site,
    ) -> u64 {
        let uninit = self.image.checks.uninit;
        let thread = state.thread().0 as u16;
        let object = state.memory.allocate_stack(size, u64::from(align), |base| {
            let mut object = Object::zeroed(base, size, ObjectKind::Stack);
            object.thread = thread;
            object.ty = ty;
            object.site = site;
            if uninit {
                object.mark_undefined();
            }
            object
        });
        self.name_object(state, object, Label::EMPTY);
        self.tell(state, Interest::ALLOCATION, || Event::Allocated { object });
        self.trace_allocation(state, object);
        state.memory.get(object).base
    }

    pub(crate) fn stack_overflow(&self, state: &State) -> Effect {
        let message = format!("the stack is exhausted after {} nested calls", state.depth);
        Effect::Ended(Box::new(Ending::Bug(self.bug(state, BugKind::StackOverflow, message))))
    }

    pub(crate) fn grow_stack(&self, state: &mut State) -> Step<()> {
        state.stack_bytes += FRAME_BYTES;
        if state.stack_bytes > STACK_BYTES {
            state.stack_bytes -= FRAME_BYTES;
            return Err(self.stack_overflow(state));
        }
        Ok(())
    }

    pub(crate) const FRAME_BYTES: u64 = FRAME_BYTES;

    /// Which edge a symbolic terminator takes.
    fn decide(&mut self, state: &mut State, terminator: &Terminator) -> Step<u32> {
        self.forget_last();
        let cond = match terminator {
            Terminator::Branch { cond, .. } => state.top.value(*cond, 1),
            Terminator::CmpBranch { op, bits, a, b, .. } => {
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                self.compare(*op, *bits, a, b)
            }
            Terminator::CmpImmBranch { op, bits, a, imm, .. } => {
                let a = state.top.value(*a, *bits);
                self.compare(*op, *bits, a, Value::concrete(u128::from(*imm)))
            }
            Terminator::Switch { value, bits, cases, default } => {
                let value = state.top.value(*value, *bits);
                return self.switch(state, value, *bits, cases, default);
            }
            Terminator::IndirectJump { addr, targets } => {
                let addr = state.top.value(*addr, self.image.pointer_bits());
                return self.indirect_jump(state, addr, targets);
            }
            Terminator::Unreachable => {
                let message = "code that was promised to be unreachable is reached".to_string();
                let bug = self.bug(state, BugKind::UnreachableReached, message);
                return Err(Effect::Ended(Box::new(Ending::Bug(bug))));
            }
            Terminator::Jump(_) | Terminator::Return(_) => unreachable!("never symbolic"),
        };
        let edge = match cond.term() {
            None => u32::from(cond.bits == 0),
            Some(term) => {
                self.depend(state, cond.label(), Decides::Branch);
                u32::from(!self.decide_side(state, term)?)
            }
        };
        self.open_region(state, cond.label(), edge, Decides::Branch);
        Ok(edge)
    }

    fn tell_branch(&mut self, state: &mut State, edge: u32, cond: Option<TermId>) {
        let (func, block) = (state.top.func, state.top.block);
        self.tell(state, Interest::BRANCH, || Event::Branch { func, block, edge, cond });
    }

    fn switch(
        &mut self,
        state: &mut State,
        value: Value,
        bits: u8,
        cases: &[(u64, Edge)],
        default: &Edge,
    ) -> Step<u32> {
        let Some(term) = value.term() else {
            let found = cases.iter().position(|case| u128::from(case.0) == value.bits);
            let edge = found.unwrap_or(cases.len()) as u32;
            self.open_region(state, value.label(), edge, Decides::Switch);
            return Ok(edge);
        };
        self.depend(state, value.label(), Decides::Switch);
        self.forbid_undefined(state, term)?;
        match state.answers.get(self.n_answered) {
            None => Err(Effect::Switch { conds: self.switch_conds(term, bits, cases, default).into() }),
            Some(Answer::Edge(edge)) => {
                let edge = *edge;
                self.n_answered += 1;
                self.tell_branch(state, edge, None);
                self.open_region(state, value.label(), edge, Decides::Switch);
                Ok(edge)
            }
            Some(other) => unreachable!("a switch is answered with an edge, not {other:?}"),
        }
    }

    /// One condition per target, with the number of the first edge that leads there.
    fn switch_conds(&mut self, term: TermId, bits: u8, cases: &[(u64, Edge)], default: &Edge) -> Vec<(u32, TermId)> {
        let mut conds: Vec<(u32, ir::BlockId, TermId)> = Vec::new();
        let mut rest = self.terms.tru();
        for (case, edge) in cases.iter().zip(0..) {
            let constant = self.terms.constant(u128::from(case.0), u32::from(bits));
            let cond = self.terms.eq(term, constant);
            let other = self.terms.not(cond);
            rest = self.terms.and(rest, other);
            match conds.iter_mut().find(|(_, target, _)| *target == case.1.target) {
                Some((_, _, known)) => *known = self.terms.or(*known, cond),
                None => conds.push((edge, case.1.target, cond)),
            }
        }
        match conds.iter_mut().find(|(_, target, _)| *target == default.target) {
            Some((_, _, known)) => *known = self.terms.or(*known, rest),
            None => conds.push((cases.len() as u32, default.target, rest)),
        }
        conds.into_iter().map(|(edge, _, cond)| (edge, cond)).collect()
    }

    fn indirect_jump(&mut self, state: &mut State, addr: Value, targets: &[(ir::BlockId, Edge)]) -> Step<u32> {
        let label = addr.label();
        let addr = self.pick(state, addr, PickWhy::JumpTarget)? as u64;
        let func = state.top.func;
        let is_at = |target: &(ir::BlockId, Edge)| self.image.address_of(ir::SymbolRef::Block(func, target.0)) == addr;
        match targets.iter().position(is_at) {
            Some(edge) => {
                self.open_region(state, label, edge as u32, Decides::Switch);
                Ok(edge as u32)
            }
            None => {
                let bug =
                    self.bug(state, BugKind::InvalidPointer, format!("jump to {addr:#x}, which is no label here"));
                Err(Effect::Ended(Box::new(Ending::Bug(bug))))
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

/// How a symbol for memory never written begins; no input can be named so.
const UNDEFINED: &str = "\u{0}undefined";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Remember {
    Read,
    Write,
}

#[inline(always)]
fn is_shift(op: BinOp) -> bool {
    matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr)
}

#[inline(always)]
fn edge_of(terminator: &Terminator, edge_idx: u32) -> &Edge {
    match terminator {
        Terminator::Jump(edge) => edge,
        Terminator::Branch { then, other, .. }
        | Terminator::CmpBranch { then, other, .. }
        | Terminator::CmpImmBranch { then, other, .. } => {
            if edge_idx == 0 {
                then
            } else {
                other
            }
        }
        Terminator::Switch { cases, default, .. } => cases.get(edge_idx as usize).map_or(default, |case| &case.1),
        Terminator::IndirectJump { targets, .. } => &targets[edge_idx as usize].1,
        Terminator::Return(_) | Terminator::Unreachable => unreachable!("has no edges"),
    }
}
