//! The value of conditions under many inputs at once.
//!
//! The terms become a list of steps, operands first, and each step runs over a block of [`N_LANES`] inputs before the next one
//! starts: the cost of finding out what to do is paid once for a block, and most steps are vector instructions. This is for
//! trying all values of small symbols; [`crate::Eval`] is for one input.
//!
//! Two things are filled in from outside: the values of the largest terms over one small symbol, which are known from their
//! graphs, and those of the other symbols.

use crate::float::{self, FloatBinary, FloatCompare, FloatUnary, Rounding};
use crate::node::{SymbolId, TermId, View};
use crate::{Graphs, Terms, fold};
use rustc_hash::FxHashMap;

/// Inputs in one block; the answer is one bit for each.
pub const N_LANES: usize = 64;

/// One value for each input of a block.
type Block = [u64; N_LANES];

/// Conditions made ready to be run. Values are of at most 64 bits.
pub struct Lanes {
    /// One block for each term: constants, inputs, filled in from outside, and the results of the steps.
    blocks: Vec<Block>,
    steps: Vec<Step>,
    roots: Vec<u32>,
    inputs: Vec<TermId>,
    /// The block of each input.
    input_blocks: Vec<u32>,
    gate_work: u64,
}

struct Step {
    to: u32,
    width: u32,
    what: What,
}

/// Operands are numbers of blocks.
enum What {
    Unary(Unary, u32),
    Binary(Binary, u32, u32),
    Ite(u32, u32, u32),
    Fma(Rounding, u32, u32, u32),
    Select(Box<Select>),
}

#[derive(Clone, Copy)]
enum Unary {
    Not,
    Neg,
    ZExt,
    /// From this width.
    SExt(u32),
    /// From this bit up.
    Extract(u32),
    /// From this width.
    Float(FloatUnary, Rounding, u32),
}

#[derive(Clone, Copy)]
enum Binary {
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    UDiv,
    URem,
    SDiv,
    SRem,
    Shl,
    LShr,
    AShr,
    /// The width of the low part.
    Concat(u32),
    Eq,
    Ult,
    /// The width of the operands.
    Slt(u32),
    Float(FloatBinary, Rounding),
    /// The width of the operands.
    Compare(FloatCompare, u32),
}

struct Select {
    index: u32,
    table: Table,
    /// The newest first.
    stores: Vec<Stores>,
}

/// Stores that follow each other.
enum Stores {
    /// At constant indices: the byte at each, the newest where there are several.
    Constant(FxHashMap<u64, u32>),
    /// One at an index that is computed: the index and the byte.
    Computed(u32, u32),
}

enum Table {
    Bytes(Vec<u8>),
    Blocks(Vec<u32>),
}

impl Lanes {
    /// Larger conditions are not worth it.
    const MAX_STEPS: usize = 4096;

    /// Makes one-bit terms ready. `None` where something is wider than 64 bits, or where there is too much of it.
    pub fn new(terms: &Terms, conditions: &[TermId]) -> Option<Lanes> {
        let order = below(terms, conditions)?;
        let mut lanes = Lanes {
            blocks: Vec::with_capacity(order.len()),
            steps: Vec::with_capacity(order.len()),
            roots: Vec::new(),
            inputs: Vec::new(),
            input_blocks: Vec::new(),
            gate_work: order.iter().map(|&t| gate_work(terms, t)).sum(),
        };
        let mut block_of: FxHashMap<TermId, u32> = FxHashMap::default();
        for t in order {
            lanes.add(terms, t, &mut block_of);
        }
        lanes.roots = conditions.iter().map(|t| block_of[t]).collect();
        Some(lanes)
    }

    /// How much there is to do for a block; a select takes a few steps for every run of stores it looks through.
    pub fn n_steps(&self) -> usize {
        let n_more = |step: &Step| match &step.what {
            What::Select(select) => 2 * (1 + select.stores.len()),
            _ => 0,
        };
        self.steps.iter().map(|step| 1 + n_more(step)).sum()
    }

    /// What is cheap here and dear in gates: the elements of tables, and the square of the width of each product of two
    /// unknowns (times 16), quotient or float operation (times 128).
    pub fn gate_work(&self) -> u64 {
        self.gate_work
    }

    /// What the conditions depend on: terms over one symbol each, a small one or itself.
    pub fn inputs(&self) -> &[TermId] {
        &self.inputs
    }

    /// The values of the `nth` of [`Lanes::inputs`], to be written before [`Lanes::run`].
    pub fn values_mut(&mut self, nth: usize) -> &mut [u64; N_LANES] {
        &mut self.blocks[self.input_blocks[nth] as usize]
    }

    /// Computes all that was asked for; [`Lanes::result`] gives it.
    pub fn compute(&mut self) {
        for step in &self.steps {
            // A step's operands are all older than its result.
            let (older, result) = self.blocks.split_at_mut(step.to as usize);
            step.run(older, &mut result[0]);
        }
    }

    /// What came out for the `nth` term that was asked for, which need not be a condition.
    pub fn result(&self, nth: usize) -> &[u64; N_LANES] {
        &self.blocks[self.roots[nth] as usize]
    }

    /// For each lane a bit that says whether all conditions hold there.
    pub fn run(&mut self) -> u64 {
        self.compute();
        self.roots.iter().fold(u64::MAX, |all, root| {
            let block = &self.blocks[*root as usize];
            all & block.iter().enumerate().fold(0, |bits, (lane, value)| bits | value << lane)
        })
    }

    fn add(&mut self, terms: &Terms, t: TermId, block_of: &mut FxHashMap<TermId, u32>) {
        let to = self.blocks.len() as u32;
        self.blocks.push([0; N_LANES]);
        block_of.insert(t, to);
        let what = match terms.view(t) {
            View::Const(value) => return self.blocks[to as usize].fill(value as u64),
            View::Symbol(_) => return self.add_input(t, to),
            _ if is_small(terms, t) => return self.add_input(t, to),
            view => translate(terms, view, block_of),
        };
        self.steps.push(Step { to, width: terms.width(t), what });
    }

    fn add_input(&mut self, t: TermId, to: u32) {
        self.inputs.push(t);
        self.input_blocks.push(to);
    }
}

/// Whether a term's values are known from its graph.
fn is_small(terms: &Terms, t: TermId) -> bool {
    matches!(terms.symbols(t), [symbol] if terms.symbol_width(*symbol) <= Graphs::MAX_WIDTH) && terms.width(t) <= 64
}

fn gate_work(terms: &Terms, t: TermId) -> u64 {
    let squared = || u64::from(terms.width(t)) * u64::from(terms.width(t));
    match terms.view(t) {
        View::Mul(_, b) if !terms.is_const(b) => 16 * squared(),
        View::UDiv(..) | View::URem(..) | View::SDiv(..) | View::SRem(..) => 128 * squared(),
        View::FloatUnary { .. } | View::FloatBinary { .. } | View::Fma { .. } => 128 * squared(),
        View::Select { array, .. } => {
            stores_and_table(terms, array).map_or(0, |(_, table)| terms.table_elements(table).len() as u64)
        }
        _ => 0,
    }
}

/// The terms that are made of bits, below and including these and down to those over one small symbol, each after its
/// operands.
fn below(terms: &Terms, roots: &[TermId]) -> Option<Vec<TermId>> {
    let mut order = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    let mut stack = roots.to_vec();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match terms.view(t) {
            View::Table(table) => {
                let mut elements = terms.table_elements(table).to_vec();
                elements.sort_unstable();
                elements.dedup();
                // Constant bytes are read from the table itself, unless other elements are not constant.
                if !elements.iter().all(|&element| terms.is_const(element)) {
                    stack.extend(elements);
                }
            }
            View::Store { array, index, byte } => stack.extend([array, index, byte]),
            view => {
                if terms.width(t) > 64 {
                    return None;
                }
                order.push(t);
                if !is_small(terms, t) {
                    stack.extend(view.operands());
                }
            }
        }
        if order.len() > Lanes::MAX_STEPS {
            return None;
        }
    }
    // Operands have smaller ids.
    order.sort_unstable();
    Some(order)
}

/// For each symbol of a term the bits that are looked at, all of a small one; the others make no difference to it. `None` where
/// the term is too large to be run in lanes.
pub fn used_bits(terms: &Terms, t: TermId) -> Option<Vec<(SymbolId, u64)>> {
    let all = |symbol: SymbolId| fold::mask(terms.symbol_width(symbol)) as u64;
    let symbols = terms.symbols(t);
    let mut used: Vec<(SymbolId, u64)> = symbols.iter().map(|&symbol| (symbol, 0)).collect();
    let mut note = |symbol: SymbolId, bits: u64| {
        let at = symbols.binary_search(&symbol).expect("a symbol below a term is one of its symbols");
        used[at].1 |= bits;
    };
    if let View::Symbol(symbol) = terms.view(t) {
        note(symbol, all(symbol));
    }
    for t in below(terms, &[t])? {
        if is_small(terms, t) {
            note(terms.symbols(t)[0], all(terms.symbols(t)[0]));
            continue;
        }
        match terms.view(t) {
            View::Extract { arg, lo } if matches!(terms.view(arg), View::Symbol(_)) => {
                note(terms.symbols(arg)[0], (fold::mask(terms.width(t)) << lo) as u64);
            }
            view => {
                // What is in an array is no operand of the select, and not worth a closer look.
                if let View::Select { array, .. } = view {
                    terms.symbols(array).iter().for_each(|&symbol| note(symbol, all(symbol)));
                }
                for operand in view.operands() {
                    if let View::Symbol(symbol) = terms.view(operand) {
                        note(symbol, all(symbol));
                    }
                }
            }
        }
    }
    Some(used)
}

/// An array taken apart: index and byte of each store, the newest first, and what they were made on.
fn stores_and_table(terms: &Terms, array: TermId) -> Option<(Vec<(TermId, TermId)>, crate::TableId)> {
    let (mut array, mut stores) = (array, Vec::new());
    loop {
        match terms.view(array) {
            View::Store { array: base, index, byte } => {
                stores.push((index, byte));
                array = base;
            }
            View::Table(table) => return Some((stores, table)),
            _ => return None,
        }
    }
}

fn translate(terms: &Terms, view: View, block_of: &FxHashMap<TermId, u32>) -> What {
    let at = |t: TermId| block_of[&t];
    let binary = |operator: Binary, a: TermId, b: TermId| What::Binary(operator, at(a), at(b));
    match view {
        View::Not(a) => What::Unary(Unary::Not, at(a)),
        View::Neg(a) => What::Unary(Unary::Neg, at(a)),
        View::ZExt(a) => What::Unary(Unary::ZExt, at(a)),
        View::SExt(a) => What::Unary(Unary::SExt(terms.width(a)), at(a)),
        View::Extract { arg, lo } => What::Unary(Unary::Extract(lo), at(arg)),
        View::And(a, b) => binary(Binary::And, a, b),
        View::Or(a, b) => binary(Binary::Or, a, b),
        View::Xor(a, b) => binary(Binary::Xor, a, b),
        View::Add(a, b) => binary(Binary::Add, a, b),
        View::Sub(a, b) => binary(Binary::Sub, a, b),
        View::Mul(a, b) => binary(Binary::Mul, a, b),
        View::UDiv(a, b) => binary(Binary::UDiv, a, b),
        View::URem(a, b) => binary(Binary::URem, a, b),
        View::SDiv(a, b) => binary(Binary::SDiv, a, b),
        View::SRem(a, b) => binary(Binary::SRem, a, b),
        View::Shl(a, b) => binary(Binary::Shl, a, b),
        View::LShr(a, b) => binary(Binary::LShr, a, b),
        View::AShr(a, b) => binary(Binary::AShr, a, b),
        View::Concat(hi, lo) => binary(Binary::Concat(terms.width(lo)), hi, lo),
        View::Eq(a, b) => binary(Binary::Eq, a, b),
        View::Ult(a, b) => binary(Binary::Ult, a, b),
        View::Slt(a, b) => binary(Binary::Slt(terms.width(a)), a, b),
        View::Ite(c, a, b) => What::Ite(at(c), at(a), at(b)),
        View::FloatUnary { op, rounding, arg } => What::Unary(Unary::Float(op, rounding, terms.width(arg)), at(arg)),
        View::FloatBinary { op, rounding, a, b } => binary(Binary::Float(op, rounding), a, b),
        View::FloatCompare { op, a, b } => binary(Binary::Compare(op, terms.width(a)), a, b),
        View::Fma { rounding, a, b, c } => What::Fma(rounding, at(a), at(b), at(c)),
        View::Select { array, index } => {
            let (stores, table) = stores_and_table(terms, array).expect("an array is a chain of stores on a table");
            let elements = terms.table_elements(table);
            let bytes: Option<Vec<u8>> = elements.iter().map(|&t| terms.as_const(t).map(|byte| byte as u8)).collect();
            let table = match bytes {
                Some(bytes) => Table::Bytes(bytes),
                None => Table::Blocks(elements.iter().map(|&t| at(t)).collect()),
            };
            let mut runs = Vec::new();
            for (index, byte) in stores {
                let Some(constant) = terms.as_const(index) else {
                    runs.push(Stores::Computed(at(index), at(byte)));
                    continue;
                };
                if !matches!(runs.last(), Some(Stores::Constant(_))) {
                    runs.push(Stores::Constant(FxHashMap::default()));
                }
                if let Some(Stores::Constant(bytes)) = runs.last_mut() {
                    bytes.entry(constant as u64).or_insert(at(byte));
                }
            }
            What::Select(Box::new(Select { index: at(index), table, stores: runs }))
        }
        View::Const(_) | View::Symbol(_) | View::Table(_) | View::Store { .. } => unreachable!("no step"),
    }
}

impl Step {
    fn run(&self, blocks: &[Block], to: &mut Block) {
        let width = self.width;
        let mask = fold::mask(width) as u64;
        match &self.what {
            What::Unary(operator, a) => {
                let a = &blocks[*a as usize];
                match *operator {
                    Unary::Not => map(to, a, |a| !a & mask),
                    Unary::Neg => map(to, a, |a| a.wrapping_neg() & mask),
                    Unary::ZExt => map(to, a, |a| a),
                    Unary::SExt(from) => map(to, a, |a| signed(a, from) as u64 & mask),
                    Unary::Extract(lo) => map(to, a, |a| a >> lo & mask),
                    Unary::Float(op, rounding, from) => {
                        map(to, a, |a| float::unary(op, rounding, from, width, a.into()) as u64);
                    }
                }
            }
            What::Binary(operator, a, b) => {
                let (a, b) = (&blocks[*a as usize], &blocks[*b as usize]);
                match *operator {
                    Binary::And => zip(to, a, b, |a, b| a & b),
                    Binary::Or => zip(to, a, b, |a, b| a | b),
                    Binary::Xor => zip(to, a, b, |a, b| a ^ b),
                    Binary::Add => zip(to, a, b, |a, b| a.wrapping_add(b) & mask),
                    Binary::Sub => zip(to, a, b, |a, b| a.wrapping_sub(b) & mask),
                    Binary::Mul => zip(to, a, b, |a, b| a.wrapping_mul(b) & mask),
                    Binary::UDiv => zip(to, a, b, |a, b| a.checked_div(b).unwrap_or(mask)),
                    Binary::URem => zip(to, a, b, |a, b| a.checked_rem(b).unwrap_or(a)),
                    Binary::SDiv => zip(to, a, b, |a, b| signed_quotient(a, b, width) & mask),
                    Binary::SRem => zip(to, a, b, |a, b| signed_rest(a, b, width) & mask),
                    Binary::Shl => zip(to, a, b, |a, b| if b < width.into() { a << b & mask } else { 0 }),
                    Binary::LShr => zip(to, a, b, |a, b| if b < width.into() { a >> b } else { 0 }),
                    Binary::AShr => zip(to, a, b, |a, b| (signed(a, width) >> b.min(63)) as u64 & mask),
                    Binary::Concat(low) => zip(to, a, b, |hi, lo| hi << low | lo),
                    Binary::Eq => zip(to, a, b, |a, b| u64::from(a == b)),
                    Binary::Ult => zip(to, a, b, |a, b| u64::from(a < b)),
                    Binary::Slt(inner) => zip(to, a, b, |a, b| u64::from(signed(a, inner) < signed(b, inner))),
                    Binary::Float(op, rounding) => {
                        zip(to, a, b, |a, b| float::binary(op, rounding, width, a.into(), b.into()) as u64);
                    }
                    Binary::Compare(op, inner) => {
                        zip(to, a, b, |a, b| u64::from(float::compare(op, inner, a.into(), b.into())));
                    }
                }
            }
            What::Ite(c, a, b) => {
                let (c, a, b) = (&blocks[*c as usize], &blocks[*a as usize], &blocks[*b as usize]);
                for lane in 0..N_LANES {
                    to[lane] = if c[lane] == 1 { a[lane] } else { b[lane] };
                }
            }
            What::Fma(rounding, a, b, c) => {
                let (a, b, c) = (&blocks[*a as usize], &blocks[*b as usize], &blocks[*c as usize]);
                for lane in 0..N_LANES {
                    to[lane] = float::fma(*rounding, width, a[lane].into(), b[lane].into(), c[lane].into()) as u64;
                }
            }
            What::Select(select) => select.run(blocks, to),
        }
    }
}

impl Select {
    fn run(&self, blocks: &[Block], to: &mut Block) {
        let index = &blocks[self.index as usize];
        for lane in 0..N_LANES {
            let stored = self.stores.iter().find_map(|stores| match stores {
                Stores::Constant(bytes) => bytes.get(&index[lane]).copied(),
                Stores::Computed(at, byte) => (blocks[*at as usize][lane] == index[lane]).then_some(*byte),
            });
            to[lane] = match stored {
                Some(byte) => blocks[byte as usize][lane],
                None => self.table.get(blocks, index[lane], lane),
            };
        }
    }
}

impl Table {
    fn get(&self, blocks: &[Block], index: u64, lane: usize) -> u64 {
        let Ok(index) = usize::try_from(index) else { return 0 };
        match self {
            Table::Bytes(bytes) => bytes.get(index).map_or(0, |&byte| byte.into()),
            Table::Blocks(elements) => elements.get(index).map_or(0, |&element| blocks[element as usize][lane]),
        }
    }
}

fn signed(value: u64, width: u32) -> i64 {
    let unused = 64 - width;
    ((value << unused) as i64) >> unused
}

/// By zero: minus one, or one for a negative dividend.
fn signed_quotient(a: u64, b: u64, width: u32) -> u64 {
    let (a, b) = (signed(a, width), signed(b, width));
    if b == 0 { if a < 0 { 1 } else { u64::MAX } } else { a.wrapping_div(b) as u64 }
}

fn signed_rest(a: u64, b: u64, width: u32) -> u64 {
    let (a, b) = (signed(a, width), signed(b, width));
    if b == 0 { a as u64 } else { a.wrapping_rem(b) as u64 }
}

fn map(to: &mut Block, a: &Block, f: impl Fn(u64) -> u64) {
    for lane in 0..N_LANES {
        to[lane] = f(a[lane]);
    }
}

fn zip(to: &mut Block, a: &Block, b: &Block, f: impl Fn(u64, u64) -> u64) {
    for lane in 0..N_LANES {
        to[lane] = f(a[lane], b[lane]);
    }
}
