//! A conflict-driven clause-learning SAT solver made for many small questions to one growing formula.
//!
//! The usual parts: two watched literals with blockers, first-UIP learning with minimisation, decaying activities, saved
//! phases, Luby restarts, deletion of learnt clauses by their number of decision levels, assumptions with failed cores.
//!
//! Where it differs from the solvers one can link: decisions are restricted to the variables the caller names for this
//! question. The formula consists only of gate definitions, each of which has an output for any inputs, so an assignment of
//! a set of variables that contains the inputs of its gates always extends to all others. A question then costs what its
//! own cone costs, however large the formula has grown.

use super::order::Order;
use crate::clock::Clock;

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lit(u32);

/// A variable's number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub u32);

impl Var {
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub fn lit(self) -> Lit {
        Lit(self.0 << 1)
    }
}

impl Lit {
    pub fn var(self) -> Var {
        Var(self.0 >> 1)
    }

    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// This literal, negated if `flip`.
    pub fn negated_if(self, flip: bool) -> Lit {
        Lit(self.0 ^ u32::from(flip))
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// How a search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    Sat,
    /// A subset of the assumptions that cannot hold together.
    Unsat(Vec<Lit>),
    OutOfBudget,
    OutOfTime,
}

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'c> {
    pub conflicts: u64,
    pub clock: Option<&'c Clock>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct ClauseRef(u32);

const NO_CLAUSE: ClauseRef = ClauseRef(u32::MAX);

/// Words before a clause's literals: length, and for learnt ones the number of levels (0 for gate definitions).
const HEADER: usize = 2;

#[derive(Clone, Copy)]
struct Watch {
    clause: ClauseRef,
    /// Another literal of the clause; when it is true the clause needs no visit.
    blocker: Lit,
}

#[derive(Default)]
pub struct Sat {
    clauses: Vec<u32>,
    learnt: Vec<ClauseRef>,
    wasted: usize,
    max_learnt: usize,
    watches: Vec<Vec<Watch>>,
    /// Per literal: 1 true, -1 false, 0 open.
    values: Vec<i8>,
    levels: Vec<u32>,
    reasons: Vec<ClauseRef>,
    phases: Vec<bool>,
    trail: Vec<Lit>,
    level_starts: Vec<usize>,
    head: usize,
    order: Order,
    seen: Vec<bool>,
    /// Conflicts since the beginning.
    n_conflicts: u64,
}

impl Sat {
    pub fn new() -> Sat {
        Sat { max_learnt: 4000, ..Sat::default() }
    }

    /// Words held by clauses; a measure of memory.
    pub fn size(&self) -> usize {
        self.clauses.len()
    }

    pub fn new_var(&mut self) -> Var {
        let var = Var(self.levels.len() as u32);
        self.levels.push(0);
        self.reasons.push(NO_CLAUSE);
        self.phases.push(false);
        self.seen.push(false);
        self.values.extend([0, 0]);
        self.watches.extend([Vec::new(), Vec::new()]);
        self.order.grow();
        var
    }

    /// The value to try first for a variable.
    pub fn prefer(&mut self, var: Var, value: bool) {
        self.phases[var.index()] = value;
    }

    /// The value in the model of the last satisfiable question, if the question fixed it.
    pub fn value(&self, lit: Lit) -> Option<bool> {
        match self.values[lit.index()] {
            0 => None,
            value => Some(value > 0),
        }
    }

    /// Adds a clause that holds in every model. Ends the last question's model.
    pub fn add_clause(&mut self, lits: &[Lit]) {
        self.backtrack(0);
        let mut kept = Vec::with_capacity(lits.len());
        for &lit in lits {
            match self.values[lit.index()] {
                1 => return,
                -1 => {}
                _ => kept.push(lit),
            }
        }
        match kept[..] {
            [] => unreachable!("gate definitions are never contradictory"),
            [unit] => {
                self.assign(unit, NO_CLAUSE);
                let conflict = self.propagate();
                debug_assert!(conflict == NO_CLAUSE, "gate definitions are never contradictory");
            }
            _ => {
                self.attach(&kept, 0);
            }
        }
    }

    fn attach(&mut self, lits: &[Lit], n_levels: u32) -> ClauseRef {
        let clause = ClauseRef(self.clauses.len() as u32);
        self.clauses.extend([lits.len() as u32, n_levels]);
        self.clauses.extend(lits.iter().map(|lit| lit.0));
        self.watches[lits[0].index()].push(Watch { clause, blocker: lits[1] });
        self.watches[lits[1].index()].push(Watch { clause, blocker: lits[0] });
        if n_levels > 0 {
            self.learnt.push(clause);
        }
        clause
    }

    fn lits(&self, clause: ClauseRef) -> &[u32] {
        let start = clause.0 as usize;
        let len = self.clauses[start] as usize;
        &self.clauses[start + HEADER..start + HEADER + len]
    }

    fn assign(&mut self, lit: Lit, reason: ClauseRef) {
        debug_assert_eq!(self.values[lit.index()], 0);
        self.values[lit.index()] = 1;
        self.values[(!lit).index()] = -1;
        let var = lit.var().index();
        self.levels[var] = self.level();
        self.reasons[var] = reason;
        self.trail.push(lit);
    }

    fn level(&self) -> u32 {
        self.level_starts.len() as u32
    }

    fn new_level(&mut self) {
        self.level_starts.push(self.trail.len());
    }

    fn backtrack(&mut self, level: u32) {
        if self.level() <= level {
            return;
        }
        let start = self.level_starts[level as usize];
        for i in (start..self.trail.len()).rev() {
            let lit = self.trail[i];
            self.values[lit.index()] = 0;
            self.values[(!lit).index()] = 0;
            self.phases[lit.var().index()] = !lit.is_negated();
            self.order.put_back(lit.var());
        }
        self.trail.truncate(start);
        self.level_starts.truncate(level as usize);
        self.head = start;
    }

    /// Follows all consequences; the clause that became false, or `NO_CLAUSE`.
    fn propagate(&mut self) -> ClauseRef {
        while self.head < self.trail.len() {
            let falsified = !self.trail[self.head];
            self.head += 1;
            let mut watches = std::mem::take(&mut self.watches[falsified.index()]);
            let mut kept = 0;
            let mut conflict = NO_CLAUSE;
            let mut next = 0;
            while next < watches.len() {
                let watch = watches[next];
                next += 1;
                if self.values[watch.blocker.index()] > 0 {
                    watches[kept] = watch;
                    kept += 1;
                    continue;
                }
                let start = watch.clause.0 as usize + HEADER;
                let len = self.clauses[start - HEADER] as usize;
                let lits = &mut self.clauses[start..start + len];
                if lits[0] == falsified.0 {
                    lits.swap(0, 1);
                }
                let first = Lit(lits[0]);
                let watch = Watch { clause: watch.clause, blocker: first };
                if self.values[first.index()] > 0 {
                    watches[kept] = watch;
                    kept += 1;
                    continue;
                }
                if let Some(other) = (2..len).find(|&k| self.values[lits[k] as usize] >= 0) {
                    lits.swap(1, other);
                    self.watches[lits[1] as usize].push(watch);
                    continue;
                }
                watches[kept] = watch;
                kept += 1;
                if self.values[first.index()] < 0 {
                    conflict = watch.clause;
                    break;
                }
                self.assign(first, watch.clause);
            }
            while next < watches.len() {
                watches[kept] = watches[next];
                kept += 1;
                next += 1;
            }
            watches.truncate(kept);
            self.watches[falsified.index()] = watches;
            if conflict != NO_CLAUSE {
                self.head = self.trail.len();
                return conflict;
            }
        }
        NO_CLAUSE
    }

    /// The first-UIP clause of a conflict, its asserting literal first and one of the backjump level second.
    fn analyze(&mut self, conflict: ClauseRef) -> Vec<Lit> {
        let mut learnt = vec![Lit(0)];
        let mut to_clear = Vec::new();
        let mut n_open = 0;
        let mut clause = conflict;
        let mut position = self.trail.len();
        let mut pivot = None;
        loop {
            for i in 0..self.lits(clause).len() {
                let lit = Lit(self.lits(clause)[i]);
                let var = lit.var();
                if Some(lit) == pivot || self.seen[var.index()] || self.levels[var.index()] == 0 {
                    continue;
                }
                self.seen[var.index()] = true;
                to_clear.push(var);
                self.order.bump(var);
                if self.levels[var.index()] == self.level() {
                    n_open += 1;
                } else {
                    learnt.push(lit);
                }
            }
            loop {
                position -= 1;
                if self.seen[self.trail[position].var().index()] {
                    break;
                }
            }
            let lit = self.trail[position];
            n_open -= 1;
            if n_open == 0 {
                learnt[0] = !lit;
                break;
            }
            pivot = Some(lit);
            clause = self.reasons[lit.var().index()];
        }
        // The asserting literal stays whatever its reason.
        let needed: Vec<Lit> = learnt[1..].iter().copied().filter(|&lit| !self.is_redundant(lit)).collect();
        learnt.truncate(1);
        learnt.extend(needed);
        for var in to_clear {
            self.seen[var.index()] = false;
        }
        if let Some(deepest) = (1..learnt.len()).max_by_key(|&i| self.levels[learnt[i].var().index()]) {
            learnt.swap(1, deepest);
        }
        learnt
    }

    /// Whether a literal of the learnt clause follows from the others.
    fn is_redundant(&self, lit: Lit) -> bool {
        let reason = self.reasons[lit.var().index()];
        reason != NO_CLAUSE
            && self
                .lits(reason)
                .iter()
                .map(|&raw| Lit(raw).var())
                .all(|var| var == lit.var() || self.seen[var.index()] || self.levels[var.index()] == 0)
    }

    /// The assumptions that force `failed` to be false; it is one of them.
    fn core(&mut self, failed: Lit) -> Vec<Lit> {
        let mut core = vec![failed];
        if self.levels[failed.var().index()] == 0 {
            return core;
        }
        self.seen[failed.var().index()] = true;
        for i in (self.level_starts[0]..self.trail.len()).rev() {
            let lit = self.trail[i];
            if !std::mem::take(&mut self.seen[lit.var().index()]) {
                continue;
            }
            let reason = self.reasons[lit.var().index()];
            if reason == NO_CLAUSE {
                // The assumption `not failed` shows up when two assumptions contradict each other.
                core.push(lit);
                continue;
            }
            for i in 0..self.lits(reason).len() {
                let var = Lit(self.lits(reason)[i]).var();
                if var != lit.var() && self.levels[var.index()] > 0 {
                    self.seen[var.index()] = true;
                }
            }
        }
        core
    }

    /// Whether all assumptions can hold. Only `scope` is decided: it must contain the assumptions and, with each gate, the
    /// gate's inputs. After `Sat` the model is read with [`Sat::value`] until the next change.
    pub fn solve(&mut self, assumptions: &[Lit], scope: &[Var], limits: Limits) -> Outcome {
        self.backtrack(0);
        self.order.restrict(scope, &self.values);
        let budget = self.n_conflicts.saturating_add(limits.conflicts);
        let mut n_restarts = 0;
        let mut n_steps = 0u32;
        loop {
            let restart_at = self.n_conflicts + 64 * luby(n_restarts);
            n_restarts += 1;
            loop {
                let conflict = self.propagate();
                n_steps = n_steps.wrapping_add(1);
                if n_steps.is_multiple_of(8) && limits.clock.is_some_and(Clock::is_over) {
                    self.backtrack(0);
                    return Outcome::OutOfTime;
                }
                if conflict != NO_CLAUSE {
                    self.n_conflicts += 1;
                    if self.level() == 0 {
                        unreachable!("gate definitions are never contradictory");
                    }
                    self.learn(conflict);
                    continue;
                }
                if self.n_conflicts >= budget {
                    self.backtrack(0);
                    return Outcome::OutOfBudget;
                }
                if self.n_conflicts >= restart_at {
                    // What the assumptions imply stays.
                    self.backtrack(self.level().min(assumptions.len() as u32));
                    self.reduce_if_full();
                    break;
                }
                match self.next_assumption(assumptions) {
                    Ok(Some(lit)) => {
                        self.new_level();
                        self.assign(lit, NO_CLAUSE);
                    }
                    Ok(None) => {
                        let Some(var) = self.order.next(&self.values) else { return Outcome::Sat };
                        self.new_level();
                        self.assign(var.lit().negated_if(!self.phases[var.index()]), NO_CLAUSE);
                    }
                    Err(failed) => {
                        let core = self.core(failed);
                        self.backtrack(0);
                        return Outcome::Unsat(core);
                    }
                }
            }
        }
    }

    /// The next assumption that is still open; `Err` with one that is false already.
    fn next_assumption(&mut self, assumptions: &[Lit]) -> Result<Option<Lit>, Lit> {
        while let Some(&lit) = assumptions.get(self.level() as usize) {
            match self.values[lit.index()] {
                0 => return Ok(Some(lit)),
                1 => self.new_level(), // keeps level i the level of assumption i
                _ => return Err(lit),
            }
        }
        Ok(None)
    }

    fn learn(&mut self, conflict: ClauseRef) {
        let learnt = self.analyze(conflict);
        self.order.decay();
        match learnt[..] {
            [unit] => {
                self.backtrack(0);
                self.assign(unit, NO_CLAUSE);
            }
            _ => {
                let mut levels: Vec<u32> = learnt.iter().map(|lit| self.levels[lit.var().index()]).collect();
                let back = levels[1];
                levels.sort_unstable();
                levels.dedup();
                self.backtrack(back);
                let clause = self.attach(&learnt, levels.len() as u32);
                self.assign(learnt[0], clause);
            }
        }
    }

    /// Drops the worse half of the learnt clauses when there are too many, at level 0, where none is a needed reason.
    fn reduce_if_full(&mut self) {
        if self.learnt.len() < self.max_learnt {
            return;
        }
        self.backtrack(0);
        self.max_learnt += 500;
        for i in 0..self.trail.len() {
            self.reasons[self.trail[i].var().index()] = NO_CLAUSE;
        }
        let mut learnt = std::mem::take(&mut self.learnt);
        learnt.sort_by_key(|clause| self.clauses[clause.0 as usize + 1]);
        for clause in learnt.split_off(learnt.len() / 2) {
            let start = clause.0 as usize;
            if self.clauses[start + 1] <= 2 {
                learnt.push(clause);
            } else {
                self.wasted += HEADER + self.clauses[start] as usize;
                self.clauses[start + 1] = u32::MAX;
            }
        }
        self.learnt = learnt;
        let clauses = &self.clauses;
        for watches in &mut self.watches {
            watches.retain(|watch| clauses[watch.clause.0 as usize + 1] != u32::MAX);
        }
        if self.wasted * 4 > self.clauses.len() {
            self.compact();
        }
    }

    /// Moves the clauses together and watches them anew.
    fn compact(&mut self) {
        let old = std::mem::take(&mut self.clauses);
        self.learnt.clear();
        self.wasted = 0;
        for watches in &mut self.watches {
            watches.clear();
        }
        let mut start = 0;
        while start < old.len() {
            let (len, n_levels) = (old[start] as usize, old[start + 1]);
            if n_levels != u32::MAX {
                let lits: Vec<Lit> = old[start + HEADER..start + HEADER + len].iter().map(|&raw| Lit(raw)).collect();
                self.attach(&lits, n_levels);
            }
            start += HEADER + len;
        }
    }
}

/// The sequence 1 1 2 1 1 2 4 ...
fn luby(index: u64) -> u64 {
    let mut index = index + 1;
    loop {
        let k = u64::BITS - index.leading_zeros();
        if index + 1 == 1 << k {
            return 1 << (k - 1);
        }
        index -= (1 << (k - 1)) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNLIMITED: Limits = Limits { conflicts: u64::MAX, clock: None };

    type Clauses = Vec<Vec<(u32, bool)>>;

    fn holds(clauses: &Clauses, on: &[bool], input: u32) -> bool {
        clauses.iter().zip(on).all(|(clause, &on)| !on || clause.iter().any(|&(v, sign)| (input >> v & 1 == 1) == sign))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(800))]

        /// Random clauses, each behind a switch, asked about in several subsets of one growing solver.
        #[test]
        fn agrees_with_trying_everything(
            clauses in prop::collection::vec(prop::collection::btree_map(0u32..9, any::<bool>(), 1..4), 1..45),
            rounds in prop::collection::vec(any::<u64>(), 1..6),
        ) {
            let clauses: Clauses = clauses.into_iter().map(|clause| clause.into_iter().collect()).collect();
            let mut sat = Sat::new();
            let vars: Vec<Var> = (0..9).map(|_| sat.new_var()).collect();
            let mut scope = vars.clone();
            let mut switches = Vec::new();
            for clause in &clauses {
                let switch = sat.new_var();
                scope.push(switch);
                switches.push(switch.lit());
                let mut lits: Vec<Lit> = clause.iter().map(|&(v, sign)| vars[v as usize].lit().negated_if(!sign)).collect();
                lits.push(!switch.lit());
                sat.add_clause(&lits);
            }
            for round in rounds {
                let on: Vec<bool> = (0..clauses.len()).map(|i| round >> i & 1 == 1 || round % 3 == 0).collect();
                let assumptions: Vec<Lit> = switches.iter().zip(&on).filter(|(_, on)| **on).map(|(&lit, _)| lit).collect();
                let possible = (0..1 << 9).any(|input| holds(&clauses, &on, input));
                match sat.solve(&assumptions, &scope, UNLIMITED) {
                    Outcome::Sat => {
                        prop_assert!(possible);
                        let input = (0..9).filter(|&v| sat.value(vars[v].lit()) == Some(true)).map(|v| 1 << v).sum();
                        prop_assert!(holds(&clauses, &on, input));
                    }
                    Outcome::Unsat(core) => {
                        prop_assert!(!possible);
                        let in_core: Vec<bool> = switches.iter().map(|lit| core.contains(lit)).collect();
                        prop_assert!(core.iter().all(|lit| assumptions.contains(lit)));
                        prop_assert!(!(0..1 << 9).any(|input| holds(&clauses, &in_core, input)), "the core is satisfiable");
                    }
                    outcome => prop_assert!(false, "{:?} without limits", outcome),
                }
            }
        }
    }

    /// Pigeons in holes, switched on by one literal: many conflicts, so that clauses are deleted and moved.
    #[test]
    fn survives_forgetting_clauses() {
        let mut sat = Sat { max_learnt: 40, ..Sat::new() };
        let switch = sat.new_var();
        const N: usize = 7;
        let vars: Vec<Vec<Var>> = (0..N).map(|_| (0..N - 1).map(|_| sat.new_var()).collect()).collect();
        let scope: Vec<Var> = std::iter::once(switch).chain(vars.iter().flatten().copied()).collect();
        for pigeon in &vars {
            let mut clause: Vec<Lit> = pigeon.iter().map(|hole| hole.lit()).collect();
            clause.push(!switch.lit());
            sat.add_clause(&clause);
        }
        for (a, pigeon) in vars.iter().enumerate() {
            for other in &vars[..a] {
                for (x, y) in pigeon.iter().zip(other) {
                    sat.add_clause(&[!x.lit(), !y.lit()]);
                }
            }
        }
        let few = Limits { conflicts: 20, clock: None };
        assert_eq!(sat.solve(&[switch.lit()], &scope, few), Outcome::OutOfBudget);
        assert_eq!(sat.solve(&[switch.lit()], &scope, UNLIMITED), Outcome::Unsat(vec![switch.lit()]));
        assert_eq!(sat.solve(&[!switch.lit()], &scope, UNLIMITED), Outcome::Sat);
        let past = Clock::new(std::time::Duration::ZERO, &std::sync::Arc::default());
        let late = Limits { conflicts: u64::MAX, clock: Some(&past) };
        assert!(matches!(sat.solve(&[!switch.lit()], &scope, late), Outcome::Sat | Outcome::OutOfTime));
    }

    #[test]
    fn restarts_follow_luby() {
        let first: Vec<u64> = (0..15).map(luby).collect();
        assert_eq!(first, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
