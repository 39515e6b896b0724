//! The campaign's own state: inputs, the base they are fixed to, the parts, and which run comes next.

use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use explore::{InputForm, InputRequest, Path, RunPlan, Told};
use ir::Module;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use vm::{Flow, Freedom, Image, LabelledScalar, Labels, NoteWrites, Scouting, State};
use witness::{BugKind, Ending, Place, Witness};

use super::cover::{Cover, Set, Unit, is_subset, meet, set_of, union};
use super::names::scalar_name;
use super::start::Start;

/// What is done with parts that meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Merge,
    /// Only report that they do.
    Check,
}

/// A scalar input: the input's name across runs and its own number in it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ScalarKey {
    origin: u64,
    input: Arc<str>,
    idx: u32,
}

/// Two inputs that met, where and how.
#[derive(Clone, Debug)]
pub struct Meeting {
    pub a: Unit,
    pub b: Unit,
    pub place: Place,
    pub why: &'static str,
}

/// How much of the program a path leaves out, from nothing to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Nothing,
    /// It left a function at a guard.
    Guarded,
    /// The program ended, though with other inputs it would have gone on.
    Ended,
}

/// Where a path stopped short of what other inputs may reach, and which inputs made it.
#[derive(Clone)]
struct Loss {
    severity: Severity,
    site: u64,
    units: Set,
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
    module: Arc<Module>,
    mode: Mode,
    start: Option<Start>,
    pub seed: u64,
    units: FxHashMap<ScalarKey, Unit>,
    /// Names of the scalars of each unit.
    names: Vec<Vec<String>>,
    /// Units of the parts given by hand.
    given: FxHashMap<usize, Unit>,
    /// How often an input of a name has come up, to tell apart inputs of one name.
    namesakes: FxHashMap<Arc<str>, Vec<u64>>,
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

/// What all inputs are fixed to, those of the running part aside.
struct Base {
    /// 0 for the random one; no two others of a campaign have the same.
    id: u64,
    /// Where that is not the random choice; the last number counts repeats of an input on a path.
    values: FxHashMap<(ScalarKey, u32), u64>,
    /// How the path it was made from ended.
    promise: Severity,
    /// Known once it has been run.
    severity: Option<Severity>,
}

impl Base {
    fn random() -> Base {
        Base { id: 0, values: FxHashMap::default(), promise: Severity::Ended, severity: None }
    }
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
            module,
            mode,
            start,
            seed: 0,
            units: FxHashMap::default(),
            names: Vec::new(),
            given: FxHashMap::default(),
            namesakes: FxHashMap::default(),
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
        let mut hasher = FxHasher::default();
        (&self.world, self.bases[self.current].id, &self.symbolic).hash(&mut hasher);
        let world = (!self.world.is_empty()).then(|| self.world.iter().copied().collect());
        let prefixes = world.into_iter().collect();
        Some(RunPlan { prefixes, name: Some(hasher.finish()) })
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
            Phase::Improve(set) | Phase::Part(set) if self.mode == Mode::Merge && set.len() == self.names.len() => {
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
            for unit in 0..self.names.len() as Unit {
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
        let repeat = state.map_or(0, |state| state.inputs.iter().filter(is_same).count() as u32);
        let scalars: Vec<LabelledScalar> = (0..request.scalars.len())
            .map(|idx| {
                let unit = self.unit(request, idx);
                let is_symbolic = self.symbolic.binary_search(&unit).is_ok();
                let freedom = if is_symbolic { Freedom::Symbol } else { Freedom::Fixed };
                // A number in a range begins where the range says.
                let value = if is_symbolic && request.range.is_some() { 0 } else { self.fixed(request, idx, repeat) };
                LabelledScalar { freedom, value, number: unit }
            })
            .collect();
        InputForm::Labelled(scalars.into())
    }

    fn unit(&mut self, request: &InputRequest, idx: usize) -> Unit {
        let key = ScalarKey { origin: request.origin, input: request.name.clone(), idx: idx as u32 };
        if let Some(unit) = self.units.get(&key) {
            return *unit;
        }
        let name = self.name(request, idx);
        let given = self.start.as_ref().and_then(|start| start.part_of(&name));
        let unit = match given.and_then(|part| self.given.get(&part)) {
            Some(unit) => *unit,
            None => {
                self.names.push(Vec::new());
                (self.names.len() - 1) as Unit
            }
        };
        if let Some(part) = given {
            self.given.insert(part, unit);
        }
        self.names[unit as usize].push(name);
        self.units.insert(key, unit);
        if self.mode == Mode::Check {
            self.cover.add(Rc::new([unit]));
        }
        unit
    }

    fn name(&mut self, request: &InputRequest, idx: usize) -> String {
        let namesakes = self.namesakes.entry(request.name.clone()).or_default();
        let number = namesakes.iter().position(|origin| *origin == request.origin).unwrap_or_else(|| {
            namesakes.push(request.origin);
            namesakes.len() - 1
        });
        let input = match number {
            0 => request.name.to_string(),
            number => format!("{}#{}", request.name, number + 1),
        };
        let offset = request.scalars[idx].offset;
        scalar_name(&self.module, &input, request.ty, request.bytes, offset, request.scalars.len())
    }

    fn fixed(&self, request: &InputRequest, idx: usize, repeat: u32) -> u64 {
        let key = ScalarKey { origin: request.origin, input: request.name.clone(), idx: idx as u32 };
        let key = (key, repeat);
        if let Some(value) = self.bases[self.current].values.get(&key) {
            return *value;
        }
        let mut hasher = FxHasher::default();
        (self.seed, &key.0, repeat).hash(&mut hasher);
        let random = scramble(hasher.finish());
        let shape = request.scalars[idx];
        match request.range {
            Some((low, high)) if low < high => {
                low.wrapping_add((random % high.abs_diff(low)) as i64) as u64 & mask(shape.n_bytes)
            }
            _ if shape.is_bool => random & 1,
            _ => random & mask(shape.n_bytes),
        }
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
        let loss = loss_of(path, &witness.ending);
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
        let mut values = self.bases[self.current].values.clone();
        values.extend(values_of(path, witness));
        self.n_bases += 1;
        self.bases.push(Base { id: self.n_bases, values, promise: severity, severity: None });
    }

    pub fn tells(&self, path: &Path, ending: &Ending) -> Told {
        let Ending::Bug(bug) = ending else { return Told::Yes };
        let is_access = matches!(
            bug.kind,
            BugKind::InvalidPointer | BugKind::OutOfBoundsRead | BugKind::OutOfBoundsWrite | BugKind::NullDereference
        );
        let is_elsewhere = self.mode == Mode::Merge && !is_subset(&path.ended_by, &self.symbolic);
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
            self.tie(&symbolic, &path.ended_by, &place, "ending");
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
        let alone = (0..self.names.len() as Unit).filter(|unit| !parts.covers(&[*unit]));
        sets.extend(alone.map(|unit| set_of(vec![unit])));
        sets.sort();
        let names =
            |set: &Set| set.iter().flat_map(|unit| self.names[*unit as usize].iter().map(String::as_str)).collect();
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
        shared.iter().map(|unit| self.unit_name(*unit)).collect()
    }

    pub fn unit_name(&self, unit: Unit) -> &str {
        self.names[unit as usize].first().map_or("", String::as_str)
    }

    /// Names in the partition given by hand that no input has.
    pub fn unknown_names(&self) -> Vec<&str> {
        let scalars: Vec<String> = self.names.iter().flatten().cloned().collect();
        self.start.as_ref().map_or(Vec::new(), |start| start.unknown(&scalars))
    }
}

fn loss_of(path: &Path, ending: &Ending) -> Option<Loss> {
    if !matches!(ending, Ending::Returned { .. }) && !path.ended_by.is_empty() {
        return Some(Loss { severity: Severity::Ended, site: path.ended_at, units: path.ended_by.clone() });
    }
    let (guard, units) = path.left_guard.as_ref()?;
    Some(Loss { severity: Severity::Guarded, site: *guard, units: units.clone() })
}

/// What the path's input says about each scalar.
fn values_of(path: &Path, witness: &Witness) -> Vec<((ScalarKey, u32), u64)> {
    let mut repeats: FxHashMap<(u64, Arc<str>), u32> = FxHashMap::default();
    let mut values = Vec::new();
    for (record, input) in path.state.inputs.iter().zip(&witness.inputs) {
        let repeat = repeats.entry((record.origin, record.name.clone())).or_default();
        for (idx, scalar) in record.scalars.iter().enumerate() {
            let bytes = input.bytes.get(scalar.offset as usize..scalar.offset as usize + scalar.n_bytes as usize);
            let value = bytes.unwrap_or_default().iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            let key = ScalarKey { origin: record.origin, input: record.name.clone(), idx: idx as u32 };
            values.push(((key, *repeat), value));
        }
        *repeat += 1;
    }
    values
}

fn mask(n_bytes: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(n_bytes.clamp(1, 8)))
}

fn scramble(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
