//! The arena: interning of nodes, constants, symbols and tables, and the set of symbols each term depends on.

use crate::float::{FloatBinary, FloatCompare, FloatUnary, Rounding};
use crate::fold;
use crate::node::{Node, Op, Sort, SymbolId, TableId, TermId, View};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// A sorted set of symbols; equal ids are equal sets, and small equal sets have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolSetId(u32);

/// Unions above this size are put together only when somebody asks for their members: a sum of n symbols has n terms, and
/// all their sets together would have n squared members.
const LARGE_SET: usize = 256;

enum SymbolSet {
    /// A piece of the pool.
    Small {
        start: u32,
        len: u32,
    },
    Union {
        parts: Box<[SymbolSetId]>,
        members: OnceCell<Box<[SymbolId]>>,
    },
}

impl SymbolSetId {
    pub const EMPTY: SymbolSetId = SymbolSetId(0);

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

struct Symbol {
    name: String,
    width: u32,
    term: TermId,
}

/// The arena of all terms of one worker.
pub struct Terms {
    nodes: Vec<Node>,
    sets: Vec<SymbolSetId>,
    interned: HashTable<u32>,
    wide: Vec<u128>,
    wide_interned: FxHashMap<u128, u32>,
    tables: Vec<Box<[TermId]>>,
    tables_interned: HashTable<u32>,
    symbols: Vec<Symbol>,
    symbols_interned: FxHashMap<(String, u32), SymbolId>,
    symbol_sets: Vec<SymbolSet>,
    set_pool: Vec<SymbolId>,
    sets_interned: HashTable<u32>,
    unions: FxHashMap<(SymbolSetId, SymbolSetId), SymbolSetId>,
    truths: [TermId; 2],
    bytes: Vec<TermId>,
    /// How many rules that follow a chain of operands are on the stack; see [`Terms::descend`].
    pub(crate) chain_depth: u32,
    /// What comparisons take for a float; see [`Terms::without_payload`].
    pub(crate) without_payload: FxHashMap<TermId, TermId>,
}

impl Default for Terms {
    fn default() -> Self {
        Terms::new()
    }
}

fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    (product >> 64) as u64 ^ product as u64
}

fn hash_node(node: &Node) -> u64 {
    let head =
        u64::from(node.detail) << 48 | u64::from(node.op as u8) << 40 | u64::from(node.width) << 32 | u64::from(node.a);
    mix(head, u64::from(node.b) << 32 | u64::from(node.c))
}

fn hash_ids(ids: impl Iterator<Item = u32>) -> u64 {
    ids.fold(0x51ed_270b, |hash, id| mix(hash, u64::from(id)))
}

/// A node without operands and without floats in it.
fn plain(op: Op, width: u32) -> Node {
    Node { op, width: width as u8, detail: 0, has_floats: false, a: 0, b: 0, c: 0 }
}

impl Terms {
    /// Rules that walk along a chain (an `ite` cascade, a sum) stop this deep and leave the node as it is.
    const MAX_CHAIN: u32 = 24;

    pub fn new() -> Terms {
        let unused = Node { a: u32::MAX, ..plain(Op::Const, 0) };
        let mut terms = Terms {
            nodes: vec![unused],
            sets: vec![SymbolSetId::EMPTY],
            interned: HashTable::new(),
            wide: Vec::new(),
            wide_interned: FxHashMap::default(),
            tables: Vec::new(),
            tables_interned: HashTable::new(),
            symbols: Vec::new(),
            symbols_interned: FxHashMap::default(),
            symbol_sets: vec![SymbolSet::Small { start: 0, len: 0 }],
            set_pool: Vec::new(),
            sets_interned: HashTable::new(),
            unions: FxHashMap::default(),
            truths: [TermId::at(1); 2],
            bytes: Vec::new(),
            chain_depth: 0,
            without_payload: FxHashMap::default(),
        };
        let empty_hash = hash_ids(std::iter::empty());
        terms.sets_interned.insert_unique(empty_hash, 0, |_| empty_hash);
        terms.truths = [terms.constant(0, 1), terms.constant(1, 1)];
        terms.bytes = (0..256).map(|value| terms.constant(value, 8)).collect();
        terms
    }

    /// Number of ids handed out so far; every term's index is below it.
    #[inline]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// An arena always holds the truth values.
    pub fn is_empty(&self) -> bool {
        false
    }

    // ---- looking at terms

    /// The sort of a term.
    #[inline]
    pub fn sort(&self, t: TermId) -> Sort {
        match self.nodes[t.index()].width {
            0 => Sort::Array,
            width => Sort::BitVec(u32::from(width)),
        }
    }

    /// Width in bits of a bit-vector term.
    #[inline]
    pub fn width(&self, t: TermId) -> u32 {
        let width = u32::from(self.nodes[t.index()].width);
        debug_assert!(width > 0, "an array has no width");
        width
    }

    /// The value of a constant.
    #[inline]
    pub fn as_const(&self, t: TermId) -> Option<u128> {
        let node = &self.nodes[t.index()];
        match node.op {
            Op::Const => Some(u128::from(node.c) << 32 | u128::from(node.b)),
            Op::WideConst => Some(self.wide[node.a as usize]),
            _ => None,
        }
    }

    #[inline]
    pub fn is_const(&self, t: TermId) -> bool {
        matches!(self.nodes[t.index()].op, Op::Const | Op::WideConst)
    }

    /// Whether this is the one-bit constant 1.
    #[inline]
    pub fn is_true(&self, t: TermId) -> bool {
        t == self.truths[1]
    }

    /// Whether this is the one-bit constant 0.
    #[inline]
    pub fn is_false(&self, t: TermId) -> bool {
        t == self.truths[0]
    }

    /// Operator and operands.
    #[inline]
    pub fn view(&self, t: TermId) -> View {
        let node = &self.nodes[t.index()];
        let Node { op, a, b, c, .. } = *node;
        let at = TermId::at;
        match op {
            Op::Const => View::Const(u128::from(c) << 32 | u128::from(b)),
            Op::WideConst => View::Const(self.wide[a as usize]),
            Op::Symbol => View::Symbol(SymbolId(a)),
            Op::Not => View::Not(at(a)),
            Op::Neg => View::Neg(at(a)),
            Op::And => View::And(at(a), at(b)),
            Op::Or => View::Or(at(a), at(b)),
            Op::Xor => View::Xor(at(a), at(b)),
            Op::Add => View::Add(at(a), at(b)),
            Op::Sub => View::Sub(at(a), at(b)),
            Op::Mul => View::Mul(at(a), at(b)),
            Op::UDiv => View::UDiv(at(a), at(b)),
            Op::URem => View::URem(at(a), at(b)),
            Op::SDiv => View::SDiv(at(a), at(b)),
            Op::SRem => View::SRem(at(a), at(b)),
            Op::Shl => View::Shl(at(a), at(b)),
            Op::LShr => View::LShr(at(a), at(b)),
            Op::AShr => View::AShr(at(a), at(b)),
            Op::Concat => View::Concat(at(a), at(b)),
            Op::Extract => View::Extract { arg: at(a), lo: b },
            Op::ZExt => View::ZExt(at(a)),
            Op::SExt => View::SExt(at(a)),
            Op::Ite => View::Ite(at(a), at(b), at(c)),
            Op::Eq => View::Eq(at(a), at(b)),
            Op::Ult => View::Ult(at(a), at(b)),
            Op::Slt => View::Slt(at(a), at(b)),
            Op::Table => View::Table(TableId(a)),
            Op::Store => View::Store { array: at(a), index: at(b), byte: at(c) },
            Op::Select => View::Select { array: at(a), index: at(b) },
            Op::FloatUnary => {
                View::FloatUnary { op: FloatUnary::ALL[node.operator()], rounding: node.rounding(), arg: at(a) }
            }
            Op::FloatBinary => View::FloatBinary {
                op: FloatBinary::ALL[node.operator()],
                rounding: node.rounding(),
                a: at(a),
                b: at(b),
            },
            Op::FloatCompare => View::FloatCompare { op: FloatCompare::ALL[node.operator()], a: at(a), b: at(b) },
            Op::Fma => View::Fma { rounding: node.rounding(), a: at(a), b: at(b), c: at(c) },
        }
    }

    /// Whether there is a float operation in a term.
    #[inline]
    pub fn has_floats(&self, t: TermId) -> bool {
        self.nodes[t.index()].has_floats
    }

    /// The bytes of a table.
    #[inline]
    pub fn table_elements(&self, table: TableId) -> &[TermId] {
        &self.tables[table.0 as usize]
    }

    // ---- symbols

    /// The free variable of this name and width; asking twice gives the same term.
    pub fn symbol(&mut self, name: &str, width: u32) -> TermId {
        assert!((1..=64).contains(&width), "a symbol has 1 to 64 bits");
        if let Some(&symbol) = self.symbols_interned.get(&(name.to_owned(), width)) {
            return self.symbols[symbol.index()].term;
        }
        let symbol = SymbolId(self.symbols.len() as u32);
        let set = self.intern_set(&[symbol]);
        let term = self.intern(Node { a: symbol.0, ..plain(Op::Symbol, width) }, set);
        self.symbols.push(Symbol { name: name.to_owned(), width, term });
        self.symbols_interned.insert((name.to_owned(), width), symbol);
        term
    }

    pub fn symbol_name(&self, symbol: SymbolId) -> &str {
        &self.symbols[symbol.index()].name
    }

    pub fn symbol_width(&self, symbol: SymbolId) -> u32 {
        self.symbols[symbol.index()].width
    }

    /// The term that is this symbol.
    pub fn symbol_term(&self, symbol: SymbolId) -> TermId {
        self.symbols[symbol.index()].term
    }

    pub fn n_symbols(&self) -> usize {
        self.symbols.len()
    }

    /// The symbols a term depends on, sorted.
    #[inline]
    pub fn symbols(&self, t: TermId) -> &[SymbolId] {
        self.set_members(self.sets[t.index()])
    }

    /// The interned set of the symbols a term depends on.
    #[inline]
    pub fn symbol_set(&self, t: TermId) -> SymbolSetId {
        self.sets[t.index()]
    }

    #[inline]
    pub fn set_members(&self, set: SymbolSetId) -> &[SymbolId] {
        match &self.symbol_sets[set.index()] {
            SymbolSet::Small { start, len } => &self.set_pool[*start as usize..(start + len) as usize],
            SymbolSet::Union { members, .. } => members.get_or_init(|| self.union_members(set)),
        }
    }

    /// The members of a large union, from its parts down to what is known.
    fn union_members(&self, set: SymbolSetId) -> Box<[SymbolId]> {
        let mut symbols: Vec<SymbolId> = Vec::new();
        let mut seen: FxHashSet<SymbolSetId> = FxHashSet::default();
        let mut open = vec![set];
        while let Some(set) = open.pop() {
            if !seen.insert(set) {
                continue;
            }
            match &self.symbol_sets[set.index()] {
                SymbolSet::Small { start, len } => {
                    symbols.extend_from_slice(&self.set_pool[*start as usize..(start + len) as usize]);
                }
                SymbolSet::Union { parts, members } => match members.get() {
                    Some(members) => symbols.extend_from_slice(members),
                    None => open.extend_from_slice(parts),
                },
            }
        }
        symbols.sort_unstable();
        symbols.dedup();
        symbols.into()
    }

    /// The set that is the union of others, its members not put together yet.
    fn lazy_union(&mut self, parts: &[SymbolSetId]) -> SymbolSetId {
        let set = SymbolSetId(self.symbol_sets.len() as u32);
        self.symbol_sets.push(SymbolSet::Union { parts: parts.into(), members: OnceCell::new() });
        set
    }

    /// How many members a set has if it is not large.
    fn small_len(&self, set: SymbolSetId) -> Option<usize> {
        match &self.symbol_sets[set.index()] {
            SymbolSet::Small { len, .. } => Some(*len as usize),
            SymbolSet::Union { .. } => None,
        }
    }

    fn intern_set(&mut self, members: &[SymbolId]) -> SymbolSetId {
        let hash = hash_ids(members.iter().map(|s| s.0));
        let (sets, pool) = (&self.symbol_sets, &self.set_pool);
        let slice = |set: u32| match &sets[set as usize] {
            SymbolSet::Small { start, len } => &pool[*start as usize..(start + len) as usize],
            SymbolSet::Union { .. } => unreachable!("only small sets are interned"),
        };
        if let Some(&set) = self.sets_interned.find(hash, |&set| slice(set) == members) {
            return SymbolSetId(set);
        }
        let set = self.symbol_sets.len() as u32;
        self.sets_interned.insert_unique(hash, set, |&set| hash_ids(slice(set).iter().map(|s| s.0)));
        self.symbol_sets.push(SymbolSet::Small { start: self.set_pool.len() as u32, len: members.len() as u32 });
        self.set_pool.extend_from_slice(members);
        SymbolSetId(set)
    }

    fn union(&mut self, a: SymbolSetId, b: SymbolSetId) -> SymbolSetId {
        if a == b || b == SymbolSetId::EMPTY {
            return a;
        }
        if a == SymbolSetId::EMPTY {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&set) = self.unions.get(&key) {
            return set;
        }
        let set = match (self.small_len(a), self.small_len(b)) {
            (Some(n_a), Some(n_b)) if n_a + n_b <= LARGE_SET => {
                let mut members = [self.set_members(a), self.set_members(b)].concat();
                members.sort_unstable();
                members.dedup();
                self.intern_set(&members)
            }
            _ => self.lazy_union(&[a, b]),
        };
        self.unions.insert(key, set);
        set
    }

    // ---- constants

    /// The constant of this value, cut to the width.
    pub fn constant(&mut self, value: u128, width: u32) -> TermId {
        let value = value & fold::mask(width);
        if width == 8 && !self.bytes.is_empty() {
            return self.bytes[value as usize];
        }
        let node = if let Ok(narrow) = u64::try_from(value) {
            Node { b: narrow as u32, c: (narrow >> 32) as u32, ..plain(Op::Const, width) }
        } else {
            let next = self.wide.len() as u32;
            let slot = *self.wide_interned.entry(value).or_insert(next);
            if slot == next {
                self.wide.push(value);
            }
            Node { a: slot, ..plain(Op::WideConst, width) }
        };
        self.intern(node, SymbolSetId::EMPTY)
    }

    /// The byte constant; cheaper than [`Terms::constant`] and needs no `&mut`.
    #[inline]
    pub fn byte_constant(&self, value: u8) -> TermId {
        self.bytes[usize::from(value)]
    }

    #[inline]
    pub fn tru(&self) -> TermId {
        self.truths[1]
    }

    #[inline]
    pub fn fls(&self) -> TermId {
        self.truths[0]
    }

    #[inline]
    pub fn truth(&self, value: bool) -> TermId {
        self.truths[usize::from(value)]
    }

    // ---- making nodes without simplifying; for the builders only

    fn intern(&mut self, node: Node, set: SymbolSetId) -> TermId {
        let hash = hash_node(&node);
        let nodes = &self.nodes;
        if let Some(&index) = self.interned.find(hash, |&index| nodes[index as usize] == node) {
            return TermId::at(index);
        }
        let index = u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms");
        self.interned.insert_unique(hash, index, |&index| hash_node(&nodes[index as usize]));
        self.nodes.push(node);
        self.sets.push(set);
        TermId::at(index)
    }

    pub(crate) fn make1(&mut self, op: Op, width: u32, a: TermId) -> TermId {
        let set = self.sets[a.index()];
        self.intern(Node { a: a.raw(), has_floats: self.has_floats(a), ..plain(op, width) }, set)
    }

    pub(crate) fn make2(&mut self, op: Op, width: u32, a: TermId, b: TermId) -> TermId {
        let set = self.union(self.sets[a.index()], self.sets[b.index()]);
        let has_floats = self.has_floats(a) | self.has_floats(b);
        self.intern(Node { a: a.raw(), b: b.raw(), has_floats, ..plain(op, width) }, set)
    }

    pub(crate) fn make3(&mut self, op: Op, width: u32, a: TermId, b: TermId, c: TermId) -> TermId {
        let set = self.union(self.sets[a.index()], self.sets[b.index()]);
        let set = self.union(set, self.sets[c.index()]);
        let has_floats = self.has_floats(a) | self.has_floats(b) | self.has_floats(c);
        self.intern(Node { a: a.raw(), b: b.raw(), c: c.raw(), has_floats, ..plain(op, width) }, set)
    }

    /// A float operation on one to three operands.
    pub(crate) fn make_float(
        &mut self,
        op: Op,
        operator: u8,
        rounding: Rounding,
        width: u32,
        operands: [Option<TermId>; 3],
    ) -> TermId {
        let empty = SymbolSetId::EMPTY;
        let set = operands.iter().flatten().fold(empty, |set, operand| self.union(set, self.sets[operand.index()]));
        let [a, b, c] = operands.map(|operand| operand.map_or(0, TermId::raw));
        let detail = Node::detail_of(operator, rounding);
        self.intern(Node { detail, has_floats: true, a, b, c, ..plain(op, width) }, set)
    }

    pub(crate) fn make_extract(&mut self, width: u32, arg: TermId, lo: u32) -> TermId {
        let set = self.sets[arg.index()];
        self.intern(Node { a: arg.raw(), b: lo, has_floats: self.has_floats(arg), ..plain(Op::Extract, width) }, set)
    }

    pub(crate) fn make_table(&mut self, elements: &[TermId]) -> TermId {
        let hash = hash_ids(elements.iter().map(|t| t.raw()));
        let has_floats = elements.iter().any(|element| self.has_floats(*element));
        let tables = &self.tables;
        if let Some(&table) = self.tables_interned.find(hash, |&table| *tables[table as usize] == *elements) {
            // The node exists already and knows its set.
            return self.intern(Node { a: table, has_floats, ..plain(Op::Table, 0) }, SymbolSetId::EMPTY);
        }
        let table = tables.len() as u32;
        let rehash = |&table: &u32| hash_ids(tables[table as usize].iter().map(|t| t.raw()));
        self.tables_interned.insert_unique(hash, table, rehash);
        self.tables.push(elements.into());
        let set = self.union_of(elements);
        self.intern(Node { a: table, has_floats, ..plain(Op::Table, 0) }, set)
    }

    /// One pass over all elements: a union for each would be quadratic in a large table.
    fn union_of(&mut self, elements: &[TermId]) -> SymbolSetId {
        let mut sets: Vec<SymbolSetId> = elements.iter().map(|t| self.sets[t.index()]).collect();
        sets.sort_unstable();
        sets.dedup();
        let n_members: Option<usize> = sets.iter().map(|&set| self.small_len(set)).sum();
        if n_members.is_none_or(|n_members| n_members > LARGE_SET) {
            return self.lazy_union(&sets);
        }
        let mut members: Vec<SymbolId> = sets.iter().flat_map(|&set| self.set_members(set)).copied().collect();
        members.sort_unstable();
        members.dedup();
        self.intern_set(&members)
    }

    // ---- shared by the rule files

    /// Runs a rule that follows a chain of operands, unless too many are running already.
    pub(crate) fn descend(&mut self, rule: impl FnOnce(&mut Terms) -> TermId) -> Option<TermId> {
        if self.chain_depth >= Self::MAX_CHAIN {
            return None;
        }
        self.chain_depth += 1;
        let result = rule(self);
        self.chain_depth -= 1;
        Some(result)
    }

    /// Operands of a commutative operator in canonical order: a constant right, else the older term left.
    pub(crate) fn ordered(&self, a: TermId, b: TermId) -> (TermId, TermId) {
        let swap = match (self.is_const(a), self.is_const(b)) {
            (true, false) => true,
            (false, true) => false,
            _ => b < a,
        };
        if swap { (b, a) } else { (a, b) }
    }

    /// Whether one is the `Not` of the other.
    pub(crate) fn complementary(&self, a: TermId, b: TermId) -> bool {
        self.view(a) == View::Not(b) || self.view(b) == View::Not(a)
    }
}
