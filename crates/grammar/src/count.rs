//! How many symbolic strings, or texts, a grammar has of each size: computed, not enumerated.
//!
//! Derivations are counted, as the paper does: in an ambiguous grammar a text with two derivations counts twice. Variables
//! that derive each other without adding anything (`a: b; b: a;`) derive the same texts and are counted as one.

use num_bigint::BigUint;

use crate::{Grammar, Symbol, TokenId, VariableId};

/// What a token adds to the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// One for a token, and one more for each byte that a hole is longer than its shortest text: symbolic strings.
    Symbols,
    /// Its bytes: texts, without blanks.
    Bytes,
}

/// The counts for size 0, 1, 2, ...
pub type Count = Vec<BigUint>;

/// For every size up to `largest`.
pub fn count(grammar: &Grammar, measure: Measure, largest: usize) -> Count {
    let tokens: Vec<Count> =
        (0..grammar.tokens.len()).map(|idx| of_token(grammar, TokenId(idx as u32), measure, largest)).collect();
    let order = components(grammar);
    let mut counting = Counting {
        tokens,
        variables: vec![vec![BigUint::ZERO; largest + 1]; grammar.variables.len()],
        begun: grammar
            .rules
            .iter()
            .map(|rule| vec![vec![BigUint::ZERO; largest + 1]; rule.symbols.len() + 1])
            .collect(),
        component_of: vec![0; grammar.variables.len()],
        grammar,
    };
    for (idx, component) in order.iter().enumerate() {
        component.iter().for_each(|variable| counting.component_of[variable.idx()] = idx);
    }
    counting.begun.iter_mut().for_each(|begun| begun[0][0] = BigUint::from(1u8));
    for size in 0..=largest {
        order.iter().for_each(|component| counting.settle(component, size));
        // The beginning of a rule may have this size by a variable that was settled after it. Larger sizes will need it.
        (0..grammar.rules.len()).for_each(|rule| counting.extend(rule, size, Whole::Counted));
    }
    counting.variables.swap_remove(grammar.start.idx())
}

fn of_token(grammar: &Grammar, token: TokenId, measure: Measure, largest: usize) -> Count {
    let language = &grammar.token(token).language;
    let shortest = language.shortest_len().unwrap_or(0);
    match measure {
        Measure::Bytes => language.count(largest),
        Measure::Symbols => {
            let by_len = language.count(shortest + largest);
            let one = |size: usize| u8::from(size > 0 && by_len[shortest + size - 1] != BigUint::ZERO);
            (0..=largest).map(|size| BigUint::from(one(size))).collect()
        }
    }
}

struct Counting<'g> {
    grammar: &'g Grammar,
    tokens: Vec<Count>,
    variables: Vec<Count>,
    /// For each rule, how often its first n symbols have a size.
    begun: Vec<Vec<Count>>,
    component_of: Vec<usize>,
}

/// Whether a symbol of the component that makes up the whole size is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    LeftOut,
    Counted,
}

impl Counting<'_> {
    /// Counts a size for variables that derive each other.
    fn settle(&mut self, component: &[VariableId], size: usize) {
        let rules: Vec<usize> =
            (0..self.grammar.rules.len()).filter(|idx| component.contains(&self.grammar.rules[*idx].of)).collect();
        let mut sum = BigUint::ZERO;
        for rule in &rules {
            self.extend(*rule, size, Whole::LeftOut);
            sum += self.begun[*rule].last().expect("a rule has a beginning")[size].clone();
        }
        if size == 0 && sum != BigUint::ZERO {
            // Nothing is nothing, however it is derived.
            sum = BigUint::from(1u8);
        }
        component.iter().for_each(|variable| self.variables[variable.idx()][size] = sum.clone());
        rules.iter().for_each(|rule| self.extend(*rule, size, Whole::Counted));
    }

    fn extend(&mut self, rule_idx: usize, size: usize, whole: Whole) {
        let rule = &self.grammar.rules[rule_idx];
        let own = self.component_of[rule.of.idx()];
        for (at, symbol) in rule.symbols.iter().enumerate() {
            let of_symbol = match symbol {
                Symbol::Token(token) => &self.tokens[token.idx()],
                Symbol::Variable(variable) => &self.variables[variable.idx()],
            };
            let is_own = matches!(symbol, Symbol::Variable(variable) if self.component_of[variable.idx()] == own);
            let begun = &self.begun[rule_idx][at];
            let mut sum = BigUint::ZERO;
            for of_this in 0..=size {
                if of_this == size && is_own && whole == Whole::LeftOut {
                    continue;
                }
                if of_symbol[of_this] != BigUint::ZERO && begun[size - of_this] != BigUint::ZERO {
                    sum += &of_symbol[of_this] * &begun[size - of_this];
                }
            }
            self.begun[rule_idx][at + 1][size] = sum;
        }
    }
}

/// The variables grouped by which derive each other alone, those that others need first.
fn components(grammar: &Grammar) -> Vec<Vec<VariableId>> {
    let can_vanish = vanishing(grammar);
    let needs: Vec<Vec<usize>> = (0..grammar.variables.len())
        .map(|idx| {
            let mut needs = Vec::new();
            for rule in grammar.rules.iter().filter(|rule| rule.of.idx() == idx) {
                for (at, symbol) in rule.symbols.iter().enumerate() {
                    let others = rule.symbols.iter().enumerate().filter(|(other, _)| *other != at);
                    let is_alone = others.into_iter().all(|(_, other)| match other {
                        Symbol::Variable(variable) => can_vanish[variable.idx()],
                        Symbol::Token(_) => false,
                    });
                    if let (Symbol::Variable(variable), true) = (symbol, is_alone) {
                        needs.push(variable.idx());
                    }
                }
            }
            needs
        })
        .collect();
    strongly_connected(&needs)
        .into_iter()
        .map(|component| component.into_iter().map(|idx| VariableId(idx as u32)).collect())
        .collect()
}

/// Which variables derive the empty text.
pub(crate) fn vanishing(grammar: &Grammar) -> Vec<bool> {
    let mut vanishes = vec![false; grammar.variables.len()];
    loop {
        let mut has_changed = false;
        for rule in &grammar.rules {
            let all = rule.symbols.iter().all(|symbol| match symbol {
                Symbol::Variable(variable) => vanishes[variable.idx()],
                Symbol::Token(_) => false,
            });
            has_changed |= all && !std::mem::replace(&mut vanishes[rule.of.idx()], true);
        }
        if !has_changed {
            return vanishes;
        }
    }
}

/// Tarjan's algorithm, without recursion: components come after those they need.
fn strongly_connected(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let n = needs.len();
    let (mut number, mut low) = (vec![NEW; n], vec![0; n]);
    let mut is_open = vec![false; n];
    let (mut stack, mut components, mut n_seen) = (Vec::new(), Vec::new(), 0);
    for root in 0..n {
        if number[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((node, at)) = calls.pop() {
            if at == 0 {
                (number[node], low[node]) = (n_seen, n_seen);
                n_seen += 1;
                stack.push(node);
                is_open[node] = true;
            }
            match needs[node].get(at) {
                Some(next) => {
                    calls.push((node, at + 1));
                    if number[*next] == NEW {
                        calls.push((*next, 0));
                    } else if is_open[*next] {
                        low[node] = low[node].min(number[*next]);
                    }
                }
                None => {
                    if low[node] == number[node] {
                        let from = stack.iter().rposition(|open| *open == node).expect("it is on the stack");
                        let component: Vec<usize> = stack.split_off(from);
                        component.iter().for_each(|node| is_open[*node] = false);
                        components.push(component);
                    }
                    if let Some((above, _)) = calls.last() {
                        low[*above] = low[*above].min(low[node]);
                    }
                }
            }
        }
    }
    components
}
