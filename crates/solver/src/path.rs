//! The path condition: constraints in order, and the groups of them that share symbols, kept while they are added.
//!
//! Cloning costs a few reference counts; what two paths have in common they share. A group is a list of constraints over
//! a set of symbols disjoint from every other group's: to know whether a question is feasible only the groups that share
//! symbols with it matter. A symbol that has one value left is replaced by it in whatever is added later, so that it
//! connects nothing.

use crate::domain::Domain;
use crate::fixed::fixes;
use crate::limit::Limit;
use rustc_hash::FxHashSet;
use std::cell::OnceCell;
use std::num::NonZeroU32;
use std::ops::Deref;
use std::rc::Rc;
use term::{Chunks, Replacement, SymbolId, TermId, Terms};

/// The conditions under which a path is taken.
#[derive(Clone, Default)]
pub struct PathCondition {
    newest: Option<Rc<Added>>,
    len: usize,
    /// What is known of each symbol.
    known: Chunks<Known>,
    /// Slots are not reused within one path; a merged group's slot is empty.
    groups: Chunks<Option<Rc<Group>>>,
    n_slots: u32,
    n_fixed: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The slot of its group.
    group: Option<Slot>,
    /// Its value, where it has one value on this path.
    value: Option<TermId>,
}

/// The number of a slot, plus one.
type Slot = NonZeroU32;

fn place(slot: Slot) -> usize {
    slot.get() as usize - 1
}

/// A constraint that was added, and those before it.
struct Added {
    term: TermId,
    /// What a group has of it, where fixed values made that something else.
    plainer: Option<TermId>,
    previous: Option<Rc<Added>>,
}

impl Drop for Added {
    /// Long lists must not be dropped recursively.
    fn drop(&mut self) {
        let mut next = self.previous.take();
        while let Some(mut added) = next.and_then(Rc::into_inner) {
            next = added.previous.take();
        }
    }
}

type List = Option<Rc<Node>>;

/// The constraints of a group, newest first. Where two groups were merged there is no term and a second list, `joined`.
pub(crate) struct Node {
    pub(crate) term: Option<TermId>,
    pub(crate) previous: List,
    joined: List,
    /// What the constraints from here back say about their only symbol; filled in by the domain layer.
    pub(crate) domain: OnceCell<Option<Rc<Domain>>>,
}

impl Node {
    fn on(previous: List, t: TermId) -> Rc<Node> {
        Rc::new(Node { term: Some(t), previous, joined: None, domain: OnceCell::new() })
    }
}

impl Drop for Node {
    /// Long lists must not be dropped recursively.
    fn drop(&mut self) {
        let mut rest: Vec<Rc<Node>> = self.previous.take().into_iter().chain(self.joined.take()).collect();
        while let Some(node) = rest.pop() {
            if let Ok(mut node) = Rc::try_unwrap(node) {
                rest.extend(node.previous.take());
                rest.extend(node.joined.take());
            }
        }
    }
}

/// The symbols of a group, sorted. Most have one, and there are as many of those as there are conditions on paths that wait.
#[derive(Clone)]
pub(crate) enum Symbols {
    One(SymbolId),
    Many(Rc<[SymbolId]>),
}

impl Deref for Symbols {
    type Target = [SymbolId];

    #[inline]
    fn deref(&self) -> &[SymbolId] {
        match self {
            Symbols::One(symbol) => std::slice::from_ref(symbol),
            Symbols::Many(symbols) => symbols,
        }
    }
}

impl From<&[SymbolId]> for Symbols {
    fn from(symbols: &[SymbolId]) -> Symbols {
        match symbols {
            [symbol] => Symbols::One(*symbol),
            symbols => Symbols::Many(symbols.into()),
        }
    }
}

/// Constraints connected by common symbols.
pub(crate) struct Group {
    pub(crate) symbols: Symbols,
    pub(crate) newest: Rc<Node>,
    len: usize,
    /// Sum over all constraints of [`fingerprint`].
    key: u128,
}

/// A number for a constraint such that sums of them identify sets: 128 bits, so that a collision is out of the question.
pub(crate) fn fingerprint(t: TermId) -> u128 {
    let mix = |seed: u64| {
        let mut x = u64::from(t.raw()).wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    u128::from(mix(0x1234_5678_9abc_def1)) << 64 | u128::from(mix(0x0fed_cba9_8765_4321))
}

impl PathCondition {
    /// A conjunction with more parts than this is kept as one constraint.
    const MAX_PARTS: usize = 64;

    pub fn new() -> PathCondition {
        PathCondition::default()
    }

    /// Number of constraints; a conjunction counts by its parts.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The constraints in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = TermId> {
        let terms: Vec<TermId> = self.newest_first().collect();
        terms.into_iter().rev()
    }

    /// The constraints that were added last, up to `limit` of them, those that follow from others too.
    pub fn latest(&self, limit: usize) -> Vec<TermId> {
        self.added_since(self.len.saturating_sub(limit))
    }

    /// The constraints that were added when there were `len` of them, and later, the newest first.
    pub fn added_since(&self, len: usize) -> Vec<TermId> {
        self.newest_first().take(self.len - len).collect()
    }

    fn newest_first(&self) -> impl Iterator<Item = TermId> + '_ {
        let all = std::iter::successors(self.newest.as_deref(), |added| added.previous.as_deref());
        all.map(|added| added.term)
    }

    fn note(&mut self, t: TermId, plainer: Option<TermId>) {
        self.len += 1;
        self.newest = Some(Rc::new(Added { term: t, plainer, previous: self.newest.take() }));
    }

    /// Constraints, as they were added, from which those follow that the groups have. A group's constraint without the
    /// symbols that had one value follows only together with what gave them that value.
    pub fn reasons(&self, terms: &Terms, grouped: &[TermId]) -> Vec<TermId> {
        if self.n_fixed == 0 {
            return grouped.to_vec();
        }
        let mut wanted: FxHashSet<TermId> = grouped.iter().copied().collect();
        let mut symbols: FxHashSet<SymbolId> = FxHashSet::default();
        let mut found = Vec::with_capacity(grouped.len());
        // What gave a symbol its value came before what was made plainer by it.
        let mut next = self.newest.as_deref();
        while let Some(added) = next.filter(|_| !(wanted.is_empty() && symbols.is_empty())) {
            let t = added.plainer.unwrap_or(added.term);
            let gives_value = !symbols.is_empty() && fixes(terms, t).is_some_and(|(symbol, _)| symbols.remove(&symbol));
            if wanted.remove(&t) || gives_value {
                found.push(added.term);
                if added.plainer.is_some() {
                    let left = terms.symbols(t);
                    symbols.extend(terms.symbols(added.term).iter().filter(|symbol| !left.contains(symbol)));
                }
            }
            next = added.previous.as_deref();
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Adds a condition, taken apart into its conjuncts. It must be satisfiable together with the others.
    pub fn add(&mut self, terms: &mut Terms, t: TermId) {
        for part in conjuncts(terms, t, Self::MAX_PARTS) {
            self.add_part(terms, part);
        }
    }

    /// Adds a condition that follows from the others: it is in the list, but in no group, as no question needs it.
    pub fn add_implied(&mut self, t: TermId) {
        self.note(t, None);
    }

    fn add_part(&mut self, terms: &mut Terms, t: TermId) {
        if terms.is_true(t) {
            return;
        }
        let plainer = self.with_fixed_values(terms, t);
        // A contradiction stays with its symbols: those who ask about them have to meet it.
        let plainer =
            Some(plainer).filter(|plainer| *plainer != t && (terms.is_true(*plainer) || !terms.is_const(*plainer)));
        self.note(t, plainer);
        let t = plainer.unwrap_or(t);
        if terms.is_true(t) {
            return;
        }
        if let Some((symbol, value)) = fixes(terms, t)
            && !self.is_fixed(symbol)
        {
            let value = terms.constant(u128::from(value), terms.symbol_width(symbol));
            self.known.get_mut(symbol.index()).value = Some(value);
            self.n_fixed += 1;
        }
        let terms = &*terms;
        let symbols = terms.symbols(t);
        if symbols.is_empty() {
            return;
        }
        let mut slots: Vec<Slot> = symbols.iter().filter_map(|symbol| self.slot_of(*symbol)).collect();
        slots.sort_unstable();
        slots.dedup();
        let merged = merge(terms, slots.iter().map(|slot| self.group(*slot)), symbols, t);
        let slot = slots.first().copied().unwrap_or_else(|| {
            self.n_slots += 1;
            Slot::MIN.saturating_add(self.n_slots - 1)
        });
        for old in slots.iter().skip(1) {
            *self.groups.get_mut(place(*old)) = None;
        }
        if slots.len() != 1 || merged.symbols.len() != self.group(slot).symbols.len() {
            for symbol in merged.symbols.iter() {
                self.known.get_mut(symbol.index()).group = Some(slot);
            }
        }
        *self.groups.get_mut(place(slot)) = Some(Rc::new(merged));
    }

    pub(crate) fn has_fixed(&self) -> bool {
        self.n_fixed > 0
    }

    /// Whether every input that takes the path has the same value for a symbol, as far as that was noticed.
    pub(crate) fn is_fixed(&self, symbol: SymbolId) -> bool {
        self.fixed_value(symbol).is_some()
    }

    /// The symbols of a term that may have several values on this path, as far as was noticed.
    pub fn open_symbols<'a>(&'a self, terms: &'a Terms, t: TermId) -> impl Iterator<Item = SymbolId> + 'a {
        terms.symbols(t).iter().copied().filter(|symbol| !self.is_fixed(*symbol))
    }

    fn fixed_value(&self, symbol: SymbolId) -> Option<TermId> {
        if self.n_fixed == 0 {
            return None;
        }
        self.known.get(symbol.index())?.value
    }

    /// A term that has the same value for every input that takes the path, without the symbols that have one value there.
    pub(crate) fn with_fixed_values(&self, terms: &mut Terms, t: TermId) -> TermId {
        if self.n_fixed == 0 {
            return t;
        }
        let with_value = |symbol: &SymbolId| Some((*symbol, self.fixed_value(*symbol)?));
        let fixed: Vec<(SymbolId, TermId)> = terms.symbols(t).iter().filter_map(with_value).collect();
        if fixed.is_empty() {
            return t;
        }
        let mut replacement = Replacement::default();
        fixed.into_iter().for_each(|(symbol, value)| replacement.bind(symbol, value));
        replacement.apply(terms, t).unwrap_or(t)
    }

    fn slot_of(&self, symbol: SymbolId) -> Option<Slot> {
        self.known.get(symbol.index())?.group
    }

    fn group(&self, slot: Slot) -> &Group {
        self.groups.get(place(slot)).and_then(Option::as_deref).expect("a symbol's group exists")
    }

    /// The groups of constraints that share symbols with a term.
    pub fn relevant<'a>(&'a self, terms: &Terms, t: TermId) -> Relevant<'a> {
        let mut relevant = Relevant { first: None, others: Vec::new() };
        let mut last_slot = None;
        for symbol in terms.symbols(t) {
            let Some(slot) = self.slot_of(*symbol).filter(|slot| Some(*slot) != last_slot) else { continue };
            last_slot = Some(slot);
            let group = self.group(slot);
            match relevant.first {
                None => relevant.first = Some(group),
                Some(first) if std::ptr::eq(first, group) => {}
                Some(_) if relevant.others.iter().any(|other| std::ptr::eq(*other, group)) => {}
                Some(_) => relevant.others.push(group),
            }
        }
        relevant
    }
}

impl PathCondition {
    /// All groups, as if every question touched them.
    pub(crate) fn all(&self) -> Relevant<'_> {
        let mut groups = self.groups.iter().filter_map(|(_, group)| group.as_deref());
        Relevant { first: groups.next(), others: groups.collect() }
    }
}

/// The group of a new constraint: the old groups it touches and itself.
fn merge<'g>(terms: &Terms, mut touched: impl Iterator<Item = &'g Group>, symbols: &[SymbolId], t: TermId) -> Group {
    let Some(first) = touched.next() else {
        let newest = Node::on(None, t);
        return Group { symbols: symbols.into(), newest, len: 1, key: fingerprint(t) };
    };
    let (mut list, mut len, mut key) = (first.newest.clone(), first.len, first.key);
    let mut members = None;
    for other in touched {
        let both = (Some(list), Some(other.newest.clone()));
        list = Rc::new(Node { term: None, previous: both.0, joined: both.1, domain: OnceCell::new() });
        len += other.len;
        key = key.wrapping_add(other.key);
        members.get_or_insert_with(|| first.symbols.to_vec()).extend_from_slice(&other.symbols);
    }
    if members.is_some() || symbols.iter().any(|symbol| first.symbols.binary_search(symbol).is_err()) {
        let members = members.get_or_insert_with(|| first.symbols.to_vec());
        members.extend_from_slice(symbols);
        members.sort_unstable();
        members.dedup();
    }
    let mut list = Some(list);
    if let Some((rest, dropped)) = list.as_ref().and_then(|list| without_implied(terms, list, t)) {
        list = rest;
        len -= 1;
        key = key.wrapping_sub(fingerprint(dropped));
    }
    Group {
        symbols: members.map_or_else(|| first.symbols.clone(), |members| Symbols::from(&members[..])),
        newest: Node::on(list, t),
        len: len + 1,
        key: key.wrapping_add(fingerprint(t)),
    }
}

/// How far back a bound is looked for that a new one makes superfluous: a turn of a loop adds few.
const N_LOOKED_BACK: usize = 16;

/// The list without the latest constraint that follows from a new one, and that constraint. A counter that runs up to an input
/// says at every turn that the input is larger still.
fn without_implied(terms: &Terms, list: &Rc<Node>, t: TermId) -> Option<(List, TermId)> {
    let new = Limit::of_constraint(terms, t)?;
    let mut above = Vec::new();
    let mut next = Some(list);
    while let Some(node) = next.filter(|node| node.joined.is_none() && above.len() < N_LOOKED_BACK) {
        let term = node.term?;
        if Limit::of_constraint(terms, term).is_some_and(|old| new.implies(&old)) {
            let kept = above.into_iter().rev().fold(node.previous.clone(), |list, term| Some(Node::on(list, term)));
            return Some((kept, term));
        }
        above.push(term);
        next = node.previous.as_ref();
    }
    None
}

/// The parts of a conjunction, or the term itself when it has too many.
pub(crate) fn conjuncts(terms: &Terms, t: TermId, limit: usize) -> Vec<TermId> {
    let mut parts = Vec::new();
    let mut stack = vec![t];
    while let Some(top) = stack.pop() {
        match terms.view(top) {
            term::View::And(a, b) if terms.width(top) == 1 => stack.extend([b, a]),
            _ if parts.contains(&top) => {}
            _ => parts.push(top),
        }
        if parts.len() + stack.len() > limit {
            return vec![t];
        }
    }
    parts
}

/// The groups that matter for a question.
pub struct Relevant<'a> {
    first: Option<&'a Group>,
    others: Vec<&'a Group>,
}

impl<'a> Relevant<'a> {
    #[inline]
    pub(crate) fn groups(&self) -> impl Iterator<Item = &'a Group> + '_ {
        self.first.into_iter().chain(self.others.iter().copied())
    }

    /// Number of constraints; one that was added twice counts twice.
    #[inline]
    pub fn len(&self) -> usize {
        self.groups().map(|group| group.len).sum()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The only group, if there is just one.
    #[inline]
    pub(crate) fn only(&self) -> Option<&'a Group> {
        self.first.filter(|_| self.others.is_empty())
    }

    /// Identifies the set of constraints.
    #[inline]
    pub fn key(&self) -> u128 {
        self.groups().fold(0, |key, group| key.wrapping_add(group.key))
    }

    /// Whether every constraint passes the test, the newest ones first.
    pub(crate) fn all(&self, mut test: impl FnMut(TermId) -> bool) -> bool {
        let mut joined: Vec<&Node> = Vec::new();
        for group in self.groups() {
            let mut next = Some(&*group.newest);
            while let Some(node) = next {
                if node.term.is_some_and(|t| !test(t)) {
                    return false;
                }
                joined.extend(node.joined.as_deref());
                next = node.previous.as_deref().or_else(|| joined.pop());
            }
        }
        true
    }

    /// All the constraints, sorted by term and each once.
    pub fn constraints(&self) -> Vec<TermId> {
        let mut constraints = Vec::with_capacity(self.len());
        self.all(|t| {
            constraints.push(t);
            true
        });
        constraints.sort_unstable();
        constraints.dedup();
        constraints
    }

    /// All symbols of the groups and of the term, sorted.
    pub fn symbols(&self, terms: &Terms, t: TermId) -> Vec<SymbolId> {
        let mut symbols = terms.symbols(t).to_vec();
        for group in self.groups() {
            symbols.extend_from_slice(&group.symbols);
        }
        symbols.sort_unstable();
        symbols.dedup();
        symbols
    }
}
