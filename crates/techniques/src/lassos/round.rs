//! One round of a cycle as a relation: from any values of its cells, under which conditions which way leads back to the
//! cut, and with which values.
//!
//! What the cycle changes becomes symbols, the cells. What it leaves alone stays what it is, a constant or a term over the
//! inputs: inputs do not change, so the path condition holds in every round. A way that changes something that was no cell
//! yet makes it one, and all ways are walked again.

use explore::Means;
use ir::{BlockId, FuncId};
use rustc_hash::FxHashSet;
use term::{Assignment, Replacement, SymbolId, TermId, Terms, View};
use vm::State;

use super::cells::{Cell, Changes, MAX_CELLS, Registers, Spot, changes, generalise, pin_pointers};
use super::walk::{Body, Cut, Halt, Stamina, Walker, every_way};

/// Visits among which two are looked for between which only cells change.
const MAX_PERIOD: usize = 64;
/// How often ways are walked again because of new cells.
const MAX_AGAIN: usize = 5;
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
        let (n_visits, mut spots) = period(&cut, body, &stem, registers, means, stamina)?;
        for _ in 0..MAX_AGAIN {
            if spots.len() > MAX_CELLS {
                return Err(Halt::Unknown);
            }
            match Round::over(cut, body, &stem, &spots, n_visits, registers, means, stamina)? {
                Walked::Whole(round) => return Ok(*round),
                Walked::Changed(more) => spots.extend(more),
            }
            spots.sort_unstable();
            spots.dedup();
        }
        Err(Halt::Unknown)
    }

    #[expect(clippy::too_many_arguments, reason = "what goes round, and what to look at it with")]
    fn over(
        cut: Cut,
        body: &Body,
        stem: &Walker,
        spots: &[Spot],
        n_visits: usize,
        registers: &mut Registers,
        means: &mut Means,
        stamina: &mut Stamina,
    ) -> Result<Walked, Halt> {
        let mut start = Vec::with_capacity(spots.len());
        for spot in spots {
            start.push(spot.read(&mut means.machine.terms, &stem.state).ok_or(Halt::Unknown)?);
        }
        let mut walker = Walker { conds: Vec::new(), ..stem.clone() };
        let cells = generalise(spots, &cut, &mut walker.state, means);
        for (cell, start) in cells.iter().zip(&start) {
            let value = means.eval.eval(&means.machine.terms, &stem.input, *start);
            set(&means.machine.terms, &mut walker.input, cell.symbol, value as u64);
        }
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
        let (mut ways, mut more) = (Vec::new(), Vec::new());
        for walker in here {
            let Changes { spots: changed, has_others } = changes(&cut, &from, &walker.state, registers, means);
            let is_undefined = depends_on_undefined(&means.machine.terms, &walker.conds);
            if has_others || is_undefined {
                rest = Rest::Unknown;
                continue;
            }
            more.extend(changed.into_iter().filter(|spot| !spots.contains(spot)));
            match updates(spots, &walker.state, means) {
                Some(updates) => ways.push(Way { conds: walker.conds, updates }),
                None => rest = Rest::Unknown,
            }
        }
        if !more.is_empty() {
            return Ok(Walked::Changed(more));
        }
        if ways.is_empty() {
            return Err(Halt::Unknown);
        }
        let relevant = relevant(&means.machine.terms, &cells, &ways);
        let stem = stem.clone();
        Ok(Walked::Whole(Box::new(Round { cut, cells, start, stem, ways, rest, n_visits, relevant })))
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
    Changed(Vec<Spot>),
}

/// The first two visits between which only cells change, and which cells do.
fn period(
    cut: &Cut,
    body: &Body,
    stem: &Walker,
    registers: &mut Registers,
    means: &mut Means,
    stamina: &mut Stamina,
) -> Result<(usize, Vec<Spot>), Halt> {
    let mut ahead = stem.clone();
    for n_visits in 1..=MAX_PERIOD {
        match ahead.follow(cut, body, means, stamina) {
            Halt::Arrived => pin_pointers(cut, &mut ahead, registers, means),
            halt => return Err(halt),
        }
        let Changes { spots, has_others } = changes(cut, &stem.state, &ahead.state, registers, means);
        if !has_others {
            return Ok((n_visits, spots));
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
