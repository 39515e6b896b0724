//! A cycle walked with concrete values, to see where they lead.

use explore::Means;
use rustc_hash::FxHashMap;
use term::Assignment;

use super::round::{Round, Way};
use super::sets::with_values;

/// Where the values lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Out of the cycle.
    Leaves,
    /// The last values lead to those at `from`.
    Repeats { from: usize },
    /// Neither so far.
    Open,
}

/// The values of all cells, visit by visit.
pub struct Trace {
    pub values: Vec<Vec<u64>>,
    /// Which way each visit took; none behind the last one where that leaves.
    pub ways: Vec<usize>,
    pub fate: Fate,
}

/// Walks from the values that the cells start with under an input. Values that do not matter are not compared.
pub fn simulate(round: &Round, input: &Assignment, max_steps: usize, means: &mut Means) -> Trace {
    let terms = &means.machine.terms;
    let mut at: Vec<u64> = round.cells.iter().map(|cell| means.eval.eval(terms, input, cell.symbol) as u64).collect();
    let key = |at: &[u64]| -> Vec<u64> { round.relevant_cells().map(|(idx, _)| at[idx]).collect() };
    let mut seen: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
    let (mut values, mut ways) = (Vec::new(), Vec::new());
    while values.len() < max_steps {
        if let Some(from) = seen.insert(key(&at), values.len()) {
            return Trace { values, ways, fate: Fate::Repeats { from } };
        }
        values.push(at.clone());
        let here = with_values(round, input, &at, terms);
        let is_taken = |way: &Way| way.conds.iter().all(|cond| means.eval.holds(terms, &here, *cond));
        let Some(taken) = round.ways.iter().position(is_taken) else {
            return Trace { values, ways, fate: Fate::Leaves };
        };
        ways.push(taken);
        at = round.ways[taken].updates.iter().map(|update| means.eval.eval(terms, &here, *update) as u64).collect();
    }
    Trace { values, ways, fate: Fate::Open }
}
