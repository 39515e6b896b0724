//! What can follow the beginning of a text: Earley's algorithm, with the least size that every way still needs.
//!
//! A chart has a column for each place between tokens. An item in it is a rule, how much of it was read, and where that began.
//! What an item still needs at least is the rest of its rule and whatever stands around it: that is computed once for each variable
//! that a column waits for, so the least size of a whole text is known before a token is written.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::count::vanishing;
use crate::{Grammar, Symbol, TokenId, VariableId};

/// More than any text has.
const NEVER: u32 = u32::MAX / 4;

/// What is known of a grammar's rules by themselves.
pub struct Rules {
    grammar: Arc<Grammar>,
    vanishes: Vec<bool>,
    /// For each rule and each place in it, the least size of what follows there.
    rest: Vec<Vec<u32>>,
    of: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Item {
    rule: u32,
    dot: u32,
    origin: u32,
}

#[derive(Debug, Default)]
struct Column {
    items: Vec<Item>,
    /// The items that wait for a variable here.
    waiting: FxHashMap<VariableId, Vec<usize>>,
    /// What has to follow a variable that begins here, at least.
    around: FxHashMap<VariableId, u32>,
}

/// The beginning of a text. Cloning shares its columns.
#[derive(Clone)]
pub struct Chart {
    columns: Vec<Rc<Column>>,
}

impl Rules {
    pub fn new(grammar: Arc<Grammar>) -> Rules {
        let n_variables = grammar.variables.len();
        let mut of = vec![Vec::new(); n_variables];
        for (idx, rule) in grammar.rules.iter().enumerate() {
            of[rule.of.idx()].push(idx as u32);
        }
        let mut least = vec![NEVER; n_variables];
        let size = |least: &[u32], symbol: &Symbol| match symbol {
            Symbol::Token(_) => 1,
            Symbol::Variable(variable) => least[variable.idx()],
        };
        loop {
            let mut has_changed = false;
            for rule in &grammar.rules {
                let sum = rule.symbols.iter().fold(0, |sum: u32, symbol| NEVER.min(sum + size(&least, symbol)));
                if sum < least[rule.of.idx()] {
                    least[rule.of.idx()] = sum;
                    has_changed = true;
                }
            }
            if !has_changed {
                break;
            }
        }
        let rest_of = |rule: &crate::Rule| {
            let mut rest = vec![0; rule.symbols.len() + 1];
            for at in (0..rule.symbols.len()).rev() {
                rest[at] = NEVER.min(rest[at + 1] + size(&least, &rule.symbols[at]));
            }
            rest
        };
        let rest = grammar.rules.iter().map(rest_of).collect();
        Rules { vanishes: vanishing(&grammar), rest, of, grammar }
    }

    pub fn grammar(&self) -> &Arc<Grammar> {
        &self.grammar
    }

    fn symbol(&self, item: Item) -> Option<Symbol> {
        self.grammar.rules[item.rule as usize].symbols.get(item.dot as usize).copied()
    }

    fn left(&self, item: Item) -> VariableId {
        self.grammar.rules[item.rule as usize].of
    }

    /// Before the first token.
    pub fn beginning(&self) -> Chart {
        let items = self.of[self.grammar.start.idx()].iter();
        let column = self.column(&[], items.map(|rule| Item { rule: *rule, dot: 0, origin: 0 }).collect());
        Chart { columns: vec![Rc::new(column)] }
    }

    /// The beginning with one token more; `None` where that is no beginning of a text.
    pub fn advance(&self, chart: &Chart, token: TokenId) -> Option<Chart> {
        let last = chart.columns.last().expect("a chart has a column");
        let is_next = |item: &&Item| self.symbol(**item) == Some(Symbol::Token(token));
        let items: Vec<Item> =
            last.items.iter().filter(is_next).map(|item| Item { dot: item.dot + 1, ..*item }).collect();
        if items.is_empty() {
            return None;
        }
        let column = self.column(&chart.columns, items);
        let mut columns = chart.columns.clone();
        columns.push(Rc::new(column));
        Some(Chart { columns })
    }

    /// Whether the beginning is a text by itself.
    pub fn is_whole(&self, chart: &Chart) -> bool {
        let last = chart.columns.last().expect("a chart has a column");
        let start = self.grammar.start;
        let is_done = |item: &Item| item.origin == 0 && self.symbol(*item).is_none() && self.left(*item) == start;
        last.items.iter().any(is_done) || (chart.columns.len() == 1 && self.vanishes[start.idx()])
    }

    /// The tokens that may come next, each with the least size of all that follows, itself included.
    pub fn next(&self, chart: &Chart) -> Vec<(TokenId, u32)> {
        let last = chart.columns.last().expect("a chart has a column");
        let mut next: FxHashMap<TokenId, u32> = FxHashMap::default();
        for item in &last.items {
            if let Some(Symbol::Token(token)) = self.symbol(*item) {
                let least = self.needs(&chart.columns, *item);
                let known = next.entry(token).or_insert(NEVER);
                *known = least.min(*known);
            }
        }
        let mut next: Vec<_> = next.into_iter().filter(|(_, least)| *least < NEVER).collect();
        next.sort_unstable();
        next
    }

    /// What follows an item at least, to the end of the text.
    fn needs(&self, columns: &[Rc<Column>], item: Item) -> u32 {
        let around = columns[item.origin as usize].around.get(&self.left(item)).copied().unwrap_or(NEVER);
        NEVER.min(self.rest[item.rule as usize][item.dot as usize] + around)
    }

    /// Completes and predicts all that these items make of a column.
    fn column(&self, before: &[Rc<Column>], items: Vec<Item>) -> Column {
        let here = before.len() as u32;
        let mut column = Column::default();
        let mut known: FxHashSet<Item> = items.iter().copied().collect();
        column.items = items;
        let mut at = 0;
        while at < column.items.len() {
            let item = column.items[at];
            let mut more = Vec::new();
            match self.symbol(item) {
                Some(Symbol::Token(_)) => {}
                Some(Symbol::Variable(variable)) => {
                    column.waiting.entry(variable).or_default().push(at);
                    more.extend(self.of[variable.idx()].iter().map(|rule| Item { rule: *rule, dot: 0, origin: here }));
                    if self.vanishes[variable.idx()] {
                        more.push(Item { dot: item.dot + 1, ..item });
                    }
                }
                // Those that wait in this very column go on by `vanishes`.
                None if item.origin == here => {}
                None => {
                    let origin = &before[item.origin as usize];
                    let waiting = origin.waiting.get(&self.left(item)).map_or(&[][..], Vec::as_slice);
                    more.extend(waiting.iter().map(|idx| origin.items[*idx]).map(|it| Item { dot: it.dot + 1, ..it }));
                }
            }
            for item in more {
                if known.insert(item) {
                    column.items.push(item);
                }
            }
            at += 1;
        }
        self.look_around(before, &mut column);
        column
    }

    /// Variables that begin here may stand in each other, so this goes on until nothing gets smaller.
    fn look_around(&self, before: &[Rc<Column>], column: &mut Column) {
        let here = before.len() as u32;
        let mut around: FxHashMap<VariableId, u32> = column.waiting.keys().map(|variable| (*variable, NEVER)).collect();
        if here == 0 {
            around.insert(self.grammar.start, 0);
        }
        loop {
            let mut has_changed = false;
            for (variable, waiting) in &column.waiting {
                let through = |idx: &usize| {
                    let item = column.items[*idx];
                    let outside = match item.origin == here {
                        true => around.get(&self.left(item)).copied().unwrap_or(NEVER),
                        false => {
                            let around = &before[item.origin as usize].around;
                            around.get(&self.left(item)).copied().unwrap_or(NEVER)
                        }
                    };
                    NEVER.min(self.rest[item.rule as usize][item.dot as usize + 1] + outside)
                };
                let least = waiting.iter().map(through).min().unwrap_or(NEVER);
                if least < around[variable] {
                    around.insert(*variable, least);
                    has_changed = true;
                }
            }
            if !has_changed {
                break;
            }
        }
        column.around = around;
    }
}
