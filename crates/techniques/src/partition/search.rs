//! The campaign's own state: inputs, the base they are fixed to, the parts, and which run comes next.

use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use explore::{InputForm, InputKind, InputRequest, LeavesOut, Path, RunPlan, Told};
use ir::Module;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use vm::{Flow, Freedom, Image, LabelledScalar, Labels, NoteWrites, Scouting, State};
use witness::{BugKind, Ending, Place, Witness};

use super::bases::{Base, Loss, Severity};
use super::cover::{Cover, Set, Unit, is_subset, meet, set_of, union};
use super::start::Start;
use super::units::Units;

/// What is done with parts that meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Merge,
    /// Only report that they do.
    Check,
}

/// Whether a run that fixes nothing may be left to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    Own,
    Offered,
}

/// Two inputs that met, where and how.
#[derive(Clone, Debug)]
pub struct Meeting {
    pub a: Unit,
    pub b: Unit,
    pub place: Place,
    pub why: &'static str,
}

#[derive(Clone, PartialEq, Eq)]
enum Phase {
    Begin,
    /// All inputs fixed, to see which worlds there are.
    Survey,
    /// The base alone, to see which guards it passes.
    Scout,
    /// The base alone.
    Base,
    /// The inputs the base stopped short by, in search of a base that goes on.
    Improve(Set),
    Part(Set),
}

pub struct Search {
    mode: Mode,
    whole: Whole,
    pub seed: u64,
    pub units: Units,
    /// How many there were when the running run was planned.
    n_units_before: usize,
    /// What no input decides, as how many arguments there are or how large a fuzzer's input is: each choice is a world that is
    /// explored as if it were a program of its own. The decisions that lead to the running one, and to those left.
    world: Vec<u64>,
    worlds: Vec<Vec<u64>>,
    bases: Vec<Base>,
    n_bases: u64,
    /// The base of the running or last run.
    current: usize,
    stage: Stage,
    phase: Phase,
    symbolic: Set,
    /// Parts under the current base, and under all that are explored under.
    cover: Cover,
    parts: Cover,
    explored: FxHashSet<Set>,
    pub rounds: u64,
    /// Paths run to their end, those found again in later runs too.
    pub n_paths_run: u64,
    is_stale: bool,
    loss: Option<Loss>,
    /// Where and by which inputs bases stopped, and all these inputs.
    lost_at: FxHashSet<(u64, Set)>,
    lost_units: Set,
    improved_with: FxHashSet<(usize, Set)>,
    n_guarded: usize,
    /// Under the current base, and in worlds that are done.
    merges: Vec<Meeting>,
    met: FxHashSet<(Unit, Unit)>,
    merges_before: Vec<Meeting>,
}

#[derive(Clone, PartialEq, Eq)]
enum Stage {
    /// Looking for a base that goes on to the end.
    Select,
    /// Exploring parts under the last of these bases; the others come after it.
    Explore(Vec<usize>),
}

/// Guards that bases are improved past; more only cost precision.
const MAX_GUARDED: usize = 16;

impl Search {
    pub fn new(module: Arc<Module>, mode: Mode, start: Option<Start>) -> Search {
        let nothing: Set = Rc::new([]);
        Search {
            mode,
            whole: Whole::Own,
            seed: 0,
            units: Units::new(module, start),
            n_units_before: 0,
            world: Vec::new(),
            worlds: Vec::new(),
            bases: vec![Base::random()],
            n_bases: 0,
            current: 0,
            stage: Stage::Select,
            phase: Phase::Begin,
            symbolic: nothing.clone(),
            cover: Cover::default(),
            parts: Cover::default(),
            explored: FxHashSet::default(),
            rounds: 1,
            n_paths_run: 0,
            is_stale: false,
            loss: None,
            lost_at: FxHashSet::default(),
            lost_units: nothing,
            improved_with: FxHashSet::default(),
            n_guarded: 0,
            merges: Vec::new(),
            met: FxHashSet::default(),
            merges_before: Vec::new(),
        }
    }

    /// Forgets what belongs to one world only.
    fn enter(&mut self, world: Vec<u64>) -> Option<Phase> {
        self.world = world;
        self.is_stale = false;
        self.select_from(Base::random());
        self.forget_parts();
        Some(Phase::Scout)
    }

    /// The running world is done; the next one, if any.
    fn leave_world(&mut self) -> Option<Phase> {
        self.merges_before = self.merges();
        let next = self.worlds.pop()?;
        self.enter(next)
    }

    /// All inputs that met, each pair once.
    pub fn merges(&self) -> Vec<Meeting> {
        let mut seen = FxHashSet::default();
        let all = self.merges_before.iter().chain(&self.merges);
        all.filter(|meeting| seen.insert((meeting.a, meeting.b))).cloned().collect()
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What the next run explores; `None` when nothing would change any more.
    pub fn next(&mut self) -> Option<RunPlan> {
        self.phase = self.next_phase()?;
        self.symbolic = match &self.phase {
            Phase::Begin | Phase::Survey | Phase::Scout | Phase::Base => Rc::new([]),
            Phase::Improve(set) | Phase::Part(set) => set.clone(),
        };
        self.n_units_before = self.units.len();
        let mut hasher = FxHasher::default();
        (&self.world, self.bases[self.current].id, &self.symbolic).hash(&mut hasher);
        let world = (!self.world.is_empty()).then(|| self.world.iter().copied().collect());
        let prefixes = world.into_iter().collect();
        Some(RunPlan { prefixes, name: Some(hasher.finish()), leaves_out: self.leaves_out() })
    }

    /// From now on a run that fixes none of the inputs known is one that fixes none at all, so that others can do it their way.
    pub fn offer_whole(&mut self) {
        self.whole = Whole::Offered;
    }

    fn is_whole(&self) -> bool {
        self.whole == Whole::Offered && self.mode == Mode::Merge && self.fixes_nothing(&self.symbolic)
    }

    fn fixes_nothing(&self, set: &Set) -> bool {
        !set.is_empty() && set.len() == self.n_units_before
    }

    /// Which paths others may leave out of the run. What the base does, and which worlds there are, is seen on every path; of
    /// a part, one that goes the same way and depends on the same is enough. Nothing is learned from a run without fixed inputs.
    fn leaves_out(&self) -> LeavesOut {
        match &self.phase {
            Phase::Begin | Phase::Survey | Phase::Scout | Phase::Base => LeavesOut::Nothing,
            Phase::Improve(_) | Phase::Part(_) if self.is_whole() => LeavesOut::NothingNew,
            // Where only the flow is the question, every write counts.
            Phase::Improve(_) | Phase::Part(_) if self.mode == Mode::Check => LeavesOut::Nothing,
            Phase::Improve(_) | Phase::Part(_) => LeavesOut::Repeats,
        }
    }

    fn next_phase(&mut self) -> Option<Phase> {
        match std::mem::replace(&mut self.phase, Phase::Begin) {
            Phase::Begin => Some(Phase::Survey),
            Phase::Survey => {
                self.worlds.sort();
                self.worlds.dedup();
                self.worlds.reverse();
                let first = self.worlds.pop().unwrap_or_default();
                self.enter(first)
            }
            Phase::Scout => {
                self.loss = None;
                Some(Phase::Base)
            }
            Phase::Base if self.stage == Stage::Select => self.judge_base(),
            Phase::Base => self.next_part(),
            // Nothing was fixed: this was plain exploration, and shows all there is.
            Phase::Improve(set) | Phase::Part(set)
                if self.mode == Mode::Merge && set.len() == self.units.len() || self.is_whole() =>
            {
                self.parts.add(set);
                self.leave_world()
            }
            Phase::Improve(_) => self.next_base(),
            Phase::Part(set) => {
                self.explored.insert(set);
                self.next_part()
            }
        }
    }

    /// The current base has been run alone.
    fn judge_base(&mut self) -> Option<Phase> {
        let severity = self.loss.as_ref().map_or(Severity::Nothing, |loss| loss.severity);
        self.bases[self.current].severity = Some(severity);
        match severity {
            // Its decisions are known already, so its parts come at once.
            Severity::Nothing => {
                self.stage = Stage::Explore(vec![self.current]);
                self.next_part()
            }
            Severity::Guarded if self.n_guarded >= MAX_GUARDED => self.next_base(),
            _ => {
                self.n_guarded += usize::from(severity == Severity::Guarded);
                self.improvement().or_else(|| self.next_base())
            }
        }
    }

    /// The base stopped short: looks among the inputs that made it for one that goes on, and, where they alone do not help,
    /// among all that ever stopped a base.
    fn improvement(&mut self) -> Option<Phase> {
        let loss = self.loss.clone()?;
        self.lost_at.insert((loss.site, loss.units.clone()));
        self.lost_units = union(&self.lost_units, &loss.units);
        [loss.units, self.lost_units.clone()]
            .into_iter()
            .find(|set| self.improved_with.insert((self.current, set.clone())))
            .map(Phase::Improve)
    }

    /// The next base to be tried; when all have been, the ones to explore under.
    fn next_base(&mut self) -> Option<Phase> {
        let untried = (0..self.bases.len()).filter(|idx| self.bases[*idx].severity.is_none());
        if let Some(next) = untried.min_by_key(|idx| self.bases[*idx].promise) {
            self.current = next;
            self.forget_parts();
            return Some(Phase::Scout);
        }
        if self.bases[self.current].severity == Some(Severity::Ended)
            && let Some(phase) = self.improvement()
        {
            return Some(phase);
        }
        let best = self.bases.iter().filter_map(|base| base.severity).min().unwrap_or(Severity::Nothing);
        let mut with_best = (0..self.bases.len()).filter(|idx| self.bases[*idx].severity == Some(best));
        // One base that is not ended early is enough; otherwise each shows what the others end in front of.
        let chosen: Vec<usize> = match best {
            Severity::Ended => with_best.collect(),
            _ => with_best.next_back().into_iter().collect(),
        };
        self.forget_parts();
        self.explore_under(chosen)
    }

    /// What was found under other bases knew what lies behind a guard only together with it.
    fn forget_parts(&mut self) {
        self.start_cover();
        self.merges.clear();
        self.met.clear();
    }

    /// Parts are found anew; where they are only checked they are the units from the beginning.
    fn start_cover(&mut self) {
        self.cover = Cover::default();
        self.explored.clear();
        if self.mode == Mode::Check {
            for unit in self.units.all() {
                self.cover.add(Rc::new([unit]));
            }
        }
    }

    fn explore_under(&mut self, bases: Vec<usize>) -> Option<Phase> {
        self.current = *bases.last()?;
        self.stage = Stage::Explore(bases);
        self.start_cover();
        Some(Phase::Scout)
    }

    fn next_part(&mut self) -> Option<Phase> {
        if let Some(set) = self.cover.sets().find(|set| !self.explored.contains(*set)) {
            return Some(Phase::Part(set.clone()));
        }
        for set in self.cover.sets() {
            self.parts.add(set.clone());
        }
        let Stage::Explore(bases) = &mut self.stage else { return None };
        bases.pop();
        let left = bases.clone();
        if !left.is_empty() {
            return self.explore_under(left);
        }
        if self.bases.iter().any(|base| base.severity.is_none()) {
            self.stage = Stage::Select;
            return self.next_base();
        }
        if !std::mem::take(&mut self.is_stale) {
            return self.leave_world();
        }
        self.rounds += 1;
        self.judge_again()
    }

    /// More is known about flow than when the bases were judged: what ends them, and whether anything does, may depend on
    /// more inputs.
    fn judge_again(&mut self) -> Option<Phase> {
        let kept = match self.bases[self.current].severity {
            Some(Severity::Ended) | None => 0,
            Some(_) => self.current,
        };
        let mut base = self.bases.swap_remove(kept);
        base.severity = None;
        self.select_from(base);
        self.next_base()
    }

    fn select_from(&mut self, base: Base) {
        self.bases = vec![base];
        self.current = 0;
        self.stage = Stage::Select;
        self.loss = None;
        self.lost_at.clear();
        self.lost_units = Rc::new([]);
        self.improved_with.clear();
        self.n_guarded = 0;
    }

    /// What an input looks like in this run.
    pub fn form(&mut self, request: &InputRequest, state: Option<&State>) -> InputForm {
        let is_same = |record: &&Arc<vm::InputRecord>| record.origin == request.origin && record.name == request.name;
        let is_whole = self.is_whole();
        let repeat = state.map_or(0, |state| state.inputs.iter().filter(is_same).count() as u32);
        let scalars: Vec<LabelledScalar> = (0..request.scalars.len())
            .map(|idx| {
                let unit = self.units.unit(request, idx);
                if self.mode == Mode::Check {
                    self.cover.add(Rc::new([unit]));
                }
                // What depends on memory nobody wrote is a fault in any run, so it is not fixed. Where worlds are looked for it is: a
                // decision about it is no choice of a world.
                let is_unwritten = request.kind == InputKind::Unwritten && self.phase != Phase::Survey;
                let is_symbolic = is_unwritten || is_whole || self.symbolic.binary_search(&unit).is_ok();
                let freedom = if is_symbolic { Freedom::Symbol } else { Freedom::Fixed };
                // A number in a range begins where the range says.
                let value = if is_unwritten || is_symbolic && request.range.is_some() {
                    0
                } else {
                    self.bases[self.current].value(self.seed, request, idx, repeat)
                };
                LabelledScalar { freedom, value, number: unit }
            })
            .collect();
        InputForm::Labelled(scalars.into())
    }

    pub fn run_begins(&mut self, flow: &mut Flow) {
        flow.note_writes = if self.mode == Mode::Check { NoteWrites::On } else { NoteWrites::Off };
        let is_scouting = matches!(self.phase, Phase::Survey | Phase::Scout);
        flow.scouting = if is_scouting { Scouting::On } else { Scouting::Off };
        if is_scouting {
            flow.forget_base();
        }
    }

    pub fn run_ended(&mut self, flow: &mut Flow, labels: &Labels, image: &Image) {
        if self.is_whole() {
            // Others may have left out paths, and no run comes after it that would need what it shows.
            let _ = (flow.take_stale(), flow.take_decisions(), flow.take_failed_guards());
            return;
        }
        self.is_stale |= flow.take_stale();
        for decision in flow.take_decisions() {
            let set: Set = labels.members(decision.label).into();
            let place = image.place_at(decision.func, decision.span);
            match self.mode {
                Mode::Check => self.meet(&set, &place, decision.decides.name()),
                Mode::Merge => self.require(set, &place, decision.decides.name()),
            }
        }
        let symbolic = self.symbolic.clone();
        for guard in flow.take_failed_guards() {
            self.tie(&symbolic, labels.members(guard), &Place::default(), "guard");
        }
    }

    /// Inputs that must be explored together.
    fn require(&mut self, set: Set, place: &Place, why: &'static str) {
        if self.mode == Mode::Merge && self.cover.add(set.clone()) {
            self.meet(&set, place, why);
        }
    }

    /// A path of the run stopped short because of `units`, some of which the run explores and some of which it fixes: with
    /// the latter chosen otherwise it might go on.
    fn tie(&mut self, symbolic: &[Unit], units: &[Unit], place: &Place, why: &'static str) {
        if meet(symbolic, units) && !is_subset(units, symbolic) {
            self.require(union(symbolic, units), place, why);
        }
    }

    fn meet(&mut self, set: &[Unit], place: &Place, why: &'static str) {
        let Some((first, others)) = set.split_first() else { return };
        for other in others {
            if self.met.insert((*first, *other)) {
                self.merges.push(Meeting { a: *first, b: *other, place: place.clone(), why });
            }
        }
    }

    pub fn witnessed(&mut self, path: &Path, witness: &Witness) {
        self.n_paths_run += 1;
        // What a path that was pruned would have shown is what the one shows that it repeats.
        if self.is_whole() || matches!(witness.ending, Ending::Pruned { .. }) {
            return;
        }
        let loss = Loss::of_path(path, &witness.ending);
        if path.is_aside && !matches!(self.phase, Phase::Part(_)) {
            // The path itself goes on.
            return;
        }
        match &self.phase {
            Phase::Begin | Phase::Scout => {}
            Phase::Survey => self.worlds.push(witness.path.clone()),
            Phase::Base => {
                if self.loss.as_ref().map(|loss| loss.severity) < loss.as_ref().map(|loss| loss.severity) {
                    self.loss = loss;
                }
            }
            Phase::Improve(_) => self.consider(path, witness, loss),
            Phase::Part(_) => {
                self.tie_ending(path, &witness.ending);
                // Every base ended early, and this path may be one that does not.
                if self.bases[self.current].severity == Some(Severity::Ended) {
                    self.consider(path, witness, loss);
                }
            }
        }
    }

    /// Whether a path would make a base that gets further, or at least stops where none has stopped before.
    fn consider(&mut self, path: &Path, witness: &Witness, loss: Option<Loss>) {
        let severity = loss.as_ref().map_or(Severity::Nothing, |loss| loss.severity);
        let of_base = self.loss.as_ref().map_or(Severity::Nothing, |loss| loss.severity);
        let is_new = loss.is_none_or(|loss| self.lost_at.insert((loss.site, loss.units)));
        if severity > of_base || !is_new {
            return;
        }
        // One that goes on to the end is enough.
        if self.bases.iter().any(|base| base.severity.is_none() && base.promise == Severity::Nothing) {
            return;
        }
        self.n_bases += 1;
        let base = self.bases[self.current].changed_by(path, witness, self.n_bases, severity);
        self.bases.push(base);
    }

    pub fn tells(&self, path: &Path, ending: &Ending) -> Told {
        // Each world is explored by itself afterwards, with what is fixed only here.
        if self.phase == Phase::Survey {
            return Told::No;
        }
        let Ending::Bug(bug) = ending else { return Told::Yes };
        let is_access = matches!(
            bug.kind,
            BugKind::InvalidPointer | BugKind::OutOfBoundsRead | BugKind::OutOfBoundsWrite | BugKind::NullDereference
        );
        let is_elsewhere = self.mode == Mode::Merge && !is_subset(path.ended_by(), &self.symbolic);
        if is_access && is_elsewhere { Told::No } else { Told::Yes }
    }

    fn tie_ending(&mut self, path: &Path, ending: &Ending) {
        if !matches!(ending, Ending::Returned { .. }) {
            let place = match ending {
                Ending::Bug(bug) => bug.place.clone(),
                Ending::Unsupported(gap) => gap.place.clone(),
                _ => Place::default(),
            };
            let symbolic = self.symbolic.clone();
            self.tie(&symbolic, path.ended_by(), &place, "ending");
        }
    }

    /// The parts, each by the names of its inputs; an input that decides nothing is a part of its own.
    pub fn parts(&self) -> Vec<Vec<&str>> {
        let mut parts = Cover::default();
        // A campaign that was cut short has parts that it was still at.
        for set in self.parts.sets().chain(self.cover.sets()) {
            parts.add(set.clone());
        }
        let mut sets: Vec<Set> = parts.sets().cloned().collect();
        let alone = self.units.all().filter(|unit| !parts.covers(&[*unit]));
        sets.extend(alone.map(|unit| set_of(vec![unit])));
        sets.sort();
        let names = |set: &Set| set.iter().flat_map(|unit| self.units.names(*unit)).collect();
        sets.iter().map(names).collect()
    }

    /// Names of the inputs that are in more than one part.
    pub fn shared(&self) -> Vec<&str> {
        let mut n_parts: FxHashMap<Unit, u32> = FxHashMap::default();
        for unit in self.parts.sets().flat_map(|set| set.iter()) {
            *n_parts.entry(*unit).or_default() += 1;
        }
        let mut shared: Vec<Unit> = n_parts.into_iter().filter(|(_, n)| *n > 1).map(|(unit, _)| unit).collect();
        shared.sort_unstable();
        shared.iter().map(|unit| self.units.name(*unit)).collect()
    }
}
