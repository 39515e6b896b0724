//! What was learned in earlier expansions: ways through a function, as decisions, and what they gave.

use std::rc::Rc;

use explore::{Explorer, Path};
use ir::{FuncId, Inst};
use rustc_hash::FxHashMap;
use term::TermId;

/// Longer ways are not kept: they rarely fit elsewhere.
pub const MAX_DECISIONS: usize = 400;
/// Ways kept that give the same results.
const MAX_ALIKE: usize = 12;
/// Different results kept for one function.
const MAX_GROUPS: usize = 128;

#[derive(Clone)]
pub struct Learned {
    /// Differs from way to way.
    pub id: u64,
    pub decisions: Rc<[u64]>,
    /// What was added to the path's condition on the way.
    pub cond: TermId,
    pub results: Rc<[TermId]>,
    /// Whether the results do not depend on inputs.
    pub is_constant: bool,
    n_used: u64,
}

/// Ways that give the same constant results, or all those whose results depend on inputs.
#[derive(Default)]
struct Group {
    results: Option<Rc<[TermId]>>,
    ways: Vec<Learned>,
}

#[derive(Default)]
pub struct Summaries {
    groups: FxHashMap<FuncId, Vec<Group>>,
    n_ways: u64,
}

impl Summaries {
    pub fn n_groups(&self, func: FuncId) -> usize {
        self.groups.get(&func).map_or(0, Vec::len)
    }

    /// The ways of one group, those first that were of use before.
    pub fn ways(&self, func: FuncId, group_idx: usize) -> Vec<Learned> {
        let mut ways = self.groups[&func][group_idx].ways.clone();
        ways.sort_by_key(|way| std::cmp::Reverse(way.n_used));
        ways
    }

    /// A way was taken again with success.
    pub fn used(&mut self, func: FuncId, id: u64) {
        let ways = self.groups.get_mut(&func).into_iter().flatten().flat_map(|group| &mut group.ways);
        if let Some(way) = ways.into_iter().find(|way| way.id == id) {
            way.n_used += 1;
        }
    }

    /// `path` has just returned from a call of `func` by these decisions; at the call its condition had length `from`.
    /// What was of least use gives way to what is new.
    pub fn learn(&mut self, explorer: &mut Explorer, func: FuncId, decisions: Vec<u64>, path: &Path, from: usize) {
        let results: Rc<[TermId]> = results(explorer, path).into();
        let terms = explorer.terms();
        let is_constant = results.iter().all(|result| terms.is_const(*result));
        let key = is_constant.then(|| results.clone());
        let groups = self.groups.entry(func).or_default();
        let group_idx = match groups.iter().position(|group| group.results == key) {
            Some(group_idx) => group_idx,
            None if groups.len() >= MAX_GROUPS => return,
            None => {
                groups.push(Group { results: key, ways: Vec::new() });
                groups.len() - 1
            }
        };
        let ways = &mut groups[group_idx].ways;
        if ways.iter().any(|way| *way.decisions == *decisions) {
            return;
        }
        let cond = path.condition.iter().skip(from).fold(terms.tru(), |all, cond| terms.and(all, cond));
        self.n_ways += 1;
        let learned = Learned { id: self.n_ways, decisions: decisions.into(), cond, results, is_constant, n_used: 0 };
        if ways.len() < MAX_ALIKE {
            return ways.push(learned);
        }
        if let Some(least) = ways.iter_mut().min_by_key(|way| (way.n_used, way.id)) {
            *least = learned;
        }
    }
}

fn results(explorer: &mut Explorer, path: &Path) -> Vec<TermId> {
    let module = explorer.image().module.clone();
    let frame = &path.state.top;
    let function = module.function(frame.func);
    let insts = &function.block(frame.block).insts;
    let Some(Inst::Call { call }) = (frame.inst_idx as usize).checked_sub(1).and_then(|before| insts.get(before))
    else {
        return Vec::new();
    };
    let results = &function.calls[call.idx()].results;
    results.iter().map(|(reg, bits)| frame.value(*reg, *bits).to_term(explorer.terms(), u32::from(*bits))).collect()
}
