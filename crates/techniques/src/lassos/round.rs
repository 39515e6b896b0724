//! One round of a cycle as a relation: from any values of its cells, under which conditions which way leads back to the
//! cut, and with which values.
//!
//! What the cycle changes becomes symbols, the cells. What it leaves alone stays what it is, a constant or a term over the
//! inputs: inputs do not change, so the path condition holds in every round. A way that changes something that was no cell
//! yet makes it one, and all ways are walked again.

use explore::Means;
use ir::{BlockId, FuncId};
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Assignment, Replacement, SymbolId, TermId, Terms, View};
use vm::{ObjectId, State};

use super::cells::{
    Blur, Cell, MAX_CELLS, Registers, Spot, blur as blur_objects, changes, generalise, is_blurred, pin_pointers,
};
use super::walk::{Body, Cut, Halt, Shape, Stamina, Walker, every_way, symbols_since};

/// Visits among which two are looked for between which only cells change.
const MAX_PERIOD: usize = 64;
/// Rounds until all memory that nobody wrote was read once.
const MAX_SETTLING: usize = 3;
/// How often ways are walked again because of new cells.
const MAX_AGAIN: usize = 5;
/// Rounds that a counter has to be good for, so that it does not matter that it overflows one day.
const MANY_ROUNDS: i128 = 1 << 28;
/// How symbols of memory never written begin.
const UNDEFINED: &str = "\u{0}undefined";

/// A way round.
#[derive(Clone, Debug)]
pub struct Way {
    /// It is taken where all of these hold.
    pub conds: Vec<TermId>,
    /// What the cells hold afterwards.
    pub updates: Vec<TermId>,
}

/// By what two rounds are the same: the place, and the terms of all ways. Terms are shared, so equal ones are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoundKey {
    func: FuncId,
    block: BlockId,
    ways: Vec<(Vec<TermId>, Vec<TermId>)>,
}

/// Whether the ways are all that lead back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Whatever takes none of them leaves the cycle.
    Leaves,
    Unknown,
}

pub struct Round {
    pub cut: Cut,
    pub cells: Vec<Cell>,
    /// What the cells hold when the cut is first reached, over the inputs.
    pub start: Vec<TermId>,
    /// Stands at the cut; `conds` lead there from where the path stood.
    pub stem: Walker,
    pub ways: Vec<Way>,
    pub rest: Rest,
    /// So many visits of the cut are one round.
    pub n_visits: usize,
    /// Cells that the conditions depend on, directly or through others.
    pub relevant: Vec<bool>,
    /// Cells that only count, and overflow one day.
    pub counters: Vec<usize>,
    /// Whether floats decide where it goes.
    pub has_floats: bool,
}

impl Round {
    /// The round at a cut where a walker stands; `Err` where its input does not come round.
    pub fn at(
        cut: Cut,
        body: &Body,
        mut stem: Walker,
        registers: &mut Registers,
        means: &mut Means,
        stamina: &mut Stamina,
    ) -> Result<Round, Halt> {
        pin_pointers(&cut, &mut stem, registers, means);
        match Round::with(Blur::Nothing, cut, body, &mut stem, registers, means, stamina) {
            Err(Halt::Unknown) => Round::with(Blur::Objects, cut, body, &mut stem, registers, means, stamina),
            round => round,
        }
    }

    fn with(
        blur: Blur,
        cut: Cut,
        body: &Body,
        stem: &mut Walker,
        registers: &mut Registers,
        means: &mut Means,
        stamina: &mut Stamina,
    ) -> Result<Round, Halt> {
        let (n_visits, mut changed) = period(blur, &cut, body, stem, registers, means, stamina)?;
        for _ in 0..MAX_AGAIN {
            if blur == Blur::Objects {
                changed.blur_the_largest();
            }
            if changed.spots.len() > MAX_CELLS {
                return Err(Halt::Unknown);
            }
            match Round::over(blur, cut, body, stem, &changed, n_visits, registers, means, stamina)? {
                Walked::Whole(round) => return Ok(*round),
                Walked::Changed(more) => changed.add(more),
            }
        }
        Err(Halt::Unknown)
    }

    #[expect(clippy::too_many_arguments, reason = "what goes round, and what to look at it with")]
    fn over(
        blur: Blur,
        cut: Cut,
        body: &Body,
        stem: &Walker,
        changed: &Changed,
        n_visits: usize,
        registers: &mut Registers,
        means: &mut Means,
        stamina: &mut Stamina,
    ) -> Result<Walked, Halt> {
        let Changed { spots, blurred } = changed;
        let mut start = Vec::with_capacity(spots.len());
        for spot in spots {
            start.push(spot.read(&mut means.machine.terms, &stem.state).ok_or(Halt::Unknown)?);
        }
        let mut walker = Walker { conds: Vec::new(), no_overflow: Vec::new(), ..stem.clone() };
        let cells = generalise(spots, &cut, &mut walker.state, means);
        for (cell, start) in cells.iter().zip(&start) {
            let value = means.eval.eval(&means.machine.terms, &stem.input, *start);
            set(&means.machine.terms, &mut walker.input, cell.symbol, value as u64);
        }
        blur_objects(blurred, &mut walker.state, &mut means.machine.terms).ok_or(Halt::Unknown)?;
        let from = walker.state.clone();
        let mut rest = Rest::Leaves;
        let mut here = vec![walker];
        for _ in 0..n_visits {
            let mut next = Vec::new();
            for walker in here {
                for (mut walker, halt) in every_way(walker, &cut, body, means, stamina) {
                    match halt {
                        Halt::Arrived => {
                            let n_conds = walker.conds.len();
                            pin_pointers(&cut, &mut walker, registers, means);
                            // Other addresses are other ways.
                            if walker.conds.len() > n_conds {
                                rest = Rest::Unknown;
                            }
                            next.push(walker);
                        }
                        Halt::Left => {}
                        Halt::Float => return Err(Halt::Float),
                        Halt::Outside | Halt::Unknown | Halt::Tired => rest = Rest::Unknown,
                    }
                }
            }
            here = next;
        }
        // Memory that nobody wrote and that is read anew in each round may be anything there.
        let mut fresh: FxHashSet<SymbolId> = FxHashSet::default();
        for walker in &here {
            fresh.extend(symbols_since(&walker.state, from.inputs.len(), &means.machine.terms));
        }
        let is_open =
            |terms: &Terms, t: TermId| is_blurred(terms, t) || terms.symbols(t).iter().any(|s| fresh.contains(s));
        let (mut ways, mut no_overflow, mut more) = (Vec::new(), Vec::new(), Changed::default());
        for walker in here {
            let found = changes(&cut, &from, &walker.state, blurred, registers, means);
            let terms = &means.machine.terms;
            let is_vague =
                depends_on_undefined(terms, &walker.conds) || walker.conds.iter().any(|cond| is_open(terms, *cond));
            if !found.are_cells(blur) || is_vague {
                rest = Rest::Unknown;
                continue;
            }
            more.spots.extend(found.spots.into_iter().filter(|spot| !spots.contains(spot)));
            more.blurred.extend(found.blurred);
            match updates(spots, &walker.state, means) {
                Some(updates) => {
                    ways.push(Way { conds: walker.conds, updates });
                    no_overflow.push(walker.no_overflow);
                }
                None => rest = Rest::Unknown,
            }
        }
        if !more.is_empty() {
            return Ok(Walked::Changed(more));
        }
        let counters = let_counters_overflow(&cells, &start, &mut ways, &no_overflow, means);
        // A way whose values come from what may be anything is none to reason about.
        let relevant = loop {
            let relevant = relevant(&means.machine.terms, &cells, &ways);
            let is_clear = |way: &Way| {
                let needed = way.updates.iter().zip(&relevant).filter(|(_, is_relevant)| **is_relevant);
                needed.into_iter().all(|(update, _)| !is_open(&means.machine.terms, *update))
            };
            let n_ways = ways.len();
            ways.retain(is_clear);
            if ways.is_empty() {
                return Err(Halt::Unknown);
            }
            if ways.len() == n_ways {
                break relevant;
            }
            rest = Rest::Unknown;
        };
        let terms = &means.machine.terms;
        let has_floats = ways.iter().any(|way| {
            let needed = way.updates.iter().zip(&relevant).filter(|(_, is_relevant)| **is_relevant);
            way.conds.iter().chain(needed.map(|(update, _)| update)).any(|t| terms.has_floats(*t))
        });
        let stem = stem.clone();
        let round = Round { cut, cells, start, stem, ways, rest, n_visits, relevant, counters, has_floats };
        Ok(Walked::Whole(Box::new(round)))
    }

    pub fn key(&self) -> RoundKey {
        let ways = self.ways.iter().map(|way| (way.conds.clone(), way.updates.clone())).collect();
        RoundKey { func: self.cut.func, block: self.cut.block, ways }
    }

    /// Whether conditions and values depend on nothing but cells.
    pub fn is_free_of_inputs(&self, terms: &Terms) -> bool {
        let cells: FxHashSet<SymbolId> = self.cells.iter().map(|cell| symbol_of(terms, cell.symbol)).collect();
        let mut all = self.ways.iter().flat_map(|way| way.conds.iter().chain(&way.updates));
        all.all(|t| terms.symbols(*t).iter().all(|symbol| cells.contains(symbol)))
    }

    /// The cells that matter, with their numbers.
    pub fn relevant_cells(&self) -> impl Iterator<Item = (usize, Cell)> + '_ {
        self.cells.iter().copied().enumerate().filter(|(idx, _)| self.relevant[*idx])
    }

    /// The condition under which some way leads back.
    pub fn stays(&self, terms: &mut Terms) -> TermId {
        let mut stays = terms.fls();
        for way in &self.ways {
            let cond = all_of(terms, &way.conds);
            stays = terms.or(stays, cond);
        }
        stays
    }

    /// A term over the cells after a way.
    pub fn after(&self, terms: &mut Terms, way: &Way, t: TermId) -> Option<TermId> {
        self.replace(terms, t, |idx| way.updates[idx])
    }

    /// A term over the cells when the cut is first reached, over the inputs alone.
    pub fn at_start(&self, terms: &mut Terms, t: TermId) -> Option<TermId> {
        self.replace(terms, t, |idx| self.start[idx])
    }

    /// The cells after whatever way is taken; where none is, any value.
    pub fn step(&self, terms: &mut Terms) -> Vec<TermId> {
        let conds: Vec<TermId> = self.ways.iter().map(|way| all_of(terms, &way.conds)).collect();
        let mut step = Vec::with_capacity(self.cells.len());
        for idx in 0..self.cells.len() {
            let mut next = self.ways[0].updates[idx];
            for (way, cond) in self.ways.iter().zip(&conds).skip(1) {
                next = terms.ite(*cond, way.updates[idx], next);
            }
            step.push(next);
        }
        step
    }

    /// A term with other values for the relevant cells.
    pub fn replace(&self, terms: &mut Terms, t: TermId, value: impl Fn(usize) -> TermId) -> Option<TermId> {
        let mut replacement = Replacement::default();
        for (idx, cell) in self.cells.iter().enumerate() {
            replacement.bind(symbol_of(terms, cell.symbol), value(idx));
        }
        replacement.apply(terms, t)
    }

    /// An input together with the values that the cells start with under it.
    pub fn with_start(&self, input: &Assignment, means: &mut Means) -> Assignment {
        let mut both = input.clone();
        for (cell, start) in self.cells.iter().zip(&self.start) {
            let value = means.eval.eval(&means.machine.terms, input, *start);
            set(&means.machine.terms, &mut both, cell.symbol, value as u64);
        }
        both
    }
}

enum Walked {
    Whole(Box<Round>),
    /// These are changed as well.
    Changed(Changed),
}

/// What a round changes: spots that become cells, and objects that may hold anything.
#[derive(Default)]
struct Changed {
    spots: Vec<Spot>,
    blurred: Vec<ObjectId>,
}

impl Changed {
    fn is_empty(&self) -> bool {
        self.spots.is_empty() && self.blurred.is_empty()
    }

    fn add(&mut self, more: Changed) {
        self.spots.extend(more.spots);
        self.blurred.extend(more.blurred);
        self.tidy();
    }

    /// Each once, and no spot in an object that may hold anything.
    fn tidy(&mut self) {
        self.blurred.sort_unstable();
        self.blurred.dedup();
        self.spots.sort_unstable();
        self.spots.dedup();
        self.spots.retain(|spot| !spot.object().is_some_and(|object| self.blurred.contains(&object)));
    }

    /// Where there are too many cells, the object with the most of them may hold anything.
    fn blur_the_largest(&mut self) {
        while self.spots.len() > MAX_CELLS {
            let mut n_spots: FxHashMap<ObjectId, usize> = FxHashMap::default();
            for object in self.spots.iter().filter_map(|spot| spot.object()) {
                *n_spots.entry(object).or_default() += 1;
            }
            let Some((largest, _)) = n_spots.into_iter().max_by_key(|(object, n)| (*n, *object)) else { return };
            self.blurred.push(largest);
            self.tidy();
        }
    }
}

/// The first two visits between which only cells change, and what does. What the first round reads of memory that nobody wrote
/// becomes an input there: then the stem of a loop goes one round further. That of a recursion would be another frame.
fn period(
    blur: Blur,
    cut: &Cut,
    body: &Body,
    stem: &mut Walker,
    registers: &mut Registers,
    means: &mut Means,
    stamina: &mut Stamina,
) -> Result<(usize, Changed), Halt> {
    let mut ahead = stem.clone();
    let (mut n_visits, mut n_settled) = (0, 0);
    while n_visits < MAX_PERIOD {
        match ahead.follow(cut, body, means, stamina) {
            Halt::Arrived => pin_pointers(cut, &mut ahead, registers, means),
            halt => return Err(halt),
        }
        let has_settled = ahead.state.inputs.len() > stem.state.inputs.len();
        if has_settled && cut.shape == Shape::Loop && n_settled < MAX_SETTLING {
            *stem = ahead.clone();
            (n_visits, n_settled) = (0, n_settled + 1);
            continue;
        }
        n_visits += 1;
        let found = changes(cut, &stem.state, &ahead.state, &[], registers, means);
        if found.are_cells(blur) {
            let mut changed = Changed { spots: found.spots, blurred: found.blurred };
            changed.tidy();
            return Ok((n_visits, changed));
        }
    }
    Err(Halt::Unknown)
}

fn updates(spots: &[Spot], state: &State, means: &mut Means) -> Option<Vec<TermId>> {
    spots.iter().map(|spot| spot.read(&mut means.machine.terms, state)).collect()
}

fn depends_on_undefined(terms: &Terms, conds: &[TermId]) -> bool {
    conds.iter().flat_map(|cond| terms.symbols(*cond)).any(|symbol| terms.symbol_name(*symbol).starts_with(UNDEFINED))
}

/// Takes out of the ways that a counter must not overflow, where nothing else depends on it and that is far off: who waits
/// for it waits as good as for ever. The numbers of these counters.
fn let_counters_overflow(
    cells: &[Cell],
    start: &[TermId],
    ways: &mut [Way],
    no_overflow: &[Vec<usize>],
    means: &mut Means,
) -> Vec<usize> {
    if no_overflow.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let terms = &means.machine.terms;
    let later: Vec<Option<[u64; 3]>> =
        (0..cells.len()).map(|idx| over_many_rounds(terms, cells, start, ways, idx)).collect();
    // By way: conditions that hold for that long, and whose counter they are about.
    let mut lasting: Vec<Vec<(usize, usize)>> = Vec::with_capacity(ways.len());
    for (way, checks) in ways.iter().zip(no_overflow) {
        let mut of_way = Vec::new();
        for nth in checks {
            let [symbol] = *terms.symbols(way.conds[*nth]) else { continue };
            let counter = cells.iter().position(|cell| symbol_of(terms, cell.symbol) == symbol);
            let Some((idx, values)) = counter.and_then(|idx| Some((idx, later[idx]?))) else { continue };
            let holds = values.iter().all(|value| {
                let mut here = Assignment::new();
                here.set(symbol, *value);
                means.eval.holds(terms, &here, way.conds[*nth])
            });
            if holds {
                of_way.push((*nth, idx));
            }
        }
        lasting.push(of_way);
    }
    let without = |ways: &[Way], is_out: &dyn Fn(usize) -> bool| -> Vec<Way> {
        let mut others = ways.to_vec();
        for (way, of_way) in others.iter_mut().zip(&lasting) {
            let mut nth = 0..;
            way.conds.retain(|_| {
                let here = nth.next();
                !of_way.iter().any(|(at, idx)| Some(*at) == here && is_out(*idx))
            });
        }
        others
    };
    let decides = relevant(terms, cells, &without(ways, &|_| true));
    let left = without(ways, &|idx| !decides[idx]);
    ways.clone_from_slice(&left);
    let mut counters: Vec<usize> = lasting.iter().flatten().map(|(_, idx)| *idx).filter(|idx| !decides[*idx]).collect();
    counters.sort_unstable();
    counters.dedup();
    counters
}

/// For a cell that every way adds a constant to, and that starts as one: that, the least and the greatest value it can have
/// after many rounds. `None` where it can have wrapped around by then.
fn over_many_rounds(terms: &Terms, cells: &[Cell], start: &[TermId], ways: &[Way], idx: usize) -> Option<[u64; 3]> {
    let Cell { symbol, bits, .. } = cells[idx];
    let first = term::fold::signed(terms.as_const(start[idx])?, bits);
    let (mut least, mut most) = (first, first);
    for way in ways {
        let by = match terms.view(way.updates[idx]) {
            View::Symbol(_) if way.updates[idx] == symbol => 0,
            View::Add(a, b) if a == symbol => terms.as_const(b)?,
            View::Add(a, b) if b == symbol => terms.as_const(a)?,
            _ => return None,
        };
        let there = first + MANY_ROUNDS * term::fold::signed(by, bits);
        (least, most) = (least.min(there), most.max(there));
    }
    let half = 1i128 << (bits - 1);
    let bits_of = |value: i128| (value as u128 & term::fold::mask(bits)) as u64;
    (-half <= least && most < half).then(|| [first, least, most].map(bits_of))
}

fn relevant(terms: &Terms, cells: &[Cell], ways: &[Way]) -> Vec<bool> {
    let mut needed: FxHashSet<SymbolId> = FxHashSet::default();
    for cond in ways.iter().flat_map(|way| &way.conds) {
        needed.extend(terms.symbols(*cond));
    }
    let mut relevant = vec![false; cells.len()];
    loop {
        let fresh = cells
            .iter()
            .enumerate()
            .find(|(idx, cell)| !relevant[*idx] && needed.contains(&symbol_of(terms, cell.symbol)));
        let Some((idx, _)) = fresh else { return relevant };
        relevant[idx] = true;
        for way in ways {
            needed.extend(terms.symbols(way.updates[idx]));
        }
    }
}

pub fn symbol_of(terms: &Terms, t: TermId) -> SymbolId {
    match terms.view(t) {
        View::Symbol(symbol) => symbol,
        view => unreachable!("a cell is a symbol, not {view:?}"),
    }
}

/// The number of which a term is the sign: how the simplifier writes `x < 0`.
pub fn negative(terms: &Terms, t: TermId) -> Option<TermId> {
    match terms.view(t) {
        View::Extract { arg, lo } if terms.width(t) == 1 && lo + 1 == terms.width(arg) => Some(arg),
        _ => None,
    }
}

pub fn set(terms: &Terms, input: &mut Assignment, symbol: TermId, value: u64) {
    input.set(symbol_of(terms, symbol), value);
}

pub fn all_of(terms: &mut Terms, conds: &[TermId]) -> TermId {
    let mut all = terms.tru();
    for cond in conds {
        all = terms.and(all, *cond);
    }
    all
}
