//! A search for floats: moves inputs, one at a time, to where the conditions are nearer to holding.
//!
//! The distance of a comparison is the number of floats between its operands, as a logarithm, so that conditions on large and on small
//! numbers weigh the same; what is wanted of all of them is added up. From the current input each variable is moved by every power
//! of two of places, up and down, and the best of these moves is taken: a block of lanes tries 64 of them at once, which makes
//! millions of tries a second. Where no move helps, the numbers that occur in the conditions are tried, then all variables are
//! moved a little at once, and then it starts again from somewhere else. This is the alternating variable method (Korel 1990) on
//! the distance of XSat (Fu and Su 2016), in lanes.
//!
//! It never says no. What it costs is bounded by steps, so that the same question gets the same answer. A long double is too wide
//! for lanes.

mod distance;
mod variables;

use crate::dice::Dice;
use crate::domain::Domains;
use crate::layers::{Answers, Cost, Said, Setup};
use crate::query::{Query, Tools};
use distance::Distances;
use std::rc::Rc;
use term::{Graph, Lanes, N_LANES, SymbolId, TermId, Terms};
use variables::{Variable, numbers_of, variables_of};

/// Steps over one block, about 50 ns each, before gates have a try and when they did not find it easy.
const BUDGET: u64 = 60_000;
const LATE_BUDGET: u64 = 3_000_000;
/// Steps between two looks at the clock.
const COST_OF_A_LOOK: u64 = 50_000;
/// More symbols than this are not moved one by one.
const MAX_SYMBOLS: usize = 48;
/// Blocks of small moves of all variables, before it starts from somewhere else.
const N_SHAKES: u32 = 6;

struct Climb;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Climb))
}

impl Answers for Climb {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        search(query, tools, BUDGET, 0)
    }

    fn answer_late(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        search(query, tools, LATE_BUDGET, 1)
    }

    fn cost(&self) -> Cost {
        Cost::Search
    }
}

fn search(query: &mut Query, tools: &mut Tools, budget: u64, seed: u64) -> Option<Said> {
    let terms = query.terms;
    let mut asked = query.constraints().iter().chain([&query.question]);
    if !asked.any(|&condition| terms.has_floats(condition)) {
        return None;
    }
    let conditions = query.conjunction();
    let symbols = query.symbols();
    if symbols.len() > MAX_SYMBOLS {
        return None;
    }
    let mut ground = Ground::new(terms, &mut tools.domains, &conditions, &symbols)?;
    let start: Vec<u64> = symbols.iter().map(|&symbol| query.current.get(symbol)).collect();
    let mut dice = Dice::new((query.key() as u64).wrapping_add(seed));
    let clock = query.clock().clone().with_at_least(query.timeout() / 4);
    let found = ground.climb(start, &mut dice, budget, || clock.is_over())?;
    Some(Said::Sat(symbols.into_iter().zip(found).collect()))
}

/// The conditions made ready, and what can be moved.
struct Ground {
    lanes: Lanes,
    /// For each input of the lanes the place of its symbol, and what it is for each of its values where it is a small one's.
    inputs: Vec<(usize, Option<Graph>)>,
    distances: Distances,
    variables: Vec<Variable>,
    /// Values worth trying, of any variable of the same width.
    numbers: Vec<(u32, u64)>,
}

/// A value for each symbol.
type Point = Vec<u64>;

/// A point and how far it is from satisfying everything.
#[derive(Clone)]
struct Spot {
    point: Point,
    distance: u64,
}

impl Ground {
    /// `None` where something is too wide for lanes, or too large.
    fn new(terms: &Terms, domains: &mut Domains, conditions: &[TermId], symbols: &[SymbolId]) -> Option<Ground> {
        let distances = Distances::new(terms, conditions);
        let lanes = Lanes::new(terms, &distances.wanted)?;
        let mut inputs = Vec::new();
        for &input in lanes.inputs() {
            let symbol = terms.symbols(input).first()?;
            let graph = if terms.symbol_term(*symbol) == input { None } else { Some(domains.graph(terms, input)?) };
            inputs.push((symbols.binary_search(symbol).ok()?, graph));
        }
        let variables = variables_of(terms, conditions, symbols);
        let numbers = numbers_of(terms, conditions);
        Some(Ground { lanes, inputs, distances, variables, numbers })
    }

    fn block_cost(&self) -> u64 {
        (self.lanes.n_steps() + 2 * self.inputs.len()) as u64 + self.distances.cost()
    }

    /// The best of some points.
    fn best(&mut self, points: &[Point]) -> Option<Spot> {
        let Ground { lanes, inputs, .. } = self;
        for (nth, (symbol, graph)) in inputs.iter().enumerate() {
            let values = lanes.values_mut(nth);
            for (lane, value) in values.iter_mut().enumerate() {
                let of_symbol = points[lane.min(points.len() - 1)][*symbol];
                *value = graph.as_ref().map_or(of_symbol, |graph: &Rc<_>| graph[of_symbol as usize & 0xff] as u64);
            }
        }
        self.lanes.compute();
        let distances = (0..points.len()).map(|lane| (self.distances.in_lane(&self.lanes, lane), lane));
        let (distance, lane) = distances.min()?;
        Some(Spot { point: points[lane].clone(), distance })
    }

    /// A point that satisfies everything.
    fn climb(&mut self, start: Point, dice: &mut Dice, budget: u64, is_over: impl Fn() -> bool) -> Option<Point> {
        let mut purse = Purse { left: budget, cost: self.block_cost(), since_look: 0 };
        let mut here = self.best(std::slice::from_ref(&start))?;
        let mut n_shakes = 0;
        loop {
            if here.distance == 0 {
                return Some(here.point);
            }
            let before = here.distance;
            for nth in 0..self.variables.len() {
                here = self.along(here, nth, &mut purse, &is_over)?;
            }
            if here.distance < before {
                n_shakes = 0;
                continue;
            }
            if n_shakes == 0 {
                here = self.try_numbers(here, &mut purse, &is_over)?;
            }
            n_shakes += 1;
            if n_shakes <= N_SHAKES {
                here = self.shake(here, dice, &mut purse, &is_over)?;
                continue;
            }
            n_shakes = 0;
            here = self.somewhere(&start, dice, &mut purse, &is_over)?;
        }
    }

    /// As far as one variable alone can bring it.
    fn along(&mut self, mut here: Spot, nth: usize, purse: &mut Purse, is_over: &impl Fn() -> bool) -> Option<Spot> {
        loop {
            let variable = &self.variables[nth];
            let now = variable.get(&here.point);
            let moves = variable.moves(now);
            let points: Vec<Point> = moves.into_iter().map(|value| variable.set(&here.point, value)).collect();
            let next = self.best_of_all(&points, purse, is_over)?;
            if next.distance >= here.distance {
                return Some(here);
            }
            here = next;
            if here.distance == 0 {
                return Some(here);
            }
        }
    }

    fn best_of_all(&mut self, points: &[Point], purse: &mut Purse, is_over: &impl Fn() -> bool) -> Option<Spot> {
        let mut best: Option<Spot> = None;
        for block in points.chunks(N_LANES) {
            purse.pay(is_over)?;
            let spot = self.best(block)?;
            if best.as_ref().is_none_or(|best| spot.distance < best.distance) {
                best = Some(spot);
            }
        }
        best
    }

    /// Each variable at each number that occurs.
    fn try_numbers(&mut self, here: Spot, purse: &mut Purse, is_over: &impl Fn() -> bool) -> Option<Spot> {
        let mut points = vec![here.point.clone()];
        for variable in &self.variables {
            let others = self.variables.iter().filter(|other| other.width() == variable.width());
            let numbers = self.numbers.iter().filter(|(width, _)| *width == variable.width()).map(|(_, value)| *value);
            let values = others.map(|other| other.get(&here.point)).chain(numbers);
            points.extend(values.map(|value| variable.set(&here.point, value)));
        }
        self.best_of_all(&points, purse, is_over)
    }

    /// Some variables a little further at once.
    fn shake(&mut self, here: Spot, dice: &mut Dice, purse: &mut Purse, is_over: &impl Fn() -> bool) -> Option<Spot> {
        let mut points = vec![here.point.clone()];
        for _ in 1..N_LANES {
            let mut point = here.point.clone();
            let n_moved = 1 + dice.below(3);
            for _ in 0..n_moved {
                let variable = &self.variables[dice.below(self.variables.len() as u64) as usize];
                point = variable.set(&point, variable.nearby(variable.get(&point), dice));
            }
            points.push(point);
        }
        self.best_of_all(&points, purse, is_over)
    }

    /// The best of some points that have little to do with where it was.
    fn somewhere(
        &mut self,
        start: &Point,
        dice: &mut Dice,
        purse: &mut Purse,
        is_over: &impl Fn() -> bool,
    ) -> Option<Spot> {
        let mut points = Vec::with_capacity(N_LANES);
        for _ in 0..N_LANES {
            let mut point = start.clone();
            for variable in &self.variables {
                let numbers: Vec<u64> =
                    self.numbers.iter().filter(|(width, _)| *width == variable.width()).map(|(_, n)| *n).collect();
                let value = match dice.below(4) {
                    0 => continue,
                    1 if !numbers.is_empty() => numbers[dice.below(numbers.len() as u64) as usize],
                    _ => variable.any(dice),
                };
                point = variable.set(&point, value);
            }
            points.push(point);
        }
        self.best_of_all(&points, purse, is_over)
    }
}

/// Steps that may still be taken.
struct Purse {
    left: u64,
    cost: u64,
    since_look: u64,
}

impl Purse {
    /// For one block; `None` when there is nothing left.
    fn pay(&mut self, is_over: &impl Fn() -> bool) -> Option<()> {
        self.left = self.left.checked_sub(self.cost)?;
        self.since_look += self.cost;
        if self.since_look > COST_OF_A_LOOK {
            self.since_look = 0;
            return (!is_over()).then_some(());
        }
        Some(())
    }
}
