//! One skipped call, executed after all: its paths one by one, those first that promise what the caller wants.

use std::collections::{BTreeMap, HashSet, VecDeque};

use explore::{Explorer, Fork, Path, Solved, Stop, Trust};
use ir::FuncId;
use term::TermId;
use vm::Answer;
use witness::Ending;

use super::Campaign;
use super::bound::{Bound, meets};
use super::learn::Learned;
use super::tree::{Fresh, Goals, Real, Where};

/// A run standing at a call, and what is known of the paths through the call from there.
pub struct Expansion {
    pub func: FuncId,
    /// Stands at the call.
    root: Path,
    pub bound: Bound,
    /// Inside the call, in the order of their turns.
    pending: BTreeMap<Rank, Path>,
    /// The same by age.
    by_age: BTreeMap<u64, Forks>,
    /// The same, parted from paths in deep turns; newest last.
    deep: VecDeque<(Forks, Path)>,
    n_waited: u64,
    /// Returned from the call, not wanted so far.
    parked: Vec<Real>,
    /// Decisions of the paths through the call that were executed by following what was learned elsewhere.
    seen: HashSet<Vec<u64>>,
    /// What was learned about the function elsewhere and has been tried here.
    learned_tried: HashSet<u64>,
    n_turns: u64,
    /// What was looked for when nothing more was found.
    pub tried: Option<(u32, u64)>,
}

/// How often a path forked in the called function itself, in what that called, and so on.
type Forks = Vec<u32>;

enum Which {
    First,
    Last,
    Oldest,
}

/// Paths that forked less in the outer functions come first, so that what an inner one can do is seen with a short path
/// to it before a longer one is tried; then older ones.
type Rank = (Forks, u64);

pub enum Pulled {
    /// A run behind the call that may be what is wanted.
    Got(Box<Real>),
    /// There is none.
    Nothing,
    /// None was found yet.
    NotYet,
}

/// Forks after which a path waits again, at first.
const TURN_FORKS: u64 = 64;
const FUEL: u64 = 4_000_000;

/// How one turn of a path inside the call ended.
enum Turn {
    Returned(Box<Path>),
    Ended,
    Waits,
}

impl Expansion {
    pub fn new(func: FuncId, real: Real) -> Expansion {
        let Real { path, bound } = real;
        Expansion {
            func,
            root: path,
            bound,
            pending: BTreeMap::new(),
            by_age: BTreeMap::new(),
            deep: VecDeque::new(),
            n_waited: 0,
            parked: Vec::new(),
            seen: HashSet::new(),
            learned_tried: HashSet::new(),
            n_turns: 0,
            tried: None,
        }
    }

    /// The run as it stands at the call.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs that are kept here.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let root = (self.n_turns == 0).then_some(&self.root);
        root.into_iter()
            .chain(self.pending.values())
            .chain(self.deep.iter().map(|(_, path)| path))
            .chain(self.parked.iter().map(|real| &real.path))
    }

    /// Whether every path through the call was executed and handed on.
    pub fn is_done(&self) -> bool {
        self.is_explored() && self.parked.is_empty()
    }

    fn is_explored(&self) -> bool {
        self.n_turns > 0 && self.pending.is_empty() && self.deep.is_empty()
    }

    /// The next run behind the call that may meet one of the goals, at the cost of at most `effort` executed paths.
    pub fn pull(
        &mut self,
        explorer: &mut Explorer,
        campaign: &mut Campaign,
        goals: &Goals,
        fresh: &[Fresh],
        effort: u64,
    ) -> Pulled {
        if let Some(real) = self.unpark(explorer, goals) {
            return Pulled::Got(Box::new(real));
        }
        if let Some(real) = self.try_learned(explorer, campaign, goals, fresh) {
            return Pulled::Got(Box::new(real));
        }
        let last = campaign.figures.borrow().iterations + effort;
        let checks = self.checks_inputs(explorer, goals, fresh);
        let mut cold = Vec::new();
        let pulled = loop {
            if campaign.figures.borrow().iterations >= last || explorer.is_over() {
                break Pulled::NotYet;
            }
            let Some((forks, mut path)) = self.next(explorer) else { break Pulled::Nothing };
            if checks {
                match self.guide(explorer, &path, goals) {
                    Some(input) => path.input = input,
                    None => {
                        cold.push((forks, path));
                        continue;
                    }
                }
            }
            let Turn::Returned(path) = self.turn(explorer, campaign, forks, path) else { continue };
            if let Some(real) = self.returned(explorer, campaign, *path, goals, fresh) {
                break Pulled::Got(Box::new(real));
            }
        };
        for (forks, path) in cold {
            self.wait(forks, path);
        }
        pulled
    }

    fn unpark(&mut self, explorer: &mut Explorer, goals: &Goals) -> Option<Real> {
        let wanted = (0..self.parked.len()).find(|idx| is_wanted(explorer, &self.parked[*idx], goals))?;
        Some(self.parked.remove(wanted))
    }

    /// Whether the goals say anything about inputs, so that it is worth asking a path before it runs.
    fn checks_inputs(&self, explorer: &mut Explorer, goals: &Goals, fresh: &[Fresh]) -> bool {
        let Goals::Any(conds) = goals else { return false };
        let terms = explorer.terms();
        let made_up: Vec<_> = fresh.iter().flat_map(|fresh| terms.symbols(fresh.term).to_vec()).collect();
        let others = |cond: &TermId| terms.symbols(*cond).iter().any(|symbol| !made_up.contains(symbol));
        conds.iter().all(others)
    }

    /// An input of the path with which it may meet a goal.
    fn guide(&self, explorer: &mut Explorer, path: &Path, goals: &Goals) -> Option<term::Assignment> {
        match goals {
            Goals::Anything => Some(path.input.clone()),
            Goals::Any(conds) => conds.iter().find_map(|cond| meets(explorer, path, &self.bound, *cond)),
        }
    }

    /// Whether this turn looks for a path that takes many rounds of a loop. Short paths come first: they leave more of
    /// the input to what follows.
    fn is_deep(&self) -> bool {
        match self.n_turns {
            turn @ ..64 => turn > 2 && matches!(turn % 6, 1 | 2),
            turn => matches!(turn % 16, 1 | 2),
        }
    }

    fn wait(&mut self, forks: Forks, path: Path) {
        self.n_waited += 1;
        self.by_age.insert(self.n_waited, forks.clone());
        self.pending.insert((forks, self.n_waited), path);
    }

    fn take(&mut self, which: Which) -> Option<(Forks, Path)> {
        let ((forks, age), path) = match which {
            Which::First => self.pending.pop_first()?,
            Which::Last => self.pending.pop_last()?,
            Which::Oldest => {
                let (age, forks) = self.by_age.pop_first()?;
                self.pending.remove_entry(&(forks, age))?
            }
        };
        self.by_age.remove(&age);
        Some((forks, path))
    }

    /// The path whose turn it is: at first the call itself, then by turns the oldest and the first in rank, now and then the
    /// newest.
    fn next(&mut self, explorer: &mut Explorer) -> Option<(Forks, Path)> {
        self.n_turns += 1;
        if self.n_turns == 1 {
            let mut path = self.root.clone();
            super::begin_call(&mut path);
            explorer.enter(&mut path);
            return Some((Vec::new(), path));
        }
        if self.is_deep() {
            return self.deep.pop_back().or_else(|| self.take(Which::Last));
        }
        let which = if self.n_turns.is_multiple_of(2) { Which::Oldest } else { Which::First };
        self.take(which).or_else(|| self.deep.pop_front())
    }

    /// Runs a path inside the call until it returns, ends or has forked often. In deep turns it stays in loops where it
    /// can: what lies behind a loop is seen from its first exits, what needs many rounds only by going on.
    fn turn(&mut self, explorer: &mut Explorer, campaign: &mut Campaign, mut forks: Forks, mut path: Path) -> Turn {
        let is_deep = self.is_deep();
        let max_forks = TURN_FORKS << (self.n_turns / 64).min(8);
        let mut n_forks = 0;
        loop {
            match explorer.advance(&mut path, Trust::Program, FUEL) {
                Stop::Paused => {
                    super::end_call(&mut path);
                    return Turn::Returned(Box::new(path));
                }
                Stop::Call(_) => explorer.enter(&mut path),
                Stop::Forked(parted) => {
                    n_forks += 1;
                    self.count(&mut forks, &path);
                    let mut waiting = self.settle(explorer, campaign, parted);
                    if is_deep && campaign.loops.stays(&path) == Some(false) {
                        let stays = waiting.iter().position(|other| campaign.loops.stays(other) == Some(true));
                        if let Some(stays) = stays {
                            std::mem::swap(&mut path, &mut waiting[stays]);
                        }
                    }
                    waiting.into_iter().for_each(|other| self.queue(is_deep, forks.clone(), other));
                    if n_forks >= max_forks {
                        self.queue(is_deep, forks, path);
                        return Turn::Waits;
                    }
                }
                Stop::Ended(ending, parted) => {
                    self.count(&mut forks, &path);
                    let waiting = self.settle(explorer, campaign, parted);
                    waiting.into_iter().for_each(|other| self.queue(is_deep, forks.clone(), other));
                    campaign.ended_inside(explorer, path, ending);
                    return Turn::Ended;
                }
                Stop::Tired => {
                    self.wait(forks, path);
                    return Turn::Waits;
                }
                Stop::Lost => unreachable!("only guesses get lost"),
            }
        }
    }

    /// The path forked in the function it is in.
    fn count(&self, forks: &mut Forks, path: &Path) {
        let level = path.state.depth.saturating_sub(self.root.state.depth + 1) as usize;
        if forks.len() <= level {
            forks.resize(level + 1, 0);
        }
        forks[level] += 1;
    }

    fn queue(&mut self, is_deep: bool, forks: Forks, path: Path) {
        match is_deep {
            true => self.deep.push_back((forks, path)),
            false => self.wait(forks, path),
        }
    }

    fn settle(&mut self, explorer: &mut Explorer, campaign: &mut Campaign, forks: Vec<Fork>) -> Vec<Path> {
        let mut waiting = Vec::new();
        for fork in forks {
            match fork {
                Fork::Waits(path) => waiting.push(*path),
                Fork::Ended(path, ending) => campaign.ended_inside(explorer, *path, ending),
            }
        }
        waiting
    }

    /// A path came back from the call: it is learned from, and handed on if it is wanted.
    fn returned(
        &mut self,
        explorer: &mut Explorer,
        campaign: &mut Campaign,
        path: Path,
        goals: &Goals,
        fresh: &[Fresh],
    ) -> Option<Real> {
        campaign.figures.borrow_mut().iterations += 1;
        let decisions = self.decisions(&path);
        if self.seen.remove(&decisions) {
            return None;
        }
        let is_short = decisions.len() <= super::learn::MAX_DECISIONS;
        if is_short {
            campaign.summaries.learn(explorer, self.func, decisions, &path, self.root.condition.len());
        }
        self.offer(explorer, path, goals, fresh)
    }

    fn offer(&mut self, explorer: &mut Explorer, path: Path, goals: &Goals, fresh: &[Fresh]) -> Option<Real> {
        let module = &explorer.image().module;
        let bound = self.bound.with(explorer.terms(), module, fresh, &path);
        let real = Real { path, bound };
        if is_wanted(explorer, &real, goals) {
            return Some(real);
        }
        self.parked.push(real);
        None
    }

    fn decisions(&self, path: &Path) -> Vec<u64> {
        let mut decisions = path.decisions.to_vec();
        decisions.drain(..self.root.decisions.len() as usize);
        decisions
    }

    /// Takes ways through the function that were found elsewhere and gave what is wanted here.
    fn try_learned(
        &mut self,
        explorer: &mut Explorer,
        campaign: &mut Campaign,
        goals: &Goals,
        fresh: &[Fresh],
    ) -> Option<Real> {
        if self.is_explored() {
            return None;
        }
        for group_idx in 0..campaign.summaries.n_groups(self.func) {
            let mut group_promises = None;
            for learned in campaign.summaries.ways(self.func, group_idx) {
                if self.learned_tried.contains(&learned.id) {
                    continue;
                }
                // Constant results promise the same on every way to them.
                let promises = match group_promises.filter(|_| learned.is_constant) {
                    Some(promises) => promises,
                    None => promises(explorer, &learned, goals, fresh),
                };
                group_promises = Some(promises);
                if !promises {
                    continue;
                }
                self.learned_tried.insert(learned.id);
                let Some(path) = self.replay(explorer, &learned) else { continue };
                campaign.figures.borrow_mut().iterations += 1;
                if self.seen.insert(self.decisions(&path)) {
                    let found = self.offer(explorer, path, goals, fresh);
                    if found.is_some() {
                        campaign.figures.borrow_mut().summaries_used += 1;
                        campaign.summaries.used(self.func, learned.id);
                        return found;
                    }
                }
            }
        }
        None
    }

    /// Executes the call by decisions taken elsewhere; `None` where they do not lead through it.
    fn replay(&self, explorer: &mut Explorer, learned: &Learned) -> Option<Path> {
        let mut path = self.root.clone();
        super::begin_call(&mut path);
        explorer.enter(&mut path);
        explorer.follow(&mut path, learned.decisions.to_vec());
        loop {
            match explorer.advance(&mut path, Trust::Program, FUEL) {
                Stop::Paused => {
                    explorer.follow(&mut path, Vec::new());
                    super::end_call(&mut path);
                    return Some(path);
                }
                Stop::Call(_) => explorer.enter(&mut path),
                _ => return None,
            }
        }
    }
}

/// Whether what was learned can meet a goal, judged by the condition and the results it had where it was learned.
fn promises(explorer: &mut Explorer, learned: &Learned, goals: &Goals, fresh: &[Fresh]) -> bool {
    let Goals::Any(conds) = goals else { return false };
    let terms = explorer.terms();
    let mut gives = if learned.is_constant { terms.tru() } else { learned.cond };
    for made_up in fresh {
        if let Where::Result(idx) = made_up.at
            && let Some(value) = learned.results.get(idx)
            && terms.width(*value) == terms.width(made_up.term)
        {
            let equation = terms.eq(made_up.term, *value);
            gives = terms.and(gives, equation);
        }
    }
    conds.iter().any(|cond| {
        let both = explorer.terms().and(*cond, gives);
        !matches!(explorer.solve_alone(both), Solved::No)
    })
}

fn is_wanted(explorer: &mut Explorer, real: &Real, goals: &Goals) -> bool {
    match goals {
        Goals::Anything => true,
        Goals::Any(conds) => conds.iter().any(|cond| meets(explorer, &real.path, &real.bound, *cond).is_some()),
    }
}

/// Whether the way a path is about to go is known.
pub fn edge_to_take(path: &Path) -> Option<usize> {
    match path.state.answers.last()? {
        Answer::Side(side) => Some(usize::from(!side)),
        Answer::Edge(edge) => Some(*edge as usize),
        _ => None,
    }
}

/// What tells endings apart in one place of the tree.
pub fn tag(ending: &Ending) -> u64 {
    let place = |place: &witness::Place| {
        place.file.bytes().fold(u64::from(place.line), |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)))
    };
    match ending {
        Ending::Returned { .. } => 0,
        Ending::Exited { .. } => 1,
        Ending::Assumed => 2,
        Ending::Pruned { .. } => 3,
        Ending::Cut(_) => 4,
        Ending::Unsupported(gap) => place(&gap.place).wrapping_mul(64).wrapping_add(5),
        Ending::Bug(bug) => place(&bug.place).wrapping_mul(64).wrapping_add(8 + bug.kind as u64),
    }
}
