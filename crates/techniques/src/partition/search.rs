//! The campaign's own state: inputs, the base they are fixed to, the parts, and which run comes next.

use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use explore::{InputForm, InputRequest, Path, RunPlan};
use ir::Module;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use vm::{Flow, Image, Labels, NoteWrites, Scouting, State};
use witness::{Ending, Place, Witness};

use super::cover::{is_subset, meet, set_of, union, Cover, Set, Unit};
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
    /// What the base fixes scalars to, where that is not the random choice; the last number counts repeats on a path.
    values: FxHashMap<(ScalarKey, u32), u64>,
    n_bases: u64,
    phase: Phase,
    is_begun: bool,
    symbolic: Set,
    cover: Cover,
    explored: FxHashSet<Set>,
    pub rounds: u64,
    is_stale: bool,
    loss: Option<Loss>,
    /// Sites bases stopped at, and all inputs that made them.
    lost_sites: FxHashSet<u64>,
    lost_units: Set,
    improved_with: FxHashSet<Set>,
    candidate: Option<Candidate>,
    pub merges: Vec<Meeting>,
    met: FxHashSet<(Unit, Unit)>,
}

/// Values that may make a better base.
struct Candidate {
    values: Vec<((ScalarKey, u32), u64)>,
    severity: Severity,
}

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
            values: FxHashMap::default(),
            n_bases: 0,
            phase: Phase::Scout,
            is_begun: false,
            symbolic: nothing.clone(),
            cover: Cover::default(),
            explored: FxHashSet::default(),
            rounds: 1,
            is_stale: false,
            loss: None,
            lost_sites: FxHashSet::default(),
            lost_units: nothing,
            improved_with: FxHashSet::default(),
            candidate: None,
            merges: Vec::new(),
            met: FxHashSet::default(),
        }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What the next run explores; `None` when nothing would change any more.
    pub fn next(&mut self) -> Option<RunPlan> {
        self.phase = self.next_phase()?;
        self.symbolic = match &self.phase {
            Phase::Scout | Phase::Base => Rc::new([]),
            Phase::Improve(set) | Phase::Part(set) => set.clone(),
        };
        let mut hasher = FxHasher::default();
        (self.n_bases, &self.symbolic).hash(&mut hasher);
        Some(RunPlan { prefixes: Vec::new(), name: Some(hasher.finish()) })
    }

    fn next_phase(&mut self) -> Option<Phase> {
        if !std::mem::replace(&mut self.is_begun, true) {
            return Some(Phase::Scout);
        }
        match &self.phase {
            Phase::Scout => {
                self.loss = None;
                return Some(Phase::Base);
            }
            Phase::Base => {
                if let Some(phase) = self.improvement() {
                    return Some(phase);
                }
            }
            Phase::Improve(set) => {
                self.explored.insert(set.clone());
                if let Some(candidate) = self.candidate.take() {
                    self.values.extend(candidate.values);
                    self.n_bases += 1;
                    self.explored.clear();
                    // Found under a base that stops at a guard, these know what is behind it only together with it.
                    self.cover = Cover::default();
                    self.merges.clear();
                    self.met.clear();
                    return Some(Phase::Scout);
                }
                if let Some(phase) = self.improvement() {
                    return Some(phase);
                }
            }
            Phase::Part(set) => {
                self.explored.insert(set.clone());
            }
        }
        let next = self.cover.sets().find(|set| !self.explored.contains(*set)).cloned();
        match next {
            Some(set) => Some(Phase::Part(set)),
            None if std::mem::take(&mut self.is_stale) => {
                self.rounds += 1;
                self.explored.clear();
                self.loss = None;
                Some(Phase::Base)
            }
            None => None,
        }
    }

    /// The base stopped short: looks among the inputs that made it for one that goes on, and, when they alone do not help,
    /// among all that ever stopped a base.
    fn improvement(&mut self) -> Option<Phase> {
        let loss = self.loss.clone()?;
        self.lost_sites.insert(loss.site);
        self.lost_units = union(&self.lost_units, &loss.units);
        [loss.units, self.lost_units.clone()]
            .into_iter()
            .find(|set| self.improved_with.insert(set.clone()))
            .map(Phase::Improve)
    }

    /// What an input looks like in this run.
    pub fn form(&mut self, request: &InputRequest, state: Option<&State>) -> InputForm {
        let is_same = |record: &&Arc<vm::InputRecord>| record.origin == request.origin && record.name == request.name;
        let repeat = state.map_or(0, |state| state.inputs.iter().filter(is_same).count() as u32);
        let scalars: Vec<(Option<u64>, u32)> = (0..request.scalars.len())
            .map(|idx| {
                let unit = self.unit(request, idx);
                let is_symbolic = self.symbolic.binary_search(&unit).is_ok();
                ((!is_symbolic).then(|| self.fixed(request, idx, repeat)), unit)
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
        if let Some(value) = self.values.get(&key) {
            return *value;
        }
        let mut hasher = FxHasher::default();
        (self.seed, &key.0, repeat).hash(&mut hasher);
        let random = scramble(hasher.finish());
        let shape = request.scalars[idx];
        match request.range {
            Some((low, high)) if low < high => low.wrapping_add((random % high.abs_diff(low)) as i64) as u64 & mask(shape.n_bytes),
            _ if shape.is_bool => random & 1,
            _ => random & mask(shape.n_bytes),
        }
    }

    pub fn run_begins(&mut self, flow: &mut Flow) {
        flow.note_writes = if self.mode == Mode::Check { NoteWrites::On } else { NoteWrites::Off };
        flow.scouting = if self.phase == Phase::Scout { Scouting::On } else { Scouting::Off };
        if self.phase == Phase::Scout {
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
        let loss = loss_of(path, &witness.ending);
        match &self.phase {
            Phase::Scout => {}
            Phase::Base => {
                if self.loss.is_none() {
                    self.loss = loss;
                }
            }
            Phase::Improve(_) => {
                self.tie_ending(path, &witness.ending);
                let severity = loss.as_ref().map_or(Severity::Nothing, |loss| loss.severity);
                let of_base = self.loss.as_ref().map_or(Severity::Nothing, |loss| loss.severity);
                // Stopping elsewhere may lead on, unless a base of some kind stopped there before.
                let is_progress = severity < of_base
                    || severity == of_base && loss.is_some_and(|loss| !self.lost_sites.contains(&loss.site));
                let is_better = self.candidate.as_ref().is_none_or(|candidate| severity < candidate.severity);
                if is_progress && is_better {
                    self.candidate = Some(Candidate { values: values_of(path, witness), severity });
                }
            }
            Phase::Part(_) => self.tie_ending(path, &witness.ending),
        }
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
        let mut sets: Vec<Set> = self.cover.sets().cloned().collect();
        let alone = (0..self.names.len() as Unit).filter(|unit| !self.cover.covers(&[*unit]));
        sets.extend(alone.map(|unit| set_of(vec![unit])));
        sets.sort();
        let names = |set: &Set| set.iter().flat_map(|unit| self.names[*unit as usize].iter().map(String::as_str)).collect();
        sets.iter().map(names).collect()
    }

    /// Names of the inputs that are in more than one part.
    pub fn shared(&self) -> Vec<&str> {
        let mut n_parts: FxHashMap<Unit, u32> = FxHashMap::default();
        for unit in self.cover.sets().flat_map(|set| set.iter()) {
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
