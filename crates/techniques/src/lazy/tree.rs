//! The paths of the unit under test as a tree: its vertices are the calls that were skipped on them and their ends.
//!
//! A vertex is known by its *trace*: everything control did in the unit from the start, expanded calls left out. It is
//! *realised* once the program itself was executed that way. A guess that comes to a vertex leaves the condition under
//! which it did, counted from the vertex before: no run of the program comes here whose values contradict all of these.

use explore::Path;
use ir::FuncId;
use rustc_hash::FxHashMap;
use term::{TermId, Terms};
use vm::ObjectId;

use super::expand::Expansion;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexId(u32);

impl VertexId {
    pub const ROOT: VertexId = VertexId(0);

    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// Where a made-up value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    Result(usize),
    /// In an object that has this base: a run that put another object there is not compared.
    Memory {
        object: ObjectId,
        base: u64,
        offset: u64,
        n_bytes: u8,
    },
}

/// A made-up value.
#[derive(Clone, Copy, Debug)]
pub struct Fresh {
    pub at: Where,
    pub term: TermId,
}

/// A run of the program in the unit, and what the made-up values turned out to be on it.
pub struct Real {
    pub path: Path,
    pub bound: super::bound::Bound,
}

/// A run of the unit with calls left out.
pub struct Guess {
    pub path: Path,
    /// The length its condition had at the last call.
    pub from: usize,
    /// Faults it might have had since the last call, and had not.
    pub avoided: Vec<VertexId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Root,
    Call(FuncId),
    /// A path that returns or exits.
    End,
    /// A path that fails in the unit. Where others take the same way and do not fail, it is looked for with little effort,
    /// because most of these are only made up.
    Fault,
}

pub struct Vertex {
    pub kind: Kind,
    pub parent: Option<VertexId>,
    pub children: Vec<VertexId>,
    /// One for each guess that came here.
    conds: Vec<TermId>,
    pub realised: bool,
    /// Guesses do not tell everything that can happen after this call: every path through it has to be executed.
    pub exhaust: bool,
    /// Looked for though it is only a fault.
    pub promoted: bool,
    /// A fault that may have to be looked for once all other paths are settled.
    suspected: bool,
    /// A fault that stays suspected though the way to it was taken.
    is_sample: bool,
    /// The way to this fault was taken by a run.
    is_vouched: bool,
    /// Faults whose way is a part of the way to here.
    vouches_for: Vec<VertexId>,
    /// The round in which a search here was last broken off.
    pub stalled: u64,
    /// Vertices from here down that are looked for.
    pub n_unmet: u32,
    /// Suspected faults from here down that are not found.
    pub n_faults: u32,
    /// Grows whenever something new is to be looked for from here down.
    pub version: u32,
    pub call: CallNode,
}

/// What a vertex that is a call (or the root) has to work with.
#[derive(Default)]
pub struct CallNode {
    /// Guesses that stand at the call.
    pub guesses: Vec<Path>,
    /// No guess foresaw it, so each run that comes here is its own guess from here on.
    pub own_guesses: bool,
    /// Guesses behind the call.
    pub running_guesses: Vec<Guess>,
    pub fresh: Vec<Fresh>,
    /// Runs that stand at the call, each with the paths through the call that are known or not yet tried.
    pub alternatives: Vec<Expansion>,
    /// Runs behind the call.
    pub running: std::collections::VecDeque<Real>,
    /// Calls below that got new runs.
    pub todo: Vec<VertexId>,
}

/// Guesses per vertex beyond which their conditions are not told apart.
const MAX_CONDS: usize = 24;
/// Goals beyond which none is pursued in particular.
const MAX_GOALS: usize = 16;

#[derive(Default)]
pub struct Tree {
    vertices: Vec<Vertex>,
    by_trace: FxHashMap<u128, VertexId>,
}

/// How long a fault stays suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    ForGood,
    UntilVouched,
}

/// What is looked for behind a call.
pub enum Goals {
    /// Whatever comes.
    Anything,
    /// A run that satisfies one of these.
    Any(Vec<TermId>),
}

impl Tree {
    pub fn new() -> Tree {
        let mut tree = Tree::default();
        tree.push(Kind::Root, None);
        tree[VertexId::ROOT].realised = true;
        tree
    }

    fn push(&mut self, kind: Kind, parent: Option<VertexId>) -> VertexId {
        let vertex = VertexId(self.vertices.len() as u32);
        self.vertices.push(Vertex {
            kind,
            parent,
            children: Vec::new(),
            conds: Vec::new(),
            realised: false,
            exhaust: false,
            promoted: false,
            suspected: false,
            is_sample: false,
            is_vouched: false,
            vouches_for: Vec::new(),
            stalled: 0,
            n_unmet: 0,
            n_faults: 0,
            version: 0,
            call: CallNode::default(),
        });
        vertex
    }

    pub fn find(&self, trace: u128) -> Option<VertexId> {
        self.by_trace.get(&trace).copied()
    }

    /// A vertex not yet realised.
    pub fn insert(&mut self, trace: u128, kind: Kind, parent: VertexId) -> VertexId {
        let vertex = self.push(kind, Some(parent));
        self.by_trace.insert(trace, vertex);
        self[parent].children.push(vertex);
        if kind != Kind::Fault {
            self.want(vertex);
        }
        vertex
    }

    /// Keeps what is needed to look for a fault later: until a run takes the way to it, or for good if it is a sample.
    pub fn suspect(&mut self, fault: VertexId, keeps: Keeps) {
        self[fault].is_sample |= keeps == Keeps::ForGood;
        if !self[fault].realised && !std::mem::replace(&mut self[fault].suspected, true) {
            self.up(fault, |above| above.n_faults += 1);
        }
    }

    /// The way to `voucher` leads past these faults.
    pub fn vouch(&mut self, voucher: VertexId, faults: &[VertexId]) {
        if self[voucher].realised {
            return faults.iter().for_each(|fault| self.vouched(*fault));
        }
        for fault in faults {
            if !self[*fault].is_vouched && !self[voucher].vouches_for.contains(fault) {
                self[voucher].vouches_for.push(*fault);
            }
        }
    }

    fn vouched(&mut self, fault: VertexId) {
        self[fault].is_vouched = true;
        if !self[fault].is_sample && std::mem::replace(&mut self[fault].suspected, false) {
            self.up(fault, |above| above.n_faults -= 1);
        }
    }

    /// Faults to which no run has taken the way yet and which are not looked for.
    pub fn unvouched(&self) -> Vec<VertexId> {
        let is_unvouched = |vertex: &VertexId| {
            let found = &self[*vertex];
            found.kind == Kind::Fault && found.suspected && !found.is_vouched && !found.promoted && !found.realised
        };
        self.ids().filter(is_unvouched).collect()
    }

    fn up(&mut self, vertex: VertexId, mut change: impl FnMut(&mut Vertex)) {
        let mut at = Some(vertex);
        while let Some(here) = at {
            change(&mut self[here]);
            at = self[here].parent;
        }
    }

    fn want(&mut self, vertex: VertexId) {
        self.up(vertex, |above| {
            above.n_unmet += 1;
            above.version += 1;
        });
    }

    pub fn add_cond(&mut self, vertex: VertexId, cond: TermId) {
        let conds = &mut self[vertex].conds;
        if conds.len() <= MAX_CONDS && !conds.contains(&cond) {
            conds.push(cond);
        }
    }

    /// The program came here. Whether that is news.
    pub fn realise(&mut self, vertex: VertexId) -> bool {
        if std::mem::replace(&mut self[vertex].realised, true) {
            return false;
        }
        match self[vertex].kind {
            Kind::Fault => {
                let suspected = u32::from(std::mem::replace(&mut self[vertex].suspected, false));
                let promoted = u32::from(self[vertex].promoted);
                self.up(vertex, |above| {
                    above.n_faults -= suspected;
                    above.n_unmet -= promoted;
                });
            }
            _ => self.up(vertex, |above| above.n_unmet -= 1),
        }
        for fault in std::mem::take(&mut self[vertex].vouches_for) {
            self.vouched(fault);
        }
        true
    }

    /// Guesses behind this call cannot be relied on.
    pub fn exhaust(&mut self, vertex: VertexId) {
        if vertex != VertexId::ROOT && !std::mem::replace(&mut self[vertex].exhaust, true) {
            self.want(vertex);
        }
    }

    /// Looks for a fault like for any other path.
    pub fn promote(&mut self, fault: VertexId) {
        if !self[fault].realised && !std::mem::replace(&mut self[fault].promoted, true) {
            self.want(fault);
        }
    }

    /// No longer looks for it.
    pub fn demote(&mut self, fault: VertexId) {
        if !self[fault].realised && std::mem::replace(&mut self[fault].promoted, false) {
            self.up(fault, |above| above.n_unmet -= 1);
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = VertexId> + use<> {
        (0..self.vertices.len() as u32).map(VertexId)
    }

    fn is_unmet(&self, vertex: VertexId) -> bool {
        let found = &self[vertex];
        !found.realised && (found.kind != Kind::Fault || found.promoted)
    }

    /// What runs through the call at `vertex` are wanted for.
    ///
    /// What lies behind calls where a search was broken off in round `not_behind` is left out: first that search is to go
    /// on, before other ways to the same call are looked for.
    pub fn goals(&self, terms: &mut Terms, vertex: VertexId, not_behind: Option<u64>) -> Goals {
        let mut goals = Vec::new();
        let always = terms.tru();
        match self.collect(terms, vertex, always, not_behind, &mut goals) {
            Some(()) => Goals::Any(goals),
            None => Goals::Anything,
        }
    }

    fn collect(
        &self,
        terms: &mut Terms,
        vertex: VertexId,
        so_far: TermId,
        not_behind: Option<u64>,
        goals: &mut Vec<TermId>,
    ) -> Option<()> {
        if self[vertex].exhaust {
            return None;
        }
        for child in self[vertex].children.iter().filter(|child| self[**child].n_unmet > 0) {
            let here = self.cond(terms, *child);
            let cond = terms.and(so_far, here);
            if self.is_unmet(*child) {
                goals.push(cond);
                if goals.len() > MAX_GOALS {
                    return None;
                }
            }
            if not_behind.is_none_or(|round| self[*child].stalled != round) {
                self.collect(terms, *child, cond, not_behind, goals)?;
            }
        }
        Some(())
    }

    fn cond(&self, terms: &mut Terms, vertex: VertexId) -> TermId {
        let conds = &self[vertex].conds;
        if conds.is_empty() || conds.len() > MAX_CONDS {
            return terms.tru();
        }
        let mut any = terms.fls();
        for cond in conds {
            any = terms.or(any, *cond);
        }
        any
    }
}

impl std::ops::Index<VertexId> for Tree {
    type Output = Vertex;

    fn index(&self, vertex: VertexId) -> &Vertex {
        &self.vertices[vertex.idx()]
    }
}

impl std::ops::IndexMut<VertexId> for Tree {
    fn index_mut(&mut self, vertex: VertexId) -> &mut Vertex {
        &mut self.vertices[vertex.idx()]
    }
}
