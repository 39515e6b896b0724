//! Inputs that are tried in lanes: what the lanes are filled with, and what came of it.

use crate::domain::Domains;
use crate::layers::Said;
use crate::query::Query;
use term::{Graph, Lanes, SymbolId, TermId, Terms, View};

/// What came out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Values(Vec<(SymbolId, u64)>),
    Nothing,
}

impl Found {
    pub fn said(self, query: &Query) -> Said {
        match self {
            Found::Nothing => Said::Unsat(None),
            Found::Values(found) => completed(query, &found),
        }
    }
}

/// The values found, and those of the current input for the symbols that make no difference.
pub(crate) fn completed(query: &Query, found: &[(SymbolId, u64)]) -> Said {
    let value = |symbol| found.iter().find(|(other, _)| *other == symbol).map(|(_, value)| *value);
    let value_or_now = |symbol| value(symbol).unwrap_or_else(|| query.current.get(symbol));
    Said::Sat(query.symbols().into_iter().map(|symbol| (symbol, value_or_now(symbol))).collect())
}

/// For each input of some lanes the symbol it is over, by its place, and what it is for each of its values.
pub(crate) struct Inputs(Vec<(usize, Option<Graph>)>);

impl Inputs {
    /// `at` says the place of a symbol.
    pub fn of(
        terms: &Terms,
        domains: &mut Domains,
        lanes: &Lanes,
        at: impl Fn(SymbolId) -> Option<usize>,
    ) -> Option<Inputs> {
        let input = |&t: &TermId| {
            let &[symbol] = terms.symbols(t) else { return None };
            match domains.graph(terms, t) {
                Some(graph) => Some((at(symbol)?, Some(graph))),
                None => matches!(terms.view(t), View::Symbol(_)).then_some((at(symbol)?, None)),
            }
        };
        lanes.inputs().iter().map(input).collect::<Option<_>>().map(Inputs)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Fills one lane with the values of the symbols, in the order of their places.
    pub fn write(&self, lanes: &mut Lanes, lane: usize, values: &[u64]) {
        for (nth, (at, graph)) in self.0.iter().enumerate() {
            lanes.values_mut(nth)[lane] = match graph {
                Some(graph) => graph[values[*at] as usize] as u64,
                None => values[*at],
            };
        }
    }
}
