//! What the machine asks is decided here: which sides are feasible, who forks, what ends.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use solver::{Answer as Solved, Completeness, Patience, Stack, Why};
use term::{Assignment, Eval, TermId};
use vm::{Answer, EdgeId, Effect, InputForm, InputRequest, Machine, PickWhy, Touched};
use witness::{Bug, Ending, Ledger, LedgerKind};

use crate::meaning::Asked;
use crate::{CallChoice, LineUp, Means, Path, WhatEnded, Work};

/// Feasible values of a size explored before one is taken for all the others.
pub const MAX_SIZES: usize = 256;
/// How many are, where there are more than that.
const FEW_SIZES: usize = 64;
/// The same for function pointers, jump targets and addresses.
pub const MAX_TARGETS: usize = 256;
/// Edges of a switch beyond which not every one is asked about.
const MANY_EDGES: usize = 8;

/// What became of the running path.
pub enum Fate {
    Goes,
    Ended(Ending),
    /// It cannot go on before an open question is answered; it parted as doubtful.
    Doubtful,
}

/// A path that parted from the running one.
pub enum Parted {
    /// Waits; `next_edge` is where it goes first.
    Waits {
        path: Box<Path>,
        next_edge: Option<EdgeId>,
    },
    Ended {
        path: Box<Path>,
        ending: Ending,
    },
    Doubtful(Doubt),
}

/// A way that may be feasible: the solver could not tell in its time. It is asked again when nothing else is pending.
pub struct Doubt {
    /// Stands at the instruction that asked; if `cond` turns out feasible it asks again, with `cond` in its condition, and
    /// so comes to the decision in question.
    pub path: Box<Path>,
    pub cond: TermId,
    pub why: Why,
    /// How long it was asked about when that was done again, of a campaign whose time is limited.
    pub had: Option<Duration>,
}

/// Whether a path can go on under a condition.
pub(crate) enum Feasible {
    Yes(Assignment),
    No,
    /// Unknown; the way is kept as a [`Doubt`].
    Doubtful,
}

/// One worker's means: nothing here belongs to a path.
pub struct Decider<'i> {
    pub machine: Machine<'i>,
    pub stack: Stack,
    pub eval: Eval,
    /// Forks made by the effect just handled.
    pub parted: Vec<Parted>,
    pub work: Work,
}

impl Parted {
    pub fn path(&self) -> &Path {
        match self {
            Parted::Waits { path, .. } | Parted::Ended { path, .. } | Parted::Doubtful(Doubt { path, .. }) => path,
        }
    }
}

impl<'i> Decider<'i> {
    pub fn means(&mut self) -> Means<'_, 'i> {
        Means { machine: &mut self.machine, stack: &mut self.stack, eval: &mut self.eval, work: self.work }
    }

    /// What was touched since it was last asked; nothing where no footprint is kept.
    pub fn take_footprint(&mut self) -> Vec<Touched> {
        self.machine.watching.trace_mut().map_or_else(Vec::new, |trace| trace.footprint.take())
    }

    /// While flow is tracked, a path that ends carries what its ending depends on.
    pub fn note_what_ended(&mut self, path: &mut Path) {
        if self.machine.watching.flow().is_none() {
            return;
        }
        let label = self.machine.ending_label(&path.state);
        let labels = &self.machine.labels;
        let left_guard = path.state.left_guard.as_deref();
        let certificate = path.ended.as_ref().and_then(|ended| ended.certificate.clone());
        path.ended = Some(Rc::new(WhatEnded {
            certificate,
            by: labels.members(label).into(),
            at: self.machine.index_here(&path.state),
            left_guard: left_guard.map(|(guard, label)| (*guard, labels.members(*label).into())),
        }));
    }

    /// Decides about one effect. The running path has its answer afterwards, or its ending.
    pub fn handle(&mut self, path: &mut Path, effect: Effect, line_up: &mut LineUp, ledger: &mut Ledger) -> Fate {
        if path.seeds.is_empty() {
            return self.decide(path, effect, line_up, ledger);
        }
        let n_known = path.condition.len();
        self.teach_seeds(path, &effect);
        // To where the seeds go first: ways off theirs that are hard to tell wait.
        let patience = self.stack.set_patience(Patience::None);
        let fate = self.decide(path, effect, line_up, ledger);
        self.stack.set_patience(patience);
        self.sort_seeds(path, n_known);
        fate
    }

    fn decide(&mut self, path: &mut Path, effect: Effect, line_up: &mut LineUp, ledger: &mut Ledger) -> Fate {
        if let Some(fate) = self.refine(path, &effect, line_up, ledger) {
            return fate;
        }
        if let Some(asked) = Asked::of(&effect)
            && let Some(fate) = self.settle_pointer(path, asked, line_up, ledger)
        {
            return fate;
        }
        match effect {
            Effect::AddressOrder { a, b } => return self.order(path, a, b, line_up, ledger),
            Effect::Beyond { addr, access, bug } => return self.beyond(path, addr, access, *bug, line_up, ledger),
            _ => {}
        }
        let effect = self.with_known(path, effect, line_up);
        if let Some(decision) = path.follow.pop_front() {
            return self.follow(path, effect, decision, line_up, ledger);
        }
        match effect {
            Effect::Branch { cond } => self.branch(path, cond),
            Effect::Switch { conds } => self.switch(path, &conds),
            Effect::Address { addr, bytes, access } => self.address(path, addr, bytes, access, line_up, ledger),
            Effect::Pick { value, why } => self.pick(path, value, why, ledger),
            Effect::Choose { max } => self.choose(path, max, line_up),
            Effect::Check { holds, bug } => self.check(path, holds, *bug),
            Effect::Assume { cond } => self.assume(path, cond),
            Effect::Constrain { cond } => self.constrain(path, cond),
            Effect::Unwritten { value, judgement } => self.unwritten(path, value, judgement, ledger),
            Effect::Input(request) => self.input(path, &request, line_up),
            Effect::Call { func } => self.call(path, func, line_up),
            Effect::Ended(ending) => Fate::Ended(*ending),
            Effect::AddressOrder { .. } | Effect::Beyond { .. } => unreachable!("they were decided before"),
            Effect::OutOfFuel | Effect::Arrived => unreachable!("the loop deals with fuel and stops"),
        }
    }

    /// The effect with conditions that say the same of this path and less of what is settled.
    fn with_known(&mut self, path: &Path, effect: Effect, line_up: &mut LineUp) -> Effect {
        if line_up.techniques.is_empty() {
            return effect;
        }
        let mut known = |cond: TermId| line_up.known(path, cond, &mut self.means()).unwrap_or(cond);
        match effect {
            Effect::Branch { cond } => Effect::Branch { cond: known(cond) },
            Effect::Check { holds, bug } => Effect::Check { holds: known(holds), bug },
            Effect::Assume { cond } => Effect::Assume { cond: known(cond) },
            Effect::Switch { conds } => {
                Effect::Switch { conds: conds.iter().map(|(edge, cond)| (*edge, known(*cond))).collect() }
            }
            effect => effect,
        }
    }

    pub fn holds(&mut self, path: &Path, cond: TermId) -> bool {
        self.stack.eval(&self.machine.terms, &path.input, cond) == 1
    }

    /// Asks whether the path can go on under `cond`, which the current input does not satisfy. If that stays open the way
    /// parts as doubtful.
    pub(crate) fn ask(&mut self, path: &Path, cond: TermId) -> Feasible {
        if let Some(input) = self.seed_for(path, cond) {
            return Feasible::Yes(input);
        }
        match self.stack.check(&mut self.machine.terms, &path.condition, &path.input, cond) {
            Solved::Sat(input) => Feasible::Yes(input),
            Solved::Unsat => Feasible::No,
            Solved::Unknown(why) => {
                self.doubt(path, cond, why);
                Feasible::Doubtful
            }
        }
    }

    pub(crate) fn doubt(&mut self, path: &Path, cond: TermId, why: Why) {
        self.parted.push(Parted::Doubtful(Doubt { path: Box::new(path.clone()), cond, why, had: None }));
    }

    /// As [`Decider::ask`], where whatever is not certain is not taken now.
    pub(crate) fn feasible(&mut self, path: &Path, cond: TermId) -> Option<Assignment> {
        match self.ask(path, cond) {
            Feasible::Yes(input) => Some(input),
            Feasible::No | Feasible::Doubtful => None,
        }
    }

    /// Asks again about a doubtful way. If it is feasible, the path that takes it; `Err` has what is still open.
    pub fn resolve_doubt(&mut self, doubt: Doubt) -> Result<Option<Path>, Doubt> {
        let Doubt { mut path, cond, had, .. } = doubt;
        match self.stack.check(&mut self.machine.terms, &path.condition, &path.input, cond) {
            Solved::Sat(input) => {
                path.input = input;
                path.condition.add(&mut self.machine.terms, cond);
                Ok(Some(*path))
            }
            Solved::Unsat => Ok(None),
            Solved::Unknown(why) => Err(Doubt { path, cond, why, had }),
        }
    }

    /// The edge of that number, when the path stands at the end of its block.
    fn next_edge(&self, path: &Path, edge: u32) -> Option<EdgeId> {
        let (image, top) = (self.machine.image, &path.state.top);
        let block = image.module.function(top.func).block(top.block);
        let at_end = top.inst_idx as usize == block.insts.len();
        at_end.then(|| EdgeId(image.first_edge(top.func, top.block) + edge))
    }

    fn wait(&mut self, path: Path, next_edge: Option<EdgeId>) {
        self.parted.push(Parted::Waits { path: Box::new(path), next_edge });
    }

    fn branch(&mut self, path: &mut Path, cond: TermId) -> Fate {
        let side = self.holds(path, cond);
        let negated = self.machine.terms.not(cond);
        let (here, there) = if side { (cond, negated) } else { (negated, cond) };
        let (decision, answer) = (u64::from(!side), Answer::Side(side));
        match self.ask(path, there) {
            Feasible::No => path.take_implied(decision, here, answer),
            Feasible::Doubtful => path.take(&mut self.machine.terms, decision, here, answer),
            Feasible::Yes(input) => {
                let other = path.fork(&mut self.machine.terms, u64::from(side), there, Answer::Side(!side), input);
                let edge = self.next_edge(path, u32::from(side));
                self.wait(other, edge);
                path.take(&mut self.machine.terms, decision, here, answer);
            }
        }
        Fate::Goes
    }

    fn switch(&mut self, path: &mut Path, conds: &[(u32, TermId)]) -> Fate {
        if conds.len() > MANY_EDGES {
            return self.switch_of_many(path, conds);
        }
        let mut here = None;
        for (edge, cond) in conds {
            if here.is_none() && self.holds(path, *cond) {
                here = Some((*edge, *cond));
            } else if let Some(input) = self.feasible(path, *cond) {
                let other = path.fork(&mut self.machine.terms, u64::from(*edge), *cond, Answer::Edge(*edge), input);
                let next = self.next_edge(path, *edge);
                self.wait(other, next);
            }
        }
        let (edge, cond) = here.expect("the conditions of a switch cover every value");
        path.take(&mut self.machine.terms, u64::from(edge), cond, Answer::Edge(edge));
        Fate::Goes
    }

    /// Asks for inputs that take an edge not found yet instead of asking for every edge, most of which are often impossible.
    fn switch_of_many(&mut self, path: &mut Path, conds: &[(u32, TermId)]) -> Fate {
        let here = conds.iter().position(|(_, cond)| self.holds(path, *cond));
        let here = here.expect("the conditions of a switch cover every value");
        let mut inputs: BTreeMap<usize, Assignment> = BTreeMap::new();
        let mut others = self.machine.terms.not(conds[here].1);
        // What stays open parts as doubtful with all the edges that are left.
        while let Feasible::Yes(input) = self.ask(path, others) {
            let edge = conds.iter().position(|(_, cond)| self.eval.holds(&self.machine.terms, &input, *cond));
            let edge = edge.expect("the conditions of a switch cover every value");
            let beyond = self.machine.terms.not(conds[edge].1);
            others = self.machine.terms.and(others, beyond);
            inputs.insert(edge, input);
        }
        for (idx, input) in inputs {
            let (edge, cond) = conds[idx];
            let other = path.fork(&mut self.machine.terms, u64::from(edge), cond, Answer::Edge(edge), input);
            let next = self.next_edge(path, edge);
            self.wait(other, next);
        }
        let (edge, cond) = conds[here];
        path.take(&mut self.machine.terms, u64::from(edge), cond, Answer::Edge(edge));
        Fate::Goes
    }

    /// A condition that must hold: violating inputs end in `ending`, the others go on.
    fn require(&mut self, path: &mut Path, holds: TermId, ending: Ending) -> Fate {
        let violated = self.machine.terms.not(holds);
        if self.holds(path, holds) {
            match self.ask(path, violated) {
                Feasible::No => path.take_implied(0, holds, Answer::Proceed),
                Feasible::Doubtful => path.take(&mut self.machine.terms, 0, holds, Answer::Proceed),
                Feasible::Yes(input) => {
                    let failing = Box::new(path.fork(&mut self.machine.terms, 1, violated, Answer::Proceed, input));
                    self.parted.push(Parted::Ended { path: failing, ending });
                    path.take(&mut self.machine.terms, 0, holds, Answer::Proceed);
                }
            }
            return Fate::Goes;
        }
        match self.feasible(path, holds) {
            Some(input) => {
                let mut failing = path.clone();
                failing.take(&mut self.machine.terms, 1, violated, Answer::Proceed);
                self.parted.push(Parted::Ended { path: Box::new(failing), ending });
                path.input = input;
                path.take(&mut self.machine.terms, 0, holds, Answer::Proceed);
                Fate::Goes
            }
            None => {
                path.take(&mut self.machine.terms, 1, violated, Answer::Proceed);
                Fate::Ended(ending)
            }
        }
    }

    fn check(&mut self, path: &mut Path, holds: TermId, bug: Bug) -> Fate {
        self.require(path, holds, Ending::Bug(bug))
    }

    fn assume(&mut self, path: &mut Path, cond: TermId) -> Fate {
        self.require(path, cond, Ending::Assumed)
    }

    fn constrain(&mut self, path: &mut Path, cond: TermId) -> Fate {
        if !self.holds(path, cond) {
            match self.ask(path, cond) {
                Feasible::Yes(input) => path.input = input,
                Feasible::No => return Fate::Ended(Ending::Assumed),
                Feasible::Doubtful => return Fate::Doubtful,
            }
        }
        path.condition.add(&mut self.machine.terms, cond);
        path.answer(Answer::Proceed);
        Fate::Goes
    }

    fn choose(&mut self, path: &mut Path, max: u64, line_up: &mut LineUp) -> Fate {
        let always = self.machine.terms.tru();
        if let Some(value) = line_up.chosen(path) {
            path.take(&mut self.machine.terms, value, always, Answer::Value(u128::from(value)));
            return Fate::Goes;
        }
        let seeds = std::mem::take(&mut path.seeds);
        let choosing = |value: u64| seeds.iter().filter(|seed| seed.choice(max) == value).cloned().collect();
        let here = seeds.first().map_or(0, |seed| seed.choice(max));
        for value in (0..=max).filter(|value| *value != here) {
            let answer = Answer::Value(u128::from(value));
            let mut other = path.fork(&mut self.machine.terms, value, always, answer, path.input.clone());
            other.carry(choosing(value));
            self.wait(other, None);
        }
        path.take(&mut self.machine.terms, here, always, Answer::Value(u128::from(here)));
        path.carry(choosing(here));
        Fate::Goes
    }

    fn input(&mut self, path: &mut Path, request: &InputRequest, line_up: &mut LineUp) -> Fate {
        let form = line_up.input(path, request, &mut self.means());
        if let InputForm::Given { conditions, .. } = &form {
            for condition in conditions.iter() {
                path.constrain_new(&mut self.machine.terms, &mut self.eval, *condition);
            }
        }
        if let InputForm::Text(form) = &form {
            self.teach_text(path, request, form);
        }
        path.answer(Answer::Input(form));
        Fate::Goes
    }

    fn call(&mut self, path: &mut Path, func: ir::FuncId, line_up: &mut LineUp) -> Fate {
        let answer = match line_up.call(path, func) {
            CallChoice::Enter => Answer::Enter,
            CallChoice::Skip => Answer::Skip(self.fresh_results(path, func)),
        };
        path.answer(answer);
        Fate::Goes
    }

    fn fresh_results(&mut self, path: &Path, func: ir::FuncId) -> Rc<[TermId]> {
        let function = self.machine.image.module.function(func);
        let at = path.decisions.len();
        let fresh = |(idx, slot): (usize, &ir::Slot)| {
            let name = format!("{}!{at}!{}.{idx}", function.name, path.state.steps);
            let low = self.machine.terms.symbol(&name, u32::from(slot.bits.min(64)));
            match slot.bits {
                0..=64 => low,
                bits => {
                    let high = self.machine.terms.symbol(&format!("{name}.high"), u32::from(bits - 64));
                    self.machine.terms.concat(high, low)
                }
            }
        };
        function.results.iter().enumerate().map(fresh).collect()
    }

    /// One value, or every feasible one up to a bound; beyond it the ledger says that others were left out.
    fn pick(&mut self, path: &mut Path, value: TermId, why: PickWhy, ledger: &mut Ledger) -> Fate {
        let current = self.eval.eval(&self.machine.terms, &path.input, value);
        let (limit, kind) = match why {
            PickWhy::Status => {
                path.answer(Answer::Value(current));
                return Fate::Goes;
            }
            PickWhy::Size => (MAX_SIZES, LedgerKind::ConcretisedSize),
            PickWhy::FunctionPointer => (MAX_TARGETS, LedgerKind::ConcretisedFunctionPointer),
            PickWhy::JumpTarget | PickWhy::Address => (MAX_TARGETS, LedgerKind::ConcretisedAddress),
            PickWhy::Float => (1, LedgerKind::ConcretisedFloat),
            PickWhy::Argument | PickWhy::Choice => (1, LedgerKind::ConcretisedArgument),
        };
        // A decision holds 64 bits.
        let is_tried = why == PickWhy::Float && self.machine.terms.width(value) <= 64;
        let tried = match is_tried {
            true => self.stack.enumerate_by_trial(&self.machine.terms, &path.condition, &path.input, value),
            false => None,
        };
        let (mut values, completeness) = match tried {
            Some(values) => (values, Completeness::Exhaustive),
            None => self.stack.enumerate(&mut self.machine.terms, &path.condition, &path.input, value, limit),
        };
        match completeness {
            Completeness::Exhaustive => {}
            Completeness::More => {
                if why == PickWhy::Size {
                    values.truncate(FEW_SIZES);
                }
                let (place, _) = self.machine.image.whereabouts(&path.state);
                ledger.enter(kind, place, format!("more than {limit} values are possible"));
            }
            // Where one value is all that is wanted, others are left out in any case.
            Completeness::Unknown(why) if limit == 1 => {
                let (place, _) = self.machine.image.whereabouts(&path.state);
                ledger.enter(kind, place, why.to_string());
            }
            Completeness::Unknown(why) => {
                let mut others = self.machine.terms.tru();
                for (found, _) in &values {
                    let constant = self.machine.terms.constant(*found, self.machine.terms.width(value));
                    let differs = self.machine.terms.ne(value, constant);
                    others = self.machine.terms.and(others, differs);
                }
                self.doubt(path, others, why);
            }
        }
        values.retain(|(other, _)| *other != current);
        values.sort_by_key(|(value, _)| *value);
        let width = self.machine.terms.width(value);
        for (other, input) in values {
            let constant = self.machine.terms.constant(other, width);
            let cond = self.machine.terms.eq(value, constant);
            let mut fork = path.fork(&mut self.machine.terms, other as u64, cond, Answer::Value(other), input);
            self.settle(&mut fork, value);
            self.wait(fork, None);
        }
        let constant = self.machine.terms.constant(current, width);
        let cond = self.machine.terms.eq(value, constant);
        path.take(&mut self.machine.terms, current as u64, cond, Answer::Value(current));
        self.settle(path, value);
        Fate::Goes
    }

    /// A term was given its value. If that leaves its only symbol one value as well, the path knows from now on: a loop up to
    /// what was allocated would ask at every turn.
    fn settle(&mut self, path: &mut Path, term: TermId) {
        let terms = &mut self.machine.terms;
        let mut open = path.condition.open_symbols(terms, term);
        let (Some(symbol), None) = (open.next(), open.next()) else { return };
        drop(open);
        let value = terms.constant(u128::from(path.input.get(symbol)), terms.symbol_width(symbol));
        let symbol = terms.symbol_term(symbol);
        let differs = terms.ne(symbol, value);
        let before = self.stack.set_patience(Patience::Short);
        let answer = self.stack.check(terms, &path.condition, &path.input, differs);
        self.stack.set_patience(before);
        if matches!(answer, Solved::Unsat) {
            let equal = terms.eq(symbol, value);
            path.condition.add(terms, equal);
        }
    }

    /// Takes a decision that was taken before: no sibling is looked for, they are explored elsewhere.
    fn follow(
        &mut self,
        path: &mut Path,
        effect: Effect,
        decision: u64,
        line_up: &mut LineUp,
        ledger: &mut Ledger,
    ) -> Fate {
        let picked = match &effect {
            Effect::Pick { value, .. } => Some(*value),
            _ => None,
        };
        let (cond, answer) = match effect {
            Effect::Branch { cond } => {
                let side = decision == 0;
                (if side { cond } else { self.machine.terms.not(cond) }, Answer::Side(side))
            }
            Effect::Switch { conds } => {
                let cond = conds.iter().find(|(edge, _)| u64::from(*edge) == decision).map(|(_, cond)| *cond);
                (cond.unwrap_or_else(|| self.machine.terms.fls()), Answer::Edge(decision as u32))
            }
            Effect::Pick { value, why: PickWhy::Status } => {
                path.follow.push_front(decision);
                return self.pick(path, value, PickWhy::Status, ledger);
            }
            Effect::Pick { value, .. } => {
                let width = self.machine.terms.width(value);
                let constant = self.machine.terms.constant(u128::from(decision), width);
                (self.machine.terms.eq(value, constant), Answer::Value(u128::from(decision)))
            }
            Effect::Choose { max } => {
                let takers = path.seeds.iter().filter(|seed| seed.choice(max) == decision).cloned().collect();
                path.carry(takers);
                (self.machine.terms.tru(), Answer::Value(u128::from(decision)))
            }
            Effect::Address { addr, bytes, .. } => self.follow_address(path, addr, bytes, decision),
            Effect::Check { holds, .. } | Effect::Assume { cond: holds } => (holds, Answer::Proceed),
            Effect::Unwritten { value, judgement } => return self.follow_unwritten(path, value, judgement, decision),
            Effect::Constrain { cond } => {
                path.follow.push_front(decision);
                return self.constrain(path, cond);
            }
            Effect::Input(request) => {
                path.follow.push_front(decision);
                return self.input(path, &request, line_up);
            }
            Effect::Call { func } => {
                path.follow.push_front(decision);
                return self.call(path, func, line_up);
            }
            Effect::Ended(ending) => return Fate::Ended(*ending),
            Effect::AddressOrder { .. } | Effect::Beyond { .. } => unreachable!("they were decided before"),
            Effect::OutOfFuel | Effect::Arrived => unreachable!("the loop deals with fuel and stops"),
        };
        if !self.holds(path, cond) {
            path.follow.push_front(decision);
            match self.ask(path, cond) {
                Feasible::Yes(input) => path.input = input,
                // Decisions of another program.
                Feasible::No => return Fate::Ended(Ending::Cut(witness::Budget::Interrupt)),
                Feasible::Doubtful => return Fate::Doubtful,
            }
            path.follow.pop_front();
        }
        path.take(&mut self.machine.terms, decision, cond, answer);
        if let Some(value) = picked {
            self.settle(path, value);
        }
        Fate::Goes
    }
}
