//! Copies of a path that walk on by themselves: along the way their input takes, or along every way there is.

use explore::Means;
use ir::{BlockId, FuncId};
use rustc_hash::FxHashSet;
use solver::{Answer as Solved, PathCondition};
use term::{Assignment, SymbolId, TermId, Terms};
use vm::{Answer, Effect, InputForm, InputKind, Liveness, PickWhy, State};
use witness::BugKind;

use crate::Others;

/// What the machine calls inputs that are memory nobody wrote.
const UNWRITTEN: &str = "unwritten";

/// Where a cycle is cut open: the beginning of a block, in a frame of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cut {
    pub func: FuncId,
    pub block: BlockId,
    pub depth: u32,
    pub shape: Shape,
}

/// How control comes back to a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// In the same frame.
    Loop,
    /// In a frame further up the stack, the first one still waiting.
    Recursion,
}

impl Cut {
    /// Whether a state stands there again.
    fn is_met_by(&self, state: &State) -> bool {
        let top = &state.top;
        let is_deep_enough = match self.shape {
            Shape::Loop => state.depth == self.depth,
            Shape::Recursion => state.depth > self.depth,
        };
        is_deep_enough && top.func == self.func && top.block == self.block && top.inst_idx == 0
    }
}

/// The blocks of the loop that a cut belongs to; empty for a recursion.
pub struct Body(pub Vec<BlockId>);

impl Body {
    /// Whether a state has left the loop.
    fn is_outside(&self, cut: &Cut, state: &State) -> bool {
        !self.0.is_empty() && state.depth == cut.depth && self.0.binary_search(&state.top.block).is_err()
    }

    /// Whether an answer leads out of the loop.
    fn is_left_by(&self, cut: &Cut, state: &State, answer: &Answer, means: &Means) -> bool {
        let top = &state.top;
        if self.0.is_empty() || state.depth != cut.depth {
            return false;
        }
        let edge_idx = match answer {
            Answer::Side(side) => usize::from(!side),
            Answer::Edge(edge) => *edge as usize,
            _ => return false,
        };
        let block = means.machine.image.module.function(top.func).block(top.block);
        let edges = block.terminator.edges();
        let is_at_end = top.inst_idx as usize == block.insts.len();
        is_at_end && edges.get(edge_idx).is_some_and(|edge| self.0.binary_search(&edge.target).is_err())
    }
}

/// One copy, and the conditions it has gone under since it started.
#[derive(Clone)]
pub struct Walker {
    pub state: State,
    /// All conditions, those of the path it was copied from too.
    pub condition: PathCondition,
    /// Satisfies `condition`.
    pub input: Assignment,
    /// The conditions of its own way.
    pub conds: Vec<TermId>,
    /// Which of them only say that arithmetic does not overflow.
    pub no_overflow: Vec<usize>,
    /// Whether others decide what a pointer means.
    pub others: Others,
}

/// Why a walker stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It stands at the cut again.
    Arrived,
    /// The frame of the cut was left, or the program ended.
    Left,
    /// It asked for an input, the time or a choice: something from outside.
    Outside,
    /// Floating-point arithmetic, which nothing here is proved about.
    Float,
    /// Something that walkers do not follow.
    Unknown,
    /// It went too far.
    Tired,
}

/// How many blocks, and how many ways, walkers may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamina {
    pub n_blocks: u64,
    pub n_ways: usize,
}

/// What an effect leaves to choose from.
enum Asked {
    /// Exactly one of these holds.
    Ways(Vec<(TermId, Answer)>),
    /// Only this is followed; where it does not hold the program ends.
    Unless(TermId, Answer, Otherwise),
    /// Only this is followed; what happens where it does not hold is not known.
    Only(TermId, Answer),
    Halt(Halt),
}

/// Why the program ends where a condition does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Otherwise {
    /// Signed arithmetic overflows.
    Overflows,
    Other,
}

impl Walker {
    pub fn of_path(path: &explore::Path, others: Others) -> Walker {
        Walker {
            state: path.state.clone(),
            condition: path.condition.clone(),
            input: path.input.clone(),
            conds: Vec::new(),
            no_overflow: Vec::new(),
            others,
        }
    }

    /// From now on only where this holds, as it does for its input.
    pub fn restrict(&mut self, means: &mut Means, cond: TermId) {
        if !means.machine.terms.is_true(cond) {
            self.condition.add(&mut means.machine.terms, cond);
            self.conds.push(cond);
        }
    }

    /// Goes on under a condition that its input satisfies.
    fn take(&mut self, means: &mut Means, cond: TermId, answer: Answer) {
        self.restrict(means, cond);
        self.state.answers.push(answer);
    }

    /// Follows its input until it comes to the cut. Where that would leave the loop, it takes an input that does not, if there
    /// is one.
    pub fn follow(&mut self, cut: &Cut, body: &Body, means: &mut Means, stamina: &mut Stamina) -> Halt {
        loop {
            let effect = match self.advance(cut, body, means, stamina) {
                Ok(effect) => effect,
                Err(halt) => return halt,
            };
            let ways = match asked(self, effect, means) {
                Asked::Halt(halt) => return halt,
                Asked::Unless(cond, answer, _) | Asked::Only(cond, answer) => vec![(cond, answer)],
                Asked::Ways(ways) => ways,
            };
            let holds = |(cond, _): &(TermId, Answer)| means.eval.holds(&means.machine.terms, &self.input, *cond);
            let Some(here) = ways.iter().position(holds) else { return Halt::Left };
            let leaves = |answer: &Answer| body.is_left_by(cut, &self.state, answer, means);
            let mut taken = here;
            if leaves(&ways[here].1) {
                let inside = (0..ways.len()).filter(|idx| !leaves(&ways[*idx].1)).collect::<Vec<_>>();
                for idx in inside {
                    let terms = &mut means.machine.terms;
                    if let Solved::Sat(input) = means.stack.check(terms, &self.condition, &self.input, ways[idx].0) {
                        self.input = input;
                        taken = idx;
                        break;
                    }
                }
            }
            let (cond, answer) = ways[taken].clone();
            self.take(means, cond, answer);
        }
    }

    /// Runs until something is to be decided; `Err` where it halts before.
    fn advance(&mut self, cut: &Cut, body: &Body, means: &mut Means, stamina: &mut Stamina) -> Result<Effect, Halt> {
        let n_inputs = self.state.inputs.len();
        loop {
            if stamina.n_blocks == 0 {
                return Err(Halt::Tired);
            }
            stamina.n_blocks -= 1;
            // One instruction's worth: it comes back at the beginning of the next block.
            let effect = means.machine.run(&mut self.state, 1);
            if !only_settled(&self.state, n_inputs) {
                return Err(Halt::Outside);
            }
            if !matches!(effect, Effect::OutOfFuel) {
                return Ok(effect);
            }
            // Who leaves a loop may come back to it, but that is a round of the loop around it.
            if self.state.depth < cut.depth || body.is_outside(cut, &self.state) {
                return Err(Halt::Left);
            }
            if self.state.answers.is_empty() && cut.is_met_by(&self.state) {
                return Err(Halt::Arrived);
            }
        }
    }
}

/// Whether nothing came from outside since a state had so many inputs: what memory held that nobody wrote was there before.
pub fn only_settled(state: &State, n_inputs: usize) -> bool {
    n_inputs <= state.inputs.len() && state.inputs.added_since(n_inputs).all(|record| &*record.type_name == UNWRITTEN)
}

/// The symbols of inputs that a state got since it had so many.
pub fn symbols_since(state: &State, n_inputs: usize, terms: &Terms) -> FxHashSet<SymbolId> {
    let scalars = state.inputs.added_since(n_inputs).flat_map(|record| &record.scalars);
    scalars.filter_map(|scalar| scalar.term).flat_map(|term| terms.symbols(term).iter().copied()).collect()
}

/// All ways from a walker until the cut, or until they are lost. `ends` gets every walker that halted and why.
pub fn every_way(
    start: Walker,
    cut: &Cut,
    body: &Body,
    means: &mut Means,
    stamina: &mut Stamina,
) -> Vec<(Walker, Halt)> {
    let mut ended: Vec<(Walker, Halt)> = Vec::new();
    let mut waiting = vec![start];
    while let Some(mut walker) = waiting.pop() {
        let halt = loop {
            let effect = match walker.advance(cut, body, means, stamina) {
                Ok(effect) => effect,
                Err(halt) => break halt,
            };
            let ways = match asked(&walker, effect, means) {
                Asked::Halt(halt) => break halt,
                Asked::Unless(cond, answer, why) => {
                    let otherwise = means.machine.terms.not(cond);
                    if !means.eval.holds(&means.machine.terms, &walker.input, cond) {
                        let terms = &mut means.machine.terms;
                        match means.stack.check(terms, &walker.condition, &walker.input, cond) {
                            Solved::Sat(input) => walker.input = input,
                            Solved::Unsat => break Halt::Left,
                            Solved::Unknown(_) => break Halt::Unknown,
                        }
                    }
                    let mut left = walker.clone();
                    left.conds.push(otherwise);
                    ended.push((left, Halt::Left));
                    if why == Otherwise::Overflows && !means.machine.terms.is_true(cond) {
                        walker.no_overflow.push(walker.conds.len());
                    }
                    walker.take(means, cond, answer);
                    continue;
                }
                Asked::Only(cond, answer) => {
                    if !means.eval.holds(&means.machine.terms, &walker.input, cond) {
                        break Halt::Unknown;
                    }
                    let terms = &mut means.machine.terms;
                    let otherwise = terms.not(cond);
                    if means.stack.check(terms, &walker.condition, &walker.input, otherwise) == Solved::Unsat {
                        // It holds in any case: no condition of the way.
                        walker.state.answers.push(answer);
                        continue;
                    }
                    let mut lost = walker.clone();
                    lost.conds.push(otherwise);
                    ended.push((lost, Halt::Unknown));
                    walker.take(means, cond, answer);
                    continue;
                }
                Asked::Ways(ways) => ways,
            };
            let mut here = None;
            for (cond, answer) in ways {
                if here.is_none() && means.eval.holds(&means.machine.terms, &walker.input, cond) {
                    here = Some((cond, answer));
                    continue;
                }
                let solved = means.stack.check(&mut means.machine.terms, &walker.condition, &walker.input, cond);
                match solved {
                    Solved::Sat(input) if ended.len() + waiting.len() < stamina.n_ways => {
                        let mut other = walker.clone();
                        other.input = input;
                        other.take(means, cond, answer);
                        waiting.push(other);
                    }
                    Solved::Unsat => {}
                    Solved::Sat(_) | Solved::Unknown(_) => {
                        let mut other = walker.clone();
                        other.conds.push(cond);
                        ended.push((other, Halt::Unknown));
                    }
                }
            }
            match here {
                Some((cond, answer)) => walker.take(means, cond, answer),
                None => break Halt::Unknown,
            }
        };
        ended.push((walker, halt));
    }
    ended
}

fn asked(walker: &Walker, effect: Effect, means: &mut Means) -> Asked {
    let terms = &mut means.machine.terms;
    match effect {
        Effect::Branch { cond } => {
            let negated = terms.not(cond);
            Asked::Ways(vec![(cond, Answer::Side(true)), (negated, Answer::Side(false))])
        }
        Effect::Switch { conds } => {
            Asked::Ways(conds.iter().map(|(edge, cond)| (*cond, Answer::Edge(*edge))).collect())
        }
        Effect::Check { holds, bug } if bug.kind == BugKind::IntegerOverflow => {
            Asked::Unless(holds, Answer::Proceed, Otherwise::Overflows)
        }
        Effect::Check { holds, .. } | Effect::Assume { cond: holds } | Effect::Constrain { cond: holds } => {
            Asked::Unless(holds, Answer::Proceed, Otherwise::Other)
        }
        Effect::Pick { why: PickWhy::Float, .. } => Asked::Halt(Halt::Float),
        Effect::Pick { why: PickWhy::Status, .. } => Asked::Halt(Halt::Left),
        // The first read of memory that nobody wrote. Where something depends on what it holds, that is another question.
        Effect::Input(request) if request.kind == InputKind::Unwritten => {
            Asked::Ways(vec![(terms.tru(), Answer::Input(InputForm::Symbolic))])
        }
        Effect::Pick { why: PickWhy::Choice, .. } | Effect::Choose { .. } | Effect::Input(_) => {
            Asked::Halt(Halt::Outside)
        }
        Effect::Pick { value, .. } => {
            let here = means.eval.eval(terms, &walker.input, value);
            let width = terms.width(value);
            let constant = terms.constant(here, width);
            Asked::Only(terms.eq(value, constant), Answer::Value(here))
        }
        Effect::Address { addr, bytes, access } => {
            let at = means.eval.eval(terms, &walker.input, addr) as u64;
            let memory = &walker.state.memory;
            // A pointer that somebody else has yet to settle may mean anything.
            let nowhere = match walker.others {
                Others::None => Halt::Left,
                Others::Some => Halt::Unknown,
            };
            let Some(object) = memory.find(at).map(|object| memory.get(object)) else {
                return Asked::Halt(nowhere);
            };
            if object.liveness != Liveness::Alive || !object.allows(at, bytes, access) {
                return Asked::Halt(nowhere);
            }
            let width = terms.width(addr);
            let base = terms.constant(u128::from(object.base), width);
            let room = terms.constant(u128::from(object.size - bytes), width);
            let offset = terms.sub(addr, base);
            Asked::Only(terms.ule(offset, room), Answer::Object(object.base))
        }
        Effect::Ended(_) => Asked::Halt(Halt::Left),
        // A round that depends on memory nobody wrote is a fault of its own.
        Effect::Call { .. } | Effect::AddressOrder { .. } | Effect::Beyond { .. } | Effect::Unwritten { .. } => {
            Asked::Halt(Halt::Unknown)
        }
        Effect::OutOfFuel | Effect::Arrived => Asked::Halt(Halt::Unknown),
    }
}
